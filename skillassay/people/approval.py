"""Approvals of a run, ``approvals.jsonl`` beside its records: a named person has seen its decision with its unknowns.

    {"approval": 1, "id", "at", "by", "note", "seen"}

``seen`` is the digest of what there was to see: the run by its id, every line of the decision but ``approved`` itself,
the queue of people, and the content of all records. The id stands for what no record tells, the skills' bytes among it:
equal answers of another run were not looked at. An approval counts while that is what there still is; whatever
changes it afterwards, an adjudication, another attempt, a calibration, makes it one of another state. ``id`` is a short
digest of the other fields. The file is only appended to. Names are compared, nobody is authenticated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillassay.canonical import Json, digest_of, short_digest
from skillassay.errors import StoreError
from skillassay.formats import require_version
from skillassay.gate.lines import GateLine
from skillassay.inside import refuse_links
from skillassay.ledger import append_line, read_lines
from skillassay.people.names import name_problem
from skillassay.people.review import Entry

APPROVAL_VERSION = 1
APPROVALS = "approvals.jsonl"
_HINT = "restore the file; it is only appended to"
MIN_NOTE_CHARS = 10
_TIME = re.compile(r"[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?Z", re.ASCII)
_FIELDS = ("at", "by", "note", "seen")


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """One person's approval of what they saw."""

    at: str
    by: str
    note: str
    seen: str

    @property
    def id(self) -> str:
        """What results and evidence name it by."""
        return short_digest([self.at, self.by, self.note, self.seen])


def seen_digest(lines: Iterable[GateLine], queue: Iterable[Entry], *, run_id: str, content_digest: str) -> str:
    """The digest of what an approver sees of a run: ``lines`` are those of the decision without ``approved``."""
    shown: list[Json] = [[line.name, line.status.value, line.number, line.limit, list(line.detail)] for line in lines]
    open_: list[Json] = [[entry.id, entry.kind, entry.is_open, [one.verdict for one in entry.said]] for entry in queue]
    return digest_of([run_id, shown, open_, content_digest])


def in_force(approvals: Sequence[Approval], seen: str) -> Approval | None:
    """The newest approval of exactly what there is to see; None where there is none."""
    return next((one for one in reversed(approvals) if one.seen == seen), None)


def approval_json(approval: Approval) -> dict[str, Json]:
    """One approval as its file, results and evidence tell it."""
    return {
        "id": approval.id,
        "at": approval.at,
        "by": approval.by,
        "note": approval.note,
        "seen": approval.seen,
    }


def append_approval(folder: Path, approval: Approval) -> None:
    """Add one to a run. Raises :class:`StoreError`."""
    refuse_links(folder.parents[2], folder / APPROVALS)  # the project's root is three above a run
    append_line(folder / APPROVALS, {"approval": APPROVAL_VERSION, **approval_json(approval)})


def read_approvals(folder: Path) -> tuple[Approval, ...]:
    """All of a run, oldest first. Raises :class:`StoreError` for a line that is none."""
    path = folder / APPROVALS
    return tuple(_parse(value, f"{path}, line {number}") for number, value in read_lines(path))


def _parse(value: Mapping[str, Any], where: str) -> Approval:
    require_version(value, "approval", APPROVAL_VERSION, where=where, what="no approval", hint=_HINT)
    wrong = next((name for name in _FIELDS if not isinstance(value.get(name), str)), None)
    if wrong is not None:
        raise StoreError(f"{where}: {wrong} is no text", hint=_HINT)
    nobody = name_problem(value["by"])
    if not _TIME.fullmatch(value["at"]) or len(value["note"]) < MIN_NOTE_CHARS:
        raise StoreError(f"{where}: at is no time, or the note says nothing", hint=_HINT)
    if nobody is not None:
        raise StoreError(f"{where}: {nobody}", hint=_HINT)
    approval = Approval(**{name: value[name] for name in _FIELDS})
    if approval.id != value.get("id"):
        raise StoreError(f"{where}: its id is {approval.id}, not {value.get('id')}: it was edited", hint=_HINT)
    return approval
