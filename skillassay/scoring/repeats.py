"""Repeats of a case: spread of its scores, flaky cases, pass^k and pass@k. Pure; decides nothing.

A case is the unit. What is averaged is averaged over cases, each of which counts once however often it was repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from skillassay.runs.plan import Mode
from skillassay.scoring.scores import Row
from skillassay.statistics.passes import pass_all_k, pass_at_k

MIN_REPEATS = 2
"""One score has no spread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRepeats:
    """All repeats of a case in one mode: k/n of each scored one, how many passed, how many were planned."""

    suite: str
    case_id: str
    skill_path: str
    mode: Mode
    shares: tuple[Fraction, ...]
    passed: int
    planned: int

    @property
    def scored(self) -> int:
        """Repeats with a score."""
        return len(self.shares)

    @property
    def is_flaky(self) -> bool:
        """Whether some repeats passed and some failed."""
        return 0 < self.passed < self.scored

    @property
    def variance(self) -> Fraction | None:
        """The sample variance of k/n (divided by n - 1), exact; None under two scored repeats."""
        if self.scored < MIN_REPEATS:
            return None
        mean = sum(self.shares, Fraction(0)) / self.scored
        return sum(((share - mean) ** 2 for share in self.shares), Fraction(0)) / (self.scored - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PassK:
    """pass^k (``all_k``) and pass@k (``any_k``), each the mean over the ``n_cases`` that have k scored repeats."""

    k: int
    all_k: Fraction | None
    any_k: Fraction | None
    n_cases: int
    n_planned: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatReport:
    """Repeats of a whole run. ``rates`` has pass^k and pass@k by skill (None for all), mode and k; empty for one."""

    n_repeats: int
    cases: tuple[CaseRepeats, ...]
    rates: tuple[tuple[str | None, Mode, PassK], ...]

    @property
    def flaky(self) -> tuple[CaseRepeats, ...]:
        """The cases of which some repeats passed and some failed."""
        return tuple(case for case in self.cases if case.is_flaky)


def repeats_of(rows: Sequence[Row]) -> tuple[CaseRepeats, ...]:
    """The rows by case and mode, in the order of the plan."""
    groups: dict[tuple[str, str, Mode], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.planned.suite, row.planned.case_id, row.planned.mode), []).append(row)
    found = []
    for (suite, case_id, mode), group in groups.items():
        scored = [row for row in group if row.record.outcome.scored]
        found.append(
            CaseRepeats(
                suite=suite,
                case_id=case_id,
                skill_path=group[0].planned.skill_path,
                mode=mode,
                shares=tuple(Fraction(row.record.k, row.planned.n_criteria) for row in scored),
                passed=sum(row.record.outcome.status == "PASS" for row in scored),
                planned=len(group),
            )
        )
    return tuple(found)


def pass_k(cases: Sequence[CaseRepeats], k: int) -> PassK:
    """pass^k and pass@k of these cases. One with fewer than ``k`` scored repeats has neither and is left out."""
    told = [case for case in cases if case.scored >= k]
    every = [pass_all_k(case.passed, case.scored, k) for case in told]
    some = [pass_at_k(case.passed, case.scored, k) for case in told]
    return PassK(k=k, all_k=_mean(every), any_k=_mean(some), n_cases=len(told), n_planned=len(cases))


def _mean(values: Sequence[Fraction | None]) -> Fraction | None:
    known = [value for value in values if value is not None]
    return sum(known, Fraction(0)) / len(known) if known else None


def build_repeats(rows: Sequence[Row], n_repeats: int) -> RepeatReport:
    """The repeats of a run, for all skills and for each, by mode, for k from 1 to ``n_repeats``."""
    cases = repeats_of(rows)
    skills = (None, *sorted({case.skill_path for case in cases}))
    modes = tuple(dict.fromkeys(case.mode for case in cases))
    rates = [
        (skill, mode, pass_k([c for c in cases if c.mode is mode and skill in {None, c.skill_path}], k))
        for skill in skills
        for mode in modes
        for k in range(1, n_repeats + 1)
    ]
    return RepeatReport(n_repeats=n_repeats, cases=cases, rates=tuple(rates) if n_repeats >= MIN_REPEATS else ())
