"""Replies kept for another run: an SQLite file, and the model that looks there first. Owns both, and what is kept.

``.skillassay/cache.sqlite`` (git-ignored), format 1 (``user_version``), one table:

    replies(key TEXT PRIMARY KEY, sha256 TEXT NOT NULL, value TEXT NOT NULL)

``value`` is the JSON of a reply (turn with the provider's content as it came, usage, model, attempts), ``sha256`` its
digest. The key is the SHA-256 of all that could make another answer: the whole request; the trial, by an id made of
suite, case, digest of the case, skill, digest of its bytes, mode and repeat; side, provider, model, endpoint; and the
version of skillassay, which stands for how all of this is put into words and onto the wire. Nothing here ages: the
answer of a name that later means another model stays what it was until the file is deleted.

Kept is only what a model answered whole, and what its reader could use: never an error, never a cut or invented
verdict. What cannot be read is no answer and what cannot be written is not kept: the model is asked, and the run goes
on. Several processes may use the file at once.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import skillassay
from skillassay.canonical import JsonProblem, digest_of, parse_json, sha256_hex
from skillassay.models.base import Model, ModelIdentity, ModelReply, ModelRequest, request_json
from skillassay.store import keep_out_of_git
from skillassay.tape import model_turn_from_json, model_turn_json
from skillassay.transcript import Usage

CACHE_PATH = ".skillassay/cache.sqlite"
CACHE_VERSION = 1
BUSY_S = 5.0
"""How long a process waits for another one that writes, before it does without."""


class ReplyStore:
    """The file. Every trouble with it is told once, through ``warn`` and at the end, and is never an error."""

    def __init__(self, root: Path, *, warn: Callable[[str], None]) -> None:
        self._warn = warn
        self._lock = threading.Lock()
        self._trouble: str | None = None
        self._may_write = True
        self._file: sqlite3.Connection | None = None
        try:
            self._file = _open(root)
        except (sqlite3.Error, OSError, _Unusable) as error:
            self._note("cannot be used", error)

    def get(self, key: str) -> str | None:
        """The value of a key; None where there is none that is whole."""
        with self._lock:
            if self._file is None:
                return None
            try:
                row = self._file.execute("SELECT sha256, value FROM replies WHERE key = ?", (key,)).fetchone()
            except sqlite3.Error as error:
                self._note("cannot be read", error)
                self._give_up_if_damaged(error)
                return None
            if row is None:
                return None
            digest, value = row
            if isinstance(value, str) and sha256_hex(value.encode()) == digest:
                return value
            self._note("holds a damaged entry", None)
        self.forget(key)
        return None

    def put(self, key: str, value: str) -> None:
        """Keep a value; the first one of a key stays."""
        with self._lock:
            if self._file is None or not self._may_write:
                return
            try:
                self._file.execute(
                    "INSERT INTO replies VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING",
                    (key, sha256_hex(value.encode()), value),
                )
            except (sqlite3.Error, UnicodeEncodeError) as error:
                self._note("cannot be written", error)
                self._may_write = isinstance(error, UnicodeEncodeError)
                self._give_up_if_damaged(error)

    def forget(self, key: str) -> None:
        """Take out an entry that is of no use, so that a good one can stand there."""
        with self._lock, suppress(sqlite3.Error):
            if self._file is not None and self._may_write:
                self._file.execute("DELETE FROM replies WHERE key = ?", (key,))

    def close(self) -> None:
        """Close the file and tell of the first trouble, if there was one."""
        with self._lock:
            if self._file is not None:
                with suppress(sqlite3.Error):
                    self._file.close()
                self._file = None
            trouble, self._trouble = self._trouble, None
        if trouble is not None:
            self._warn(trouble)

    def _note(self, what: str, error: Exception | None) -> None:
        if self._trouble is None:
            why = f" ({error})" if error is not None else ""
            self._trouble = f"the cache {CACHE_PATH} {what}{why}; models were asked instead. It may be deleted"

    def _give_up_if_damaged(self, error: Exception) -> None:
        # OperationalError is what passes (busy, full, read-only); any other kind means that the file itself is broken.
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
            self._may_write = False
            if self._file is not None:
                with suppress(sqlite3.Error):
                    self._file.close()
                self._file = None


class _Unusable(Exception):
    """What lies there is no cache of this format."""


def _open(root: Path) -> sqlite3.Connection:
    path = root / CACHE_PATH
    path.parent.mkdir(parents=True, exist_ok=True)
    keep_out_of_git(root)
    if path.exists() and not path.is_file():  # a pipe would be waited for without end
        raise _Unusable("it is no regular file")
    # Each statement is a transaction of its own; the one connection is used under a lock.
    file = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        (version,) = file.execute("PRAGMA user_version").fetchone()
        if version > CACHE_VERSION:
            raise _Unusable(f"it has format {version}, newer than {CACHE_VERSION}")
        if version < CACHE_VERSION:
            _found(file)
        file.execute("PRAGMA synchronous=NORMAL")
        file.execute("SELECT 1 FROM replies LIMIT 1")
    except BaseException:
        file.close()
        raise
    return file


def _found(file: sqlite3.Connection) -> None:
    """Make a new file what it should be; several processes may be at it."""
    with suppress(sqlite3.OperationalError):  # another process is just doing so; without it readers and writers wait
        file.execute("PRAGMA journal_mode=WAL")
    file.execute("BEGIN IMMEDIATE")
    file.execute("CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, sha256 TEXT NOT NULL, value TEXT NOT NULL)")
    file.execute(f"PRAGMA user_version={CACHE_VERSION}")
    file.execute("COMMIT")


@dataclass(frozen=True, slots=True, kw_only=True)
class CachingModel:
    """A model that is asked only what is not kept. ``trials`` maps slots to ids that are made of content.

    A request of no known trial is never kept.
    """

    model: Model
    side: str
    store: ReplyStore
    trials: Mapping[str, str]

    @property
    def identity(self) -> ModelIdentity:
        """Whose answers these are."""
        return self.model.identity

    def generate(self, request: ModelRequest) -> ModelReply:
        """The kept reply, marked as such; else the model's own, which is kept if it may be."""
        trial = self.trials.get(request.slot)
        if trial is None:
            return self.model.generate(request)
        key = self._key(request, trial)
        kept = self._kept(key, request)
        if kept is not None:
            return kept
        reply = self.model.generate(request)
        if _may_be_kept(request, reply):
            self.store.put(key, _text(reply))
        return reply

    def close(self) -> None:
        """Close the model; the file belongs to whoever opened it."""
        self.model.close()

    def _key(self, request: ModelRequest, trial: str) -> str:
        who = self.identity
        return digest_of(
            {
                "request": request_json(request),
                "slot": request.slot,
                "trial": trial,
                "side": self.side,
                "provider": who.provider,
                "model": who.name,
                "endpoint": who.endpoint,
                "skillassay": skillassay.__version__,
            }
        )

    def _kept(self, key: str, request: ModelRequest) -> ModelReply | None:
        value = self.store.get(key)
        if value is None:
            return None
        try:
            reply = _reply(parse_json(value))
        except (JsonProblem, KeyError, TypeError, ValueError):
            reply = None
        if reply is None or not _may_be_kept(request, reply):
            self.store.forget(key)
            return None
        return reply


def _may_be_kept(request: ModelRequest, reply: ModelReply) -> bool:
    return request.is_valid is None or request.is_valid(reply)


def _text(reply: ModelReply) -> str:
    # Not sorted: the provider's content goes back to it as it came.
    value = {
        "turn": model_turn_json(reply.turn),
        "usage": asdict(reply.usage),
        "model": reply.model,
        "n_attempts": reply.n_attempts,
    }
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _reply(value: Any) -> ModelReply:
    turn, usage = model_turn_from_json(value["turn"]), Usage(**value["usage"])
    return replace(
        ModelReply(turn=turn, usage=usage), model=value["model"], n_attempts=int(value["n_attempts"]), cached=True
    )
