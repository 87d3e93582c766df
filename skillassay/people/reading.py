"""Reading verdicts of a stored run, without the terminal: which verdict is next, and what a key does to the file.

What a person is shown is the judge's verdict with its evidence beside the answer, and nothing that tells the arm. Every
word is written when it is said, so that a session that ends anyhow loses nothing and the next one goes on where it
stopped. Refuses a run that keeps no texts and one whose verdicts are authored; leaves hidden cases out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from skillassay.calibration.items import Item, judged_criteria, labelled_answer
from skillassay.calibration.sampling import Drawn, draw_verdicts, judged_verdicts
from skillassay.calibration.verdicts_read import (
    RIGHT,
    UNDONE,
    WRONG,
    VerdictPoint,
    VerdictRead,
    append_verdict_read,
    read_verdicts_read,
    standing_words,
)
from skillassay.contract.terms import READ_MIN
from skillassay.errors import InputError, UsageError
from skillassay.people.names import name_problem, same_name
from skillassay.project import load_project
from skillassay.report.base import RunView
from skillassay.runs.evaluation import load_view
from skillassay.runs.keeping import refuse_without_texts
from skillassay.runs.retention import FULL
from skillassay.runs.store import now_utc
from skillassay.suites.case import Case


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownVerdict:
    """One verdict with what a reader needs to say whether it is right."""

    item: Item
    verdict: str
    evidence: str
    rubric: str

    @property
    def point(self) -> VerdictPoint:
        """What a word on it is about."""
        return (*self.item.point, self.verdict)


@dataclass(slots=True, kw_only=True)
class Reading:
    """One person before the verdicts that were drawn. ``done`` are those the person has said a word on."""

    root: Path
    run_id: str
    by: str
    shown: Sequence[ShownVerdict]
    done: set[VerdictPoint]
    said: list[tuple[ShownVerdict, str]] = field(default_factory=list)

    @property
    def next(self) -> ShownVerdict | None:
        """The first verdict that the person has not spoken on; None when there is none left."""
        return next((one for one in self.shown if one.point not in self.done), None)

    @property
    def n_left(self) -> int:
        """How many are left."""
        return sum(one.point not in self.done for one in self.shown)

    @property
    def n_wrong(self) -> int:
        """How many were called wrong in this session."""
        return sum(word == WRONG for _, word in self.said)

    def say(self, shown: ShownVerdict, word: str) -> None:
        """Write a word on a verdict. Raises :class:`StoreError` with nothing changed."""
        self._write(shown, word)
        self.done.add(shown.point)
        self.said.append((shown, word))

    def undo(self) -> bool:
        """Take back the last word of this session; False when there is none."""
        if not self.said:
            return False
        shown = self.said[-1][0]
        self._write(shown, UNDONE)
        self.said.pop()
        self.done.discard(shown.point)
        return True

    def _write(self, shown: ShownVerdict, word: str) -> None:
        case = shown.item.case
        read = VerdictRead(
            at=now_utc(),
            by=self.by,
            run=self.run_id,
            suite=case.suite,
            case_id=case.id,
            case_digest=case.digest,
            criterion=shown.item.criterion.id,
            rubric=shown.rubric,
            verdict=shown.verdict,
            said=word,
            answer=shown.item.answer.id,
        )
        append_verdict_read(self.root, read)


def load_reading(
    root: Path, run: str | None, *, by: str, number: int | None, seed: int, again: bool = False
) -> Reading:
    """The session of ``by`` over verdicts of a stored run (the newest for None), ``number`` of each skill.

    Without a number it is the contract's; ``again`` offers once more what the person did not call right. Raises
    :class:`UsageError` for no person's name, for a run without texts or with authored verdicts, :class:`InputError`
    where there is nothing to read, :class:`StoreError`.
    """
    nobody = name_problem(by)
    if nobody is not None:
        raise UsageError(f"--by {nobody}", hint="a person reads, under a name of their own")
    view = load_view(root, run)
    run_id, facts = view.header["id"], view.facts
    if facts.is_fixture:
        message = f"the verdicts of run {run_id} are authored or recorded, and its gate asks for no reader"
        raise UsageError(message, hint="read verdicts of a run on live models")
    refuse_without_texts(view.header.get("retention", FULL), "read")
    verdicts = judged_verdicts(view.assessment.scores.rows, view.header["cases"], hidden=facts.hidden)
    n_each = number or view.header["contract"]["binding"]["judge"].get("read_min", READ_MIN)
    drawn = draw_verdicts(verdicts, n_each=n_each, seed=seed)
    cases = _cases(root)
    shown = tuple(one for verdict in drawn if (one := _shown(verdict, view, cases)) is not None)
    if not shown:
        hint = "read a run made with the cases as they are: `skillassay eval`"
        raise InputError(f"run {run_id} has no verdict of a judge on a case as it is now", hint=hint)
    by = " ".join(by.split())
    words = [one for one in _said(root, run_id, by) if one.rubric in facts.rubrics.values()]
    done = {one.point for one in words if not again or one.said == RIGHT}
    return Reading(root=root, run_id=run_id, by=by, shown=shown, done=done)


def _cases(root: Path) -> dict[str, Case]:
    return {f"{case.suite}/{case.id}": case for case in load_project(root).cases}


def _shown(verdict: Drawn, view: RunView, cases: Mapping[str, Case]) -> ShownVerdict | None:
    """The verdict with its case; None where the case is another one now, or its run knew no rubric."""
    record = verdict.record
    name = f"{record.suite}/{record.case_id}"
    case, digest, rubric = cases.get(name), view.header["cases"].get(name), view.facts.rubrics.get(verdict.skill_path)
    if case is None or case.digest != digest or rubric is None:
        return None
    answer = labelled_answer(record, case.digest)
    criterion = next((one for one in judged_criteria(case) if one.id == verdict.mark.id), None)
    if answer is None or criterion is None:
        return None
    item = Item(answer=answer, case=case, criterion=criterion)
    return ShownVerdict(item=item, verdict=verdict.mark.verdict, evidence=verdict.mark.evidence, rubric=rubric)


def _said(root: Path, run_id: str, by: str) -> list[VerdictRead]:
    """The person's words on verdicts of this run."""
    words = standing_words(read_verdicts_read(root))
    return [one for one in words if one.run == run_id and same_name(one.by, by)]
