"""What a skill gained since its earlier state: progressive minus previous, counted as a lift over ``none``. Pure."""

from __future__ import annotations

from skillassay.runs.plan import Mode, Plan
from skillassay.scoring.scores import Lift, Scores, lift_of


def since_previous(scores: Scores, plan: Plan) -> tuple[Lift, ...]:
    """By skill that ran in both modes, over the cases that both have; no skill in a run without one of the modes."""
    ran = {row.planned.skill_path for row in scores.counted if row.planned.mode is Mode.PREVIOUS}
    skills = [path for path in plan.skills if path in ran] if Mode.PROGRESSIVE in plan.modes else []
    return tuple(lift_of(scores.counted, path, against=Mode.PREVIOUS) for path in skills)
