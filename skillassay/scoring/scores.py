"""From plan and records to numbers. Pure: no file, no clock, no model; decides nothing.

Denominators come from the plan. A planned trial without a record is UNSCORED(interrupted); the last attempt of a trial
counts and every attempt stays in the record. ``passed + failed + unscored == planned`` always.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from skillassay.errors import Reason, Stage
from skillassay.runs.plan import Mode, Plan, PlannedTrial
from skillassay.runs.record import Outcome, Spent, TrialRecord
from skillassay.statistics.interval import Interval
from skillassay.statistics.paired import PairedDifference, paired_difference
from skillassay.statistics.rates import wilson
from skillassay.transcript import Usage

_Key = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """Trials passed, failed and unscored of those planned, with the Wilson 95 % interval over the scored ones."""

    passed: int
    failed: int
    unscored: int

    @property
    def planned(self) -> int:
        """All planned trials."""
        return self.passed + self.failed + self.unscored

    @property
    def scored(self) -> int:
        """Trials with a score."""
        return self.passed + self.failed

    @property
    def interval(self) -> Interval | None:
        """Wilson 95 % of passed/scored; None when nothing was scored."""
        return wilson(self.passed, self.scored)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeTotal:
    """What one mode got: criteria k of n over scored trials, n planned; trials; the candidate's tokens and calls.

    Over all attempts, those that were tried again included: ``n_attempts`` at trials, of which ``n_tried_again`` have
    more than one; HTTP retries and seconds waited before attempts, of both sides.
    """

    mode: Mode
    k: int
    n: int
    n_planned: int
    trials: Rate
    usage: Usage
    n_calls: int
    n_retries: int
    n_attempts: int
    n_tried_again: int
    waited_s: float

    @property
    def interval(self) -> Interval | None:
        """Wilson 95 % of criteria passed; criteria of one answer hang together, so it is narrower than it should be."""
        return wilson(self.k, self.n)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lift:
    """One mode minus ``against`` over the cases scored in both, in shares of criteria, the case as the unit.

    Criteria that read a file of the workspace are left out, since without tools nobody can write one: a lift compares
    what both arms could meet. A case that has no other criterion is out of it, and of ``n_planned``.
    """

    skill_path: str
    n_cases: int
    n_planned: int
    difference: PairedDifference
    k_of: int
    n_of: int
    k_against: int
    n_against: int
    against: Mode = Mode.NONE
    of: Mode = Mode.PROGRESSIVE


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """The subtotal of the cases of one slice."""

    name: str
    n_cases: int
    totals: tuple[ModeTotal, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One planned trial with its last record, or with what stands for a missing one, and its ``earlier`` attempts."""

    planned: PlannedTrial
    record: TrialRecord
    earlier: tuple[TrialRecord, ...] = ()

    @property
    def n_attempts(self) -> int:
        """How often it was tried; a trial that never ran has a record made up for it."""
        return 0 if self.record.outcome.reason is Reason.INTERRUPTED else self.record.attempt

    @property
    def k_answer(self) -> int:
        """Criteria passed of those that are decided on the answer."""
        return sum(mark.passed for mark in self.record.marks if mark.file is None)

    @property
    def n_answer(self) -> int:
        """Criteria that are decided on the answer, not on a file of the workspace."""
        return self.planned.n_criteria - self.planned.n_file_checks


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """Everything a report shows and the gate compares. ``counted`` are the ``rows`` behind totals and lifts."""

    rows: tuple[Row, ...]
    counted: tuple[Row, ...]
    totals: tuple[ModeTotal, ...]
    slices: tuple[Slice, ...]
    lifts: tuple[Lift, ...]
    overall_lift: Lift | None
    token_ratio: Fraction | None
    reasons: tuple[tuple[str, str, int], ...]


def score_run(
    plan: Plan, records: Iterable[TrialRecord], *, slices: Mapping[_Key, str], apart: Collection[_Key] = ()
) -> Scores:
    """Score a whole run. ``slices`` maps a case to its slice; the cases ``apart`` enter no total and no lift."""
    rows = _rows(plan, records)
    counted = tuple(row for row in rows if _case(row) not in apart)
    by_slice = {name: [r for r in rows if slices.get(_case(r)) == name] for name in sorted(set(slices.values()))}
    totals = mode_totals(counted, plan.modes)
    paired = Mode.PROGRESSIVE in plan.modes and Mode.NONE in plan.modes
    return Scores(
        rows=rows,
        counted=counted,
        totals=totals,
        slices=tuple(
            Slice(name=name, n_cases=len({_case(r) for r in part}), totals=mode_totals(part, plan.modes))
            for name, part in by_slice.items()
            if part
        ),
        lifts=tuple(lift_of(counted, skill) for skill in plan.skills) if paired else (),
        overall_lift=lift_of(counted, None) if paired else None,
        token_ratio=_token_ratio(totals),
        reasons=_reasons(rows),
    )


def _rows(plan: Plan, records: Iterable[TrialRecord]) -> tuple[Row, ...]:
    attempts: dict[str, list[TrialRecord]] = {}
    for record in records:
        attempts.setdefault(record.trial_id, []).append(record)
    rows = []
    for trial in plan.trials:
        *earlier, last = sorted(attempts.get(trial.trial_id, [missing_record(trial)]), key=lambda one: one.attempt)
        rows.append(Row(planned=trial, record=last, earlier=tuple(earlier)))
    return tuple(rows)


