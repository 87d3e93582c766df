"""``skillassay label`` and ``calibrate`` through the command line, on a run of the fixture model."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import termios
import time
from pathlib import Path
from typing import Any

import pytest

from skillassay.calibration.labels import LABELS_PATH, read_labels
from tests.project import (
    REPOSITORY,
    Cli,
    build_small,
    command,
    edit,
    environment,
    run_folder,
    small_case,
    spawn,
    write_json,
)

WORDS = {"hello hello": "pass", "good day": "fail"}


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    """A project with one run: three cases, each answered well with the skill and badly without."""
    cli = Cli(build_small(tmp_path), capsys)
    assert cli("eval").code == 0
    return cli


def typed(root: Path, keys: str, by: str = "Aiko Mori", *options: str) -> subprocess.CompletedProcess[bytes]:
    """A session in which these keys are typed, one a line."""
    argv = command(root, "label", "--by", by, *options)
    lines = "".join(f"{key}\n" for key in keys).encode()
    return subprocess.run(argv, input=lines, capture_output=True, cwd=REPOSITORY, env=environment(), timeout=60)


def made_labels(root: Path) -> list[dict[str, Any]]:
    """The label lines of the file."""
    lines = [json.loads(line) for line in (root / LABELS_PATH).read_text("utf-8").splitlines()]
    return [line for line in lines if "label" in line]


def test_a_session_asks_each_point_once_and_shows_neither_arm_nor_verdict(cli: Cli) -> None:
    """Three cases, two distinct answers each: six points, whatever number of modes gave an answer."""
    ran = typed(cli.root, "ppppp")
    assert ran.returncode == 3  # one is left
    shown = (ran.stdout + ran.stderr).decode().lower()
    assert shown.count("criterion, ") == 6
    assert not any(word in shown for word in ("progressive", "eager", "verdict", "greeter", "no hello stands"))
    assert typed(cli.root, "f").returncode == 0
    assert [line["verdict"] for line in made_labels(cli.root)] == ["pass"] * 5 + ["fail"]


def test_undo_takes_the_last_word_back_and_asks_again(cli: Cli) -> None:
    """Nothing is taken out of the file: the word, its withdrawal and the new word all stand there."""
    ran = typed(cli.root, "pufq")
    assert ran.returncode == 3
    lines = made_labels(cli.root)
    assert [line["verdict"] for line in lines] == ["pass", "undone", "fail"]
    assert len({line["label"] for line in lines}) == 1
    assert list(read_labels(cli.root).settled().values()) == [False]


def test_a_skipped_point_is_not_asked_of_the_same_person_again(cli: Cli) -> None:
    """And is asked of another one."""
    typed(cli.root, "ssssss")
    assert b"0 left" in typed(cli.root, "").stderr
    assert b"6 left" in typed(cli.root, "", "Bo Lind").stderr


@pytest.mark.parametrize("by", ["the judge", "QA team", ""])
def test_nobody_labels_without_a_name(cli: Cli, by: str) -> None:
    """Exit 2, and no file."""
    assert cli("label", "--by", by).code == 2
    assert not (cli.root / LABELS_PATH).exists()


def test_a_run_without_texts_cannot_be_labelled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Under retention hash there is nothing to read, and it says so."""
    cli = Cli(build_small(tmp_path, retention="hash"), capsys)
    cli("eval")
    ran = cli("label", "--by", "Aiko Mori")
    assert ran.code == 2
    assert "under retention hash none is kept" in ran.err


def test_answers_to_edited_cases_are_nothing_to_label(cli: Cli) -> None:
    """The rubric that the judge decided is not there any more."""
    cases = [small_case(name, query=f"Greet {name} again.") for name in ("one", "two", "three")]
    write_json(cli.root / "evals" / "quality.json", {"suite": "quality", "version": "2.0.0", "cases": cases})
    ran = cli("label", "--by", "Aiko Mori")
    assert ran.code == 3
    assert "no answer with a criterion that a judge decides" in ran.err


