"""Public reports on aggregation: errors that became zeros, failures or passes. The names are the reports' labels."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from skillassay.contract.contract import GateTerms, exact_fraction
from skillassay.errors import Exit, Reason, Stage
from skillassay.gate.decide import Decision, GateLine, Status
from skillassay.runs.plan import Mode, Plan
from skillassay.runs.record import TrialRecord
from skillassay.runs.results import build_result
from skillassay.scoring.assessment import RunFacts, assess
from skillassay.scoring.scores import rate_of, score_run
from tests.contract.frozen import any_groups
from tests.gate.test_decide import Say, decided, good
from tests.trials import plan_of, planned_case, scored, unscored

PUBLIC = Path(__file__).parents[1] / "data" / "public"


def data(name: str) -> Any:
    """The material of a report."""
    return json.loads((PUBLIC / name).read_text(encoding="utf-8"))


def result_of(plan: Plan, records: list[TrialRecord]) -> dict[str, Any]:
    """The canonical result of a run."""
    facts = RunFacts(
        expected={},
        plan=plan,
        gate=GateTerms(),
        is_fixture=True,
        estimated_tokens=True,
        critical_cases=frozenset(),
        critical_criteria=frozenset(),
        graded_cases=dict.fromkeys(plan.skills, 3),
        skill_names={},
        slices={},
    )
    model = {"label": "fixture", "is_fixture": True}
    models = {"candidate": model, "judge": model, "independent": False}
    header = {
        "id": "run",
        "created_at": "2026-01-01T00:00:00Z",
        "contract": {"groups": any_groups()},
        "suites": {},
        "models": models,
        "subject": "loop",
    }
    return build_result(facts, assess(facts, records, moved=()), header, occurred_at="2026-01-01T00:00:00Z")


@pytest.mark.parametrize("member", data("api/adk-6682/t.json"), ids=str)
def test_google_adk_python_6682_the_combination_has_no_order(member: dict[str, Any]) -> None:
    """google/adk-python#6682: a metric that was not evaluated hides behind no other, and nothing is not passed."""
    words = {"PASSED": Status.PASSED, "FAILED": Status.FAILED, "NOT_EVALUATED": Status.UNDECIDED}
    lines = tuple(GateLine(name="x", status=words[word], number="", limit="") for word in member["in"])
    codes = {"PASSED": Exit.PASSED, "FAILED": Exit.FAILED, "INCOMPLETE": Exit.UNDECIDED}
    decision = Decision(gate="fixture_gate", lines=lines) if lines else decided(plan=plan_of())
    assert decision.exit_code == codes[member["out"]]


def test_lightspeed_evaluation_216_an_error_is_no_zero() -> None:
    """lightspeed-core/lightspeed-evaluation#216: None stays None; the mean is over one, the error is counted."""
    members = data("api/lightspeed-216/results.json")
    plan = plan_of(*(planned_case(f"c{m['case']}") for m in members), modes=(Mode.PROGRESSIVE,))
    records = [unscored(t) if m["score"] is None else scored(t, 0) for t, m in zip(plan.trials, members, strict=True)]
    result = result_of(plan, records)
    assert result["score"] == {"k": 0, "n": 5}
    assert {key: result["counts"][key] for key in ("planned", "passed", "failed", "unscored")} == {
        "planned": 2,
        "passed": 0,
        "failed": 1,
        "unscored": 1,
    }
    assert [trial["k"] for trial in result["trials"]] == [None, 0]


def test_swe_bench_pro_78_api_errors_are_no_failures() -> None:
    """scaleapi/SWE-bench_Pro-os#78: 6 of 8 scored of 10 planned, two errors named, the run incomplete."""
    members = data("api/swe-bench-pro-78/results.json")
    plan = plan_of(*(planned_case(f"c{m['case']}") for m in members), modes=(Mode.PROGRESSIVE,))
    say: dict[str, Say] = {"pass": lambda t: scored(t, 5), "fail": lambda t: scored(t, 4), "api_error": unscored}
    records = [say[m["outcome"]](t) for t, m in zip(plan.trials, members, strict=True)]
    scores = score_run(plan, records, slices={})
    rate = rate_of(scores.rows)
    assert (rate.passed, rate.failed, rate.unscored, rate.scored, rate.planned) == (6, 2, 2, 8, 10)
    assert Fraction(rate.passed, rate.scored) == Fraction(3, 4)
    assert scores.reasons == (("progressive", "provider_error (candidate)", 2),)
    assert decided(lambda t: say[members[int(t.case_id[1:]) - 1]["outcome"]](t), plan).exit_code == Exit.UNDECIDED


def test_b_open_io_prompts_15_an_unread_judge_drops_the_pair() -> None:
    """b-open-io/prompts#15: no fake failure; the pair leaves both arms, the error is counted, the run is incomplete."""
    plan = plan_of(planned_case("a"), planned_case("b"), modes=(Mode.PROGRESSIVE, Mode.NONE))
    records = [
        unscored(t, Reason.CONTRACT_ERROR, Stage.JUDGE) if (t.case_id, t.mode) == ("a", Mode.PROGRESSIVE) else good(t)
        for t in plan.trials
    ]
    (lift,) = score_run(plan, records, slices={}).lifts
    assert (lift.n_cases, lift.n_planned) == (1, 2)
    assert (lift.k_of, lift.n_of, lift.k_against, lift.n_against) == (5, 5, 2, 5)
    result = result_of(plan, records)
    assert result["passed"] is None
    assert result["metrics"]["unscored"] == [
        {"mode": "progressive", "reason": "contract_error (judge)", "count": 1},
    ]


@pytest.mark.parametrize("member", data("stats/camunda-50019/t.json"), ids=str)
def test_camunda_50019_the_limit_is_exact(member: dict[str, Any]) -> None:
    """camunda/camunda#50019: no float noise at the limit, and never "0.80 < 0.80"."""
    if "scores" in member:
        share = sum(map(exact_fraction, member["scores"]), Fraction(0)) / len(member["scores"])
    elif "of" in member:
        share = Fraction(member["passed"], member["of"])
    else:
        share = exact_fraction(member["score"])
    plan = plan_of(planned_case("a", n=share.denominator), modes=(Mode.PROGRESSIVE,))
    decision = decided(lambda t: scored(t, share.numerator), plan, {"quality_min": exact_fraction(member["threshold"])})
    line = next(line for line in decision.lines if line.name == "quality_min")
    assert (line.status is Status.PASSED) == member["pass"]
    assert f"{share.numerator}/{share.denominator}" in line.number


@pytest.mark.parametrize("n_errors", range(4))
def test_the_result_adds_up(n_errors: int) -> None:
    """passed + failed + unscored == planned in the counts, in each mode, and in the list of trials."""
    plan = plan_of(planned_case("a"), repeats=2)
    records = [unscored(t) if i < n_errors else good(t) for i, t in enumerate(plan.trials)]
    result = result_of(plan, records)
    rates = [result["counts"], *(mode["trials"] for mode in result["metrics"]["modes"].values())]
    for rate in rates:
        assert rate["passed"] + rate["failed"] + rate["unscored"] == rate["planned"]
    assert result["counts"]["planned"] == len(result["trials"]) == len(plan.trials)
    assert sum(trial["status"] == "UNSCORED" for trial in result["trials"]) == result["counts"]["unscored"] == n_errors
