"""The verdicts of a run that somebody may read, and which of them are drawn. Pure: no file, no clock.

A verdict is what the judge said on one criterion of one answer. Given twice on the same words it is one, whichever arm
answered: nothing here tells the arms apart. The draw is of each skill by itself and takes failed and passed criteria in
turn, so that both are there wherever both exist; what it draws depends on the run and on the seed alone.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from skillassay.calibration.items import labelled_answer
from skillassay.calibration.verdicts_read import JUDGED, VerdictPoint, VerdictRead
from skillassay.runs.record import Mark, TrialRecord
from skillassay.scoring.scores import Row

JUDGE = "judge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A verdict: its point, the record and the mark that show it, and whose skill's it is."""

    point: VerdictPoint
    record: TrialRecord
    mark: Mark

    @property
    def skill_path(self) -> str:
        """The skill whose rubric it is given under."""
        return self.record.skill_path


def judged_verdicts(rows: Iterable[Row], cases: Mapping[str, str], *, hidden: str | None) -> tuple[Drawn, ...]:
    """Each verdict of a judge on which a score of the run rests, once, in the order of the plan.

    ``cases`` are the digests by ``suite/id``. Answers of which no text is kept are told apart by the hash in its place.
    """
    found: dict[VerdictPoint, Drawn] = {}
    for row in rows:
        record = row.record
        if record.suite == hidden or not record.outcome.scored:
            continue
        answer = _answer_of(record, cases)
        for mark in record.marks:
            if mark.by == JUDGE and mark.verdict in JUDGED:
                point = (answer, mark.id, mark.verdict)
                found.setdefault(point, Drawn(point=point, record=record, mark=mark))
    return tuple(found.values())


def _answer_of(record: TrialRecord, cases: Mapping[str, str]) -> str:
    answer = labelled_answer(record, cases.get(f"{record.suite}/{record.case_id}", ""))
    if answer is not None:
        return answer.id
    kept = None if record.hashes is None else record.hashes.answer
    return f"{record.suite}/{record.case_id} {record.trial_id if kept is None else kept}"


def draw_verdicts(verdicts: Sequence[Drawn], *, n_each: int, seed: int) -> tuple[Drawn, ...]:
    """At most ``n_each`` verdicts of each skill, the criteria of one answer together, the answers in a mixed order."""
    chosen: dict[str, list[Drawn]] = {}
    for path in sorted({one.skill_path for one in verdicts}):
        for one in _alternating([v for v in verdicts if v.skill_path == path], seed=f"{seed} {path}")[:n_each]:
            chosen.setdefault(one.point[0], []).append(one)
    order = sorted(chosen)
    random.Random(seed).shuffle(order)  # noqa: S311 - an order, not a secret
    return tuple(one for answer in order for one in chosen[answer])


def _alternating(verdicts: Sequence[Drawn], *, seed: str) -> list[Drawn]:
    """All of them in a seeded order, a failed and a passed one in turn while there are both."""
    kinds = []
    for verdict in reversed(JUDGED):
        kind = sorted((one for one in verdicts if one.mark.verdict == verdict), key=lambda one: one.point)
        random.Random(f"{seed} {verdict}").shuffle(kind)  # noqa: S311 - as above
        kinds.append(kind)
    longest = max(map(len, kinds))
    return [kind[i] for i in range(longest) for kind in kinds if i < len(kind)]


def called_wrong(
    rows: Iterable[Row], words: Iterable[VerdictRead], cases: Mapping[str, str]
) -> dict[str, tuple[tuple[str, str], ...]]:
    """The trials that have a verdict which somebody calls wrong, by id: each criterion with who says so."""
    by_point: dict[VerdictPoint, list[str]] = {}
    for word in words:
        by_point.setdefault(word.point, []).append(word.by)
    found: dict[str, tuple[tuple[str, str], ...]] = {}
    for row in rows if by_point else ():
        record = row.record
        answer = _answer_of(record, cases)
        marks = [mark for mark in record.marks if mark.by == JUDGE]
        said = tuple((m.id, by) for m in marks for by in by_point.get((answer, m.id, m.verdict), ()))
        if said:
            found[record.trial_id] = said
    return found
