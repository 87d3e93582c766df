"""Runs against their baseline, through the command line: automatic, pinned, refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.project import Cli, build_small, edit, rule, small_case, small_rules, write_json

NAMES = tuple(f"c{i}" for i in range(12))
TWO = [
    {"id": "says-hello", "text": "The answer says hello."},
    {"id": "says-twice", "text": "The answer says it twice."},
]
JUDGE = [
    {"criterion": "says-hello", "pass": "(?i)hello", "missing": "No hello."},
    {"criterion": "says-twice", "pass": "(?i)hello hello", "missing": "Only one."},
]


def build(root: Path, *, critical: tuple[str, ...] = ()) -> Path:
    """Twelve cases of two criteria; a limit of quality that one criterion of two reaches."""
    cases = [small_case(name, rubric=TWO, **({"critical": True} if name in critical else {})) for name in NAMES]
    rules = [one for name in NAMES for one in small_rules(name)]
    return build_small(root, cases=cases, rules=rules, judge=JUDGE, gate={"quality_min": 0.5})


def answer(root: Path, **texts: str) -> None:
    """From now on these cases are answered otherwise where the skill is offered."""
    path = root / "evals" / "fixtures" / "all.json"
    fixtures = json.loads(path.read_text("utf-8"))
    for name, text in texts.items():
        fixtures["subject"] = [one for one in fixtures["subject"] if one["when"]["query"] != [f"Greet {name}."]]
        fixtures["subject"] += [
            rule(name, {"text": text}, prompt=["greeter"]),
            rule(name, {"text": "good day"}, absent=["greeter"]),
        ]
    write_json(path, fixtures)


def line(cli: Cli) -> dict[str, Any] | None:
    """The line of the newest run, None where it has none."""
    lines = cli("gate", "--format", "json").json["lines"]
    return next((dict(one) for one in lines if one["name"] == "no_regression"), None)


def test_the_first_run_has_nothing_to_compare_with(cli: Cli) -> None:
    """No line at all, and the next run has one."""
    build(cli.root)
    assert cli("eval").code == 0
    assert line(cli) is None
    assert cli("eval").code == 0
    found = line(cli)
    assert found is not None
    assert found["counts"]["passed_before"] == found["counts"]["passed"] == found["counts"]["compared"] == 12


def test_a_drop_beyond_noise_is_refused_and_no_yardstick_for_the_next_run(cli: Cli) -> None:
    """Six of twelve lose a criterion; running it again changes nothing, since what was refused is no baseline."""
    build(cli.root)
    cli("eval")
    answer(cli.root, **dict.fromkeys(NAMES[:6], "hello"))
    for _ in range(2):
        assert cli("eval").code == 1
        found = line(cli)
        assert found is not None
        assert (found["status"], found["counts"]["passed_before"], found["counts"]["passed"]) == ("failed", 12, 6)


def test_a_drop_within_noise_warns_and_is_no_yardstick(cli: Cli) -> None:
    """One of twelve is 0.083, over 0.05, and may be chance: exit 0, told, and the next run has the older baseline."""
    build(cli.root)
    cli("eval")
    answer(cli.root, c0="hello")
    ran = cli("eval")
    assert ran.code == 0
    assert "inconclusive_noise" in ran.out
    cli("eval")
    found = line(cli)
    assert found is not None
    assert found["counts"]["passed_before"] == 12


def test_a_critical_case_that_got_worse_while_the_average_rose_is_refused(cli: Cli) -> None:
    """Five cases gain a criterion, one critical case loses one: its own line, and exit 1."""
    build(cli.root, critical=("c11",))
    answer(cli.root, **dict.fromkeys(NAMES[:5], "hello"))
    cli("eval")
    answer(cli.root, **dict.fromkeys(NAMES[:5], "hello hello"), c11="hello")
    assert cli("eval").code == 1
    found = line(cli)
    assert found is not None
    assert found["counts"]["passed"] > found["counts"]["passed_before"]
    assert (found["status"], found["counts"]["critical_worse"]) == ("failed", 1)


def test_a_removed_case_is_told_and_makes_nothing_pass(cli: Cli) -> None:
    """The suite without the case that failed is not better than the one with it."""
    build(cli.root)
    cli("eval")
    path = cli.root / "evals" / "quality.json"
    suite = json.loads(path.read_text("utf-8"))
    write_json(path, suite | {"version": "2.0.0", "cases": suite["cases"][1:]})
    cli("eval")
    found = line(cli)
    assert found is not None
    assert found["counts"]["compared"] == 11
    assert "removed since, not compared: quality/c0" in found["detail"]


def test_a_pinned_baseline_stays_until_it_is_taken_away(cli: Cli) -> None:
    """Also where the runs are gone, as in a fresh clone: the committed file has all that is compared."""
    build(cli.root)
    cli("eval")
    assert cli("baseline", "--pin").code == 0
    for folder in (cli.root / ".skillassay" / "runs").iterdir():
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
    answer(cli.root, **dict.fromkeys(NAMES[:6], "hello"))
    assert cli("eval").code == 1
    found = line(cli)
    assert found is not None
    assert "pinned baseline" in found["number"]
    assert cli("baseline", "--unpin").code == 0
    assert "no baseline is pinned" in cli("baseline").out


def test_a_pinned_baseline_of_another_judge_stops_before_any_trial(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """What differs is named; nothing is run, and no run folder is left."""
    build(cli.root)
    cli("eval")
    cli("baseline", "--pin")
    edit(cli.root / "evals" / "fixtures" / "all.json", '"Only one."', '"Just one."')
    n_before = len(list((cli.root / ".skillassay" / "runs").iterdir()))
    ran = cli("eval")
    assert ran.code == 3
    assert "does not compare with this run: judgment.judge_version" in ran.err
    assert len(list((cli.root / ".skillassay" / "runs").iterdir())) == n_before


def test_a_run_of_another_judge_is_no_automatic_baseline(cli: Cli) -> None:
    """It is passed over in silence: there is none then."""
    build(cli.root)
    cli("eval")
    edit(cli.root / "evals" / "fixtures" / "all.json", '"Only one."', '"Just one."')
    cli("eval")
    assert line(cli) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [("{}", "is no baseline"), ('{"baseline": 2}', "newer than 1"), ("[", "cannot be read")],
)
def test_a_pinned_file_that_is_none_is_named(cli: Cli, text: str, words: str) -> None:
    """With what to do; nothing is run."""
    build(cli.root)
    (cli.root / "evals" / "baseline.json").write_text(text, encoding="utf-8")
    ran = cli("eval")
    assert ran.code == 3
    assert words in ran.err


def edit_cases(root: Path, suffix: str) -> None:
    """The same six cases asked in other words, and answered alike."""
    for name in ("quality.json", "fixtures/all.json"):
        path = root / "evals" / name
        text = path.read_text("utf-8")
        for case in NAMES[:6]:
            text = text.replace(f'"Greet {case}.{"" if suffix else " Now."}"', f'"Greet {case}.{suffix}"')
        path.write_text(text, encoding="utf-8")


def test_a_case_that_is_edited_and_put_back_is_compared_with_what_it_was(cli: Cli) -> None:
    """The run in between could not compare it, and hides nothing of the run before."""
    build(cli.root)
    cli("eval")
    answer(cli.root, **dict.fromkeys(NAMES[:6], "hello"))
    edit_cases(cli.root, " Now.")
    assert cli("eval").code == 0
    edit_cases(cli.root, "")
    assert cli("eval").code == 1
    found = line(cli)
    assert found is not None
    assert (found["counts"]["compared"], found["counts"]["passed_before"]) == (12, 12)


def test_an_error_in_between_hides_nothing(cli: Cli) -> None:
    """Six cases have no score in the second run; the third is compared with the first on them."""
    build(cli.root)
    cli("eval")
    path = cli.root / "evals" / "fixtures" / "all.json"
    whole = path.read_text("utf-8")
    fixtures = json.loads(whole)
    lost = [[f"Greet {name}."] for name in NAMES[:6]]
    fixtures["subject"] = [one for one in fixtures["subject"] if one["when"]["query"] not in lost]
    write_json(path, fixtures)
    assert cli("eval").code == 3
    path.write_text(whole, encoding="utf-8")
    answer(cli.root, **dict.fromkeys(NAMES[:6], "hello"))
    assert cli("eval").code == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [(("--case", "c11"), "covered a part"), (("--purpose", "tuning"), "was for tuning")],
    ids=["partial", "tuning"],
)
def test_what_is_no_yardstick_cannot_be_pinned(cli: Cli, options: tuple[str, ...], words: str) -> None:
    """Nor what regressed itself: no file is written."""
    build(cli.root)
    cli("eval", *options)
    ran = cli("baseline", "--pin")
    assert ran.code == 3
    assert words in ran.err
    assert not (cli.root / "evals" / "baseline.json").exists()


def test_a_run_that_regressed_cannot_be_pinned(cli: Cli) -> None:
    """A pin would make the loss the norm."""
    build(cli.root)
    cli("eval")
    answer(cli.root, **dict.fromkeys(NAMES[:6], "hello"))
    cli("eval")
    ran = cli("baseline", "--pin")
    assert ran.code == 3
    assert "it regressed itself" in ran.err


def test_records_that_are_not_what_the_run_ended_with_are_no_yardstick(cli: Cli) -> None:
    """Half of the file is gone: that run is passed over, and cannot be pinned."""
    build(cli.root)
    cli("eval")
    (run,) = (cli.root / ".skillassay" / "runs").iterdir()
    records = run / "trials.jsonl"
    lines = records.read_bytes().splitlines(keepends=True)
    records.write_bytes(b"".join(lines[: len(lines) // 2]))
    assert "its records are not those that it ended with" in cli("baseline", "--pin").err
    cli("eval")
    assert line(cli) is None


@pytest.mark.parametrize("field", ["settings", "facts", "models", "cases"])
def test_a_damaged_older_run_is_passed_over(cli: Cli, field: str) -> None:
    """It stops nobody from measuring."""
    build(cli.root)
    cli("eval")
    (run,) = (cli.root / ".skillassay" / "runs").iterdir()
    header = json.loads((run / "run.json").read_text("utf-8"))
    write_json(run / "run.json", header | {field: None})
    assert cli("eval").code == 0


@pytest.mark.parametrize(
    "changed",
    [
        {"digest": None},
        {"suite": 5},
        {"n": 0, "k": -3},
        {"k": 9},
        {"passed": "false"},
        {"passed": True, "flaky": True},
    ],
    ids=str,
)
def test_a_pinned_case_of_no_known_form_is_refused(cli: Cli, changed: dict[str, object]) -> None:
    """Silently comparing less would be a pass for nothing."""
    build(cli.root)
    cli("eval")
    cli("baseline", "--pin")
    path = cli.root / "evals" / "baseline.json"
    value = json.loads(path.read_text("utf-8"))
    value["cases"][0] |= changed
    write_json(path, value)
    assert cli("eval").code == 3


def test_a_run_that_scored_nothing_is_no_baseline(cli: Cli) -> None:
    """Every answer was lost: the next run has none to compare with, and is not stopped."""
    build(cli.root)
    path = cli.root / "evals" / "fixtures" / "all.json"
    whole = path.read_text("utf-8")
    write_json(path, json.loads(whole) | {"subject": [rule("other", {"text": "hello"})]})
    assert cli("eval").code == 3
    path.write_text(whole, encoding="utf-8")
    assert cli("eval").code == 0
    assert line(cli) is None


def test_a_run_of_other_repeats_hides_nothing(cli: Cli) -> None:
    """A run of two repeats stands between: the next one of one repeat is compared with the one that asked as often."""
    build(cli.root)
    cli("eval")
    between = cli("eval", "--repeats", "2")
    assert "asked another number of times there, not compared" in between.out
    answer(cli.root, **dict.fromkeys(NAMES[:6], "hello"))
    assert cli("eval").code == 1
    found = line(cli)
    assert found is not None
    assert (found["status"], found["counts"]["passed_before"], found["counts"]["passed"]) == ("failed", 12, 6)
