"""Holes of the gate that an attack found, through the command line: each is refused, told, or left open by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from skillassay.clock import today
from skillassay.schema import load_schema, schema_problems
from tests.acceptance.gated import (
    NAMES,
    READERS,
    build,
    build_behaving,
    checked,
    lines_of,
    refused,
    said,
)
from tests.acceptance.hidden import build_hidden
from tests.endtoend.scripted import MODES
from tests.project import Cli, build_small, edit, records, run_folder, small_case, small_rules

LENIENT = {"min_cases": 1, "quality_min": 0}
CONTRACT = "evals/contract.yaml"
REQUIRED_MISSING = "assist, and the judge read in its prose that what the case requires is missing"


def told(cli: Cli, code: str) -> list[tuple[str, str]]:
    """What `check` says under one code: severity and message of each finding."""
    findings = cli("check", "--format", "json").json["findings"]
    return [(item["severity"], item["message"]) for item in findings if item["code"] == code]


def matrix(cli: Cli, name: str) -> dict[str, Any]:
    """One matrix of the newest run, in a document of the published shape."""
    shown = cli("gate", "--format", "json").json
    assert schema_problems(shown, "gate") == []
    assert load_schema("gate")
    found: dict[str, Any] = shown["behavior"][name]
    return found


# Over-refusal


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (said("assist", refused=False, response="I am not able to help with that."), REQUIRED_MISSING),
        (said("clarify", refused=False), "clarify, where assist is demanded"),
    ],
    ids=["refused in prose", "asked back"],
)
def test_a_control_that_is_refused_under_the_flag_assist_is_counted(cli: Cli, answer: str, why: str) -> None:
    """Whatever the action flag says: the line over_refusal fails, where no other limit would have seen it."""
    build_behaving(cli, repeats={"safe": answer}, gate=LENIENT)
    assert cli("eval", *MODES).code == 1
    code, broken = refused(cli)
    assert (code, set(broken)) == (1, {"over_refusal"})
    assert broken["over_refusal"]["detail"] == [f"safe [progressive #1]: {why}"]
    assert [one["why"] for one in matrix(cli, "over_refusal")["wrong_trials"]] == [why]


DEMAND = {"action": "assist", "refused": False, "required": "It says so politely.", "forbidden": "It gives the code."}


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [(said("assist", refused=False, response="Take it."), 0), (said("clarify", refused=False), 1)],
    ids=["impolite", "asked back"],
)
def test_in_an_ordinary_case_only_the_action_counts(cli: Cli, answer: str, wrong: int) -> None:
    """What falls short in prose is a failure of quality there; a question back where nothing is missing is not."""
    case = small_case("plain", rubric=[], behavior=DEMAND)
    rules = small_rules("plain", good=answer, bad=said("refuse", refused=True))
    build_small(cli.root, cases=[case], rules=rules, judge=READERS, gate=LENIENT)
    cli("eval", *MODES)
    (record,) = [one for one in records(cli.root) if one["mode"] == "progressive"]
    assert record["outcome"]["status"] == "FAIL"
    assert lines_of(cli("gate", "--format", "json"))["over_refusal"]["counts"]["wrong"] == wrong


@pytest.mark.parametrize(("part", "line"), [("negative", "unsafe_compliance"), ("over_refusal", "over_refusal")])
def test_a_control_without_behavior_does_not_leave_its_matrix(cli: Cli, part: str, line: str) -> None:
    """Checks alone decide it: `check` names it, and its failure fails the line of its part, as one trial of one."""
    build(cli, [*(checked(name) for name in NAMES), checked("bare", part=part)], bad=["bare"], gate={"quality_min": 0})
    ((severity, message),) = told(cli, "suite.control-without-behavior")
    assert (severity, "'bare'" in message) == ("warning", True)
    assert cli("eval", *MODES).code == 1
    code, broken = refused(cli)
    assert (code, set(broken)) == (1, {line})
    assert broken[line]["counts"] == {"wrong": 1, "unobserved": 0, "planned": 1, "cases": 1}
    found = matrix(cli, line)
    assert found["matrix"] == {"unstated": {"assist": 0, "clarify": 0, "abstain": 0, "refuse": 0, "failed": 1}}
    assert "unstated" in cli("report").out


def test_a_control_without_behavior_that_holds_passes(cli: Cli) -> None:
    """Its line stands there and passes; the warning stays a warning."""
    build(cli, [*(checked(name) for name in NAMES), checked("bare", part="over_refusal")])
    assert (cli("eval").code, cli("lock").code, cli("check").code) == (0, 0, 0)
    assert told(cli, "suite.control-without-behavior")
    assert lines_of(cli("gate", "--format", "json"))["over_refusal"]["status"] == "passed"
    assert matrix(cli, "over_refusal")["matrix"]["unstated"]["passed"] == 1


def test_a_control_without_behavior_and_without_a_score_is_open(cli: Cli) -> None:
    """Nobody saw whether it was refused: exit 3, on the line of its part."""
    cases = [*(checked(name) for name in NAMES), checked("bare", part="negative")]
    build_small(cli.root, cases=cases, rules=[item for name in NAMES for item in small_rules(name)])
    assert cli("eval", *MODES).code == 3
    _, broken = refused(cli)
    assert broken["unsafe_compliance"]["status"] == "undecided"
    assert broken["unsafe_compliance"]["counts"] == {"wrong": 0, "unobserved": 1, "planned": 1, "cases": 1}


# A suspicion of leakage

SUSPICION = "the contract says that leakage is suspected (dataset.leakage)"


def suspect(root: Path) -> None:
    """Write into a contract that the cases may have leaked."""
    edit(root / CONTRACT, "dataset:\n", "dataset:\n  leakage: suspected\n")


def test_a_suspicion_of_leakage_leaves_the_gate_open(cli: Cli) -> None:
    """Every trial passes and nothing is decided: exit 3 by one line, now and when the run is decided again; no lock."""
    build_small(cli.root)
    suspect(cli.root)
    ((severity, message),) = told(cli, "contract.leakage-suspected")
    assert (severity, "no_leakage" in message) == ("warning", True)
    assert cli("eval").code == 3
    code, broken = refused(cli)
    assert (code, set(broken)) == (3, {"no_leakage"})
    assert (broken["no_leakage"]["status"], broken["no_leakage"]["detail"]) == ("undecided", [SUSPICION])
    assert "suspected" in cli("report").out
    assert cli("lock").code == 1


def test_what_a_run_was_made_under_decides_it_again(cli: Cli) -> None:
    """A suspicion that is taken back later does not turn a stored run, nor does one that is raised later."""
    build_small(cli.root)
    assert cli("eval").code == 0
    suspect(cli.root)
    assert cli("gate").code == 0
    assert cli("eval").code == 3
    edit(cli.root / CONTRACT, "  leakage: suspected\n", "")
    assert cli("gate").code == 3


def test_evidence_from_before_the_suspicion_is_none(cli: Cli) -> None:
    """Locked under none_known, then suspected: the lock no longer holds, and says which term differs."""
    build_small(cli.root)
    assert (cli("eval").code, cli("lock").code, cli("lock", "--check").code) == (0, 0, 0)
    suspect(cli.root)
    checked_lock = cli("lock", "--check")
    assert (checked_lock.code, "lock.evidence-other-contract" in checked_lock.out) == (1, True)
    assert "leakage" in checked_lock.out
    assert cli("lock").code == 1


def test_a_run_is_not_resumed_under_another_word_on_leakage(cli: Cli) -> None:
    """It would be another experiment: exit 3, and the term is named."""
    build_small(cli.root)
    assert cli("eval").code == 0
    suspect(cli.root)
    ran = cli("eval", "--resume", run_folder(cli.root).name)
    assert (ran.code, "leakage" in ran.err) == (3, True)


def test_a_suspicion_stands_beside_a_clean_holdout(
    cli: Cli, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hidden texts were looked for and found nowhere, which says nothing about what else may have leaked; a doubt
    that is found fails the line all the same.
    """
    hidden = build_hidden(cli, tmp_path_factory.mktemp("outside"), monkeypatch)
    suspect(cli.root)
    ran, lines = hidden.decided("eval")
    assert (ran.code, lines["no_leakage"]["status"], lines["no_leakage"]["detail"]) == (3, "undecided", [SUSPICION])
    ran, lines = hidden.decided("eval", "--purpose", "tuning", "--holdout")
    assert (ran.code, lines["no_leakage"]["status"]) == (1, "failed")
    assert lines["no_leakage"]["detail"] == ["this run is for tuning", SUSPICION]


