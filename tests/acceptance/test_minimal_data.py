"""Minimal data: under ``retention: hash`` no text of candidate, judge or provider lands anywhere.

A marked text is planted wherever a model, its provider or a script can put one. A project with a home and a temporary
folder of its own goes through passes, failures, trials unscored for each reason, an interruption, a resume, and every
command that shows a run; then every byte is looked at. The same steps under ``retention: full`` find each of the texts:
that is the proof that the search can fail. What was written and removed meanwhile is not looked at, but for what a kill
leaves.
"""

from __future__ import annotations

import base64
import json
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from skillassay.errors import Reason
from tests.acceptance.every_byte import found_in, mark
from tests.acceptance.house import MODES, PATIENCE_S, House, build
from tests.acceptance.marked_server import NAMES, PLANTED, MarkedServer
from tests.project import run_folder


@dataclass(frozen=True, kw_only=True)
class Lived:
    """A house after all steps: where texts were found after the interruption, and at the end."""

    house: House
    after_interrupt: dict[str, set[str]]
    at_end: dict[str, set[str]]


def live(top: Path, retention: str) -> Lived:
    """Evaluate, interrupt, resume, show in every way, try again, route, check, lock."""
    with MarkedServer(held="held") as server:
        house = build(top, server, retention)
        running = house.start("--debug", "eval", "--jobs", "4", "--allow-unisolated", *MODES)
        is_holding = server.is_holding.wait(PATIENCE_S)
        running.send_signal(signal.SIGINT)
        time.sleep(0.2)
        server.release()
        house.end("eval", running)
        assert is_holding, house.said
        interrupted = house.places
        run = run_folder(house.root).name
        house.run("resume", "--debug", "eval", "--resume", run, "--allow-unisolated")
        for form in ("table", "json"):  # Markdown is in the summary
            house.run(f"report {form}", "--debug", "report", run, "--format", form)
        house.run("gate", "gate", run, "--format", "json")
        house.run("retry", "--debug", "eval", "--retry-unscored", run, "--allow-unisolated", "--format", "json")
        house.run("e2e", "--debug", "e2e", "--allow-unisolated")
        house.run("lock", "--debug", "lock")
        return Lived(house=house, after_interrupt=interrupted, at_end=house.places)


@pytest.fixture(scope="module")
def hashed(tmp_path_factory: pytest.TempPathFactory) -> Lived:
    """The steps under ``hash``."""
    return live(tmp_path_factory.mktemp("hashed"), "hash")


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Lived:
    """The steps under ``full``."""
    return live(tmp_path_factory.mktemp("full"), "full")


def test_no_byte_holds_a_text(hashed: Lived) -> None:
    """Neither files nor names of files, nor what any command said, at the end."""
    assert hashed.at_end == {}


def test_no_byte_holds_a_text_after_an_interruption(hashed: Lived) -> None:
    """Stopped with Ctrl-C in the middle, with trials under way."""
    assert hashed.after_interrupt == {}


@pytest.mark.parametrize("name", sorted(PLANTED))
def test_the_same_search_finds_what_is_kept(full: Lived, name: str) -> None:
    """Under ``full`` each text is found in the record, so that each was planted and each is looked for."""
    record = run_folder(full.house.root) / "trials.jsonl"
    assert str(record.relative_to(full.house.top)) in full.at_end[name]


@pytest.mark.parametrize("place", ["summary.md", "eval stdout", "report json stdout", "e2e stdout"])
def test_the_search_looks_at_every_kind_of_place(full: Lived, place: str) -> None:
    """Under ``full`` something is found in the step summary, and in what commands print."""
    assert any(place in places for places in full.at_end.values())


def test_the_steps_went_through_every_kind_of_end(hashed: Lived) -> None:
    """Passed, failed, and unscored for each reason that a model, a provider or a judge can be at."""
    seen = {(one["status"], one["reason"]) for one in hashed.house.outcomes}
    wanted = {
        Reason.CONTRACT_ERROR,
        Reason.PROVIDER_ERROR,
        Reason.BLOCKED,
        Reason.TRUNCATED,
        Reason.TIMEOUT,
        Reason.UNGROUNDED,
        Reason.JUDGE_ABSTAINED,
    }
    assert seen >= {("PASS", None), ("FAIL", None), *(("UNSCORED", reason.value) for reason in wanted)}
    assert "turn_limit" in {one["kind"] for one in hashed.house.outcomes}


