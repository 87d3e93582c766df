"""The record of a trial: one JSON object a line, append-only. Owns its fields, its reading and its content digest.

Format ``record: 1``. A record keeps what was observed in the order in which it was observed: answer, checks, verdicts,
outcome. ``content`` is everything but ids, times, durations and hosts; equal results mean equal content digests.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from skillassay.canonical import Json, canonical_bytes, sha256_hex
from skillassay.errors import Reason, Stage, StoreError
from skillassay.transcript import Usage

RECORD_VERSION = 1
STATUSES = ("PASS", "FAIL", "UNSCORED")
ACTIONS = ("assist", "clarify", "abstain", "refuse")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """The verdict on one check or criterion, with what it rests on. ``by`` is ``code`` or ``judge``.

    ``file`` is the file of the workspace that a check read; None for what was decided on the answer. ``differed`` says
    that the judge's samples, or its judges, did not all say so.
    """

    id: str
    by: str
    verdict: str
    evidence: str
    critical: bool = False
    explains: str | None = None
    text: str | None = None
    file: str | None = None
    differed: bool = False

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
    """What one side of a trial used: model calls, HTTP attempts, tokens, and the model's name as answered.

    ``n_cached`` of the calls were answered from the cache: their tokens are in ``usage``, which tells what the trial
    takes, and nothing was billed for them in this run. ``waited_s`` was waited before attempts: for the pace, for a
    server that asked for it, and between retries. ``models`` holds every name told, None for a reply without one, where
    not all replies told the same; else it is empty.
    """

    n_calls: int = 0
    n_attempts: int = 0
    usage: Usage = field(default_factory=Usage)
    model: str | None = None
    n_cached: int = 0
    cached_usage: Usage = field(default_factory=Usage)
    waited_s: float = 0.0
    models: tuple[str | None, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """What the candidate of one trial could see. Arms of a case may differ in the skill alone.

    ``skills`` are the names offered or shown; ``files`` the user's files with their SHA-256; ``tools`` what could be
    called besides ``skill_tools``, which exist for the sake of skills; ``prompt`` is a digest of all that was said and
    set apart from the skills: instructions, query, parameters.
    """

    skills: tuple[str, ...]
    files: tuple[tuple[str, str], ...]
    tools: tuple[str, ...]
    skill_tools: tuple[str, ...]
    prompt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """The action and the flag that the structured answer to a behaviour case states."""

    action: str
    refused: bool

    def __post_init__(self) -> None:
        if self.action not in ACTIONS or not isinstance(self.refused, bool):
            raise ValueError(f"action {self.action!r} with refused {self.refused!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What one sample of a judge said on one criterion: one of :data:`skillassay.judging.samples.WORDS`."""

    id: str
    verdict: str
    evidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One asking of a judge, of several. ``side`` is ``judge`` or ``second``, ``part`` ``prose`` or ``rubric``.

    ``reason`` and ``kind`` say why nothing came of it; then there are no ``words``.
    """

    side: str
    part: str
    number: int
    words: tuple[Said, ...] = ()
    reason: Reason | None = None
    kind: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hashes:
    """What a record keeps in the place of texts: a keyed hash of each (see :mod:`skillassay.runs.retention`).

    ``evidence`` has one for each mark and ``turns`` one for each turn of the transcript, in their order.
    """

    answer: str | None = None
    judge_reply: str | None = None
    evidence: tuple[str, ...] = ()
    turns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRecord:
    """One attempt at one trial. ``marks`` holds every check and criterion that got a verdict, checks first.

    ``answer_attempt`` is the attempt that gave the answer, with all that the candidate did and spent for it, where only
    the judge was asked again; None where the answer is this attempt's own. ``hashes`` is None where texts are kept.
    ``samples`` are there where a judge was asked more than once, or more than one; ``second`` is what the second spent.
    """

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
    arm: Arm | None = None
    attempt: int = 1
    answer_attempt: int | None = None
    observed: Observed | None = None
    hashes: Hashes | None = None
    samples: tuple[Sample, ...] = ()
    second: Spent | None = None
    started_at: str = ""
    duration_s: float = 0.0

    @property
    def was_answered(self) -> bool:
        """Whether the candidate gave an answer, kept or not."""
        return self.answer is not None or (self.hashes is not None and self.hashes.answer is not None)

    @property
    def k(self) -> int:
        """Criteria passed. Means something only when the outcome is scored."""
        return sum(mark.passed for mark in self.marks)

    @property
    def lucky(self) -> tuple[tuple[str, str], ...]:
        """(check, criterion) pairs: the check passed while the criterion that explains it failed."""
        passed = {mark.id for mark in self.marks if mark.by == "code" and mark.passed}
        return tuple((m.explains, m.id) for m in self.marks if m.explains in passed and m.explains and not m.passed)


_VOLATILE = ("trial_id", "started_at", "duration_s", "hashes")


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
        for side in ("candidate", "judge", *(("second",) if body.get("second") else ())):
            usages = {name: Usage(**body[side][name]) for name in ("usage", "cached_usage") if name in body[side]}
            body[side] = Spent(**{**body[side], **usages, "models": tuple(body[side].get("models", ()))})
        body["arm"], body["hashes"] = _arm(body.get("arm")), _hashes(body.get("hashes"))
        body["samples"] = tuple(map(_sample, body.get("samples", ())))
        body["observed"] = None if body.get("observed") is None else Observed(**body["observed"])
        record = TrialRecord(**body)
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(f"a trial record does not have its fields: {error}") from error
    if not _is_consistent(record):
        raise StoreError(f"the record of trial {record.trial_id} says {record.outcome.status} and its marks do not")
    return record


def _arm(value: Any) -> Arm | None:
    if value is None:
        return None
    files = tuple((name, sha256) for name, sha256 in value["files"])
    names = {key: tuple(value[key]) for key in ("skills", "tools", "skill_tools")}
    return Arm(**names, files=files, prompt=value["prompt"])


def _sample(value: Any) -> Sample:
    reason = None if value["reason"] is None else Reason(value["reason"])
    return Sample(**{**value, "words": tuple(Said(**one) for one in value["words"]), "reason": reason})


def _hashes(value: Any) -> Hashes | None:
    if value is None:
        return None
    return Hashes(**{**value, "evidence": tuple(value["evidence"]), "turns": tuple(value["turns"])})


def _is_consistent(record: TrialRecord) -> bool:
    """Whether status and marks say one thing: a damaged line must not pass with failed marks, nor count above n."""
    if not 0 <= record.k <= len(record.marks) <= record.n_criteria:
        return False
    return not record.outcome.scored or (record.outcome.status == "PASS") == (record.k == record.n_criteria)


RECORDS_CHANGED = "the records are not those that the result was made of"


def content_digest(records: Iterable[TrialRecord]) -> str:
    """SHA-256 over the records' content in trial order, whatever order they were written in.

    Left out are ids, times, durations, waits, and what of it the cache paid for; an attempt's number stays in, since it
    is part of what happened. Of a run that keeps no texts it covers the words in their place, and not their hashes:
    each run has a key of its own, so that those differ where results are equal.
    """
    # Bytes are a tenth of the objects that they are the form of, and a run may have many records.
    lines: list[tuple[Any, ...]] = []
    for record in records:
        content = record_to_json(record)
        for key in _VOLATILE:
            del content[key]
        for side in ("candidate", "judge", *(("second",) if content["second"] else ())):
            for key in ("n_cached", "cached_usage", "waited_s", *(() if content[side]["models"] else ("models",))):
                del content[side][key]
        # What is not there stays out, as in records from before there were these fields.
        for mark in content["marks"]:
            for key in ("file", "differed"):
                if not mark[key]:
                    del mark[key]
        for key in ("answer_attempt", "observed", "samples", "second"):
            if not content[key]:
                del content[key]
        place = (content[key] for key in ("suite", "case_id", "mode", "repeat", "attempt"))
        lines.append((*place, canonical_bytes(content)))
    lines.sort()
    return sha256_hex(b"[" + b",".join(line[-1] for line in lines) + b"]")  # the canonical form of the list of them