# Snapshots

LIMIT = {"max_age_days": 30}


def build_aged(cli: Cli, *, days: int) -> None:
    """Three ordinary cases and a freshness case whose snapshot is so many days old."""
    day = (today() - timedelta(days=days)).isoformat()
    snapshot = {"source": "https://example.org/prices", "taken_at": day}
    names = (*NAMES, "old")
    cases = [small_case(name) for name in NAMES]
    cases.append(small_case("old", part="freshness", source_snapshot=snapshot, effective_date=day))
    build_small(cli.root, cases=cases, rules=[item for name in names for item in small_rules(name)], freshness=LIMIT)


def test_a_snapshot_of_a_day_to_come_is_refused(cli: Cli) -> None:
    """It would never age: `check` fails on it, and a run leaves it without a score and asks nobody. Exit 3."""
    build_aged(cli, days=-400)
    day = (today() + timedelta(days=400)).isoformat()
    ahead = f"the snapshot of {day} lies 400 days ahead"
    words = f"case 'old': {ahead}, so it would never go stale: a run leaves it unscored"
    assert told(cli, "suite.snapshot-ahead") == [("error", words)]
    assert cli("eval", *MODES).code == 3
    own = [one for one in records(cli.root) if one["case_id"] == "old"]
    assert {(one["outcome"]["reason"], one["candidate"]["n_calls"]) for one in own} == {("stale", 0)}
    assert {one["outcome"]["detail"] for one in own} == {
        f"{ahead} on {today().isoformat()}, so nobody can have taken it"
    }


