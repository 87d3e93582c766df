"""Verdicts that people read, ``evals/verdicts-read.jsonl``: what a named person says of single verdicts of a judge.

    {"verdicts_read": 1, "at", "by", "run", "suite", "case", "case_digest", "criterion", "rubric", "verdict", "said",
     "answer"}

``answer`` is the ID that labels give an answer (:mod:`skillassay.calibration.labels`), ``rubric`` the digest of all
that is judged of the skill (:mod:`skillassay.calibration.rubrics`), ``verdict`` what the judge said, PASS or FAIL.
``said`` is ``right``, ``wrong``, ``unsure`` or ``undone``. No text of an answer stands in it. Of one person the last
word on a verdict in a run counts; of two people each keeps his own. Append-only, committed.

Owns the format; samples nothing and decides nothing. Names are compared, nobody is authenticated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillassay.errors import StoreError
from skillassay.formats import require_version
from skillassay.inside import refuse_links
from skillassay.ledger import append_line, read_lines
from skillassay.people.names import name_problem, same_name

VERDICTS_READ_PATH = "evals/verdicts-read.jsonl"
VERDICTS_READ_VERSION = 1

RIGHT, WRONG, UNSURE, UNDONE = WORDS = ("right", "wrong", "unsure", "undone")
JUDGED = ("PASS", "FAIL")
_HINT = "restore the file from git; it is only appended to"
_FIELDS = ("at", "by", "run", "suite", "case", "case_digest", "criterion", "rubric", "verdict", "said", "answer")

VerdictPoint = tuple[str, str, str]
"""An answer's ID, a criterion, and the judge's verdict on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRead:
    """One person's word on one verdict of a run's judge."""

    at: str
    by: str
    run: str
    suite: str
    case_id: str
    case_digest: str
    criterion: str
    rubric: str
    verdict: str
    said: str
    answer: str

    @property
    def point(self) -> VerdictPoint:
        """The verdict that it is about, whichever trial or run has it."""
        return (self.answer, self.criterion, self.verdict)


def append_verdict_read(root: Path, read: VerdictRead) -> None:
    """Add one word. Raises :class:`StoreError`."""
    path = root / VERDICTS_READ_PATH
    refuse_links(root, path)
    texts = {name: getattr(read, "case_id" if name == "case" else name) for name in _FIELDS}
    append_line(path, {"verdicts_read": VERDICTS_READ_VERSION, **texts})


def read_verdicts_read(root: Path) -> tuple[VerdictRead, ...]:
    """All words, oldest first, none without a file. Raises :class:`StoreError` for a line that is none."""
    lines = read_lines(root / VERDICTS_READ_PATH)
    return tuple(_parse(value, f"{VERDICTS_READ_PATH}, line {number}") for number, value in lines)


def _parse(value: Mapping[str, Any], where: str) -> VerdictRead:
    what = "no verdict that somebody read"
    require_version(value, "verdicts_read", VERDICTS_READ_VERSION, where=where, what=what, hint=_HINT)
    texts = {name: value.get(name) for name in _FIELDS}
    problem = next((f"{name} is no text" for name, text in texts.items() if not isinstance(text, str)), None)
    if problem is None and texts["verdict"] not in JUDGED:
        problem = f"verdict {texts['verdict']!r} is none of {', '.join(JUDGED)}"
    if problem is None and texts["said"] not in WORDS:
        problem = f"said {texts['said']!r} is none of {', '.join(WORDS)}"
    if problem is None:
        problem = name_problem(str(texts["by"]))
    if problem is not None:
        raise StoreError(f"{where}: {problem}", hint=_HINT)
    text = {name: str(item) for name, item in texts.items()}
    return VerdictRead(case_id=text.pop("case"), **text)


def standing_words(reads: Iterable[VerdictRead]) -> tuple[VerdictRead, ...]:
    """Each person's last word on each verdict of each run under each rubric, without those that were taken back."""
    last: dict[tuple[VerdictPoint, str, str], list[VerdictRead]] = {}
    for read in reads:
        words = last.setdefault((read.point, read.run, read.rubric), [])
        words[:] = [*(one for one in words if not same_name(one.by, read.by)), read]
    return tuple(one for words in last.values() for one in words if one.said != UNDONE)


def wrong_in(reads: Iterable[VerdictRead], run_id: str) -> tuple[VerdictRead, ...]:
    """The verdicts of one run that somebody calls wrong."""
    return tuple(one for one in standing_words(reads) if one.run == run_id and one.said == WRONG)