def missing_record(trial: PlannedTrial) -> TrialRecord:
    """What stands for a planned trial that never ran: unscored, interrupted."""
    detail = "the run ended before this trial"
    return TrialRecord(
        trial_id=trial.trial_id,
        suite=trial.suite,
        case_id=trial.case_id,
        skill_path=trial.skill_path,
        mode=trial.mode.value,
        repeat=trial.repeat,
        n_criteria=trial.n_criteria,
        outcome=Outcome(status="UNSCORED", reason=Reason.INTERRUPTED, stage=Stage.HARNESS, detail=detail),
    )


def rate_of(rows: Sequence[Row]) -> Rate:
    """Trial outcomes counted."""
    statuses = [row.record.outcome.status for row in rows]
    return Rate(passed=statuses.count("PASS"), failed=statuses.count("FAIL"), unscored=statuses.count("UNSCORED"))


def mode_totals(rows: Sequence[Row], modes: Sequence[Mode]) -> tuple[ModeTotal, ...]:
    """Totals per mode, in the order of ``modes``."""
    return tuple(_mode_total([row for row in rows if row.planned.mode is mode], mode) for mode in modes)


def _mode_total(rows: Sequence[Row], mode: Mode) -> ModeTotal:
    scored = [row for row in rows if row.record.outcome.scored]
    usage = Usage()
    for row in rows:
        usage = usage.plus(complete_usage(row.record.candidate))
    return ModeTotal(
        mode=mode,
        k=sum(row.record.k for row in scored),
        n=sum(row.planned.n_criteria for row in scored),
        n_planned=sum(row.planned.n_criteria for row in rows),
        trials=rate_of(rows),
        usage=usage,
        n_calls=sum(row.record.candidate.n_calls for row in rows),
        n_retries=sum(max(0, spent.n_attempts - spent.n_calls) for row in rows for spent in _spendings(row)),
        n_attempts=sum(row.n_attempts for row in rows),
        n_tried_again=sum(row.n_attempts > 1 for row in rows),
        waited_s=sum(spent.waited_s for row in rows for spent in _spendings(row)),
    )


def _spendings(row: Row) -> Iterator[Spent]:
    """What both sides spent in all attempts; what an answer cost counts once, however often the judge was asked."""
    for record in (*row.earlier, row.record):
        if record.answer_attempt is None:
            yield record.candidate
        yield record.judge
        if record.second is not None:
            yield record.second


def complete_usage(spent: Spent) -> Usage:
    """What one side used; counts are unknown where a call was begun that told none, since it may have cost tokens."""
    usage = spent.usage
    n_untold = spent.n_calls - usage.n_calls if usage.n_calls or usage.is_empty else 0  # 0 of a record from before
    return usage.plus(Usage(n_calls=n_untold)) if n_untold > 0 else usage


def lift_of(
    rows: Sequence[Row], skill_path: str | None, *, against: Mode = Mode.NONE, of: Mode = Mode.PROGRESSIVE
) -> Lift:
    """The lift of one skill, or of all (None). Repeats are averaged inside their case first; the case is the unit."""
    rows = [row for row in rows if skill_path in {None, row.planned.skill_path} and row.n_answer > 0]
    arms = {mode: mean_shares(rows, mode) for mode in (of, against)}
    cases = dict.fromkeys(case for case in arms[of] if case in arms[against])
    differences = [arms[of][case] - arms[against][case] for case in cases]
    scored = [row for row in rows if _case(row) in cases and row.record.outcome.scored]
    first, second = ([row for row in scored if row.planned.mode is mode] for mode in arms)
    return Lift(
        skill_path=skill_path or "",
        n_cases=len(cases),
        n_planned=len({_case(row) for row in rows}),
        difference=paired_difference(differences),
        k_of=sum(row.k_answer for row in first),
        n_of=sum(row.n_answer for row in first),
        k_against=sum(row.k_answer for row in second),
        n_against=sum(row.n_answer for row in second),
        against=against,
        of=of,
    )


def mean_shares(rows: Sequence[Row], mode: Mode) -> dict[tuple[str, str], Fraction]:
    """Mean share of the answer's criteria by case over its repeats; none where one is unscored (no half cases)."""
    by_case: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.planned.mode is mode:
            by_case.setdefault(_case(row), []).append(row)
    return {
        case: sum((Fraction(r.k_answer, r.n_answer) for r in group), Fraction(0)) / len(group)
        for case, group in by_case.items()
        if all(row.record.outcome.scored for row in group)
    }


def _case(row: Row) -> tuple[str, str]:
    return (row.planned.suite, row.planned.case_id)


def _token_ratio(totals: Sequence[ModeTotal]) -> Fraction | None:
    tokens = {total.mode: total.usage.input_tokens for total in totals}
    eager, progressive = tokens.get(Mode.EAGER), tokens.get(Mode.PROGRESSIVE)
    return Fraction(eager, progressive) if eager and progressive else None


def _reasons(rows: Sequence[Row]) -> tuple[tuple[str, str, int], ...]:
    """(mode, reason at stage, count) of every unscored trial, so that errors are seen by arm."""
    counts: dict[tuple[str, str], int] = {}
    for row in rows:
        outcome = row.record.outcome
        if outcome.reason is not None:
            name = f"{outcome.reason.value} ({outcome.stage.value})" if outcome.stage else outcome.reason.value
            counts[row.planned.mode.value, name] = counts.get((row.planned.mode.value, name), 0) + 1
    return tuple((mode, name, n) for (mode, name), n in sorted(counts.items()))
