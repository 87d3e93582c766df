"""Approving a run on live models, through the command line. Real HTTP, real SDK."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.acceptance.live import LiveServer
from tests.acceptance.test_judge_gate import ASK, MODELS, gate, label, line
from tests.project import Cli, Ran, build_small, run_folder, small_case

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
