"""Over how much of what a judge decides its calibration is spread. Pure.

Twenty labels on one criterion say how the judge reads that one. So the labels must be about several answers, about
several of the criteria that are judged, and about each way of judging: a rubric and the prose of a behaviour case are
judged under instructions of their own. That the labels are a random choice no count can show.
"""

from __future__ import annotations

from collections.abc import Collection

from skillassay.calibration.certificate import Certificate, pairs_of
from skillassay.calibration.judged import PROSE_MARKS, Statement
from skillassay.calibration.labels import Labels
from skillassay.contract.terms import CalibrationTerms


def coverage_shortfalls(
    certificate: Certificate, labels: Labels, judged: Collection[Statement], terms: CalibrationTerms
) -> tuple[str, ...]:
    """Why these labels say too little about a judge of ``judged``; nothing where they are spread enough."""
    points = [pair.point for pair in pairs_of(certificate, labels)]
    answers = {answer for answer, _ in points}
    read = [(_case_of(labels, answer), criterion) for answer, criterion in points]
    found = []
    if len(answers) < terms.min_answers:
        found.append(f"the labels are about {len(answers)} answers, {terms.min_answers} are needed")
    wanted, about = min(terms.min_statements, len(judged)), len(set(read) & set(judged))
    if about < wanted:
        found.append(
            f"the labels are about {about} of the {len(judged)} criteria that the judge decides, {wanted} are needed"
        )
    for words, is_prose in (("criteria of a rubric", False), ("the prose of a behaviour case", True)):
        n = sum((criterion in PROSE_MARKS) is is_prose for _, criterion in read)
        if n < terms.min_each and any((criterion in PROSE_MARKS) is is_prose for _, criterion in judged):
            found.append(f"{n} labels are about {words}, which the judge decides too: {terms.min_each} are needed")
    return tuple(found)


def _case_of(labels: Labels, answer_id: str) -> str:
    answer = labels.answers[answer_id]
    return f"{answer.suite}/{answer.case_id}"
