"""What `make eval-local` makes of a run: the model may be poor, harness and engine may not."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from scripts.eval_local import EXAMPLE, conclude, retry_command


def trial(status: str = "FAIL", reason: str | None = None) -> dict[str, Any]:
    """A trial as a result lists it."""
    return {"case": "one", "mode": "none", "status": status, "reason": reason, "stage": "judge", "detail": "why"}


def result(*trials: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A result with these trials, whose counts fit them unless told otherwise."""
    n = {word: sum(one["status"] == word for one in trials) for word in ("PASS", "FAIL", "UNSCORED")}
    counts = {"passed": n["PASS"], "failed": n["FAIL"], "unscored": n["UNSCORED"], "planned": len(trials)}
    decision = {"gate": "model_gate", "status": "undecided"}
    return {"counts": counts, "interrupted": False, "decision": decision, "trials": list(trials)} | fields


@pytest.mark.parametrize("code", [0, 1, 3])
@pytest.mark.parametrize("reason", ["ungrounded", "contract_error", "truncated", "blocked", "judge_abstained"])
def test_a_poor_model_is_no_failure(code: int, reason: str) -> None:
    """A whole result whose trials failed, or are unscored by the model's doing, passes at each of the three codes."""
    conclusion = conclude(code, [result(trial(), trial("UNSCORED", reason))])
    assert conclusion.worked
    assert "0 passed + 1 failed + 1 unscored of 2 planned" in conclusion.words


@pytest.mark.parametrize("code", [2, 70, 127, 137, 141])
def test_another_exit_code_fails(code: int) -> None:
    """A command that was called wrongly, crashed, was killed or never started proves nothing, result or not."""
    assert not conclude(code, [result(trial())]).worked


@pytest.mark.parametrize(
    "results", [[], [None], [result(trial()), result(trial())]], ids=["no-run", "no-result", "two"]
)
def test_not_exactly_one_result_fails(results: list[dict[str, Any] | None]) -> None:
    """Exit code 3 without a result is an error that came before the first trial."""
    assert not conclude(3, results).worked


@pytest.mark.parametrize(
    "reason",
    ["provider_error", "timeout", "check_error", "harness_error", "missing_required_capability", "interrupted"],
)
def test_a_trial_lost_by_harness_or_engine_fails(reason: str) -> None:
    """One trial that the engine did not answer, or the harness could not score, is named and fails the target."""
    conclusion = conclude(3, [result(trial(), trial("UNSCORED", reason))])
    assert not conclusion.worked
    assert reason in conclusion.words


@pytest.mark.parametrize(
    "broken",
    [
        result(),
        result(trial(), interrupted=True),
        result(trial(), counts={"passed": 0, "failed": 1, "unscored": 0, "planned": 2}),
    ],
    ids=["empty", "interrupted", "missing"],
)
def test_a_run_that_is_not_whole_fails(broken: dict[str, Any]) -> None:
    """Nothing planned, an interruption, or a denominator that does not add up."""
    assert not conclude(3, [broken]).worked


def test_a_run_goes_on_at_its_own_port() -> None:
    """The command names the port that the run was asked at, and quotes a folder that a shell would take apart."""
    header = {"id": "R1", "models": {"candidate": {"endpoint": "http://127.0.0.1:8123/v1"}}}
    assert retry_command(EXAMPLE, header, "--resume") == "make eval-local PORT=8123 ARGS='--resume R1'"
    elsewhere = retry_command(Path("/some where"), header, "--retry-unscored")
    assert shlex.split(elsewhere)[1:] == [
        "scripts/eval_local.py", "--root", "/some where", "--port", "8123", "--", "--retry-unscored", "R1",
    ]  # fmt: skip