def test_both_rules_decide_alike(hashed: Lived, full: Lived) -> None:
    """The same exit codes, and the same outcome of each trial, whatever is kept of it."""
    assert hashed.house.codes == full.house.codes
    assert hashed.house.codes["eval"] == 130

    def decided(lived: Lived) -> dict[tuple[str, str], tuple[Any, ...]]:
        trials = json.loads(lived.house.said["report json stdout"])["trials"]
        return {(one["case"], one["mode"]): (one["status"], one["reason"], one["k"], one["n"]) for one in trials}

    assert decided(hashed) == decided(full)


def test_a_report_says_in_place_of_evidence_that_it_is_hidden(hashed: Lived) -> None:
    """With the rule at its foot; under ``full`` the foot says that raw answers are kept."""
    table = hashed.house.said["report table stdout"].decode()
    assert "hidden under retention hash" in table
    assert table.rstrip().endswith("retention: hash: no answer or judge reply is kept, only hashes and labels")


def test_under_full_the_report_states_the_rule(full: Lived) -> None:
    """Raw answers are kept under a stated rule only, in the header too."""
    foot = "retention: full: raw answers and judge replies are kept in the record"
    assert full.house.said["report table stdout"].decode().rstrip().endswith(foot)
    assert json.loads((run_folder(full.house.root) / "run.json").read_bytes())["retention"] == "full"


def test_a_hashed_record_keeps_numbers_and_authored_words(hashed: Lived) -> None:
    """Tokens, calls, ids, verdicts, criteria, and the tools of the catalog by name."""
    lines = (run_folder(hashed.house.root) / "trials.jsonl").read_bytes().split(b"\n")
    records = [json.loads(line) for line in lines if line]
    one = next(r for r in records if r["case_id"] == "runs" and r["mode"] == "progressive")
    assert one["transcript"] == [
        {"who": "UserTurn"},
        {"who": "ModelTurn", "calls": ["run_skill_script"]},
        {"who": "ToolTurn", "results": ["warning"]},
        {"who": "ModelTurn"},
    ]
    assert one["scripts"] == ["greeter/scripts/echo.py"]
    assert one["candidate"]["n_calls"] == 2
    assert [(m["id"], m["verdict"], m["text"]) for m in one["marks"]] == [
        ("says-hello", "PASS", "The answer says hello.")
    ]
    assert len(one["hashes"]["answer"]) == 64


def test_equal_answers_have_equal_hashes_over_an_interruption(hashed: Lived) -> None:
    """One key for the run, which stays while something can be tried again."""
    folder = run_folder(hashed.house.root)
    records = [json.loads(line) for line in (folder / "trials.jsonl").read_bytes().splitlines()]
    events = [json.loads(line) for line in (folder / "events.jsonl").read_bytes().splitlines()]
    resumed = next(number for number, event in enumerate(events) if event["event"] == "run_resumed")
    before = {event["trial"] for event in events[:resumed] if event["event"] == "trial_done"}
    same = ("named", "headed", "judged-named")
    hashes = {r["trial_id"]: r["hashes"]["answer"] for r in records if r["case_id"] in same}
    assert before & hashes.keys()
    assert hashes.keys() - before
    assert len(set(hashes.values())) == 1
    assert (folder / "hash.key").stat().st_size == 32


@pytest.mark.parametrize(
    "form",
    [
        lambda text: text,
        str.lower,
        lambda text: text.encode("utf-16").decode("latin-1"),
        lambda text: text.encode("utf-32-be").decode("latin-1"),
        lambda text: text.encode().hex(),
        lambda text: "".join(f"\\u{ord(char):04x}" for char in text),
        lambda text: "".join(f"%{ord(char):02X}" for char in text),
        lambda text: f"{text[:9]}\n    {text[9:]}",
        *(
            lambda text, before=before: base64.b64encode(f"{before}{text} and more".encode()).decode()
            for before in ("", "a", "ab", "abc")
        ),
    ],
)
def test_the_search_knows_the_forms_of_a_text(form: Callable[[str], str]) -> None:
    """Encodings, escapes, and lines that a terminal broke."""
    data = f"before {form(mark('sample'))} after".encode("latin-1")
    assert found_in(data, ["sample", "other"]) == {"sample"}


def test_every_case_of_the_scenario_has_a_name_of_its_own() -> None:
    """Answers are found by it."""
    assert len(set(NAMES)) == len(NAMES)
