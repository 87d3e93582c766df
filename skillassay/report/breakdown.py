"""A run taken apart, in words for every report: slices, repeats, behaviour matrices. Owns wording, not layout.

Each section is empty where the run has nothing of the kind, so that a small run's report stays short.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from skillassay.report.base import RunView
from skillassay.report.judges import judge_texts
from skillassay.runs.plan import Mode
from skillassay.scoring.matrices import Matrix
from skillassay.scoring.repeats import PassK
from skillassay.scoring.slices import Group, GroupMode, SliceReport

DIGITS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A line of its own, and lines that belong under it."""

    text: str
    below: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A matrix to be laid out as a table."""

    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def share_text(share: Fraction | None) -> str:
    """A share to three digits. What is not 0 or 1 never prints as either."""
    if share is None:
        return "not measured"
    if share in {0, 1}:
        return str(share)
    edge = Fraction(1, 10**DIGITS)
    return f"{float(min(max(share, edge), 1 - edge)):.{DIGITS}f}"


def slice_entries(view: RunView) -> list[Entry]:
    """The full report on each slice, where the contract says something of slices."""
    statuses = dict(view.assessment.decision.slices)
    slices = view.assessment.breakdown.slices
    if not any(part.terms is not None for part in slices):
        return []
    return [_slice_entry(part, statuses[part.name].value) for part in slices]


def _slice_entry(part: SliceReport, status: str) -> Entry:
    word = status.replace("_", " ").upper()
    if part.not_applicable is not None:
        return Entry(text=f"slice {part.name}: {word}, in no denominator: {part.not_applicable}")
    what = "required" if part.required else "not required"
    return Entry(
        text=f"slice {part.name}: {word}, {what}, {_group_words(part.group)}",
        below=tuple(_mode_words(mode) for mode in part.group.modes),
    )


def _group_words(group: Group) -> str:
    told = [f"{group.n_cases} cases"]
    if group.n_cases:
        told += [f"severity {_counts(group.severities)}", f"oracle {_counts(group.oracles)}"]
    return "; ".join(told)


def _mode_words(mode: GroupMode) -> str:
    shares = ", ".join(f"{k}/{n} x {count}" for k, n, count in mode.histogram)
    told = [
        f"{mode.mode.value}: {mode.trials.scored} of {mode.trials.planned} scored in {mode.n_attempts} attempts",
        f"k/n: {shares or 'none'}",
    ]
    told += [_rate_words(rate) for rate in mode.rates[-1:]]
    told.append(f"failed {mode.trials.failed}" + (f" ({_counts(mode.failures)})" if mode.failures else ""))
    if mode.n_missing_capability:
        told.append(f"missing_required_capability {mode.n_missing_capability}")
    differed = "not measured" if mode.judge_disagreement is None else f"{mode.judge_disagreement} trials"
    return "; ".join([*told, f"judge disagreement: {differed}"])


def _rate_words(rate: PassK) -> str:
    left = "" if rate.n_cases == rate.n_planned else f" of {rate.n_cases} of {rate.n_planned} cases"
    return f"pass^{rate.k} {share_text(rate.all_k)}, pass@{rate.k} {share_text(rate.any_k)}{left}"


def _counts(counted: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{word} {n}" for word, n in counted)


def repeat_entries(view: RunView) -> list[Entry]:
    """pass^k and pass@k by skill and mode, and the flaky cases; nothing for a run without repeats."""
    report = view.assessment.breakdown.repeats
    last = [(skill, mode, rate) for skill, mode, rate in report.rates if rate.k == report.n_repeats]
    skills = list(dict.fromkeys(skill for skill, _, _ in last))
    shown = [skill for skill in skills if skill is not None] if len(skills) < 3 else skills
    entries = [
        Entry(
            text=f"{report.n_repeats} repeats, {skill or 'all skills'}: "
            + "; ".join(f"{mode.value} {_rate_words(rate)}" for of, mode, rate in last if of == skill)
        )
        for skill in shown
    ]
    flaky = [case for case in report.flaky if case.mode is not Mode.NONE]
    return entries + [
        Entry(text=f"flaky: {case.case_id} [{case.mode.value}]: {case.passed} of {case.scored} repeats passed")
        for case in flaky
    ]


_TITLES = {"unsafe_compliance": "unsafe compliance", "over_refusal": "over-refusal"}


def matrix_grids(view: RunView) -> list[Grid]:
    """Demanded against observed action, counted by case and repeat in progressive."""
    return [_grid(matrix) for matrix in view.assessment.breakdown.matrices]


def _grid(matrix: Matrix) -> Grid:
    n_wrong, words = len(matrix.wrong), _TITLES[matrix.name]
    return Grid(
        title=f"{words}: {n_wrong} of {matrix.n_trials} trials in progressive; demanded action against observed:",
        headers=("demanded", *matrix.observed),
        rows=tuple(
            (demanded, *(str(matrix.cells.get((demanded, observed), 0)) for observed in matrix.observed))
            for demanded in matrix.demanded
        ),
    )


def all_entries(view: RunView) -> Sequence[Entry]:
    """Everything but the matrices, in the order of a report."""
    judged = judge_texts(view.assessment.scores.rows, view.header)
    return [*slice_entries(view), *repeat_entries(view), *(Entry(text=text) for text in judged)]
