"""The record of a comparison: killed anywhere it goes on, nothing is asked twice, damage is refused."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from typing import Any

import pytest

from skillassay.canonical import digest_of
from tests.acceptance.paired import ASK, CASES, PairServer, counts, evaluated, lines, record, verdict
from tests.models.wire_server import reply
from tests.project import REPOSITORY, Cli, command, environment


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[PairServer]:
    """The live models, with a key in the environment."""
    with PairServer() as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        monkeypatch.setenv("GEMINI_API_KEY", "a-key-to-look-for")
        yield server


def slots(found: list[dict[str, Any]]) -> list[tuple[str, int, str]]:
    """Case, repeat and order of each line."""
    return [(one["case"], one["repeat"], one["order"]) for one in found]


@pytest.mark.parametrize(("how", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, 130)], ids=["killed", "interrupted"])
def test_a_stopped_comparison_goes_on(cli: Cli, server: PairServer, how: signal.Signals, code: int) -> None:
    """What was said is kept and not asked again; the end is that of a comparison nobody stopped."""
    run = evaluated(cli, CASES[:4])
    server.delay_s = 0.15
    argv = command(cli.root, "pairwise", run, *ASK, "--jobs", "1")
    settings = {"GOOGLE_GEMINI_BASE_URL": server.base_url, "GEMINI_API_KEY": "k"}
    with subprocess.Popen(
        argv, cwd=REPOSITORY, env=environment(**settings), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as session:
        end = time.monotonic() + 60
        while len(server.documents) < 4:
            assert time.monotonic() < end
            assert session.poll() is None, session.communicate()
            time.sleep(0.01)
        session.send_signal(how)
        session.communicate(timeout=30)
        assert session.returncode == code
    kept = lines(record(cli.root))
    assert 3 <= len(kept) < 8
    server.delay_s = 0.0
    asked_before = len(server.documents)
    ran = cli("pairwise", run, *ASK)
    assert (ran.code, counts(ran)) == (0, [4, 0, 0, 0, 0, 4])
    assert ran.json["from_record"] == len(kept)
    assert len(server.documents) - asked_before == ran.json["asked_now"] == 8 - len(kept)
    found = slots(lines(record(cli.root)))
    assert len(found) == len(set(found)) == 8


def test_cut_at_any_byte_the_record_is_made_whole(cli: Cli, server: PairServer) -> None:
    """A torn line is asked again, whole ones are not, and the outcome is the same."""
    run = evaluated(cli, CASES[:1])
    cli("pairwise", run, *ASK)
    path = record(cli.root)
    whole = path.read_bytes()
    ends = [at for at, byte in enumerate(whole) if byte == 10]
    assert len(ends) == 3
    for cut in sorted({0, 1, *(end + step for end in ends for step in (-1, 0, 1, 2))}):
        path.write_bytes(whole[:cut])
        n_whole = max(0, sum(end < cut for end in ends) - 1)
        ran = cli("pairwise", run, *ASK)
        assert (ran.code, ran.json["asked_now"], counts(ran)[0]) == (0, 2 - n_whole, 1)
        assert len(lines(path)) == 2


def test_both_orders_stand_in_the_record_as_they_were_asked(cli: Cli, server: PairServer) -> None:
    """The first line names both sides, judge and seed; each other one its order, what was sent and what came back."""
    run = evaluated(cli, CASES[:6])
    cli("pairwise", run, *ASK, "--seed", "7", "--jobs", "1")
    path = record(cli.root)
    head = json.loads(path.read_bytes().split(b"\n")[0])
    assert (head["pairwise"], head["seed"], head["independent"], head["fixture"]) == (1, 7, False, None)
    assert head["a"] == {"run": run, "mode": "progressive"}
    assert head["b"] == {"run": run, "mode": "none"}
    assert head["judge"]["model"] == "gemini:judge"
    about = {name: head[name] for name in ("a", "b", "judge", "fixture", "seed")}
    assert path.stem == head["id"] == digest_of(about)[:16]
    found = lines(path)
    by_case: dict[str, list[dict[str, Any]]] = {}
    for one in found:
        by_case.setdefault(one["case"], []).append(one)
    for both in by_case.values():
        assert [one["asked"] for one in both] == [1, 2]
        assert {one["order"]: one["winner"] for one in both} == {"a_first": "first", "b_first": "second"}
    assert len({both[0]["order"] for both in by_case.values()}) == 2  # neither order is always the first one
    assert "reasoning" not in path.read_text("utf-8")
    assert "a-key-to-look-for" not in path.read_text("utf-8")


def test_the_seed_draws_which_order_is_asked_first_and_nothing_else(cli: Cli, server: PairServer) -> None:
    """Another seed is another record with the same outcomes; a part is asked in the order of the whole."""
    run = evaluated(cli, CASES)
    firsts = []
    for seed in ("1", "2", "1"):
        ran = cli("pairwise", run, *ASK, "--seed", seed)
        assert counts(ran) == [7, 0, 0, 0, 0, 7]
        found = lines(cli.root / ran.json["record"])
        firsts.append({one["case"]: one["order"] for one in found if one["asked"] == 1})
    assert firsts[0] == firsts[2] != firsts[1]
    assert len(list((cli.root / ".skillassay" / "pairwise").iterdir())) == 2


def test_an_answer_that_changed_is_asked_about_anew(cli: Cli, server: PairServer) -> None:
    """A line is about exactly what was sent: a later attempt at the trial is another answer."""
    run = evaluated(cli, CASES[:1])
    cli("pairwise", run, *ASK)
    path = cli.root / ".skillassay" / "runs" / run / "trials.jsonl"
    records = [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
    (old,) = [one for one in records if one["mode"] == "none"]
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(old | {"attempt": 2, "answer": "hello there"}) + "\n")
    path.with_name("result.json").unlink()  # a retry that was stopped: nothing answers for the records yet
    ran = cli("pairwise", run, *ASK)
    assert (ran.json["asked_now"], counts(ran)) == (2, [0, 0, 1, 0, 0, 1])


def test_a_model_that_answers_under_another_name_is_told(cli: Cli, server: PairServer) -> None:
    """The same model as asked for, two as answered: the report says that these verdicts are not of one."""
    run = evaluated(cli, CASES[:2])
    cli("pairwise", run, "--case", "c0", *ASK)
    server.judge_name = "judge-2026-02"
    ran = cli("pairwise", run, *ASK)
    assert ran.json["judge"]["answered"] == ["judge-2026-01", "judge-2026-02"]
    assert "not of one model" in cli("pairwise", run, "--judge-model", "gemini:judge").out


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"winner": "first"', '"winner": "third"', "is no verdict on a pair"),
        ('"winner": "first"', '"winner": null', "is no verdict on a pair"),
        ('"order": "a_first"', '"order": "first"', "is no verdict on a pair"),
        ('"pairwise": 1', '"pairwise": 2', "newer than 1"),
        ('"pairwise": 1', '"pairwise": 0', "is no comparison of pairs"),
        ('"seed": 0', '"seed": 0, "seed": 0', "line 1"),
        ('"id": "', '"id": "0', "is about another comparison"),
    ],
)
def test_a_damaged_record_is_refused_and_left_alone(
    cli: Cli, server: PairServer, old: str, new: str, says: str
) -> None:
    """Exit 3 with the line, and no byte of it is changed."""
    run = evaluated(cli, CASES[:1])
    cli("pairwise", run, *ASK)
    path = record(cli.root)
    text = path.read_text("utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")
    ran = cli("pairwise", run, *ASK)
    assert (ran.code, says in ran.err) == (3, True), ran.err
    assert path.read_text("utf-8") == text.replace(old, new)


def test_nothing_is_written_through_a_link(cli: Cli, server: PairServer) -> None:
    """A project whose folder of comparisons leads elsewhere is refused before anybody is asked."""
    run = evaluated(cli, CASES[:1])
    (cli.root / "elsewhere").mkdir()
    (cli.root / ".skillassay" / "pairwise").symlink_to(cli.root / "elsewhere")
    ran = cli("pairwise", run, *ASK)
    assert (ran.code, "is a link" in ran.err) == (3, True)
    assert server.documents == []


def test_what_a_judge_writes_is_shown_as_text(cli: Cli, server: PairServer) -> None:
    """A workflow command in the judge's evidence stays a text in JSON, and an answer's reaches no table."""
    server.answers = {"c0": ("hello\n::error::x", "good day")}
    server.broken = lambda _: reply({"text": json.dumps(verdict("tie", "hello\n::error::x", "##[error]"))})
    run = evaluated(cli, CASES[:1])
    ran = cli("pairwise", run, *ASK)
    assert not any(line.lstrip().startswith("::") or "##[" in line for line in ran.out.splitlines())
    assert ran.json["pairs"][0]["orders"][0]["evidence_second"] == "##[error]"
