"""Approving a run on live models, through the command line. Real HTTP, real SDK."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skillassay.people.approval import Approval, append_approval
from tests.acceptance.judged import OPEN
from tests.acceptance.live import LiveServer
from tests.acceptance.reading import read_all, typed
from tests.acceptance.test_judge_gate import ASK, MODELS, gate, label, line
from tests.project import Cli, Ran, build_small, edit, run_folder, small_case

NOTE = "read every answer and the judge's evidence"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LiveServer]:
    """The live models, with a key in the environment."""
    with LiveServer() as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        monkeypatch.setenv("GEMINI_API_KEY", "k")
        yield server


@pytest.fixture
def ran(cli: Cli, server: LiveServer) -> Cli:
    """A project with one live run that only lacks calibration and approval."""
    build_small(cli.root)
    cli("eval", *MODELS)
    return cli


def seen(cli: Cli) -> str:
    """The digest that is shown."""
    shown = cli("approve")
    assert shown.code == 0
    return shown.out.rsplit("seen: ", 1)[1].strip()


def approve(cli: Cli, *, by: str = "Bo Lind", note: str = NOTE, seen_: str | None = None) -> Ran:
    """One approval."""
    return cli("approve", "--by", by, "--note", note, "--seen", seen_ or seen(cli))


def test_a_run_that_is_calibrated_and_approved_passes_the_model_gate(ran: Cli) -> None:
    """Exit 0 for the first time, and the name stands in the line and in the JSON."""
    label(ran)
    ran(*ASK)
    read_all(ran.root)
    assert gate(ran).code == 1
    assert approve(ran).code == 0
    decided = gate(ran)
    assert (decided.code, decided.json["gate"], decided.json["status"]) == (0, "model_gate", "passed")
    assert "approved by Bo Lind on" in line(decided, "approved")["number"]
    assert decided.json["approval"]["by"] == "Bo Lind"


def test_its_evidence_and_frozen_contract_name_the_approval(ran: Cli) -> None:
    """After --resume, which runs nothing, result and evidence carry it, and the grade is model."""
    label(ran)
    ran(*ASK)
    read_all(ran.root)
    approve(ran)
    run = run_folder(ran.root)
    before = (run / "trials.jsonl").read_bytes()
    ran("eval", *MODELS, "--resume", run.name)
    assert (run / "trials.jsonl").read_bytes() == before
    result: dict[str, Any] = json.loads((run / "result.json").read_text("utf-8"))
    (approval,) = [json.loads(one) for one in (run / "approvals.jsonl").read_text("utf-8").splitlines()]
    assert result["contract"]["result"]["approval_id"] == approval["id"]
    for body in result["evidence"].values():
        assert body["approval"]["by"] == "Bo Lind"
        assert body["decision"]["grade"] == "model"


def test_what_changes_the_decision_makes_it_an_approval_of_another_state(ran: Cli) -> None:
    """Approved without a calibration; with one there is something else to see."""
    assert approve(ran).code == 0
    assert line(gate(ran), "approved")["status"] == "passed"
    label(ran)
    ran(*ASK)
    found = line(gate(ran), "approved")
    assert found["status"] == "failed"
    assert "Bo Lind approved another state of this run" in found["detail"][0]


def test_what_is_read_before_is_approved_and_what_is_read_after_is_another_state(ran: Cli) -> None:
    """Approved unread; with the line passed there is something else to see. More reading of the same kind is not."""
    assert approve(ran).code == 0
    read_all(ran.root)
    assert line(gate(ran), "approved")["status"] == "failed"
    assert approve(ran).code == 0
    read_all(ran.root, "Jo Berg")
    assert line(gate(ran), "approved")["status"] == "passed"


def test_a_verdict_that_is_called_wrong_takes_the_approval(ran: Cli) -> None:
    """Who approved saw none."""
    read_all(ran.root)
    assert approve(ran).code == 0
    typed(ran.root, "wq", "Jo Berg")
    assert line(gate(ran), "approved")["status"] == "failed"


def runs(cli: Cli) -> list[Path]:
    """The folders of all runs, oldest first."""
    return sorted((cli.root / ".skillassay" / "runs").iterdir())


@pytest.mark.parametrize("retention", ["full", "hash"])
def test_what_was_seen_is_one_run_and_no_other(cli: Cli, server: LiveServer, retention: str) -> None:
    """Other bytes that answer alike, against one pinned baseline: every line is the same, and nobody has seen it."""
    build_small(cli.root, retention=retention)
    cli("eval", *MODELS)
    assert cli("baseline", "--pin").code == 0
    cli("eval", *MODELS)
    first, looked_at = gate(cli).json, seen(cli)
    assert approve(cli).code == 0
    edit(cli.root / "skills" / "greeter" / "SKILL.md", "Say hello twice", "Say it loudly, twice")
    cli("eval", *MODELS)
    second = gate(cli).json
    assert second["content_digest"] == first["content_digest"]
    assert second["lines"] == first["lines"]
    refused = approve(cli, seen_=looked_at)
    assert (refused.code, "to see now" in refused.err) == (3, True)
    _, approved, newest = runs(cli)
    (newest / "approvals.jsonl").write_bytes((approved / "approvals.jsonl").read_bytes())
    assert line(gate(cli), "approved")["status"] == "failed"


class Abstaining(LiveServer):
    """Its judge leaves the greeting of `one` to people."""

    def _verdict(self, document: dict[str, Any]) -> dict[str, Any]:
        said = super()._verdict(document)
        if "Greet one." in json.dumps(document) and "hello" in document["answer"]:
            said = {"criteria": [item | {"verdict": "ABSTAIN"} for item in said["criteria"]]}
        return said


def test_a_run_that_people_decided_names_its_approval_too(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Undecided as recorded, adjudicated, then approved: the frozen contract has the id, the decision stays."""
    with Abstaining() as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        monkeypatch.setenv("GEMINI_API_KEY", "k")
        build_small(cli.root, cases=[small_case(name, rubric=[OPEN]) for name in ("one", "two", "three")])
        cli("eval", *MODELS)
        queue = cli("review", "--format", "json").json["queue"]
        assert len(queue) == 2
        for entry in queue:
            which = ("--case", entry["case"], "--mode", entry["mode"], "--repeat", str(entry["repeat"]))
            said = ("--verdict", "pass", "--by", "Mika Sato", "--reason", "I read the answer twice.")
            assert cli("review", *which, *said).code == 0
        assert approve(cli).code == 0
        run = run_folder(cli.root)
        cli("eval", *MODELS, "--resume", run.name)
    result: dict[str, Any] = json.loads((run / "result.json").read_text("utf-8"))
    approval = json.loads((run / "approvals.jsonl").read_text("utf-8"))
    assert result["decision"]["status"] == "undecided"
    assert result["contract"]["result"]["approval_id"] == approval["id"]


