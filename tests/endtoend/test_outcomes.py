"""Everything that can keep a trial from a score: each is a reason of its own, and the run goes on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from skillassay.cli.main import main
from tests.project import (
    SETTINGS,
    Cli,
    build_small,
    records,
    rule,
    small_case,
    small_rules,
)

STUBBORN = {"calls": [{"name": "load_skill", "args": {"skill_name": "greeter"}}]}
SCRIPT = {"calls": [{"name": "run_skill_script", "args": {"skill_name": "greeter", "file_path": "scripts/x.sh"}}]}


def error(code: int, status: str) -> dict[str, Any]:
    """An authored HTTP error."""
    return {"error": {"code": code, "status": status, "message": f"authored {code}"}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """How the trials of a case end: what the fixture answers, and what the record then says."""

    reply: dict[str, Any] | None
    status: str = "UNSCORED"
    reason: str | None = None
    stage: str | None = None
    kind: str | None = None
    detail: str = ""


CASES = {
    "quota": Ends(
        reply=error(429, "RESOURCE_EXHAUSTED"), reason="provider_error", stage="candidate", kind="quota", detail="429"
    ),
    "server": Ends(
        reply=error(500, "INTERNAL"), reason="provider_error", stage="candidate", kind="server", detail="authored 500"
    ),
    "auth": Ends(
        reply=error(401, "UNAUTHENTICATED"), reason="provider_error", stage="candidate", kind="auth", detail="401"
    ),
    "request": Ends(
        reply=error(400, "INVALID_ARGUMENT"), reason="provider_error", stage="candidate", kind="request", detail="400"
    ),
    "safety": Ends(reply={"finish": "SAFETY"}, reason="blocked", stage="candidate", kind="safety", detail="SAFETY"),
    "prompt": Ends(reply={"finish": "BLOCKED_PROMPT"}, reason="blocked", stage="candidate", kind="prompt"),
    "cut": Ends(reply={"finish": "MAX_TOKENS"}, reason="truncated", stage="candidate", kind="max_tokens"),
    "malformed": Ends(
        reply={"finish": "MALFORMED_FUNCTION_CALL"},
        reason="contract_error",
        stage="candidate",
        kind="malformed_function_call",
    ),
    "unmatched": Ends(reply=None, reason="provider_error", stage="candidate", kind="fixture_miss", detail="no subject"),
    "unjudged": Ends(
        reply={"text": "hi"}, reason="provider_error", stage="judge", kind="fixture_miss", detail="no judge rule"
    ),
    "hanging": Ends(reply={"text": "a" * 60 + "b"}, reason="check_error", stage="check", detail="hangs: "),
    "missing": Ends(reply=SCRIPT, reason="missing_required_capability", stage="harness", detail="bash"),
    "stubborn": Ends(reply=STUBBORN, status="FAIL", kind="turn_limit", detail="turn_limit: no answer after 3 model"),
    "empty": Ends(reply={"text": ""}, status="FAIL"),
    "good": Ends(reply={"text": "hello"}, status="PASS"),
}


def build_cases() -> list[dict[str, Any]]:
    """The cases, all with one criterion but those whose end needs another."""
    cases = {name: small_case(name) for name in CASES}
    cases["unjudged"]["rubric"] = [{"id": "nobody-decides", "text": "Something."}]
    cases["hanging"]["checks"] = [{"id": "hangs", "type": "regex", "pattern": "(a|aa)+$"}]
    return list(cases.values())


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """One run over all of them, in progressive: its project and its exit code."""
    root = tmp_path_factory.mktemp("ends")
    rules = [rule(name, ends.reply) for name, ends in CASES.items() if ends.reply is not None]
    files = {"skills/greeter/scripts/x.sh": "echo x\n"}
    build_small(root, cases=build_cases(), rules=rules, files=files, candidate={"turn_limit": 3})
    with pytest.MonkeyPatch.context() as patch:
        for name in SETTINGS:
            patch.delenv(name, raising=False)
        patch.setattr("skillassay.isolation.script.SYSTEM_PATH", "/nowhere")
        return root, main(["--root", str(root), "--quiet", "eval", "--mode", "progressive"])


@pytest.mark.parametrize("case", CASES)
def test_each_end_is_an_outcome_of_its_own(ended: tuple[Path, int], case: str) -> None:
    """Status, reason, stage and kind, with words that say what happened."""
    (record,) = [record for record in records(ended[0]) if record["case_id"] == case]
    ends, outcome = CASES[case], record["outcome"]
    assert (outcome["status"], outcome["reason"], outcome["stage"], outcome["kind"]) == (
        ends.status,
        ends.reason,
        ends.stage,
        ends.kind,
    )
    assert ends.detail in (outcome["detail"] or "")


def test_transport_is_retried_and_counted(ended: tuple[Path, int]) -> None:
    """429 and 500 are tried again, 400 and 401 are not, and an answer never is."""
    attempts = {record["case_id"]: record["candidate"]["n_attempts"] for record in records(ended[0])}
    assert {name: attempts[name] for name in ("quota", "server", "auth", "request", "safety", "malformed", "good")} == {
        "quota": 4,
        "server": 4,
        "auth": 1,
        "request": 1,
        "safety": 1,
        "malformed": 1,
        "good": 1,
    }


def test_an_error_keeps_what_was_decided_before_it(ended: tuple[Path, int]) -> None:
    """The answer stands in the record of a trial whose check or judge could not decide."""
    by_case = {record["case_id"]: record for record in records(ended[0])}
    assert by_case["hanging"]["answer"] == "a" * 60 + "b"
    assert by_case["unjudged"]["answer"] == "hi"
    assert by_case["stubborn"]["n_criteria"] == 1
    assert by_case["stubborn"]["marks"] == []


def test_nothing_planned_vanishes(ended: tuple[Path, int], capsys: pytest.CaptureFixture[str]) -> None:
    """passed + failed + unscored == planned, in table, Markdown and JSON alike; a failure makes it exit 1."""
    root, code = ended
    cli = Cli(root, capsys)
    counts = json.loads(cli("report", "--format", "json").out)["counts"]
    assert code == 1
    assert (counts["passed"], counts["failed"], counts["unscored"], counts["planned"]) == (1, 2, 12, 15)
    table = cli("report").out
    assert "1/3 of 15 planned" in table
    assert sum(int(line.split()[1]) for line in table.splitlines() if line.startswith("unscored: ")) == 12
    markdown = cli("report", "--format", "markdown").out
    assert "1/3 of 15 planned" in markdown.replace("&#45;", "-")
    table = markdown[markdown.index("| case | mode |") :]
    rows = [line.split(" | ")[2].split()[0] for line in table.splitlines()[2:] if line.startswith("| ")]
    assert sorted(rows) == ["FAIL"] * 2 + ["PASS"] + ["UNSCORED"] * 12


def test_the_gate_names_every_open_trial(ended: tuple[Path, int], capsys: pytest.CaptureFixture[str]) -> None:
    """The line `complete` is open, and says case, reason and stage."""
    shown = json.loads(Cli(ended[0], capsys)("gate", "--format", "json").out)
    (complete,) = [line for line in shown["lines"] if line["name"] == "complete"]
    assert complete["status"] == "undecided"
    assert len(complete["detail"]) == 12
    assert any(
        text.startswith("auth [progressive #1]: provider_error (candidate): HTTP 401") for text in complete["detail"]
    )


def three(**odd: dict[str, Any]) -> list[dict[str, Any]]:
    """Rules for three cases; what is answered with the skill at hand is good unless told otherwise."""
    rules = []
    for name in ("one", "two", "three"):
        good, bad = small_rules(name)
        rules += [good | {"reply": odd.get(name, good["reply"])}, bad]
    return rules


def test_an_error_alone_leaves_the_decision_open(cli: Cli) -> None:
    """One trial without a score and no failure: exit 3."""
    build_small(cli.root, rules=three(one=error(500, "INTERNAL")))
    ran = cli("eval")
    assert ran.code == 3
    assert "fixture_gate: UNDECIDED" in ran.out


def test_a_failure_decides_although_there_is_an_error(cli: Cli) -> None:
    """A scored trial below the limit fails the gate whatever else could not be scored: exit 1."""
    build_small(cli.root, rules=three(one=error(500, "INTERNAL"), two={"text": "good day"}))
    assert cli("eval").code == 1


def test_a_run_in_which_nothing_ran_is_open(cli: Cli) -> None:
    """Every trial ended in an error: exit 3, and no rate claims anything."""
    build_small(cli.root, rules=[rule("nobody", {"text": "x"})])
    ran = cli("eval")
    assert ran.code == 3
    assert "0/0 of 3 planned no interval" in ran.out
    assert cli("gate").code == 3


def test_an_empty_plan_cannot_be_decided(cli: Cli) -> None:
    """No case at all: exit 3."""
    build_small(cli.root, cases=[])
    assert cli("eval").code == 3


def test_an_unknown_choice_is_wrong_usage(cli: Cli) -> None:
    """A case or skill that does not exist is exit 2, with those that do."""
    build_small(cli.root)
    for option, known in (("--case", "one, three, two"), ("--skill", "greeter, skills/greeter")):
        ran = cli("eval", option, "other")
        assert ran.code == 2
        assert known in ran.err
