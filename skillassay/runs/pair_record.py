"""The record of a comparison of pairs, ``.skillassay/pairwise/ID.jsonl``: what the judge said of each order.

    {"pairwise": 1, "id", "at", "skillassay", "a": {"run", "mode"}, "b": {"run", "mode"}, "judge": pin,
     "fixture": digest or null, "independent": bool, "seed": int}
    {"at", "suite", "case", "repeat", "order": "a_first" | "b_first", "asked": 1 | 2, "request": digest,
     "winner": "first" | "second" | "tie" | null, "evidence_first", "evidence_second",
     "unscored": reason or null, "kind", "detail", "answered", "n_attempts", "waited_s", "usage"}

The first line says what is compared, every other one what came of one request. ``id`` is a short digest of the first
line without ``id``, ``at``, ``skillassay`` and ``independent``: other runs, another judge, other instructions, other
authored rules or another seed are another file. ``request`` is the digest of all that was sent and ``asked`` whether
this order came first or second. A line counts for a pair only while its ``request`` is what would be sent now.

The file is only appended to, so that a comparison killed at any byte goes on where it stopped. Of an order that has
several lines the first counts that says something of the answers; where there is none, the last. An error that says
nothing of them (a quota, a key, a time-out) is asked again by the next call; a broken reply or an invented quotation
stands: asked again until it goes well it would be a chosen one. What lies here is not tamper-proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import skillassay
from skillassay.calibration.pin import JudgePin, pin_json
from skillassay.canonical import Json, short_digest
from skillassay.errors import REPLAY_MISS, Reason, StoreError
from skillassay.formats import require_version
from skillassay.inside import refuse_links
from skillassay.judging.pairwise import WINNERS
from skillassay.ledger import append_line, read_lines
from skillassay.runs.store import keep_out_of_git, now_utc
from skillassay.transcript import Usage

PAIRWISE = ".skillassay/pairwise"
PAIRWISE_VERSION = 1
A_FIRST, B_FIRST = "a_first", "b_first"
ORDERS = (A_FIRST, B_FIRST)
_HINT = "move the file away and compare again; it is only appended to"

_SAYS_NOTHING = frozenset(
    {
        Reason.PROVIDER_ERROR,
        Reason.TIMEOUT,
        Reason.MISSING_CAPABILITY,
        Reason.INTERRUPTED,
        Reason.BUDGET_BLOCKED,
        Reason.HARNESS_ERROR,
    }
)
_SAYS_IT_ALL_THE_SAME = frozenset({"finish", "empty", "fixture_miss", REPLAY_MISS})
"""Kinds of ``provider_error`` that come of what was sent, and would come again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What a comparison is about. ``a`` and ``b`` are run and mode; ``fixture`` is the digest of an authored judge's
    rules."""

    a: tuple[str, str]
    b: tuple[str, str]
    pin: JudgePin
    fixture: str | None
    seed: int
    independent: bool

    @property
    def id(self) -> str:
        """What its file is named by."""
        return short_digest(self._identity)[:16]

    @property
    def path(self) -> str:
        """Its file below the root."""
        return f"{PAIRWISE}/{self.id}.jsonl"

    @property
    def _identity(self) -> dict[str, Json]:
        a, b = ({"run": run, "mode": mode} for run, mode in (self.a, self.b))
        return {"a": a, "b": b, "judge": pin_json(self.pin), "fixture": self.fixture, "seed": self.seed}

    @property
    def json(self) -> dict[str, Json]:
        """The first line, without its time."""
        about = {"pairwise": PAIRWISE_VERSION, "id": self.id, "skillassay": skillassay.__version__}
        return {**about, **self._identity, "independent": self.independent}


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderKey:
    """One request: a pair in one order, and the digest of what was sent."""

    suite: str
    case_id: str
    repeat: int
    order: str
    request: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What came of one request: a winner by place with both evidences, or the reason why there is none."""

    key: OrderKey
    asked: int
    winner: str | None = None
    evidence_first: str | None = None
    evidence_second: str | None = None
    unscored: Reason | None = None
    kind: str | None = None
    detail: str | None = None
    answered: str | None = None
    n_attempts: int = 0
    waited_s: float = 0.0
    usage: Usage = field(default_factory=Usage)

    @property
    def stands(self) -> bool:
        """Whether it says something of the answers, so that nobody asks again."""
        return self.unscored not in _SAYS_NOTHING or self.kind in _SAYS_IT_ALL_THE_SAME