def test_one_key_is_enough_at_a_terminal(cli: Cli) -> None:
    """A real pseudo-terminal: no line feed is waited for, and a foreign key is told and asks again."""
    main_end, terminal = pty.openpty()
    argv = command(cli.root, "label", "--by", "Aiko Mori")
    session = subprocess.Popen(
        argv, stdin=terminal, stdout=terminal, stderr=terminal, cwd=REPOSITORY, env=environment(TERM="xterm")
    )
    os.close(terminal)
    try:
        shown = b""
        for key in (b"x", b"p", b"q"):
            shown += _until_asked(main_end)
            os.write(main_end, key)
        assert session.wait(30) == 3
    finally:
        session.kill()
        session.wait()
        os.close(main_end)
    assert b"is none of p, f, s, u, q" in shown
    assert [line["verdict"] for line in made_labels(cli.root)] == ["pass"]


def _until_asked(handle: int) -> bytes:
    """What is shown until the prompt stands there and the terminal is set to single keys."""
    seen, end = b"", time.monotonic() + 30
    while b"[q]uit" not in seen:
        assert time.monotonic() < end, seen
        if select.select([handle], [], [], 1)[0]:
            seen += os.read(handle, 65_536)
    while termios.tcgetattr(handle)[3] & termios.ICANON:
        assert time.monotonic() < end, seen
        time.sleep(0.01)
    return seen


def elsewhere(root: Path, verdicts: dict[str, str], n: int = 12) -> Path:
    """Labels made elsewhere: ``n`` answers of each kind to each case."""
    lines = [
        {"suite": "quality", "case": case, "answer": f"{text} {i}", "criterion": "says-hello", "verdict": verdict}
        for case in ("one", "two", "three")
        for i in range(n)
        for text, verdict in verdicts.items()
    ]
    path = root / "labels.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_a_judge_that_agrees_with_people_is_calibrated_by_asking_it(cli: Cli) -> None:
    """72 labels: the judge is asked on each, the numbers are what the definition gives, the file is written."""
    assert cli("label", "--by", "Aiko Mori", "--from", str(elsewhere(cli.root, WORDS)), "--origin", "human").code == 0
    ran = cli("calibrate", "--ask", "--format", "json")
    assert ran.code == 0
    assert ran.json["counts"] == {"both_pass": 36, "human_alone": 0, "judge_alone": 0, "both_fail": 36}
    assert ran.json["kappa"] == 1
    assert ran.json["agreement"]["interval"] == [pytest.approx(0.949349, abs=1e-6), 1]
    assert len(list((cli.root / "evals" / "calibration").glob("*.json"))) == 1


def test_a_judge_that_people_contradict_is_not(cli: Cli) -> None:
    """Exit 1, with the points that differ and the reason."""
    wrong = {"hello hello": "fail", "good day": "fail"}
    cli("label", "--by", "Aiko Mori", "--from", str(elsewhere(cli.root, wrong)), "--origin", "human")
    ran = cli("calibrate", "--ask")
    assert ran.code == 1
    assert "36 points differ" in ran.out
    assert "judge: not calibrated" in ran.out


def test_verdicts_of_a_run_are_compared_without_asking(cli: Cli) -> None:
    """Six points labelled in a session: too few to certify, and all of them counted."""
    typed(cli.root, "pppfff")
    ran = cli("calibrate", "--format", "json")
    assert ran.code == 1
    assert sum(ran.json["counts"].values()) == 6
    assert "6 labels with a verdict of the judge, 20 are needed" in ran.json["why_not"]