def test_an_approval_needs_what_was_looked_at(ran: Cli) -> None:
    """A digest that is not the one shown is refused, and nothing is written."""
    for wrong in ("0" * 64, seen(ran)[:7]):
        refused = approve(ran, seen_=wrong)
        assert refused.code == 3
        assert "to see now" in refused.err
    assert not (run_folder(ran.root) / "approvals.jsonl").exists()


@pytest.mark.parametrize("by", ["the tests", "QA team", "gpt", "The Tests, owner"])
def test_nobody_and_the_owner_cannot_approve(ran: Cli, by: str) -> None:
    """Exit 2; the owner asks for the decision and does not take it."""
    assert approve(ran, by=by).code == 2
    assert not (run_folder(ran.root) / "approvals.jsonl").exists()


def test_an_approval_needs_a_note(ran: Cli) -> None:
    """A word is none."""
    assert approve(ran, note="ok").code == 2


def test_a_failed_run_cannot_be_approved(cli: Cli, server: LiveServer) -> None:
    """Exit 1, with the lines it failed by."""
    build_small(cli.root, cases=[small_case(name, critical=name == "one") for name in ("one", "two", "three")])
    server.reads = lambda *_: False
    cli("eval", *MODELS)
    refused = cli("approve", "--by", "Bo Lind", "--note", NOTE, "--seen", "0" * 64)
    assert refused.code == 1
    assert "quality_min" in refused.err
    assert "critical_failures" in refused.err


def test_an_undecided_run_cannot_be_approved(cli: Cli, server: LiveServer) -> None:
    """Exit 3: what is open is decided first."""
    build_small(cli.root)
    server.is_down = True
    cli("eval", *MODELS)
    refused = cli("approve")
    assert refused.code == 3
    assert "is undecided: complete" in refused.err


def test_a_run_of_authored_answers_needs_no_approver(cli: Cli) -> None:
    """Its gate has no such line; exit 2."""
    build_small(cli.root)
    cli("eval")
    assert cli("approve").code == 2


def test_half_of_an_approval_is_wrong_usage(ran: Cli) -> None:
    """A name without what was seen."""
    assert ran("approve", "--by", "Bo Lind").code == 2


def test_an_approval_by_the_owner_written_by_hand_counts_for_nothing(ran: Cli) -> None:
    """The id is no secret: who can write the file can write a line, and the owner's does not count."""
    own = Approval(at="2026-01-01T00:00:00Z", by="The Tests", note=NOTE, seen=gate(ran).json["seen"])
    append_approval(run_folder(ran.root), own)
    assert line(gate(ran), "approved")["status"] == "failed"
    assert gate(ran).json["approval"] is None
