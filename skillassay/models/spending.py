"""What judges have spent: ``.skillassay/spending.jsonl`` of a project, and whether a further call fits its limits.

    {"spending": 1, "event": "reserved", "call", "run", "at", "model", "tokens", "money", "currency"}
    {"spending": 1, "event": "settled", "call", "tokens", "money"}

Before an attempt the most that it can use is reserved; what it did use takes that place when it is known. An attempt
that was never settled (a kill, a reply without counts) counts as all of its reservation. Looking and reserving happen
under one lock over processes, so that two runs at once cannot both spend the same rest; the lock is a file of its own,
since a line is appended under another one. A day is a UTC day, and an attempt belongs to the one it was reserved on.

Refused is a file that cannot be read whole: a bad line inside, one that has become shorter while it was in use, an
amount in another currency, one that is not known where money is limited. A torn last line is what a killed writer left
of an attempt that was not made yet, or of a settlement that then does not count. Whoever can write the folder can take
lines away; nobody can tell.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import stat
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from skillassay.canonical import Json, JsonProblem, parse_json
from skillassay.contract.terms import BudgetTerms
from skillassay.errors import StoreError
from skillassay.formats import require_version
from skillassay.inside import refuse_links
from skillassay.ledger import append_line
from skillassay.models.money import add, amount_text, parse_amount

SPENDING_FILE = ".skillassay/spending.jsonl"
LOCK_FILE = ".skillassay/spending.lock"
SPENDING_VERSION = 1
RESERVED, SETTLED = "reserved", "settled"
_HINT = "restore the file, or move it away to begin again from nothing spent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """Tokens and money. ``money`` is None where no price is known."""

    tokens: int
    money: Decimal | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """One attempt that is to be made: for which run, of which model, at most how much. ``free`` of money: an authored
    judge without a price."""

    run: str
    model: str
    amount: Amount
    currency: str | None = None
    free: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A limit that an attempt would pass: its name, and the numbers in words."""

    limit: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    charge: Charge
    day: str
    settled: bool = False


def _now() -> datetime:
    return datetime.now(UTC)


