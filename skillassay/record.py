"""The record of a trial: one JSON object a line, append-only. Owns its fields, its reading and its content digest.

Format ``record: 1``. A record keeps what was observed in the order in which it was observed: answer, checks, verdicts,
outcome. ``content`` is everything but ids, times, durations and hosts; equal results mean equal content digests.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from skillassay.canonical import Json, canonical_bytes, digest_of
from skillassay.errors import Reason, Stage, StoreError
from skillassay.transcript import Usage

RECORD_VERSION = 1
STATUSES = ("PASS", "FAIL", "UNSCORED")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """The verdict on one check or criterion, with what it rests on. ``by`` is ``code`` or ``judge``."""

    id: str
    by: str
    verdict: str
    evidence: str
    critical: bool = False
    explains: str | None = None
    text: str | None = None

    @property
    def passed(self) -> bool:
        """Whether the verdict is PASS."""
        return self.verdict == "PASS"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """PASS, FAIL, or UNSCORED with reason and stage. ``detail`` says it in words; ``kind`` is one of a fixed set."""

    status: str
    reason: Reason | None = None
    stage: Stage | None = None
    kind: str | None = None
    detail: str | None = None

    def __post_init__(self) -> None:
        # A fourth status would fall out of every count, and a reason beside a score would count the trial twice.
        if self.status not in STATUSES:
            raise ValueError(f"status {self.status!r} is none of {', '.join(STATUSES)}")
        if (self.reason is not None) != (self.status == "UNSCORED"):
            raise ValueError(f"status {self.status} with reason {self.reason}")

    @property
    def scored(self) -> bool:
        """Whether the trial has a score."""
        return self.status != "UNSCORED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What one side of a trial used: model calls, HTTP attempts, tokens, and the model's name as answered."""

    n_calls: int = 0
    n_attempts: int = 0
    usage: Usage = field(default_factory=Usage)
    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRecord:
    """One attempt at one trial. ``marks`` holds every check and criterion that got a verdict, checks first."""

    trial_id: str
    suite: str
    case_id: str
    skill_path: str
    mode: str
    repeat: int
    n_criteria: int
    outcome: Outcome
    marks: tuple[Mark, ...] = ()
    answer: str | None = None
    judge_reply: str | None = None
    transcript: Json = None
    activated: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    candidate: Spent = field(default_factory=Spent)
    judge: Spent = field(default_factory=Spent)
    attempt: int = 1
    started_at: str = ""
    duration_s: float = 0.0

    @property
    def k(self) -> int:
        """Criteria passed. Means something only when the outcome is scored."""
        return sum(mark.passed for mark in self.marks)

    @property
    def lucky(self) -> tuple[tuple[str, str], ...]:
        """(check, criterion) pairs: the check passed while the criterion that explains it failed."""
        passed = {mark.id for mark in self.marks if mark.by == "code" and mark.passed}
        return tuple((m.explains, m.id) for m in self.marks if m.explains in passed and m.explains and not m.passed)


_VOLATILE = ("trial_id", "started_at", "duration_s")


def record_to_json(record: TrialRecord) -> dict[str, Any]:
    """The JSON object of one record."""
    return {"record": RECORD_VERSION, **asdict(record)}


def record_from_json(value: Json) -> TrialRecord:
    """A record from its JSON object. Raises :class:`StoreError` for another version or shape."""
    if not isinstance(value, dict) or type(value.get("record")) is not int or value["record"] < 1:
        raise StoreError("a line of the record is not a trial record")
    if value["record"] > RECORD_VERSION:
        raise StoreError(
            f"record format {value['record']} is newer than {RECORD_VERSION}", hint="use a newer skillassay"
        )
    try:
        body = {key: item for key, item in value.items() if key != "record"}
        outcome = dict(body["outcome"])
        outcome["reason"] = Reason(outcome["reason"]) if outcome.get("reason") else None
        outcome["stage"] = Stage(outcome["stage"]) if outcome.get("stage") else None
        body["outcome"] = Outcome(**outcome)
        body["marks"] = tuple(Mark(**mark) for mark in body["marks"])
        body["activated"], body["scripts"] = tuple(body["activated"]), tuple(body["scripts"])
        for side in ("candidate", "judge"):
            body[side] = Spent(**{**body[side], "usage": Usage(**body[side]["usage"])})
        record = TrialRecord(**body)
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(f"a trial record does not have its fields: {error}") from error
    if not _is_consistent(record):
        raise StoreError(f"the record of trial {record.trial_id} says {record.outcome.status} and its marks do not")
    return record


def _is_consistent(record: TrialRecord) -> bool:
    """Whether status and marks say one thing: a damaged line must not pass with failed marks, nor count above n."""
    if not 0 <= record.k <= len(record.marks) <= record.n_criteria:
        return False
    return not record.outcome.scored or (record.outcome.status == "PASS") == (record.k == record.n_criteria)


def content_digest(records: Iterable[TrialRecord]) -> str:
    """SHA-256 over the records' content in trial order, whatever order they were written in.

    Left out are ids, times and durations; an attempt's number stays in, since it is part of what happened.
    """
    lines = []
    for record in records:
        content = record_to_json(record)
        for key in _VOLATILE:
            del content[key]
        lines.append(content)
    lines.sort(key=lambda c: (c["suite"], c["case_id"], c["mode"], c["repeat"], c["attempt"], canonical_bytes(c)))
    return digest_of(lines)
