"""The judge before authored answers, ahead of a live run: does it read the prose? ``references.jsonl`` of the run.

    {"reference": 1, "suite", "case", "side": "positive" | "negative", "index",
     "verdict": "right" | "wrong" | "unanswered", "why", "spent"}

Every reference of a planned behaviour case has passed the comparisons that code makes, so its prose alone decides. A
positive one is judged rightly when the judge finds what is required and nothing forbidden; a counter-example when it
finds that one of the two is broken. Where it gave no verdict nothing is known, and it is asked again when the run goes
on. No text is kept: the references stand in the suite. ``spent`` is what a call used, as in a record of a trial; lines
from before it was kept do not say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from skillassay.canonical import Json
from skillassay.errors import StoreError, TrialError
from skillassay.formats import require_version
from skillassay.judging.behavior import ask_verdict, judge_marks
from skillassay.ledger import append_line, read_lines
from skillassay.models.base import Model, ModelReply
from skillassay.runs.record import Spent
from skillassay.suites.case import Case
from skillassay.suites.facts import Reference
from skillassay.suites.references import as_answer
from skillassay.transcript import Usage

REFERENCES_FILE = "references.jsonl"
REFERENCES_VERSION = 1
POSITIVE, NEGATIVE = SIDES = ("positive", "negative")
RIGHT, WRONG, UNANSWERED = VERDICTS = ("right", "wrong", "unanswered")

Place = tuple[str, str, str, int]
"""Suite, case, side and index of a reference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceVerdict:
    """What came of one reference. ``why`` is the reason of an error, or what the judge got wrong; fixed words."""

    place: Place
    verdict: str
    why: str | None = None
    spent: Spent = field(default_factory=Spent)

    def __str__(self) -> str:
        _, case_id, side, index = self.place
        return f"{case_id}, {side} {index + 1}: {self.why or self.verdict}"


def references_of(cases: Iterable[Case]) -> dict[Place, tuple[Case, Reference]]:
    """Every reference of the cases by its place."""
    return {
        (case.suite, case.id, side, index): (case, reference)
        for case in cases
        if case.references is not None and case.behavior is not None
        for side in SIDES
        for index, reference in enumerate(getattr(case.references, side))
    }


def slot_of(place: Place) -> str:
    """What a call about a reference is known by, to a recording and to a cache."""
    return "reference/" + "/".join(map(str, place))


def judge_references(judge: Model, cases: Iterable[Case], folder: Path, *, timeout_s: float, jobs: int) -> int:
    """Have the judge read every reference that it has not decided yet, each kept as it comes; how many were asked.

    Raises :class:`StoreError` when the file cannot be read or written.
    """
    known = {one.place for one in read_verdicts(folder) if one.verdict != UNANSWERED}
    todo = [(place, *item) for place, item in references_of(cases).items() if place not in known]
    with ThreadPoolExecutor(max_workers=jobs) as threads:
        try:
            for found in threads.map(lambda item: _judged(judge, item, timeout_s), todo):
                append_line(folder / REFERENCES_FILE, _json(found))
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)  # what waits for its turn is not asked any more
            raise
    return len(todo)


def _judged(judge: Model, item: tuple[Place, Case, Reference], timeout_s: float) -> ReferenceVerdict:
    place, case, reference = item
    spent = Spent()
    try:
        reply = ask_verdict(judge, case, as_answer(reference), timeout_s=timeout_s, slot=slot_of(place))
        spent = _spent(reply)
        required, absent = (mark.passed for mark in judge_marks(reply.turn.text))
    except TrialError as error:
        if error.n_attempts:  # a reply that says nothing has been booked already
            spent = Spent(n_calls=1, n_attempts=error.n_attempts, usage=error.usage or Usage())
        return ReferenceVerdict(place=place, verdict=UNANSWERED, why=error.reason.value, spent=spent)
    if place[2] == POSITIVE:
        broken = [name for name, met in (("required_met", required), ("forbidden_absent", absent)) if not met]
        why = f"a right answer failed {' and '.join(broken)}" if broken else None
    else:
        why = "a counter-example passed" if required and absent else None
    return ReferenceVerdict(place=place, verdict=WRONG if why else RIGHT, why=why, spent=spent)


def _spent(reply: ModelReply) -> Spent:
    return Spent(
        n_calls=1,
        n_attempts=reply.n_attempts,
        usage=reply.usage,
        model=reply.model,
        n_cached=int(reply.cached),
        cached_usage=reply.usage if reply.cached else Usage(),
        waited_s=round(reply.waited_s, 3),
    )


def _json(found: ReferenceVerdict) -> dict[str, Json]:
    suite, case_id, side, index = found.place
    return {
        "reference": REFERENCES_VERSION,
        "suite": suite,
        "case": case_id,
        "side": side,
        "index": index,
        "verdict": found.verdict,
        "why": found.why,
        "spent": asdict(found.spent),
    }


def read_verdicts(folder: Path) -> tuple[ReferenceVerdict, ...]:
    """The last word on each reference, in the order of the first. Raises :class:`StoreError`."""
    return tuple({found.place: found for found in _read(folder)}.values())


def references_spent(folder: Path) -> tuple[Spent, ...]:
    """What each call about a reference used, the ones that were asked again included. Raises :class:`StoreError`."""
    return tuple(found.spent for found in _read(folder))


def _read(folder: Path) -> Iterator[ReferenceVerdict]:
    for number, value in read_lines(folder / REFERENCES_FILE):
        yield _parse(value, f"{folder / REFERENCES_FILE}, line {number}")


def _parse(value: dict[str, Any], where: str) -> ReferenceVerdict:
    hint = "restore the file; it is only appended to"
    require_version(value, "reference", REFERENCES_VERSION, where=where, what="no verdict on a reference", hint=hint)
    texts: Sequence[object] = (value.get("suite"), value.get("case"))
    sound = all(isinstance(text, str) for text in texts) and type(value.get("index")) is int
    if not sound or value.get("side") not in SIDES or value.get("verdict") not in VERDICTS:
        raise StoreError(f"{where}: a field is missing or of another form", hint=hint)
    place = (value["suite"], value["case"], value["side"], value["index"])
    try:
        spent = _spent_from_json(value.get("spent") or {})
    except TypeError as error:
        raise StoreError(f"{where}: what it spent is of another form", hint=hint) from error
    return ReferenceVerdict(place=place, verdict=value["verdict"], why=value.get("why"), spent=spent)


def _spent_from_json(value: Mapping[str, Any]) -> Spent:
    usages = {name: Usage(**value[name]) for name in ("usage", "cached_usage") if name in value}
    return Spent(**{**value, **usages})
