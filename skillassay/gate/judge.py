"""Lines of the model gate about the judge: it reads prose, it agrees with people, and what it passes is what passes.

A fixture's verdicts are authored, so a fixture gate has none of these lines. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skillassay.calibration.references import RIGHT, UNANSWERED, WRONG, ReferenceVerdict
from skillassay.calibration.standing import NEVER, Standing
from skillassay.gate.lines import GateLine, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFacts:
    """What is known of a run's judge besides its verdicts. ``n_references`` were planned to be shown to it."""

    standing: Standing = NEVER
    n_references: int = 0
    references: tuple[ReferenceVerdict, ...] = ()


UNKNOWN = JudgeFacts()


def judge_lines(judge: JudgeFacts) -> list[GateLine]:
    """The lines of a live run."""
    return [*references_line(judge.n_references, judge.references), calibrated_line(judge.standing)]


def references_line(n_planned: int, verdicts: Sequence[ReferenceVerdict]) -> list[GateLine]:
    """Every right answer is accepted and every counter-example rejected; no line where no reference is planned.

    A judge that gets one wrong cannot tell right from wrong where only the prose does: a calibration failure.
    """
    if not n_planned:
        return []
    wrong = [one for one in verdicts if one.verdict == WRONG]
    open_ = [one for one in verdicts if one.verdict == UNANSWERED]
    n_right = sum(one.verdict == RIGHT for one in verdicts)
    n_open = n_planned - n_right - len(wrong)
    unseen = n_open - len(open_)
    return [
        GateLine(
            name="references_judged",
            status=Status.FAILED if wrong else Status.UNDECIDED if n_open else Status.PASSED,
            number=f"{n_right} of {n_planned} references judged rightly" + (f", {n_open} not judged" if n_open else ""),
            limit="all",
            detail=(
                *(f"calibration_failure: {one}" for one in wrong),
                *(f"no verdict: {one}" for one in open_),
                *((f"{unseen} references were not shown to the judge",) if unseen > 0 else ()),
            ),
            counts={"right": n_right, "wrong": len(wrong), "open": n_open, "planned": n_planned},
        )
    ]


def calibrated_line(standing: Standing) -> GateLine:
    """The judge was compared with people, as exactly what it was in this run, and reached every target."""
    found = standing.agreement
    number, counts = "no calibration on human labels", {}
    if found is not None:
        kappa = "kappa undefined" if found.kappa is None else f"kappa {float(found.kappa):.3f}"
        number = (
            f"agrees on {found.agreed} of {found.n}, {kappa}, sensitivity {found.both_pass} of {found.n_passed}, "
            f"specificity {found.both_fail} of {found.n_failed}"
        )
        counts = {
            "both_pass": found.both_pass,
            "human_alone": found.human_alone,
            "judge_alone": found.judge_alone,
            "both_fail": found.both_fail,
        }
    return GateLine(
        name="judge_calibrated",
        status=Status.PASSED if standing.is_calibrated else Status.FAILED,
        number=number,
        limit="one for exactly this judge",
        detail=standing.why_not,
        counts=counts,
        live_only=True,
    )