class SpendingLedger:
    """The file of one project. Safe to use from several threads and processes. ``now`` is there for a test of days."""

    def __init__(self, root: Path, *, now: Callable[[], datetime] = _now) -> None:
        self._root = root
        self._path = root / SPENDING_FILE
        self._now = now
        self._thread_lock = threading.Lock()
        self._entries: dict[str, _Entry] = {}
        self._read_to = (0, 0)  # inode, offset

    def reserve(self, charge: Charge, limits: BudgetTerms, *, anyhow: bool = False) -> str | Hit:
        """Book an attempt and return its id, or the limit that it would pass; then nothing is booked.

        ``anyhow``: it was made already. Raises :class:`StoreError` where the file cannot be read or written.
        """
        with self._locked():
            at = self._now().strftime("%Y-%m-%dT%H:%M:%SZ")
            if not anyhow and (hit := self._hit(charge, limits, at[:10])) is not None:
                return hit
            call, money = secrets.token_hex(12), charge.amount.money
            self._append(
                {
                    "event": RESERVED,
                    "call": call,
                    "run": charge.run,
                    "at": at,
                    "model": charge.model,
                    "tokens": charge.amount.tokens,
                    "money": None if money is None else amount_text(money),
                    "currency": charge.currency,
                    **({"free": True} if charge.free else {}),
                }
            )
            return call

    def settle(self, call: str, amount: Amount) -> None:
        """Put what an attempt used in the place of its reservation. Raises :class:`StoreError`."""
        with self._locked():
            money = None if amount.money is None else amount_text(amount.money)
            self._append({"event": SETTLED, "call": call, "tokens": amount.tokens, "money": money})

    def spent(self, *, run: str | None = None, day: str | None = None) -> Amount:
        """What is spent or reserved of a run, or on a day. Raises :class:`StoreError`."""
        with self._locked():
            return _total(self._of(run=run, day=day))

    def _hit(self, charge: Charge, limits: BudgetTerms, day: str) -> Hit | None:
        of_run, of_day = tuple(self._of(run=charge.run)), tuple(self._of(day=day))
        for name, limit, entries, where in (
            ("tokens", limits.tokens, of_run, "in this run"),
            ("tokens_per_day", limits.tokens_per_day, of_day, f"on {day} (UTC)"),
        ):
            spent = sum(entry.charge.amount.tokens for entry in entries)
            if limit is not None and spent + charge.amount.tokens > limit:
                return _words(name, f"{limit} tokens", f"{spent}", where, f"{charge.amount.tokens}")
        for name, sum_of_money, entries, where in (
            ("money", limits.money, of_run, "in this run"),
            ("money_per_day", limits.money_per_day, of_day, f"on {day} (UTC)"),
        ):
            if sum_of_money is None or charge.free:
                continue
            paid, more = _money(entries, charge.currency), charge.amount.money
            if more is None:
                raise StoreError(f"{charge.model} has no price")
            if add((paid, more)) > sum_of_money:
                shown = f"{amount_text(sum_of_money)} {charge.currency}"
                return _words(name, shown, amount_text(paid), where, amount_text(more))
        return None

    def _of(self, *, run: str | None = None, day: str | None = None) -> Iterator[_Entry]:
        for entry in self._entries.values():
            if run in {None, entry.charge.run} and day in {None, entry.day}:
                yield entry

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with self._thread_lock:
            refuse_links(self._root, self._path)
            refuse_links(self._root, self._root / LOCK_FILE)
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                handle = os.open(self._root / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            except OSError as error:
                raise StoreError(f"{LOCK_FILE} cannot be used: {error.strerror or error}") from error
            try:
                fcntl.flock(handle, fcntl.LOCK_EX)
                self._read_new()
                yield
            finally:
                os.close(handle)

    def _append(self, line: dict[str, Json]) -> None:
        append_line(self._path, {"spending": SPENDING_VERSION, **line})
        self._read_new()

    def _read_new(self) -> None:
        """Read what was appended since, by whomever. One pass over the file in the life of a process."""
        try:
            inode, data = self._unread()
        except FileNotFoundError:
            if self._read_to != (0, 0):
                raise StoreError(f"{SPENDING_FILE} is gone while it is in use", hint=_HINT) from None
            return
        except OSError as error:
            raise StoreError(f"{SPENDING_FILE} cannot be read: {error.strerror or error}", hint=_HINT) from error
        whole = data[: data.rfind(b"\n") + 1]
        try:
            for line in whole.split(b"\n")[:-1]:
                self._take(line)
        except StoreError:
            self._entries, self._read_to = {}, (0, 0)  # half of it is no sum; the next call reads it all again
            raise
        self._read_to = (inode, self._read_to[1] + len(whole))

    def _unread(self) -> tuple[int, bytes]:
        handle = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as stream:
            state = os.fstat(handle)
            known, at = self._read_to
            if not stat.S_ISREG(state.st_mode):
                raise StoreError(f"{SPENDING_FILE} is not a regular file", hint=_HINT)
            if known not in {0, state.st_ino} or state.st_size < at:
                raise StoreError(f"{SPENDING_FILE} is not the file any more that was read before", hint=_HINT)
            stream.seek(at)
            return state.st_ino, stream.read()

    def _take(self, line: bytes) -> None:
        where = f"{SPENDING_FILE}, entry {len(self._entries) + 1} or its settlement"
        try:
            value = parse_json(line.decode("utf-8"))
            known = require_version(
                value, "spending", SPENDING_VERSION, where=where, what="no entry of spending", hint=_HINT
            )
            self._entries[_text(known, "call")] = self._entry(known)
        except (JsonProblem, UnicodeDecodeError, ValueError, KeyError, TypeError) as error:
            raise StoreError(f"{where}: is damaged: {error}", hint=_HINT) from error

    def _entry(self, value: Any) -> _Entry:
        amount = Amount(tokens=_tokens(value["tokens"]), money=_amount(value["money"]))
        known = self._entries.get(value["call"])
        if value["event"] == SETTLED:
            if known is None or known.settled:
                raise ValueError("it settles what was not reserved, or was settled")
            return replace(known, charge=replace(known.charge, amount=amount), settled=True)
        if value["event"] != RESERVED or known is not None:
            raise ValueError("it is neither a new reservation nor a settlement")
        day = datetime.strptime(_text(value, "at"), "%Y-%m-%dT%H:%M:%SZ").date().isoformat()  # noqa: DTZ007 - UTC
        charge = Charge(
            run=_text(value, "run"),
            model=_text(value, "model"),
            amount=amount,
            currency=None if value["currency"] is None else _text(value, "currency"),
            free=value.get("free") is True,
        )
        return _Entry(charge=charge, day=day)


def _words(limit: str, shown: str, spent: str, where: str, more: str) -> Hit:
    words = f"budget.judge.{limit} is {shown}; {spent} spent or reserved {where}, and this call may take {more} more"
    return Hit(limit=limit, words=words)


def _total(entries: Iterable[_Entry]) -> Amount:
    entries = tuple(entries)
    tokens = sum(entry.charge.amount.tokens for entry in entries)
    money = [entry.charge.amount.money for entry in entries if not entry.charge.free]
    return Amount(tokens=tokens, money=None if None in money else add(m for m in money if m is not None))


def _money(entries: Iterable[_Entry], currency: str | None) -> Decimal:
    """What these cost together. Raises :class:`StoreError` where that is not known."""
    paid = [entry.charge for entry in entries if not entry.charge.free]
    for charge in paid:
        if charge.amount.money is None:
            raise StoreError(f"{SPENDING_FILE} has calls of {charge.model} whose price was not known", hint=_HINT)
        if charge.currency != currency:
            raise StoreError(f"{SPENDING_FILE} has amounts in {charge.currency}, the prices are in {currency}")
    return add(charge.amount.money for charge in paid if charge.amount.money is not None)


def _text(value: Any, name: str) -> str:
    text = value[name]
    if not isinstance(text, str) or not text:
        raise ValueError(f"{name} is no text")
    return text


def _tokens(value: object) -> int:
    if type(value) is not int or value < 0:
        raise ValueError("tokens is no count")
    return value


def _amount(value: object) -> Decimal | None:
    return None if value is None else parse_amount(value)
