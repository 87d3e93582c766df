"""Trigger rates: how often a request loaded its skill, and what that says of a description. Pure; calls nothing.

A run of a request that ended in an error is unscored: it says neither that the skill was loaded nor that it was not,
even where it had been loaded before the error, since errors behind a load would else be counted and others not. A
request passes when its rate reaches the threshold (should load) or stays below it (should not); with runs unscored only
where no outcome of theirs could change that. Numbers of different splits or subjects never meet here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from skillassay.statistics.interval import Interval
from skillassay.statistics.rates import wilson

PASS, FAIL, UNSCORED = "PASS", "FAIL", "UNSCORED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """One run of a request. ``loaded`` are the skills that were loaded; ``unscored`` the reason why it does not count.

    ``why`` is that reason in words.
    """

    loaded: tuple[str, ...] = ()
    unscored: str | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerRate:
    """What the runs of one request through one subject came to. ``others`` counts other skills that were loaded."""

    case_id: str
    skill: str
    should_trigger: bool
    planned: int
    triggered: int
    scored: int
    unscored: Mapping[str, int] = field(default_factory=dict)
    others: Mapping[str, int] = field(default_factory=dict)
    why: str | None = None

    @property
    def interval(self) -> Interval | None:
        """Wilson 95 %: the runs of one request are independent draws of one rate."""
        return wilson(self.triggered, self.scored)

    def triggers(self, threshold: Fraction) -> bool | None:
        """Whether the rate reaches the threshold; None while unscored runs could still decide it."""
        lowest = Fraction(self.triggered, self.planned)
        highest = Fraction(self.triggered + self.planned - self.scored, self.planned)
        if lowest >= threshold:
            return True
        return False if highest < threshold else None

    def status(self, threshold: Fraction) -> str:
        """PASS, FAIL or UNSCORED."""
        triggers = self.triggers(threshold)
        if triggers is None:
            return UNSCORED
        return PASS if triggers == self.should_trigger else FAIL


def build_rate(case_id: str, *, skill: str, should_trigger: bool, runs: Sequence[Ran]) -> TriggerRate:
    """Count the runs of a request."""
    scored = [run for run in runs if run.unscored is None]
    return TriggerRate(
        case_id=case_id,
        skill=skill,
        should_trigger=should_trigger,
        planned=len(runs),
        triggered=sum(skill in run.loaded for run in scored),
        scored=len(scored),
        unscored=Counter(run.unscored for run in runs if run.unscored is not None),
        others=Counter(name for run in scored for name in run.loaded if name != skill),
        why=next((run.why for run in runs if run.why is not None), None),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """A table of what should load the skill against what did. ``open`` is what was not decided, by what should."""

    true_loaded: int = 0
    missed: int = 0
    false_loaded: int = 0
    true_left: int = 0
    open_should: int = 0
    open_should_not: int = 0

    @property
    def precision(self) -> tuple[int, int]:
        """Of what loaded the skill, how much should."""
        return self.true_loaded, self.true_loaded + self.false_loaded

    @property
    def recall(self) -> tuple[int, int]:
        """Of what should load the skill, how much did."""
        return self.true_loaded, self.true_loaded + self.missed


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillTriggers:
    """All requests about one skill. ``requests`` counts each request once, ``runs`` each of its runs.

    Intervals belong to ``requests`` alone: the runs of a request hang together.
    """

    skill: str
    requests: Confusion
    runs: Confusion
    missed: tuple[str, ...]
    false: tuple[str, ...]
    open: tuple[str, ...]


def by_skill(rates: Iterable[TriggerRate], threshold: Fraction) -> tuple[SkillTriggers, ...]:
    """The requests by skill, in the order in which skills first appear."""
    groups: dict[str, list[TriggerRate]] = {}
    for rate in rates:
        groups.setdefault(rate.skill, []).append(rate)
    return tuple(_skill(name, group, threshold) for name, group in groups.items())


def _skill(name: str, rates: Sequence[TriggerRate], threshold: Fraction) -> SkillTriggers:
    sides = [(rate, rate.triggers(threshold)) for rate in rates]
    counts = Counter((rate.should_trigger, side) for rate, side in sides)
    return SkillTriggers(
        skill=name,
        requests=_table(counts),
        runs=_table(_run_counts(rates)),
        missed=tuple(rate.case_id for rate, side in sides if rate.should_trigger and side is False),
        false=tuple(rate.case_id for rate, side in sides if not rate.should_trigger and side),
        open=tuple(rate.case_id for rate, side in sides if side is None),
    )


def _run_counts(rates: Iterable[TriggerRate]) -> Counter[tuple[bool, bool | None]]:
    counts: Counter[tuple[bool, bool | None]] = Counter()
    for rate in rates:
        counts[rate.should_trigger, True] += rate.triggered
        counts[rate.should_trigger, False] += rate.scored - rate.triggered
        counts[rate.should_trigger, None] += rate.planned - rate.scored
    return counts


def _table(counts: Mapping[tuple[bool, bool | None], int]) -> Confusion:
    return Confusion(
        true_loaded=counts.get((True, True), 0),
        missed=counts.get((True, False), 0),
        false_loaded=counts.get((False, True), 0),
        true_left=counts.get((False, False), 0),
        open_should=counts.get((True, None), 0),
        open_should_not=counts.get((False, None), 0),
    )
