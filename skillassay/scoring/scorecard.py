"""What stored runs say of each skill and version. Pure: assessed runs in, rows out; no file, no clock.

A row is one skill (by path) in one version, measured in one way: the same subject, candidate, judge and gate. Runs that
were measured otherwise are other rows, since a sum over authored answers and a model's would be a number of neither.
Trials and criteria of a row are summed over its runs, in ``progressive`` and over the cases that count; lift, decision
and date are its newest run's. Whether two runs compare is not decided here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from skillassay.contract.terms import LOOP
from skillassay.gate.lines import Status
from skillassay.runs.plan import Mode
from skillassay.scoring.assessment import Assessment, RunFacts
from skillassay.scoring.scores import Lift, Rate, rate_of

Header = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillRun:
    """What one run says of one skill. ``grade`` is what its evidence would be of; None where it would be none."""

    run: str
    date: str
    skill_path: str
    name: str
    version: str | None
    candidate: str
    judge: str
    subject: str
    marks: tuple[str, ...]
    trials: Rate
    k: int
    n: int
    lift: Lift | None
    gate: str
    decision: Status
    grade: str | None
    is_part: bool

    @property
    def way(self) -> tuple[str | None, ...]:
        """What a sum over runs may not mix."""
        return (self.skill_path, self.version, self.candidate, self.judge, self.subject, self.gate)

    @property
    def score(self) -> Fraction | None:
        """Mean share of criteria; None where no trial has a score."""
        return Fraction(self.k, self.n) if self.n else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """The newest run's score less that of the run ``against``; or ``why`` there is no such number."""

    against: SkillRun | None = None
    difference: Fraction | None = None
    why: str | None = None


NO_EARLIER = "no earlier run of this skill"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRow:
    """One line of the scorecard: ``newest`` run, how many there are, and what they come to together."""

    newest: SkillRun
    n_runs: int
    n_parts: int
    trials: Rate
    k: int
    n: int
    trend: Trend = Trend(why=NO_EARLIER)

    @property
    def score(self) -> Fraction | None:
        """Mean share of criteria over all runs of the row."""
        return Fraction(self.k, self.n) if self.n else None


def skill_runs(header: Header, facts: RunFacts, assessment: Assessment, *, date: str) -> tuple[SkillRun, ...]:
    """What an assessed run says of each skill that it planned, by path."""
    models, decision = header["models"], assessment.decision
    lifts = {lift.skill_path: lift for lift in assessment.scores.lifts}
    found = []
    for path in facts.plan.skills:
        rows = [
            row
            for row in assessment.scores.counted
            if row.planned.skill_path == path and row.planned.mode is Mode.PROGRESSIVE
        ]
        scored = [row for row in rows if row.record.outcome.scored]
        skill = header["skills"].get(path, {})
        found.append(
            SkillRun(
                run=header["id"],
                date=date,
                skill_path=path,
                name=facts.skill_names.get(path, path),
                version=skill.get("version"),
                candidate=models["candidate"]["label"],
                judge=models["judge"]["label"],
                subject=header.get("subject", LOOP),
                marks=_marks(header, assessment),
                trials=rate_of(rows),
                k=sum(row.record.k for row in scored),
                n=sum(row.planned.n_criteria for row in scored),
                lift=lifts.get(path),
                gate=decision.gate,
                decision=decision.status,
                grade=_grade(facts, assessment),
                is_part=path in facts.plan.partial_skills,
            )
        )
    return tuple(found)


def _marks(header: Header, assessment: Assessment) -> tuple[str, ...]:
    """What no figure of a run is to be read without."""
    marks = []
    for side in ("candidate", "judge"):
        model = header["models"][side]
        if model["is_fixture"] or model.get("is_replay"):
            marks.append(f"{'REPLAY' if model.get('is_replay') else 'FIXTURE'} {side}")
    if header["models"]["candidate"].get("own_model"):
        marks.append("UNKNOWN candidate")
    if not header["models"]["independent"]:
        marks.append("judge not known to be independent")
    return (*marks, *(("interrupted",) if assessment.interrupted else ()))


def _grade(facts: RunFacts, assessment: Assessment) -> str | None:
    if assessment.interrupted:
        return None
    if assessment.decision.status is Status.PASSED:
        return "fixture" if facts.is_fixture else "model"
    return "declared" if not facts.is_fixture and assessment.decision.declared else None


class Scorecard:
    """Sums that grow run by run, oldest first. Holds of a run its figures alone."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str | None, ...], ScoreRow] = {}

    def add(self, runs: Iterable[SkillRun]) -> None:
        """Add what one run says, which must be newer than all before it."""
        for one in runs:
            before = self._rows.get(one.way)
            trials = one.trials if before is None else _sum(before.trials, one.trials)
            self._rows[one.way] = ScoreRow(
                newest=one,
                n_runs=1 + (0 if before is None else before.n_runs),
                n_parts=int(one.is_part) + (0 if before is None else before.n_parts),
                trials=trials,
                k=one.k + (0 if before is None else before.k),
                n=one.n + (0 if before is None else before.n),
            )

    @property
    def rows(self) -> tuple[ScoreRow, ...]:
        """All rows: by skill, what was measured last first."""
        newest_first: Sequence[ScoreRow] = sorted(self._rows.values(), key=lambda row: row.newest.run, reverse=True)
        return tuple(sorted(newest_first, key=lambda row: row.newest.skill_path))


def _sum(one: Rate, other: Rate) -> Rate:
    return Rate(
        passed=one.passed + other.passed,
        failed=one.failed + other.failed,
        unscored=one.unscored + other.unscored,
    )


def build_trend(now: SkillRun, then: SkillRun) -> Trend:
    """The trend between two runs that compare."""
    for one in (now, then):
        if one.score is None:
            return Trend(against=then, why=f"not comparable: run {one.run} scored no trial of it in progressive")
    assert now.score is not None
    assert then.score is not None
    return Trend(against=then, difference=now.score - then.score)
