"""Adjudications of a run, ``adjudications.jsonl`` beside its records: what a named person decided, and about what.

    {"adjudication": 1, "at", "by", "verdict", "reason", "suite", "case", "mode", "repeat", "record"}

``record`` is the content digest of what the person looked at: one trial's record, all repeats of a case in a mode
(``repeat`` null), or all of a case (``mode`` null too). The file is only appended to. Of one person the last word on
one thing counts; of two people each keeps his own, and no number of them outvotes another. Owns the format and what an
adjudication may change: a trial that the judge could not decide, and nothing that has a score.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skillassay.canonical import Json
from skillassay.errors import Reason, StoreError
from skillassay.formats import require_version
from skillassay.inside import refuse_links
from skillassay.ledger import append_line, read_lines
from skillassay.people.names import name_problem, same_name
from skillassay.runs.record import Mark, Outcome, TrialRecord, content_digest

ADJUDICATION_VERSION = 1
ADJUDICATIONS = "adjudications.jsonl"
_HINT = "restore the file; it is only appended to"

PASS, FAIL, ORACLE_INVALID, HOLD = VERDICTS = ("pass", "fail", "oracle-invalid", "hold")
SCORING = frozenset((PASS, FAIL))
MIN_REASON_CHARS = 10

DECIDABLE = frozenset((Reason.JUDGE_ABSTAINED, Reason.JUDGE_DISAGREED, Reason.UNGROUNDED, Reason.HELD))
"""Reasons of an unscored trial that a person may decide: an answer is there, and only its judgement is missing."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Target:
    """What is adjudicated: one trial, all repeats of a case in a mode, or a case."""

    suite: str
    case_id: str
    mode: str | None = None
    repeat: int | None = None

    def __str__(self) -> str:
        mode = "" if self.mode is None else f" [{self.mode}{'' if self.repeat is None else f' #{self.repeat}'}]"
        return f"{self.case_id}{mode}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjudication:
    """One person's word on one thing."""

    target: Target
    verdict: str
    by: str
    reason: str
    record: str
    at: str


def append_adjudication(folder: Path, adjudication: Adjudication) -> None:
    """Add one to a run. Raises :class:`StoreError`."""
    value = {"adjudication": ADJUDICATION_VERSION, **adjudication_json(adjudication)}
    refuse_links(folder.parents[2], folder / ADJUDICATIONS)  # the project's root is three above a run
    append_line(folder / ADJUDICATIONS, value)


def adjudication_json(adjudication: Adjudication) -> dict[str, Json]:
    """One adjudication as its file, results and evidence tell it."""
    target = adjudication.target
    return {
        "at": adjudication.at,
        "by": adjudication.by,
        "verdict": adjudication.verdict,
        "reason": adjudication.reason,
        "suite": target.suite,
        "case": target.case_id,
        "mode": target.mode,
        "repeat": target.repeat,
        "record": adjudication.record,
    }


def read_adjudications(folder: Path) -> tuple[Adjudication, ...]:
    """All of a run, oldest first. Raises :class:`StoreError` for a line that is none."""
    path = folder / ADJUDICATIONS
    return tuple(_parse(value, f"{path}, line {number}") for number, value in read_lines(path))


def _parse(value: Mapping[str, Any], where: str) -> Adjudication:
    require_version(value, "adjudication", ADJUDICATION_VERSION, where=where, what="no adjudication", hint=_HINT)
    texts = {name: value.get(name) for name in ("by", "verdict", "reason", "suite", "case", "record", "at")}
    mode, repeat = value.get("mode"), value.get("repeat")
    problem = next((f"{name} is no text" for name, text in texts.items() if not isinstance(text, str)), None)
    if problem is None and texts["verdict"] not in VERDICTS:
        problem = f"verdict {texts['verdict']!r} is none of {', '.join(VERDICTS)}"
    if problem is None:
        problem = name_problem(str(texts["by"]))
    if problem is None and not ((mode is None or isinstance(mode, str)) and (repeat is None or type(repeat) is int)):
        problem = "mode or repeat is of no known form"
    if problem is not None:
        raise StoreError(f"{where}: {problem}", hint=_HINT)
    text = {name: str(item) for name, item in texts.items()}
    return Adjudication(
        target=Target(suite=text["suite"], case_id=text["case"], mode=mode, repeat=repeat),
        **{name: text[name] for name in ("verdict", "by", "reason", "record", "at")},
    )


def voices(adjudications: Iterable[Adjudication], target: Target, record: str) -> tuple[Adjudication, ...]:
    """Each person's last word on exactly this record of a target.

    Two names that only may be one person's are two voices: an open disagreement asks people, a silenced voice nobody.
    """
    last: list[Adjudication] = []
    for item in adjudications:
        if item.target == target and item.record == record:
            last = [*(one for one in last if not same_name(one.by, item.by)), item]
    return tuple(last)


def is_decidable(record: TrialRecord) -> bool:
    """Whether a person may give the trial a score: an answer that only its judge left open."""
    return record.outcome.reason in DECIDABLE and record.answer is not None


def can_pass(record: TrialRecord) -> bool:
    """Whether nothing that was decided of the trial failed: a person decides what is open and overrules nothing."""
    return all(mark.passed for mark in record.marks)


def decided_record(record: TrialRecord, said: tuple[Adjudication, ...]) -> TrialRecord:
    """The record as it counts: with the score that people gave it, where they may and all say the same.

    What the judge left open becomes a mark of theirs. Nobody knows which of these criteria is critical, so an open one
    that failed counts as critical in a case that has one.
    """
    verdicts = {item.verdict for item in said}
    if len(verdicts) != 1 or not verdicts <= SCORING or not is_decidable(record):
        return record
    passed = verdicts == {PASS}
    if passed and not can_pass(record):
        return record
    why = f"adjudicated by {' and '.join(item.by for item in said)}: {said[-1].reason}"
    verdict = "PASS" if passed else "FAIL"
    open_ = [
        Mark(id=f"adjudicated-{number}", by="person", verdict=verdict, evidence=why, critical=True)
        for number in range(1, record.n_criteria - len(record.marks) + 1)
    ]
    outcome = Outcome(status=verdict, kind="adjudicated", detail=why)
    return replace(record, outcome=outcome, marks=(*record.marks, *open_))


def decided_records(records: Iterable[TrialRecord], adjudications: Iterable[Adjudication]) -> tuple[TrialRecord, ...]:
    """All records of a run, with the scores that people gave."""
    records, adjudications = tuple(records), tuple(adjudications)
    about = {item.target for item in adjudications}
    decided = []
    for record in records:
        target = trial_target(record)
        said = voices(adjudications, target, content_digest((record,))) if target in about else ()
        decided.append(decided_record(record, said) if said else record)
    return tuple(decided)


def trial_target(record: TrialRecord) -> Target:
    """The trial of a record as a target."""
    return Target(suite=record.suite, case_id=record.case_id, mode=record.mode, repeat=record.repeat)
