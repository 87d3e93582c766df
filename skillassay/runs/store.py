"""Run records on disk: ``.skillassay/runs/ID/``. Owns the files of a run and how they survive a kill.

    run.json       header: contract, plan, digests, settings, environment; written once, before the first trial
    trials.jsonl   one record a line, appended as trials end; split on LF only; a torn last line does not count
    events.jsonl   what happened when, one object a line
    result.json    the canonical result, written atomically at the end
    cases.json     the cases as they were planned (see :mod:`skillassay.suites.kept`)
    hash.key       under the retention rule ``hash``, while the run can go on (see :mod:`skillassay.runs.retention`)

A line is written in one call and flushed; a killed process loses at most the line it was writing. Records are not
tamper-proof: whoever can write the folder can write anything into it.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import secrets
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from skillassay.canonical import Json, JsonProblem, parse_json, pretty_text, write_atomic
from skillassay.errors import StoreError
from skillassay.inside import refuse_links
from skillassay.runs.record import RECORDS_CHANGED, TrialRecord, content_digest, record_from_json, record_to_json
from skillassay.runs.retention import Retention, load_key

RUNS = ".skillassay/runs"
HEADER_VERSION = 1
RESULT_VERSION = 1
_EVENT_FIELDS = frozenset({"trial", "status", "attempt", "n_tried_again", "decision"})


def now_utc() -> str:
    """The time as RFC 3339 in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def new_run_id() -> str:
    """A sortable id: UTC time to the millisecond and six random hex digits.

    Small runs take less than a second, and the newest one must sort last.
    """
    now = datetime.now(UTC)
    return f"{now.strftime('%Y%m%dT%H%M%S')}.{now.microsecond // 1000:03}Z-{secrets.token_hex(3)}"


class RunWriter:
    """Appends to one run. Safe to call from several threads; one process at a time owns a run folder.

    A torn last line of a killed run is cut first, so that nothing is appended to it. A record that holds a text which
    ``retention`` does not keep is refused: whoever appends has to make it so.
    """

    def __init__(self, folder: Path, retention: Retention | None = None) -> None:
        self.folder = folder
        self.retention = retention or Retention()
        self._lock = threading.Lock()
        self._broken: OSError | None = None
        self._trials = _open_append(folder / "trials.jsonl")
        _own(self._trials, folder)
        self._events = _open_append(folder / "events.jsonl")
        for name in ("trials.jsonl", "events.jsonl"):
            _cut_torn_line(folder / name)
        if self.retention.hides:
            self.retention = replace(self.retention, key=load_key(folder))

    @classmethod
    def create(
        cls,
        root: Path,
        header: dict[str, Any],
        retention: Retention | None = None,
        *,
        files: Mapping[str, bytes] | None = None,
    ) -> RunWriter:
        """Make the folder of a new run and write its ``files``, then its header."""
        run_id = header["id"]
        folder = root / RUNS / run_id
        refuse_links(root, folder)
        try:
            folder.mkdir(parents=True)
            keep_out_of_git(root)
            for name, data in (files or {}).items():
                write_atomic(folder / name, data)
            write_atomic(folder / "run.json", pretty_text({"run": HEADER_VERSION, **header}).encode())
            return cls(folder, retention)
        except OSError as error:
            raise _cannot_write(folder, error) from error

    @classmethod
    def reopen(cls, folder: Path, retention: Retention | None = None) -> RunWriter:
        """Continue a run where it stopped. What a kill left of a file that was being written is removed."""
        for path in (folder, *folder.iterdir()):
            refuse_links(folder.parents[RUNS.count("/") + 1], path)
        try:
            writer = cls(folder, retention)
            for leftover in folder.glob(".*.tmp"):  # nobody else writes here: the run is this process's own now
                leftover.unlink()
        except OSError as error:
            raise _cannot_write(folder, error) from error
        return writer

    def append(self, record: TrialRecord) -> None:
        """Add one record."""
        self.retention.refuse_text(record)
        self._write(self._trials, record_to_json(record))

    def event(self, kind: str, **fields: Json) -> None:
        """Add one event with the time; where no texts are kept, without fields that nobody said hold none."""
        if self.retention.hides:
            fields = {name: value for name, value in fields.items() if name in _EVENT_FIELDS}
        self._write(self._events, {"event": kind, "at": now_utc(), **fields})

    def finish(self, result: dict[str, Any]) -> None:
        """Write the canonical result and close the logs."""
        try:
            write_atomic(self.folder / "result.json", pretty_text({"result": RESULT_VERSION, **result}).encode())
        except OSError as error:
            raise _cannot_write(self.folder, error) from error

    def close(self) -> None:
        """Close the logs. Idempotent."""
        with self._lock:
            for handle in (self._trials, self._events):
                if not handle.closed:
                    handle.close()

    def _write(self, handle: Any, value: Json) -> None:
        line = (json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False) + "\n").encode()
        with self._lock:
            if self._broken is not None:
                raise _cannot_write(self.folder, self._broken)
            try:
                written = handle.write(line)
            except OSError as error:
                self._broken = error
                raise _cannot_write(self.folder, error) from error
            if written != len(line):
                # A full disk may take half a line; nothing may follow it, or the tear would be in the middle.
                self._broken = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                raise _cannot_write(self.folder, self._broken)


