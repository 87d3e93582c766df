"""Lines of the model gate about the judge: it reads prose, it agrees with people, and what it passes is what passes.

A fixture's verdicts are authored, so a fixture gate has none of these lines. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from skillassay.calibration.measure import Agreement
from skillassay.calibration.references import RIGHT, UNANSWERED, WRONG, ReferenceVerdict
from skillassay.calibration.standing import NEVER, Standing
from skillassay.contract.contract import GateTerms
from skillassay.gate.lines import GateLine, Status, decimal_text
from skillassay.gate.reading import UNASKED, ReadFacts, verdicts_read_line
from skillassay.gate.rows import progressive_rows, scored_rows
from skillassay.scoring.scores import Row
from skillassay.statistics.correction import Corrected, corrected_rate


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFacts:
    """What is known of a run's judge besides its verdicts. ``n_references`` were planned to be shown to it."""

    standing: Standing = NEVER
    n_references: int = 0
    references: tuple[ReferenceVerdict, ...] = ()
    reading: ReadFacts = UNASKED


UNKNOWN = JudgeFacts()


def judge_lines(judge: JudgeFacts, rows: Sequence[Row], terms: GateTerms) -> list[GateLine]:
    """The lines of a live run."""
    return [
        *references_line(judge.n_references, judge.references),
        calibrated_line(judge.standing),
        *corrected_line(judge.standing, rows, terms),
        *verdicts_read_line(judge.reading, rows),
    ]


def corrected_line(standing: Standing, rows: Sequence[Row], terms: GateTerms) -> list[GateLine]:
    """The share of criteria that the judge passed, corrected by how often it was wrong; none without a calibration.

    By ``gate.lift_rule`` Rogan and Gladen's estimate reaches the limit (``point``, compared exactly), or their interval
    lies at or above it (``bound``): below it the line fails, around it the line is open. The interval carries the
    calibration's own uncertainty (:func:`skillassay.statistics.correction.corrected_rate`) and takes criteria as
    independent, which those of one answer are not, so it is narrower than it should be.
    """
    found = standing.agreement
    marks = [mark for row in scored_rows(progressive_rows(rows)) for mark in row.record.marks if mark.by == "judge"]
    if found is None or not standing.is_calibrated or not marks:
        return []
    passed, n = sum(mark.passed for mark in marks), len(marks)
    sensitivity, specificity = (found.both_pass, found.n_passed), (found.both_fail, found.n_failed)
    corrected = corrected_rate((passed, n), sensitivity=sensitivity, specificity=specificity)
    words = f"the judge passed {passed} of {n} criteria in progressive, "
    if corrected.value is not None and corrected.interval is not None:
        low, high = corrected.interval.low, corrected.interval.high
        words += f"corrected {corrected.value:.3f} [{low:.3f}, {high:.3f}]"
        words += ", cut to a share" if corrected.truncated else ""
    else:
        words += f"which cannot be corrected: {corrected.reason}"
    status = _corrected_status(corrected, found, Fraction(passed, n), terms)
    is_open = corrected.interval is not None and status is Status.UNDECIDED
    return [
        GateLine(
            name="corrected_rate",
            status=status,
            number=words + (", inconclusive" if is_open else ""),
            limit=f">= {decimal_text(terms.quality_min)} (rule {terms.lift_rule})",
            counts={"passed": passed, "judged": n},
        )
    ]


def _corrected_status(corrected: Corrected, found: Agreement, share: Fraction, terms: GateTerms) -> Status:
    youden = Fraction(found.both_pass, found.n_passed) + Fraction(found.both_fail, found.n_failed) - 1
    if youden <= 0 or corrected.interval is None:
        return Status.UNDECIDED
    if terms.lift_rule == "bound":
        low, high = Fraction(corrected.interval.low), Fraction(corrected.interval.high)
        if low >= terms.quality_min:
            return Status.PASSED
        return Status.FAILED if high < terms.quality_min else Status.UNDECIDED
    estimate = share + Fraction(found.both_fail, found.n_failed) - 1
    return Status.PASSED if estimate >= terms.quality_min * youden else Status.FAILED


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
        if standing.n_before:
            number += f", compared for the {standing.n_before + 1}. time"
            counts["compared_before"] = standing.n_before
    return GateLine(
        name="judge_calibrated",
        status=Status.PASSED if standing.is_calibrated else Status.FAILED,
        number=number,
        limit="one for exactly this judge",
        detail=standing.why_not,
        counts=counts,
        live_only=True,
    )
