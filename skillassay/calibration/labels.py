"""Labels, ``evals/labels.jsonl``: what people say of answers that a judge reads too. Append-only, committed.

    {"labels": 1, "answer": ID, "suite", "case", "case_digest", "text"}
    {"labels": 1, "at", "by", "origin": "human" | "authored", "label": ID, "criterion", "verdict"}

ID is the SHA-256 of the canonical form of ``{"case", "case_digest", "suite", "text"}``, so a label is about these words
under these criteria and about nothing else. ``verdict`` is ``pass``, ``fail``, ``skip`` (seen, and left to others) or
``undone``. Of one person the last word on a criterion of an answer counts; of two people each keeps his own. Authored
labels are written with an answer, not found by reading it: they show a tool at work and certify nothing.

Owns the format and what a label means; compares nobody. Names are compared, nobody is authenticated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillassay.canonical import digest_of
from skillassay.errors import StoreError
from skillassay.formats import require_version
from skillassay.inside import refuse_links
from skillassay.ledger import append_line, read_lines
from skillassay.people.names import name_problem, same_name

LABELS_PATH = "evals/labels.jsonl"
LABELS_VERSION = 1

HUMAN, AUTHORED = ORIGINS = ("human", "authored")
PASS, FAIL, SKIP, UNDONE = VERDICTS = ("pass", "fail", "skip", "undone")
DECIDED = frozenset((PASS, FAIL))
_HINT = "restore the file from git; it is only appended to"

Point = tuple[str, str]
"""An answer's ID and a criterion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledAnswer:
    """An answer that somebody was shown, with the case it answers as it was."""

    suite: str
    case_id: str
    case_digest: str
    text: str

    @property
    def id(self) -> str:
        """The digest that labels name it by."""
        value = {"suite": self.suite, "case": self.case_id, "case_digest": self.case_digest, "text": self.text}
        return digest_of(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """One person's word on one criterion of one answer."""

    answer: str
    criterion: str
    verdict: str
    by: str
    at: str
    origin: str = HUMAN

    @property
    def point(self) -> Point:
        """What it is about."""
        return (self.answer, self.criterion)


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """A file that was read: each answer by its ID, and all labels, oldest first."""

    answers: Mapping[str, LabelledAnswer]
    labels: tuple[Label, ...]

    def said(self, *, origin: str = HUMAN) -> dict[Point, tuple[Label, ...]]:
        """Each person's last word on each point that anybody decided, in the order of the first words."""
        last: dict[Point, list[Label]] = {}
        for label in self.labels:
            if label.origin == origin:
                kept = [one for one in last.get(label.point, ()) if not same_name(one.by, label.by)]
                last[label.point] = [*kept, label]
        decided = {point: tuple(one for one in words if one.verdict in DECIDED) for point, words in last.items()}
        return {point: words for point, words in decided.items() if words}

    def settled(self, *, origin: str = HUMAN) -> dict[Point, bool]:
        """Whether it passes, for each point on which all who decided say the same."""
        agreed = {point: {one.verdict for one in words} for point, words in self.said(origin=origin).items()}
        return {point: verdicts == {PASS} for point, verdicts in agreed.items() if len(verdicts) == 1}

    def changed_since(self, at: str, *, origin: str = HUMAN) -> frozenset[Point]:
        """The points on which somebody says otherwise now than he last had when ``at`` came, an ISO time in UTC."""
        before = Labels(answers=self.answers, labels=tuple(one for one in self.labels if one.at <= at))
        then = {(point, word.by): word.verdict for point, words in before.said(origin=origin).items() for word in words}
        now: dict[Point, tuple[Label, ...]] = self.said(origin=origin)
        return frozenset(
            point
            for (point, by), verdict in then.items()
            if not any(same_name(word.by, by) and word.verdict == verdict for word in now.get(point, ()))
        )

    def disputed(self, *, origin: str = HUMAN) -> tuple[Point, ...]:
        """The points on which people do not say the same. No number of them outvotes another."""
        return tuple(p for p, words in self.said(origin=origin).items() if len({one.verdict for one in words}) > 1)


def labels_path(root: Path) -> Path:
    """Where the labels of a project lie."""
    return root / LABELS_PATH


def append_answer(root: Path, answer: LabelledAnswer) -> None:
    """Add an answer that is about to get its first label. Raises :class:`StoreError`."""
    value = {
        "labels": LABELS_VERSION,
        "answer": answer.id,
        "suite": answer.suite,
        "case": answer.case_id,
        "case_digest": answer.case_digest,
        "text": answer.text,
    }
    refuse_links(root, labels_path(root))
    append_line(labels_path(root), dict(value))


def append_label(root: Path, label: Label) -> None:
    """Add one label. Raises :class:`StoreError`."""
    value = {
        "labels": LABELS_VERSION,
        "at": label.at,
        "by": label.by,
        "origin": label.origin,
        "label": label.answer,
        "criterion": label.criterion,
        "verdict": label.verdict,
    }
    refuse_links(root, labels_path(root))
    append_line(labels_path(root), dict(value))


def read_labels(root: Path) -> Labels:
    """The labels of a project, none without a file. Raises :class:`StoreError` for a line that is none of the two."""
    answers: dict[str, LabelledAnswer] = {}
    labels: list[Label] = []
    path = labels_path(root)
    for number, value in read_lines(path):
        where = f"{LABELS_PATH}, line {number}"
        what = "neither an answer nor a label"
        require_version(value, "labels", LABELS_VERSION, where=where, what=what, hint=_HINT)
        if "answer" in value:
            answer = _parse_answer(value, where)
            answers[answer.id] = answer
        else:
            label = _parse_label(value, where)
            if label.answer not in answers:
                raise StoreError(f"{where}: no answer {label.answer[:12]} stands before it", hint=_HINT)
            labels.append(label)
    return Labels(answers=answers, labels=tuple(labels))


def _parse_answer(value: Mapping[str, Any], where: str) -> LabelledAnswer:
    texts = _texts(value, ("answer", "suite", "case", "case_digest", "text"), where)
    answer = LabelledAnswer(
        suite=texts["suite"], case_id=texts["case"], case_digest=texts["case_digest"], text=texts["text"]
    )
    if answer.id != texts["answer"]:
        message = f"{where}: the answer is {answer.id[:12]}, not {texts['answer'][:12]}: it was edited"
        raise StoreError(message, hint=_HINT)
    return answer


def _parse_label(value: Mapping[str, Any], where: str) -> Label:
    texts = _texts(value, ("at", "by", "origin", "label", "criterion", "verdict"), where)
    problem = None
    if texts["origin"] not in ORIGINS:
        problem = f"origin {texts['origin']!r} is none of {', '.join(ORIGINS)}"
    elif texts["verdict"] not in VERDICTS:
        problem = f"verdict {texts['verdict']!r} is none of {', '.join(VERDICTS)}"
    elif texts["origin"] == HUMAN:
        problem = name_problem(texts["by"])
    if problem is not None:
        raise StoreError(f"{where}: {problem}", hint=_HINT)
    named: dict[str, str] = {name: texts[name] for name in ("at", "by", "origin", "criterion", "verdict")}
    return Label(answer=texts["label"], **named)


def _texts(value: Mapping[str, Any], names: Iterable[str], where: str) -> dict[str, str]:
    texts: dict[str, str] = {}
    for name in names:
        text = value.get(name)
        if not isinstance(text, str):
            raise StoreError(f"{where}: {name} is no text", hint=_HINT)
        texts[name] = text
    return texts
