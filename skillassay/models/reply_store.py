"""The file in which replies are kept for another run: an SQLite database. Owns its bytes and every trouble with it.

``.skillassay/cache.sqlite`` (git-ignored), format 1 (``user_version``) under our ``application_id``, one table:

    replies(key TEXT PRIMARY KEY, sha256 TEXT NOT NULL, value TEXT NOT NULL)

``sha256`` is the digest of ``value``. What it means is :mod:`skillassay.models.caching`'s.

A cache is believed, so it must be this machine's own. One that git tracks came with the repository, and is not opened;
nor is one that is a link or lies behind one. A database that is somebody else's is never written to. What cannot be
read is no answer and what cannot be written is not kept: the model is asked, and the run goes on. Several processes may
use the file at once.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from skillassay.canonical import sha256_hex
from skillassay.errors import StoreError
from skillassay.inside import refuse_links
from skillassay.isolation.process import git
from skillassay.runs.store import keep_out_of_git

CACHE_PATH = ".skillassay/cache.sqlite"
CACHE_VERSION = 1
APPLICATION_ID = 0x736B6173
BUSY_S = 5.0
"""How long a process waits for another one that writes, before it does without."""

_BESIDE = ("", "-wal", "-shm", "-journal")
"""What SQLite opens by the file's name."""


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
        except (sqlite3.Error, OSError, StoreError, _Unusable) as error:
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
    for name in _BESIDE:
        refuse_links(root, root / f"{CACHE_PATH}{name}")
    _refuse_tracked(root)
    path.parent.mkdir(parents=True, exist_ok=True)
    keep_out_of_git(root)
    if path.exists() and not path.is_file():  # a pipe would be waited for without end
        raise _Unusable("it is no regular file")
    # Each statement is a transaction of its own; the one connection is used under a lock.
    file = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        if _is_new(file):
            _found(file)
        file.execute("PRAGMA synchronous=NORMAL")
        file.execute("SELECT 1 FROM replies LIMIT 1")
    except BaseException:
        file.close()
        raise
    return file


def _refuse_tracked(root: Path) -> None:
    """Without git, or outside a repository, nobody else's cache can have come with one."""
    folder = CACHE_PATH.partition("/")[0]
    listed = git(root, "--literal-pathspecs", "ls-files", "-z", "--", folder)
    names = listed.stdout.decode("utf-8", "replace").split("\0") if listed is not None and listed.exit_code == 0 else []
    if any(name == folder or name.startswith(CACHE_PATH) for name in names):
        raise _Unusable("git tracks it, so its answers came with the repository")


def _is_new(file: sqlite3.Connection) -> bool:
    """Whether the database is empty. Raises :class:`_Unusable` for one that is not ours, or of a newer format."""
    file.execute("BEGIN")  # one look at all three, whoever else is founding it now
    (version,) = file.execute("PRAGMA user_version").fetchone()
    (application,) = file.execute("PRAGMA application_id").fetchone()
    (n_tables,) = file.execute("SELECT count(*) FROM sqlite_master").fetchone()
    file.execute("COMMIT")
    if (version, application, n_tables) == (0, 0, 0):
        return True
    if application != APPLICATION_ID:
        raise _Unusable("it is another program's database")
    if version > CACHE_VERSION:
        raise _Unusable(f"it has format {version}, newer than {CACHE_VERSION}")
    return False


def _found(file: sqlite3.Connection) -> None:
    """Make a new file what it should be; several processes may be at it."""
    with suppress(sqlite3.OperationalError):  # another process is just doing so; without it readers and writers wait
        file.execute("PRAGMA journal_mode=WAL")
    file.execute("BEGIN IMMEDIATE")
    file.execute("CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, sha256 TEXT NOT NULL, value TEXT NOT NULL)")
    file.execute(f"PRAGMA application_id={APPLICATION_ID}")
    file.execute(f"PRAGMA user_version={CACHE_VERSION}")
    file.execute("COMMIT")
