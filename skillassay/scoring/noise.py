"""What a lift is to be held against: identical arms, and a placebo in the skill's place. Pure; decides nothing.

The A/A difference is ``progressive`` minus ``again``, two arms that are byte for byte the same: whatever it is but 0 is
chance of model and judge. Without ``again`` and with repeats it is the odd repeats of ``progressive`` minus the even
ones, each half averaged over fewer answers and so noisier than the lift itself. It is counted as a lift is, by
:func:`skillassay.scoring.scores.lift_of`, the case as the unit.

The noise floor is the end of its 95 % interval that lies further from 0. A lift whose mean is not further from 0 than
that is *within the noise floor*. Where a trial behind the A/A difference or the lift has no score neither is known.

The placebo effect is ``placebo`` minus ``none``: what any skill at all under this name does. The lift over placebo is
``progressive`` minus ``placebo``: what the skill's content does beyond that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from skillassay.runs.plan import Mode, Plan
from skillassay.scoring.repeats import MIN_REPEATS
from skillassay.scoring.scores import Lift, Row, Scores, lift_of

REPEATS = "repeats"
BEYOND, WITHIN, UNKNOWN = (
    "beyond the noise floor",
    "within the noise floor",
    "undecided: the noise floor is not known",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """What stands beside the lift of one skill, or of all (""). ``source`` says what the A/A difference is of.

    Each figure is None where the run did not plan what it is made of.
    """

    skill_path: str
    source: str
    a_a: Lift | None
    lift: Lift | None
    placebo_effect: Lift | None
    over_placebo: Lift | None

    @property
    def floor(self) -> float | None:
        """The noise floor; None where it is not known."""
        if self.a_a is None or not _is_whole(self.a_a) or self.a_a.difference.interval is None:
            return None
        interval = self.a_a.difference.interval
        return max(abs(interval.low), abs(interval.high))

    @property
    def word(self) -> str | None:
        """What the floor says of the lift; None where one of the two was not planned."""
        if self.a_a is None or self.lift is None:
            return None
        floor, mean = self.floor, self.lift.difference.mean
        if floor is None or mean is None or not _is_whole(self.lift):
            return UNKNOWN
        return BEYOND if abs(mean) > floor else WITHIN


def _is_whole(lift: Lift) -> bool:
    return 0 < lift.n_cases == lift.n_planned


def build_noise(scores: Scores, plan: Plan) -> tuple[Noise, ...]:
    """By skill, and over all where there are several; nothing in a run that has no arm or repeats for it."""
    if Mode.PROGRESSIVE not in plan.modes:
        return ()
    paths: list[str | None] = [*plan.skills, *([None] if len(plan.skills) > 1 else [])]
    found = [_noise_of(scores.counted, plan, path) for path in paths]
    return tuple(one for one in found if one.a_a or one.placebo_effect or one.over_placebo)


def _noise_of(rows: Sequence[Row], plan: Plan, path: str | None) -> Noise:
    has_again = Mode.AGAIN in plan.modes
    a_a = None
    if has_again:
        a_a = lift_of(rows, path, against=Mode.AGAIN)
    elif plan.repeats >= MIN_REPEATS:
        a_a = lift_of(_halves(rows), path, against=Mode.AGAIN)
    has_none, has_placebo = Mode.NONE in plan.modes, Mode.PLACEBO in plan.modes
    return Noise(
        skill_path=path or "",
        source=Mode.AGAIN.value if has_again else REPEATS,
        a_a=a_a,
        lift=lift_of(rows, path) if has_none else None,
        placebo_effect=lift_of(rows, path, of=Mode.PLACEBO) if has_placebo and has_none else None,
        over_placebo=lift_of(rows, path, against=Mode.PLACEBO) if has_placebo else None,
    )


def _halves(rows: Sequence[Row]) -> tuple[Row, ...]:
    """The odd repeats of ``progressive``, and its even ones in the place of the arm that was not planned."""
    return tuple(
        row if row.planned.repeat % 2 else replace(row, planned=replace(row.planned, mode=Mode.AGAIN))
        for row in rows
        if row.planned.mode is Mode.PROGRESSIVE
    )