def test_authored_labels_certify_nothing(cli: Cli) -> None:
    """However many there are: exit 1, the reason, and no file."""
    source = str(elsewhere(cli.root, WORDS))
    assert cli("label", "--by", "the author", "--from", source, "--origin", "authored").code == 0
    ran = cli("calibrate", "--ask", "--origin", "authored", "--format", "json")
    assert ran.code == 1
    assert ran.json["why_not"] == ["authored labels show a tool at work and certify no judge"]
    assert not (cli.root / "evals" / "calibration").exists()
    assert cli("calibrate", "--ask").code == 3  # of people there is none


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("case", "four", "no suite has the case quality/four"),
        ("criterion", "style", "no judge decides 'style'"),
        ("verdict", "skip", "neither pass nor fail"),
        ("answer", 7, "answer is no text"),
    ],
)
def test_labels_made_elsewhere_are_taken_whole_or_not_at_all(cli: Cli, field: str, value: object, words: str) -> None:
    """One bad line names itself, and the good ones before it are not taken either."""
    good = {"suite": "quality", "case": "one", "answer": "hello", "criterion": "says-hello", "verdict": "pass"}
    path = cli.root / "made.jsonl"
    path.write_text(f"{json.dumps(good)}\n{json.dumps(good | {field: value})}\n", encoding="utf-8")
    ran = cli("label", "--by", "Aiko Mori", "--from", str(path), "--origin", "human")
    assert ran.code == 3
    assert words in ran.err
    assert "made.jsonl, line 2" in ran.err
    assert not (cli.root / LABELS_PATH).exists()


@pytest.mark.parametrize(
    ("terms", "refused"),
    [
        ({"agreement_min": 0.8}, True),
        ({"kappa_min": 0.5}, True),
        ({"min_labels": 19}, True),
        ({"min_each": 4}, True),
        ({"agreement_min": 0.9, "kappa_min": 0.7, "min_labels": 50, "min_each": 10}, False),
    ],
)
def test_targets_can_be_raised_and_never_lowered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], terms: dict[str, float], refused: bool
) -> None:
    """A contract with a lower target is refused as it is read."""
    cli = Cli(build_small(tmp_path, judge_model={"model": "fixture", "calibration": terms}), capsys)
    edit(cli.root / "evals" / "contract.yaml", "judge_model:", "judge:")
    (name,) = list(terms)[:1]
    assert (f"judge.calibration.{name}" in cli("check").out) is refused


def test_a_session_that_is_killed_keeps_every_word(cli: Cli) -> None:
    """Two words said, then SIGKILL: both are there, and the next session goes on behind them."""
    argv = command(cli.root, "label", "--by", "Aiko Mori")
    with subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=REPOSITORY,
        env=environment(),
    ) as session:
        assert session.stdin is not None
        assert session.stderr is not None
        session.stdin.write(b"p\nf\n")
        session.stdin.flush()
        seen = b""
        while seen.count(b"[q]uit") < 3:
            seen += os.read(session.stderr.fileno(), 65_536)
        session.kill()
    assert [line["verdict"] for line in made_labels(cli.root)] == ["pass", "fail"]
    assert b"4 left" in spawn(cli.root, "label", "--by", "Aiko Mori").stderr
    assert run_folder(cli.root).is_dir()


def test_again_offers_what_was_skipped_and_what_people_disagree_on(cli: Cli) -> None:
    """One point skipped, one disputed: two of six are offered once more."""
    typed(cli.root, "spppff")
    typed(cli.root, "pfpp", "Bo Lind")
    assert b"0 left" in typed(cli.root, "").stderr
    assert b"2 left" in typed(cli.root, "", "Aiko Mori", "--again").stderr


def test_labels_from_a_file_must_say_where_they_come_from(cli: Cli) -> None:
    """Nothing is taken for the reading of a person that nobody called so; exit 2."""
    ran = cli("label", "--by", "Aiko Mori", "--from", str(elsewhere(cli.root, WORDS)))
    assert ran.code == 2
    assert "--from needs --origin" in ran.err
    assert not (cli.root / LABELS_PATH).exists()