def begin(root: Path, compared: Compared) -> dict[OrderKey, Said]:
    """What the file of a comparison already says; a new one gets its first line. Raises :class:`StoreError`."""
    path = root / compared.path
    refuse_links(root, path)
    _make_folder(root)
    found: dict[OrderKey, Said] = {}
    begun = False
    for number, value in read_lines(path):
        where = f"{compared.path}, line {number}"
        if number == 1 or "pairwise" in value:
            require_version(value, "pairwise", PAIRWISE_VERSION, where=where, what="no comparison of pairs", hint=_HINT)
            if value.get("id") != compared.id:
                raise StoreError(f"{where}: is about another comparison", hint=_HINT)
            begun = True
            continue
        said = _parse(value, where)
        if said.key not in found or not found[said.key].stands:
            found[said.key] = said
    if not begun:
        append_line(path, {"at": now_utc(), **compared.json})
    return found


def _make_folder(root: Path) -> None:
    """Make ``.skillassay`` with the marker that keeps it out of git."""
    folder = root / PAIRWISE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        keep_out_of_git(root)
    except OSError as error:
        raise StoreError(f"{PAIRWISE} cannot be made: {error.strerror or error}") from error


def keep(root: Path, compared: Compared, said: Said) -> None:
    """Add what came of a request. Raises :class:`StoreError`."""
    key = said.key
    append_line(
        root / compared.path,
        {
            "at": now_utc(),
            "suite": key.suite,
            "case": key.case_id,
            "repeat": key.repeat,
            "order": key.order,
            "asked": said.asked,
            "request": key.request,
            "winner": said.winner,
            "evidence_first": said.evidence_first,
            "evidence_second": said.evidence_second,
            "unscored": None if said.unscored is None else said.unscored.value,
            "kind": said.kind,
            "detail": said.detail,
            "answered": said.answered,
            "n_attempts": said.n_attempts,
            "waited_s": said.waited_s,
            "usage": asdict(said.usage),
        },
    )


def _parse(value: Mapping[str, Any], where: str) -> Said:
    try:
        key = OrderKey(
            suite=value["suite"],
            case_id=value["case"],
            repeat=value["repeat"],
            order=value["order"],
            request=value["request"],
        )
        unscored = None if value["unscored"] is None else Reason(value["unscored"])
        said = Said(
            key=key,
            unscored=unscored,
            usage=Usage(**value["usage"]),
            **{name: value[name] for name in ("asked", "winner", "evidence_first", "evidence_second")},
            **{name: value[name] for name in ("kind", "detail", "answered", "n_attempts", "waited_s")},
        )
        _require_sound(said)
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(f"{where}: is no verdict on a pair: {error}", hint=_HINT) from error
    return said


def _require_sound(said: Said) -> None:
    key = said.key
    texts = (key.suite, key.case_id, key.request, *_given(said))
    if not all(isinstance(text, str) for text in texts) or type(key.repeat) is not int or key.order not in ORDERS:
        raise ValueError("a field is of another type")
    if (said.winner is None) is (said.unscored is None) or said.winner not in {None, *WINNERS}:
        raise ValueError(f"winner {said.winner!r} with unscored {said.unscored!r}")


def _given(said: Said) -> Iterable[object]:
    optional = (said.evidence_first, said.evidence_second, said.kind, said.detail, said.answered)
    return (text for text in optional if text is not None)
