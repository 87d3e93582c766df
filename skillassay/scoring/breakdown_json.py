"""What a run taken apart looks like in ``result.json`` and ``gate --format json``. Owns these fields.

An exact number is a fraction in text (``1/3``), a rate a decimal beside its counts. What was not measured is null.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from skillassay.canonical import Json
from skillassay.gate.lines import Decision
from skillassay.scoring.breakdown import Breakdown
from skillassay.scoring.matrices import Matrix
from skillassay.scoring.repeats import CaseRepeats, PassK, RepeatReport
from skillassay.scoring.slices import Group, GroupMode, SliceReport

DIGITS = 6


def breakdown_json(breakdown: Breakdown, decision: Decision) -> dict[str, Json]:
    """The sections ``slices``, ``behavior`` and ``repeats``."""
    statuses = {name: status.value for name, status in decision.slices}
    return {
        "slices": [_slice_json(part, statuses.get(part.name)) for part in breakdown.slices],
        "behavior": {matrix.name: _matrix_json(matrix) for matrix in breakdown.matrices},
        "repeats": _repeats_json(breakdown.repeats),
    }


def _slice_json(part: SliceReport, status: str | None) -> dict[str, Json]:
    terms = part.terms
    return {
        **_group_json(part.group),
        "cases_authored": part.n_authored,
        "required": part.required,
        "not_applicable": part.not_applicable,
        "quality_min": None if terms is None or terms.quality_min is None else str(terms.quality_min),
        "variance_max": None if terms is None or terms.variance_max is None else str(terms.variance_max),
        "decision": status,
    }


def _group_json(group: Group) -> dict[str, Json]:
    return {
        "name": group.name,
        "cases": group.n_cases,
        "severities": dict(group.severities),
        "oracle_types": dict(group.oracles),
        "modes": {mode.mode.value: _mode_json(mode) for mode in group.modes},
    }


def _mode_json(mode: GroupMode) -> dict[str, Json]:
    return {
        "planned": mode.trials.planned,
        "scored": mode.trials.scored,
        "passed": mode.trials.passed,
        "failed": mode.trials.failed,
        "attempts": mode.n_attempts,
        "distribution": [{"k": k, "n": n, "trials": count} for k, n, count in mode.histogram],
        "pass_k": _rates_json(mode.rates),
        "failures_by_severity": dict(mode.failures),
        "missing_required_capability": mode.n_missing_capability,
        "judge_disagreement": mode.judge_disagreement,
    }


def _rates_json(rates: Iterable[PassK]) -> list[Json]:
    return [_rate_json(rate) for rate in rates]


def _rate_json(rate: PassK) -> dict[str, Json]:
    return {
        "k": rate.k,
        "pass_all": _decimal(rate.all_k),
        "pass_any": _decimal(rate.any_k),
        "cases": rate.n_cases,
        "cases_planned": rate.n_planned,
    }


def _decimal(share: Fraction | None) -> float | None:
    return None if share is None else round(float(share), DIGITS)


def _matrix_json(matrix: Matrix) -> dict[str, Json]:
    return {
        "cases": matrix.n_cases,
        "trials": matrix.n_trials,
        "wrong": len(matrix.wrong),
        "unobserved": matrix.n_open,
        "matrix": {
            demanded: {observed: matrix.cells.get((demanded, observed), 0) for observed in matrix.observed}
            for demanded in matrix.demanded
        },
        "wrong_trials": [
            {"suite": row.planned.suite, "case": row.planned.case_id, "repeat": row.planned.repeat, "why": words}
            for row, words in matrix.wrong
        ],
    }


def _repeats_json(report: RepeatReport) -> dict[str, Json] | None:
    """Null where every case was asked once: one score has no spread."""
    if not report.rates:
        return None
    return {
        "planned": report.n_repeats,
        "cases": [_case_json(case) for case in report.cases],
        "pass_k": [{"skill": skill, "mode": mode.value, **_rate_json(rate)} for skill, mode, rate in report.rates],
    }


def _case_json(case: CaseRepeats) -> dict[str, Json]:
    return {
        "suite": case.suite,
        "case": case.case_id,
        "skill": case.skill_path,
        "mode": case.mode.value,
        "planned": case.planned,
        "scored": case.scored,
        "passed": case.passed,
        "shares": [str(share) for share in case.shares],
        "variance": None if case.variance is None else str(case.variance),
        "flaky": case.is_flaky,
    }