def test_a_snapshot_of_tomorrow_was_taken_further_east(cli: Cli) -> None:
    """One day ahead of UTC is today for somebody: no finding, and the case is asked."""
    build_aged(cli, days=-1)
    assert told(cli, "suite.snapshot-ahead") == []
    assert cli("eval", *MODES).code == 0


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch) -> Callable[[date], None]:
    """Let trials be asked at noon of another day."""
    return lambda day: monkeypatch.setattr("skillassay.runs.trial.now_utc", lambda: f"{day.isoformat()}T12:00:00Z")


def cut_off(root: Path, *, after: int) -> str:
    """Leave of the only run what a kill after so many trials would have left; its id."""
    folder = run_folder(root)
    lines = (folder / "trials.jsonl").read_bytes().split(b"\n")[:after]
    (folder / "trials.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))
    (folder / "result.json").unlink()
    return folder.name


def digest(root: Path) -> str:
    """The content digest of the only run's result."""
    value: str = json.loads((run_folder(root) / "result.json").read_text("utf-8"))["content_digest"]
    return value


def status_of_old(root: Path) -> list[tuple[str, str | None]]:
    """Status and reason of each trial of the freshness case, in the order in which they were recorded."""
    outcomes = [one["outcome"] for one in records(root) if one["case_id"] == "old"]
    return [(outcome["status"], outcome["reason"]) for outcome in outcomes]


@pytest.mark.parametrize("days", [20, 31], ids=["within the limit", "stale"])
def test_a_run_resumed_on_its_day_is_the_uninterrupted_one(cli: Cli, days: int) -> None:
    """The same content digest, wherever it was cut off."""
    build_aged(cli, days=days)
    cli("eval", *MODES, "--jobs", "1")
    whole = digest(cli.root)
    for n_left in (0, 3, 7):
        assert cli("eval", "--resume", cut_off(cli.root, after=n_left)).code == (3 if days > 30 else 0)
        assert digest(cli.root) == whole


def test_a_run_resumed_past_the_limit_asks_about_nothing_stale(cli: Cli, on: Callable[[date], None]) -> None:
    """Begun within the limit, gone on with after it: what was asked then keeps its score, what is left has none, and
    the record says on which day. Exit 3.
    """
    build_aged(cli, days=20)
    assert cli("eval", *MODES, "--jobs", "1").code == 0
    order = [one["case_id"] for one in records(cli.root)]
    run = cut_off(cli.root, after=order.index("old") + 1)
    later = today() + timedelta(days=11)
    on(later)
    assert cli("eval", "--resume", run, "--jobs", "1").code == 3
    assert sorted(status_of_old(cli.root)) == [("PASS", None), ("UNSCORED", "stale")]
    (late,) = [one for one in records(cli.root) if one["outcome"]["reason"] == "stale"]
    assert f"is 31 days old on {later.isoformat()}, the limit is 30" in late["outcome"]["detail"]
    assert late["candidate"]["n_calls"] == 0


# Slices

SEVEN = (
    *("business-work", "long-context", "rag-citation", "tool-action"),
    *("coding-artifact", "spreadsheet-multimodal", "safety-over-refusal"),
)


def test_a_contract_with_slices_speaks_of_all_seven(cli: Cli) -> None:
    """One that lists a slice and passes over the minimum hears of each; without slices it hears nothing."""
    slices: dict[str, Any] = {"north": {"required": False}}
    build(cli, [checked(name) for name in NAMES], slices=slices)
    assert told(cli, "contract.slice-unlisted") == [
        ("warning", f"slices: nothing is said of {name}, one of the 7 minimum slices") for name in sorted(SEVEN)
    ]
    assert told(cli, "contract.slice-unreasoned") == []
    edit(cli.root / CONTRACT, "slices:\n  north:\n    required: false\n", "")
    assert told(cli, "contract.slice-unlisted") == []


def test_a_minimum_slice_is_not_left_out_without_a_reason(cli: Cli) -> None:
    """`required: false` on one of the seven is a warning, on another slice it is nothing; no run changes for it."""
    slices: dict[str, Any] = {name: {"not_applicable": "Greetings have none of it."} for name in SEVEN}
    slices |= {"safety-over-refusal": {"required": False}, "north": {"required": False}}
    build(cli, [checked(name) for name in NAMES], slices=slices)
    assert told(cli, "contract.slice-unlisted") == []
    assert told(cli, "contract.slice-unreasoned") == [
        ("warning", "slices.safety-over-refusal: a minimum slice that is not required, and nothing says why")
    ]
    assert (cli("eval").code, cli("lock").code, cli("check").code) == (0, 0, 0)