def _open_append(path: Path) -> Any:
    # Unbuffered: a record is on its way to the kernel before the next trial starts.
    return path.open("ab", buffering=0)


def _own(handle: Any, folder: Path) -> None:
    """Take the run for this process, until it ends in whatever way. Two that append to one run would double trials."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        handle.close()
        message = f"the run {folder.name} is under way in another process"
        raise StoreError(message, hint="wait until it ends, or stop it") from error


def _cut_torn_line(path: Path) -> None:
    with path.open("r+b") as handle:
        size = end = handle.seek(0, os.SEEK_END)
        while end > 0:
            start = max(0, end - 65_536)
            handle.seek(start)
            at = handle.read(end - start).rfind(b"\n")
            if at >= 0:
                end = start + at + 1
                break
            end = start
        if end < size:
            handle.truncate(end)


def _cannot_write(folder: Path, error: OSError) -> StoreError:
    return StoreError(
        f"the record in {folder} cannot be written: {error.strerror or error}",
        hint="free space or fix permissions; what was written before is whole, go on with --resume",
    )


def run_folder(root: Path, run_id: str | None) -> Path:
    """The folder of a run by id or unambiguous prefix; the newest run for None. Raises :class:`StoreError`."""
    names = list_runs(root)
    if not names:
        raise StoreError(f"no run in {root / RUNS}", hint="run `skillassay eval` first")
    if run_id is None:
        return root / RUNS / names[-1]
    found = [name for name in names if name == run_id] or [name for name in names if name.startswith(run_id)]
    if len(found) != 1:
        what = "no run is" if not found else f"{len(found)} runs are"
        raise StoreError(f"{what} named {run_id!r}", hint=f"runs: {', '.join(names[-5:])}")
    return root / RUNS / found[0]


def list_runs(root: Path) -> list[str]:
    """Ids of all runs with a header, oldest first."""
    base = root / RUNS
    if not base.is_dir():
        return []
    return sorted(entry.name for entry in os.scandir(base) if (base / entry.name / "run.json").is_file())


def read_header(folder: Path) -> dict[str, Any]:
    """The header of a run."""
    return _read_versioned(folder / "run.json", "run", HEADER_VERSION)


def read_result(folder: Path) -> dict[str, Any] | None:
    """The canonical result of a run; None when the run did not get that far."""
    path = folder / "result.json"
    return _read_versioned(path, "result", RESULT_VERSION) if path.exists() else None


def read_records(folder: Path) -> Iterator[TrialRecord]:
    """The records of a run, streamed in file order. A torn last line is passed over; any other bad line is an error."""
    path = folder / "trials.jsonl"
    if not path.exists():
        return
    with path.open("rb") as handle:
        # Files opened in binary mode are split on LF alone: U+2028 inside an answer ends no record.
        for number, line in enumerate(handle, start=1):
            if not line.endswith(b"\n"):
                return
            try:
                yield record_from_json(parse_json(line.decode("utf-8")))
            except (JsonProblem, UnicodeDecodeError, StoreError) as error:
                raise StoreError(f"{path}, line {number}: {error}", hint="the record was damaged; run again") from error


def records_changed(result: Mapping[str, Any] | None, records: Iterable[TrialRecord]) -> bool:
    """Whether a run that ended has other records than it ended with; one without an end has nothing to differ from.

    It catches an accident and a plain edit, and no more: whoever edits the records can edit the digest too.
    """
    if result is None or result["interrupted"]:
        return False
    return bool(content_digest(records) != result["content_digest"])


def refuse_changed(folder: Path, records: Iterable[TrialRecord]) -> None:
    """Raise :class:`StoreError` where nothing new may rest on these records of a run."""
    if records_changed(read_result(folder), records):
        hint = "restore the folder, end the run with `skillassay eval --resume`, or run again; nothing was written"
        raise StoreError(f"run {folder.name}: {RECORDS_CHANGED}", hint=hint)


def keep_out_of_git(root: Path) -> None:
    """What lies in ``.skillassay`` is nobody's to commit, raw answers least of all: the folder tells git so itself."""
    marker = root / RUNS.split("/", maxsplit=1)[0] / ".gitignore"
    refuse_links(root, marker)
    if not marker.exists():
        write_atomic(marker, b"*\n")


def _read_versioned(path: Path, key: str, known: int) -> dict[str, Any]:
    try:
        value = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, JsonProblem) as error:
        hint = f"remove the damaged run: {path.parent}"
        raise StoreError(f"{path} cannot be read: {error}", hint=hint) from error
    return require_version(value, path, key, known)


def require_version(value: Json, path: Path, key: str, known: int) -> dict[str, Any]:
    """The content of a run's file ``path``, if it is one that this version knows. Raises :class:`StoreError`."""
    if not isinstance(value, dict) or not isinstance(value.get(key), int):
        raise StoreError(f"{path} is not a {key} file of skillassay")
    if value[key] > known:
        raise StoreError(f"{path} has format {value[key]}, newer than {known}", hint="use a newer skillassay")
    return value
