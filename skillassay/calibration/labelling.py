"""A session of labelling, without its terminal: which item is next, and what a key does. Owns undo and resuming.

Every word is written when it is said, so that a session that ends anyhow loses nothing, and the next one goes on where
this one stopped. Undo writes too: nothing is ever taken out of the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from skillassay.calibration.items import Item, build_items
from skillassay.calibration.labels import (
    HUMAN,
    SKIP,
    UNDONE,
    Label,
    Labels,
    Point,
    append_answer,
    append_label,
    read_labels,
)
from skillassay.errors import InputError
from skillassay.people.names import same_name
from skillassay.project import load_project
from skillassay.runs.keeping import refuse_without_texts
from skillassay.runs.retention import FULL
from skillassay.runs.store import now_utc, read_header, read_records, run_folder


@dataclass(slots=True, kw_only=True)
class Session:
    """One person before the items of a project. ``done`` are the points that the person has said a word on."""

    root: Path
    by: str
    items: Sequence[Item]
    known_answers: set[str]
    done: set[Point]
    said: list[Point] = field(default_factory=list)

    @property
    def next(self) -> Item | None:
        """The first item that the person has not spoken on; None when there is none left."""
        return next((item for item in self.items if item.point not in self.done), None)

    @property
    def n_left(self) -> int:
        """How many items are left."""
        return sum(item.point not in self.done for item in self.items)

    def say(self, item: Item, verdict: str) -> None:
        """Write a word on an item. Raises :class:`StoreError` with nothing changed."""
        if item.answer.id not in self.known_answers:
            append_answer(self.root, item.answer)
            self.known_answers.add(item.answer.id)
        self._write(item.point, verdict)
        self.done.add(item.point)
        self.said.append(item.point)

    def undo(self) -> bool:
        """Take back the last word of this session; False when there is none."""
        if not self.said:
            return False
        point = self.said[-1]
        self._write(point, UNDONE)
        self.said.pop()
        self.done.discard(point)
        return True

    def _write(self, point: Point, verdict: str) -> None:
        answer, criterion = point
        label = Label(answer=answer, criterion=criterion, verdict=verdict, by=self.by, at=now_utc(), origin=HUMAN)
        append_label(self.root, label)


def load_session(root: Path, run: str | None, *, by: str, seed: int, again: bool = False) -> Session:
    """The session of ``by`` over a stored run (the newest for None): its answers to the cases as they are now.

    Hidden cases are left out, since labels are committed. Raises :class:`UsageError` for a run that keeps no texts,
    :class:`InputError` where there is nothing to label, :class:`StoreError`.
    """
    folder = run_folder(root, run)
    header = read_header(folder)
    refuse_without_texts(header.get("retention", FULL), "label")
    hidden = (header["facts"].get("holdout") or {}).get("suite")
    cases = {
        (case.suite, case.id): case
        for case in load_project(root).cases
        if case.suite != hidden and header["cases"].get(f"{case.suite}/{case.id}") == case.digest
    }
    items = build_items(read_records(folder), cases, seed=seed)
    if not items:
        hint = "label a run made with the cases as they are: `skillassay eval`"
        raise InputError(f"run {header['id']} has no answer with a criterion that a judge decides", hint=hint)
    return begin_session(root, by=" ".join(by.split()), items=items, labels=read_labels(root), again=again)


def begin_session(root: Path, *, by: str, items: Sequence[Item], labels: Labels, again: bool = False) -> Session:
    """A session of ``by`` over ``items``, going on from what the person has said before.

    ``again`` offers once more what he skipped and what people disagree on.
    """
    last: dict[Point, str] = {}
    for label in labels.labels:
        if label.origin == HUMAN and same_name(label.by, by):
            last[label.point] = label.verdict
    done = {point for point, verdict in last.items() if verdict != UNDONE and not (again and verdict == SKIP)}
    if again:
        done -= set(labels.disputed())
    return Session(root=root, by=by, items=items, known_answers=set(labels.answers), done=done)
