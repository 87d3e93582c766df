"""Public reports on gates and aggregates: verdicts that a number could not explain. Names are the reports' labels."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from skillassay.contract.contract import exact_fraction
from skillassay.errors import Exit, Reason
from skillassay.gate.decide import Status
from skillassay.gate.lines import count_status
from skillassay.runs.plan import Mode
from skillassay.runs.record import Spent
from skillassay.scoring.repeats import repeats_of
from skillassay.scoring.scores import score_run
from skillassay.statistics.paired import paired_difference
from skillassay.transcript import Usage
from tests.gate.test_decide import decided, line
from tests.scoring.test_scores_public import result_of
from tests.trials import plan_of, planned_case, scored, unscored

PUBLIC = Path(__file__).parents[1] / "data" / "public" / "stats"


def data(name: str) -> Any:
    """The material of a report."""
    return json.loads((PUBLIC / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("member", data("adk-6739/t.json"), ids=str)
def test_google_adk_python_6739_a_limit_has_a_direction(member: dict[str, Any]) -> None:
    """google/adk-python#6739: what must stay below a limit fails above it; what must reach one fails below it."""
    value, limit = exact_fraction(member["value"]), exact_fraction(member["limit"])
    if member["direction"] == "lower":
        status = count_status(value.numerator, 0, of=value.denominator, limit=limit)
    else:
        plan = plan_of(planned_case("a", n=value.denominator))
        decision = decided(
            lambda t: scored(t, value.numerator), plan, {"quality_min": Fraction(0), "worst_case_min": limit}
        )
        status = line(decision, "worst_case").status
    assert (status is Status.PASSED) == member["pass"]


def test_rjmurillo_ai_agents_5601_a_mixed_base_is_flaky() -> None:
    """rjmurillo/ai-agents#5601: two passes of three name the case flaky; three of three do not."""
    sides = data("ai-agents-5601/t.json")
    flaky = {}
    for side in ("base", "head"):
        plan = plan_of(planned_case("a", n=1), modes=(Mode.PROGRESSIVE,), repeats=len(sides[side]))
        records = [scored(trial, passed) for trial, passed in zip(plan.trials, sides[side], strict=True)]
        (case,) = repeats_of(score_run(plan, records, slices={}).rows)
        flaky[side] = (case.is_flaky, case.passed, case.scored)
    assert flaky == {"base": (True, 2, 3), "head": (False, 3, 3)}


def test_anthropics_plugins_5723_counts_come_from_the_data() -> None:
    """anthropics/claude-plugins-official#5723: 2 runs of 801 tokens on average; with one untold the sum is unknown."""
    told = [data(f"anthropics-plugins-5723/run-{number}/timing.json")["total_tokens"] for number in (1, 2)]
    plan = plan_of(planned_case("a"), modes=(Mode.PROGRESSIVE,), repeats=2)

    def mode_of(tokens: list[int | None]) -> dict[str, Any]:
        spent = [Spent(n_calls=1, n_attempts=1, usage=Usage(input_tokens=n, n_calls=1)) for n in tokens]
        records = [replace(scored(t, 5), candidate=s) for t, s in zip(plan.trials, spent, strict=True)]
        found: dict[str, Any] = result_of(plan, records)["metrics"]["modes"]["progressive"]
        return found

    mode = mode_of(told)
    assert (mode["attempts"], mode["input_tokens"] / mode["attempts"]) == (2, 801)
    assert mode_of([told[0], None])["input_tokens"] is None


def test_azure_sdk_tools_15696_the_reason_stands_by_the_number() -> None:
    """Azure/azure-sdk-tools#15696: 9 of 9 and one error in one line; exit 3, neither passed nor a regression."""
    members = data("azure-sdk-15696/results.json")
    plan = plan_of(*(planned_case(str(m["case"])) for m in members), modes=(Mode.PROGRESSIVE,))
    outcomes = {str(member["case"]): member["outcome"] for member in members}
    decision = decided(lambda t: scored(t, 5) if outcomes[t.case_id] == "pass" else unscored(t, Reason.TIMEOUT), plan)
    assert decision.exit_code == Exit.UNDECIDED
    quality = line(decision, "quality_min")
    assert quality.status is Status.UNDECIDED
    assert "9 of 9 scored trials reach it, 1 without a score" in quality.number


@pytest.mark.parametrize("member", data("dotnet-skills-952/t.json"), ids=str)
def test_dotnet_skills_952_no_interval_without_width(member: dict[str, Any]) -> None:
    """dotnet/skills#952: one score, three equal ones, or one win, tie and loss show no difference."""
    pairs = member.get("pairs")
    differences = member["scores"] if pairs is None else [1.0] * pairs["win"] + [0.0] * pairs["tie"] + [-1.0]
    found = paired_difference([Fraction(str(value)) for value in differences])
    assert found.interval is not None
    assert found.word == "inconclusive"
    assert found.interval.low < 0 < found.interval.high


def test_dotnet_skills_952_three_equal_scores_are_no_proof() -> None:
    """dotnet/skills#952: three of one sign have p = 1/8 on one side, 1/4 on both."""
    assert paired_difference([Fraction(2, 5)] * 3).p_value == 2 * 0.125


def test_dotnet_skills_952_equal_skills_seldom_differ() -> None:
    """dotnet/skills#952, the A/A test: of 1000 comparisons of equals at most 5 % differ, give or take 3 sd."""
    draw = random.Random(952)
    shown = sum(
        paired_difference([Fraction(draw.randint(-2, 2), 5) for _ in range(8)]).word != "inconclusive"
        for _ in range(1000)
    )
    assert shown <= 50 + 3 * (1000 * 0.05 * 0.95) ** 0.5


def test_pydantic_ai_7928_the_denominator_stands_beside() -> None:
    """pydantic/pydantic-ai#7928: full marks on one case of four say so, in the result and in words."""
    members = data("pydantic-ai-7928/results.json")
    plan = plan_of(*(planned_case(str(m["case"])) for m in members), modes=(Mode.PROGRESSIVE,))
    records = [unscored(t) if m["score"] is None else scored(t, 5) for t, m in zip(plan.trials, members, strict=True)]
    mode = result_of(plan, records)["metrics"]["modes"]["progressive"]
    assert (mode["k"], mode["n"], mode["n_planned"]) == (5, 5, 20)
    assert (mode["trials"]["passed"], mode["trials"]["unscored"], mode["trials"]["planned"]) == (1, 3, 4)


def test_nvidia_skill_evaluator_61_the_headline_is_the_tables_sum() -> None:
    """NVIDIA/SkillEvaluator#61: score, mode total and list of trials are one number, however criteria are grouped."""
    metrics = data("skillevaluator-61/t.json")["metrics"]
    plan = plan_of(*(planned_case(name, n=10) for name in metrics), modes=(Mode.PROGRESSIVE,))
    records = [scored(t, int(exact_fraction(metrics[t.case_id]) * 10)) for t in plan.trials]
    result = result_of(plan, records)
    table = [(trial["k"], trial["n"]) for trial in result["trials"]]
    summed = {"k": sum(k for k, _ in table), "n": sum(n for _, n in table)}
    assert result["score"] == summed == {"k": 40, "n": 60}
    mode = result["metrics"]["modes"]["progressive"]
    assert {"k": mode["k"], "n": mode["n"]} == summed
