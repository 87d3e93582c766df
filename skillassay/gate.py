"""The gate: the only place that says passed or failed. Pure; an AND of lines, each with number, limit and counts.

An average never overrides a line. An error is never a failure: an unscored trial leaves the decision open (exit 3)
unless a line already failed on scored trials. Fixture runs and live runs pass gates of different names, and neither
counts for the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from skillassay.arms import check_arms
from skillassay.contract import GateTerms
from skillassay.errors import Exit, Reason
from skillassay.plan import Mode, Plan
from skillassay.scoring import Row, Scores, exact_lift


class Status(StrEnum):
    """What one line, or the whole decision, came to. ``not_applicable`` is no pass: the line had nothing to look at."""

    PASSED = "passed"
    FAILED = "failed"
    UNDECIDED = "undecided"
    NOT_APPLICABLE = "not_applicable"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateLine:
    """One condition. ``number`` against ``limit`` in words, ``detail`` names what broke it.

    ``live_only`` marks a condition that certifies a judge or an approval: a run that fails on these alone is
    ``declared``, which a lock may accept and always shows.
    """

    name: str
    status: Status
    number: str
    limit: str
    detail: tuple[str, ...] = ()
    live_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The gate's name, its lines, and what they come to."""

    gate: str
    lines: tuple[GateLine, ...]

    @property
    def status(self) -> Status:
        """Failed if a line failed on what was scored, else undecided if a line is, else passed.

        A lack of certification (``live_only``) fails a run that is decided otherwise; it cannot make a failure out of a
        run in which nothing could be scored.
        """
        measured = {line.status for line in self.lines if not line.live_only}
        for status in (Status.FAILED, Status.UNDECIDED):
            if status in measured:
                return status
        return Status.FAILED if Status.FAILED in {line.status for line in self.lines} else Status.PASSED

    @property
    def declared(self) -> bool:
        """Whether everything but the certification of judge and approver passed."""
        return all(line.status in {Status.PASSED, Status.NOT_APPLICABLE} for line in self.lines if not line.live_only)

    @property
    def exit_code(self) -> Exit:
        """0 passed, 1 failed, 3 undecided."""
        return {Status.PASSED: Exit.PASSED, Status.FAILED: Exit.FAILED}.get(self.status, Exit.UNDECIDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateInput:
    """What the gate looks at besides the scores."""

    plan: Plan
    terms: GateTerms
    is_fixture: bool
    critical_cases: frozenset[tuple[str, str]]
    critical_criteria: frozenset[tuple[str, str]]
    graded_cases: Mapping[str, int]
    moved_skills: tuple[str, ...]
    skill_names: Mapping[str, str]


def decide(scores: Scores, given: GateInput) -> Decision:
    """Decide on a run. ``graded_cases`` counts each planned skill's cases in the suites, planned now or not.

    ``critical_cases`` and ``critical_criteria`` hold (suite, case id): the whole case is critical, or a criterion is.
    """
    rows = scores.rows
    lines = [
        _complete(rows),
        _quality(rows, given),
        _beats_none(scores, given),
        _enough_cases(given),
        _critical(rows, given),
        _clean_arms(rows, given),
        _unmoved(given),
    ]
    if given.terms.manual_block is not None:
        blocked = (given.terms.manual_block,)
        lines.append(GateLine(name="no_manual_block", status=Status.FAILED, number="1", limit="0", detail=blocked))
    if not given.is_fixture:
        lines += _live_lines()
    return Decision(gate="fixture_gate" if given.is_fixture else "model_gate", lines=tuple(lines))


def _complete(rows: Sequence[Row]) -> GateLine:
    scored = sum(row.record.outcome.scored for row in rows)
    errors = [row for row in rows if not row.record.outcome.scored]
    detail = tuple(f"{_where(row)}: {_why(row)}" for row in errors)
    contract = sum(row.record.outcome.reason is Reason.CONTRACT_ERROR for row in errors)
    return GateLine(
        name="complete",
        status=Status.PASSED if rows and not errors else Status.UNDECIDED,
        number=f"{scored} of {len(rows)} trials scored, {contract} contract errors",
        limit="every planned trial",
        detail=detail or (() if rows else ("nothing was planned",)),
    )


def _quality(rows: Sequence[Row], given: GateInput) -> GateLine:
    limit = given.terms.quality_min
    looked = [row for row in rows if row.planned.mode is Mode.PROGRESSIVE]
    scored = [row for row in looked if row.record.outcome.scored]
    low = [r for r in scored if r.record.k * limit.denominator < limit.numerator * r.planned.n_criteria]
    worst = min((Fraction(row.record.k, row.planned.n_criteria) for row in scored), default=None)
    shown = next((f"{r.record.k}/{r.planned.n_criteria}" for r in scored if _share(r) == worst), "none scored")
    return GateLine(
        name="quality_min",
        # Without a progressive trial nothing was seen of the skill, and no other line may carry the decision.
        status=_status(looked, scored, failed=bool(low)) if looked else Status.UNDECIDED,
        number=f"worst {shown}, {len(scored) - len(low)} of {len(scored)} scored trials reach it",
        limit=f"k/n >= {decimal_text(limit)} on every case in progressive",
        detail=tuple(f"{_where(row)}: {row.record.k}/{row.planned.n_criteria}{_failed_marks(row)}" for row in low),
    )


def _failed_marks(row: Row) -> str:
    if row.record.outcome.reason is not None or row.record.outcome.detail:
        return f", {row.record.outcome.detail}"
    failed = [mark.id for mark in row.record.marks if not mark.passed]
    return f", failed: {', '.join(failed)}" if failed else ""


def _beats_none(scores: Scores, given: GateInput) -> GateLine:
    limit = "progressive > none for every skill"
    if not {Mode.PROGRESSIVE, Mode.NONE} <= set(given.plan.modes):
        name = "beats_none"
        # Not "not applicable": the question stands, and this run has not asked it.
        return GateLine(name=name, status=Status.UNDECIDED, number="not both modes planned", limit=limit)
    below, open_ = [], []
    for lift in scores.lifts:
        exact = exact_lift(scores.rows, lift.skill_path)
        text = f"{lift.skill_path}: {lift.k_progressive}/{lift.n_progressive} against {lift.k_none}/{lift.n_none}"
        if exact is None or lift.n_cases < lift.n_planned:
            scored = f"{lift.n_cases} of {lift.n_planned} cases scored in both modes"
            open_.append(f"{text}, {scored if lift.n_planned else 'no case has a criterion on the answer'}")
        elif exact <= 0:
            below.append(f"{text}: it does not beat its absence and has no place in the catalog")
        elif given.terms.lift_rule == "bound" and lift.difference.word != "helps":
            open_.append(f"{text}: inconclusive, the interval does not exclude zero")
    status = Status.FAILED if below else Status.UNDECIDED if open_ else Status.PASSED
    n_good = len(scores.lifts) - len(below) - len(open_)
    return GateLine(
        name="beats_none",
        status=status,
        number=f"{n_good} of {len(scores.lifts)} skills",
        limit=f"{limit} (rule {given.terms.lift_rule})",
        detail=tuple(below + open_),
    )


def _enough_cases(given: GateInput) -> GateLine:
    few = [
        f"{path}: {given.graded_cases.get(path, 0)} cases"
        for path in given.plan.skills
        if given.graded_cases.get(path, 0) < given.terms.min_cases
    ]
    fewest = min((given.graded_cases.get(path, 0) for path in given.plan.skills), default=0)
    return GateLine(
        name="graded_cases",
        status=Status.FAILED if few else Status.PASSED,
        number=f"fewest {fewest}",
        limit=f">= {given.terms.min_cases} for every skill",
        detail=tuple(few),
    )


def _critical(rows: Sequence[Row], given: GateInput) -> GateLine:
    looked = [row for row in rows if row.planned.mode is Mode.PROGRESSIVE and _is_critical(row, given)]
    scored = [row for row in looked if row.record.outcome.scored]
    failed = [row for row in scored if _critical_failure(row, given)]
    if not looked:
        return GateLine(
            name="critical_failures", status=Status.NOT_APPLICABLE, number="no critical case or criterion", limit="0"
        )
    return GateLine(
        name="critical_failures",
        status=_status(looked, scored, failed=bool(failed)),
        number=f"{len(failed)} in {len(scored)} scored trials",
        limit="0",
        detail=tuple(f"{_where(row)}{_failed_marks(row)}" for row in failed),
    )


def _is_critical(row: Row, given: GateInput) -> bool:
    case = (row.planned.suite, row.planned.case_id)
    return case in given.critical_cases or case in given.critical_criteria


def _critical_failure(row: Row, given: GateInput) -> bool:
    if (row.planned.suite, row.planned.case_id) in given.critical_cases:
        return row.record.outcome.status == "FAIL"
    if row.record.outcome.status == "FAIL" and not row.record.marks:
        return True  # no answer within the turn limit: 0 of n, the critical criterion among them
    return any(mark.critical and not mark.passed for mark in row.record.marks)


def _clean_arms(rows: Sequence[Row], given: GateInput) -> GateLine:
    """Every arm of a case saw the same but for the skill; a lift between arms that did not measures something else."""
    check = check_arms(rows, given.skill_names)
    untold = (f"{check.n_untold} scored trials do not tell",) if check.n_untold else ()
    status = Status.UNDECIDED if untold or not check.n_told else Status.PASSED
    return GateLine(
        name="clean_arms",
        status=Status.FAILED if check.differences else status,
        number=f"{len(check.differences)} differences in {check.n_told} trials",
        limit="0",
        detail=check.differences + untold,
    )


def _unmoved(given: GateInput) -> GateLine:
    moved = given.moved_skills
    return GateLine(
        name="digests_match",
        status=Status.UNDECIDED if moved else Status.PASSED,
        number=f"{len(moved)} skills changed during the run",
        limit="0",
        detail=tuple(f"{path}: its files changed while the run was under way" for path in moved),
    )


def _live_lines() -> list[GateLine]:
    return [
        GateLine(
            name="judge_calibrated",
            status=Status.FAILED,
            number="no calibration on human labels",
            limit="one for exactly this judge",
            detail=("the judge has not been compared with people, so its verdicts certify nothing yet",),
            live_only=True,
        ),
        GateLine(
            name="approved",
            status=Status.FAILED,
            number="no approver",
            limit="one named person has seen result and unknowns",
            live_only=True,
        ),
    ]


def _status(looked: Sequence[Row], scored: Sequence[Row], *, failed: bool) -> Status:
    if failed:
        return Status.FAILED
    if not looked:
        return Status.NOT_APPLICABLE
    return Status.PASSED if len(scored) == len(looked) else Status.UNDECIDED


def _share(row: Row) -> Fraction:
    return Fraction(row.record.k, row.planned.n_criteria)


def _where(row: Row) -> str:
    return f"{row.planned.case_id} [{row.planned.mode.value} #{row.planned.repeat}]"


def _why(row: Row) -> str:
    outcome = row.record.outcome
    words = outcome.reason.value if outcome.reason else "unscored"
    return f"{words}{f' ({outcome.stage.value})' if outcome.stage else ''}: {outcome.detail or 'no detail'}"


def decimal_text(number: Fraction) -> str:
    """A limit as the shortest decimal that is exactly it, or as a fraction where none is."""
    text = f"{float(number):.10g}"
    return text if Fraction(text) == number else f"{number.numerator}/{number.denominator}"
