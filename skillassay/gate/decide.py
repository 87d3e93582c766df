"""The gate: the only place that says passed or failed. Pure; an AND of lines, each with number, limit and counts.

An average never overrides a line. An error is never a failure: an unscored trial leaves the decision open (exit 3)
unless a line already failed on scored trials. Fixture runs and live runs pass gates of different names, and neither
counts for the other. What makes a line lies in the ``gate_`` modules by theme; here they become one decision.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from skillassay.contract.contract import GateTerms
from skillassay.contract.terms import NONE_KNOWN
from skillassay.gate.approval import approved_line
from skillassay.gate.asked import holdout_asked_lines
from skillassay.gate.behavior import behavior_lines
from skillassay.gate.contract import candidate_named_line, contract_complete_line, records_whole_line
from skillassay.gate.holdout import leakage_lines
from skillassay.gate.judge import UNKNOWN, JudgeFacts, judge_lines
from skillassay.gate.lines import Decision, GateLine, Status, decimal_text
from skillassay.gate.regression import regression_line
from skillassay.gate.second import second_judge_line
from skillassay.gate.skills import beats_none_line, clean_arms_line, graded_cases_line, unmoved_line
from skillassay.gate.slices import (
    failure_corpus_line,
    required_slices_line,
    slice_quality_line,
    slice_statuses,
    variance_line,
)
from skillassay.gate.suites import suite_lines
from skillassay.gate.trials import (
    Critical,
    complete_line,
    critical_line,
    failures_line,
    quality_line,
    worst_case_line,
)
from skillassay.holdout.sealed import HoldoutAsked, HoldoutUse
from skillassay.people.approval import Approval, seen_digest
from skillassay.people.review import Entry, nothing_held_line
from skillassay.runs.plan import Plan
from skillassay.scoring.breakdown import About, Breakdown
from skillassay.scoring.regression import Regression
from skillassay.scoring.scores import Scores
from skillassay.suites.terms import SuiteTerms

__all__ = ["Decision", "GateInput", "GateLine", "Status", "decide", "decimal_text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateInput:
    """What the gate looks at besides the scores. ``breakdown`` takes apart the same rows that the scores are of."""

    plan: Plan
    terms: GateTerms
    is_fixture: bool
    critical_cases: frozenset[tuple[str, str]]
    critical_criteria: frozenset[tuple[str, str]]
    graded_cases: Mapping[str, int]
    moved_skills: tuple[str, ...]
    skill_names: Mapping[str, str]
    about: About
    breakdown: Breakdown
    unstated: tuple[str, ...] = ()
    queue: tuple[Entry, ...] = ()
    holdout: HoldoutUse | None = None
    holdout_asked: HoldoutAsked | None = None
    leakage: str = NONE_KNOWN
    own_model: str | None = None
    suite_terms: Mapping[str, SuiteTerms] = field(default_factory=dict)
    judge: JudgeFacts = UNKNOWN
    regression: Regression | None = None
    suite_regressions: tuple[Regression, ...] = ()
    approvals: tuple[Approval, ...] = ()
    run_id: str = ""
    content_digest: str = ""
    is_changed: bool = False


def decide(scores: Scores, given: GateInput) -> Decision:
    """Decide on a run. ``graded_cases`` counts each planned skill's cases in the suites, planned now or not.

    ``critical_cases`` and ``critical_criteria`` hold (suite, case id): the whole case is critical, or a criterion is.
    """
    terms, parts = given.terms, given.breakdown
    critical = Critical(cases=given.critical_cases, criteria=given.critical_criteria)
    lines = _measured(scores, given, critical)
    if terms.manual_block is not None:
        blocked = (terms.manual_block,)
        lines.append(GateLine(name="no_manual_block", status=Status.FAILED, number="1", limit="0", detail=blocked))
    if not given.is_fixture:
        lines += judge_lines(given.judge, scores.rows, terms)
    seen = seen_digest(lines, given.queue, run_id=given.run_id, content_digest=given.content_digest)
    if not given.is_fixture:
        lines.append(approved_line(given.approvals, seen))
    return Decision(
        gate="fixture_gate" if given.is_fixture else "model_gate",
        lines=tuple(lines),
        slices=slice_statuses(parts.slices, terms=terms, critical=critical, repeats=parts.repeats),
        seen=seen,
    )


def _measured(scores: Scores, given: GateInput, critical: Critical) -> list[GateLine]:
    """The lines that a fixture run has too."""
    rows, terms, parts = scores.rows, given.terms, given.breakdown
    return [
        complete_line(rows),
        *second_judge_line(rows),
        quality_line(rows, terms.quality_min),
        *suite_lines(rows, given.suite_terms),
        *worst_case_line(rows, terms.worst_case_min),
        *failures_line(rows, terms.failures_max),
        beats_none_line(scores, given.plan, terms),
        graded_cases_line(given.plan.skills, given.graded_cases, terms),
        critical_line(rows, critical),
        *failure_corpus_line(rows, given.about.parts, given.about.traits),
        *behavior_lines(parts, terms),
        *required_slices_line(parts.slices),
        *slice_quality_line(parts.slices),
        *variance_line(parts.repeats, parts.slices, terms),
        clean_arms_line(rows, given.skill_names),
        unmoved_line(given.moved_skills),
        *leakage_lines(given.holdout, given.leakage),
        *holdout_asked_lines(given.holdout_asked),
        *candidate_named_line(given.own_model),
        *records_whole_line(is_changed=given.is_changed),
        contract_complete_line(given.unstated),
        nothing_held_line(given.queue),
        *(line for found in (given.regression, *given.suite_regressions) for line in regression_line(found)),
    ]
