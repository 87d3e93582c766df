"""What became of a mutant: killed, survived, undecided. Pure; owns the definitions.

A case can kill when it passed unmutated on every planned repeat. One that failed there cannot: it fails anyway. Every
check and criterion of a case that can kill passed on every repeat, so what fails now failed because of the change, or
by chance.

killed     some check or criterion of a case that can kill fails on more than half of the mutant's scored repeats (with
           one repeat: it fails). A trial that ran into its turn limit fails all of its checks and criteria.
survived   nothing that passed fails, every trial of the mutant is scored, every case is scored unmutated, and at least
           one of them can kill
undecided  everything else: a trial is unscored or was not run and nothing killed the mutant; something fails on some
           repeats, and nothing on more than half; a case is unscored unmutated, which might have killed

A trial without a score kills nothing, whatever some of its checks say. The score is killed / (killed + survived).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from skillassay.errors import Reason
from skillassay.runs.plan import PlannedTrial
from skillassay.runs.record import TrialRecord
from skillassay.scoring.scores import missing_record
from skillassay.statistics.interval import Interval
from skillassay.statistics.rates import wilson

CaseKey = tuple[str, str]
TURN_LIMIT, NOT_RUN = "turn_limit", "not run"


class Fate(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmutated:
    """A case on the skill as it is: how many of its planned trials are scored, and passed; why others are not."""

    suite: str
    case_id: str
    planned: int
    scored: int
    passed: int
    reasons: tuple[str, ...]
    marks: tuple[tuple[str, str], ...]

    @property
    def can_kill(self) -> bool:
        """Whether it passed on every planned repeat."""
        return self.passed == self.planned

    @property
    def is_unscored(self) -> bool:
        """Whether it might have been able to kill: nothing failed, and something is not scored."""
        return self.scored < self.planned and self.passed == self.scored


@dataclass(frozen=True, slots=True, kw_only=True)
class Failing:
    """A check or criterion that passed unmutated and fails on a mutant: on ``failed`` of ``scored`` repeats."""

    suite: str
    case_id: str
    mark_id: str
    by: str
    failed: int
    scored: int
    planned: int
    evidence: str

    @property
    def kills(self) -> bool:
        """Whether it fails on more than half of the scored repeats."""
        return 2 * self.failed > self.scored


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of one mutant. ``why`` says it of an undecided one; ``reasons`` counts its unscored trials."""

    mutant_id: str
    fate: Fate
    failing: tuple[Failing, ...]
    planned: int
    scored: int
    reasons: Mapping[str, int]
    why: str | None = None

    @property
    def kills(self) -> tuple[Failing, ...]:
        """What killed it."""
        return tuple(one for one in self.failing if one.kills)


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How many mutants were killed, of those that are decided."""

    killed: int
    survived: int
    undecided: int

    @property
    def decided(self) -> int:
        """Killed and survived."""
        return self.killed + self.survived

    @property
    def interval(self) -> Interval | None:
        """Wilson's, at 95 %; None where nothing is decided."""
        return wilson(self.killed, self.decided)


def last_records(records: Iterable[TrialRecord]) -> dict[str, TrialRecord]:
    """The last attempt of each trial, by its id."""
    last: dict[str, TrialRecord] = {}
    for record in records:
        if record.trial_id not in last or record.attempt >= last[record.trial_id].attempt:
            last[record.trial_id] = record
    return last


def read_unmutated(trials: Iterable[PlannedTrial], last: Mapping[str, TrialRecord]) -> tuple[Unmutated, ...]:
    """The cases on the skill as it is, in the plan's order."""
    return tuple(
        Unmutated(
            suite=suite,
            case_id=case_id,
            planned=len(records),
            scored=sum(record.outcome.scored for record in records),
            passed=sum(record.outcome.status == "PASS" for record in records),
            reasons=tuple(dict.fromkeys(map(_reason, (one for one in records if not one.outcome.scored)))),
            marks=tuple((mark.id, mark.by) for mark in records[0].marks),
        )
        for (suite, case_id), records in _by_case(trials, last).items()
    )


def judge_mutant(
    mutant_id: str, trials: Sequence[PlannedTrial], last: Mapping[str, TrialRecord], cases: Sequence[Unmutated]
) -> Verdict:
    """What became of a mutant: ``trials`` are those of the cases that can kill."""
    by_case = _by_case(trials, last)
    able = [case for case in cases if case.can_kill]
    failing = [one for case in able for one in _failing(case, by_case[case.suite, case.case_id])]
    records = [record for records in by_case.values() for record in records]
    reasons = Counter(_reason(record) for record in records if not record.outcome.scored)
    fate, why = _fate(failing, reasons, cases)
    return Verdict(
        mutant_id=mutant_id,
        fate=fate,
        failing=tuple(sorted(failing, key=lambda one: not one.kills)),
        planned=len(records),
        scored=sum(record.outcome.scored for record in records),
        reasons=reasons,
        why=why,
    )


def _fate(
    failing: Sequence[Failing], reasons: Mapping[str, int], cases: Sequence[Unmutated]
) -> tuple[Fate, str | None]:
    if any(one.kills for one in failing):
        return Fate.KILLED, None
    if not any(case.can_kill for case in cases):
        return Fate.UNDECIDED, "no case passes unmutated"
    if reasons:
        told = ", ".join(f"{n} {reason}" for reason, n in sorted(reasons.items()))
        return Fate.UNDECIDED, f"trials without a score: {told}"
    if failing:
        told = f"{failing[0].mark_id} on {failing[0].failed} of {failing[0].scored} repeats"
        return Fate.UNDECIDED, f"fails, but not on more than half: {told}"
    unscored = [case.case_id for case in cases if case.is_unscored]
    if unscored:
        return Fate.UNDECIDED, f"unscored unmutated: {', '.join(unscored)}"
    return Fate.SURVIVED, None


def _failing(case: Unmutated, records: Sequence[TrialRecord]) -> Iterable[Failing]:
    scored = [record for record in records if record.outcome.scored]
    for mark_id, by in case.marks:
        failed = [record for record in scored if not any(m.id == mark_id and m.passed for m in record.marks)]
        if failed:
            found = next((mark for mark in failed[0].marks if mark.id == mark_id), None)
            yield Failing(
                suite=case.suite,
                case_id=case.case_id,
                mark_id=mark_id,
                by=by,
                failed=len(failed),
                scored=len(scored),
                planned=case.planned,
                evidence=(failed[0].outcome.kind or TURN_LIMIT) if found is None else found.evidence,
            )


def _by_case(trials: Iterable[PlannedTrial], last: Mapping[str, TrialRecord]) -> dict[CaseKey, list[TrialRecord]]:
    found: dict[CaseKey, list[TrialRecord]] = {}
    for trial in trials:
        record = last.get(trial.trial_id)
        found.setdefault((trial.suite, trial.case_id), []).append(record or missing_record(trial))
    return found


def _reason(record: TrialRecord) -> str:
    reason = record.outcome.reason
    assert reason is not None, "asked of unscored trials alone"
    return NOT_RUN if reason is Reason.INTERRUPTED else reason.value  # what was interrupted leaves no record


def build_score(verdicts: Iterable[Verdict]) -> Score:
    """The counts over some mutants."""
    fates = Counter(verdict.fate for verdict in verdicts)
    return Score(killed=fates[Fate.KILLED], survived=fates[Fate.SURVIVED], undecided=fates[Fate.UNDECIDED])
