"""A tape: what candidate and judge of one run were asked and what came back. Owns the file's bytes; asks nobody.

Format ``tape: 1``. UTF-8, one JSON object a line, no blank behind ``:`` and ``,``, each line ends in LF and lines are
split on LF alone. Keys stand in the order shown. SHA256 is of the canonical form (:mod:`skillassay.canonical`), in hex.

    {"tape":1,"skillassay":VERSION,"recorded_on":"YYYY-MM-DD","models":{"candidate":M,"judge":M},"sha256":…}
    {"piece":SHA256,"value":V}
    {"call":SHA256,"side":"candidate","slot":"quality/one/none/1","request":R,"reply":{"turn":…,"usage":…,"model":…,"n_attempts":n}}
    {"call":SHA256,"side":"judge","slot":…,"request":R,"error":{"reason":…,"stage":…,"kind":…,"message":…,"n_attempts":n,"usage":…}}

M is ``{"label", "provider", "name", "endpoint", "is_fixture"}``; a second judge is one more of ``models``, ``second``,
and so is its ``side``; ``sha256`` is of all bytes behind the first line. A piece is a system instruction, a list of
tools, a schema (as JSON text, in its own order) or one turn; it stands once, before the first call that needs it. R is
the request as :func:`skillassay.models.base.request_json` tells it, with the digest of a piece in the place of
``system``, ``tools``, ``response_schema`` (null where there is none) and each of ``turns``; a reply's ``turn`` is one
too. ``call`` is the digest of the whole request. Calls are sorted by slot, side, and their order inside it, so that
equal replies make equal bytes whatever thread was first; a piece keeps the order of keys in which it came. A key or a
header of a request has no place in a tape, and time-outs and waits have none either.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import skillassay
from skillassay.canonical import Json, JsonProblem, digest_of, parse_json, sha256_hex
from skillassay.errors import InputError, Reason, Stage, TrialError
from skillassay.models.base import ModelIdentity, ModelReply, ModelRequest, Recorded, request_json
from skillassay.models.stored_reply import attempts_of_failure, model_turn_json, reply_from_json, usage_from_json
from skillassay.regular import NotRegular, read_regular
from skillassay.transcript import Usage

TAPE_VERSION = 1
MAX_BYTES = 512 << 20
SIDES = ("candidate", "judge")
SECOND = "second"
"""The side of a second judge, which not every tape has."""
_PIECES = ("system", "tools", "response_schema")
_MODEL = ("label", "provider", "name", "endpoint", "is_fixture")


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A call that brought no answer, as the run was told."""

    reason: Reason
    stage: Stage
    kind: str | None
    message: str
    n_attempts: int
    usage: Usage | None = None

    def error(self) -> TrialError:
        """The error anew: one that was raised before carries another trial's traceback."""
        return TrialError(
            self.message,
            reason=self.reason,
            stage=self.stage,
            kind=self.kind,
            n_attempts=self.n_attempts,
            usage=self.usage,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a tape. Exactly one of ``reply`` and ``failure`` is there; ``request`` is the whole request."""

    key: str
    side: str
    slot: str
    request: Mapping[str, Any]
    reply: ModelReply | None = None
    failure: Failure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tape:
    """A tape as read: what was recorded of each side, and the calls in file order."""

    recorded: Mapping[str, Recorded]
    calls: tuple[Call, ...]


class TapeBuilder:
    """Collects calls from several threads and renders them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pieces: dict[str, Json] = {}
        self._calls: dict[tuple[str, str], list[dict[str, Json]]] = {}

    def add(self, side: str, request: ModelRequest, outcome: ModelReply | TrialError) -> None:
        """Add one call."""
        whole = request_json(request)
        call: dict[str, Json] = {"call": digest_of(whole), "side": side, "slot": request.slot}
        with self._lock:
            call["request"] = self._folded(whole)
            if isinstance(outcome, TrialError):
                call["error"] = asdict(_failure(outcome))
            else:
                call["reply"] = {
                    "turn": self._piece(model_turn_json(outcome.turn)),
                    "usage": asdict(outcome.usage),
                    "model": outcome.model,
                    "n_attempts": outcome.n_attempts,
                }
            self._calls.setdefault((request.slot, side), []).append(call)

    def render(self, models: Mapping[str, ModelIdentity], *, recorded_on: str) -> bytes:
        """The bytes of the tape. Raises ``ValueError`` for what is no JSON text, such as a lone surrogate."""
        lines: list[dict[str, Json]] = []
        calls = [call for place in sorted(self._calls) for call in self._calls[place]]
        told: set[str] = set()
        for call in calls:
            for name in _pieces_of(call):
                if name not in told:
                    told.add(name)
                    lines.append({"piece": name, "value": self._pieces[name]})
            lines.append(call)
        body = b"".join(map(_line, lines))
        header = {
            "tape": TAPE_VERSION,
            "skillassay": skillassay.__version__,
            "recorded_on": recorded_on,
            "models": {side: {field: getattr(models[side], field) for field in _MODEL} for side in models},
            "sha256": sha256_hex(body),
        }
        return _line(header) + body

    def _folded(self, whole: Mapping[str, Json]) -> dict[str, Json]:
        folded = {name: self._piece(value) if name in _PIECES else value for name, value in whole.items()}
        return {**folded, "turns": [self._piece(turn) for turn in whole["turns"]]}

    def _piece(self, value: Json) -> str | None:
        if value is None:
            return None
        name = digest_of(value)
        self._pieces.setdefault(name, value)
        return name


def _failure(error: TrialError) -> Failure:
    return Failure(
        reason=error.reason,
        stage=error.stage,
        kind=error.kind,
        message=error.message,
        n_attempts=error.n_attempts,
        usage=error.usage,
    )


def _pieces_of(call: Mapping[str, Any]) -> list[str]:
    request, reply = call["request"], call.get("reply")
    names = [*(request[name] for name in _PIECES), *request["turns"], reply and reply["turn"]]
    return [name for name in names if name is not None]


def _line(value: Json) -> bytes:
    return (json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n").encode()


def load_tape(path: Path, *, shown_as: str | None = None) -> Tape:
    """Read a tape. Raises :class:`InputError` for what is missing, torn, changed by hand, or of a newer format."""
    name = shown_as or str(path)
    try:
        data = read_regular(path, max_bytes=MAX_BYTES)
    except FileNotFoundError as error:
        hint = "record it with `skillassay record --to PATH`; a path begins at the project's folder"
        raise InputError(f"there is no recording {name}", hint=hint) from error
    except (OSError, NotRegular) as error:
        raise InputError(f"the recording {name} cannot be read: {error}") from error
    # A checkout may have made CRLF of the line ends; inside a line a CR is always an escape.
    data = data.replace(b"\r\n", b"\n")
    try:
        return _parse(data)
    except _Damage as damage:
        raise InputError(f"the recording {name} cannot be used: {damage}", hint=damage.hint) from None


class _Damage(ValueError):
    """What is wrong with a tape."""

    def __init__(self, message: str, hint: str = "restore the file, or record it anew") -> None:
        super().__init__(message)
        self.hint = hint


def _parse(data: bytes) -> Tape:
    lines = data.split(b"\n")
    if lines.pop() != b"":
        raise _Damage(f"line {len(lines) + 1} has no end, so the file was cut")
    if not lines:
        raise _Damage("it is empty")
    header = _value(lines[0], 1)
    recorded = _recorded(header, sha256_hex(data))
    pieces: dict[str, Json] = {}
    calls: list[Call] = []
    for number, line in enumerate(lines[1:], start=2):
        value = _value(line, number)
        try:
            if "piece" in value:
                if digest_of(value["value"]) != value["piece"]:
                    raise _Damage(f"line {number} is not what its digest says")
                pieces[value["piece"]] = value["value"]
            else:
                calls.append(_call(value, pieces))
        except (KeyError, TypeError, ValueError) as error:
            raise error if isinstance(error, _Damage) else _Damage(f"line {number} is no piece and no call") from error
    if sha256_hex(data[len(lines[0]) + 1 :]) != header.get("sha256"):
        raise _Damage("a line was lost, added or changed")
    return Tape(recorded=recorded, calls=tuple(calls))


def _value(line: bytes, number: int) -> dict[str, Any]:
    try:
        value = parse_json(line.decode("utf-8"))
    except (JsonProblem, UnicodeDecodeError) as error:
        raise _Damage(f"line {number}: {error}") from error
    if not isinstance(value, dict):
        raise _Damage(f"line {number} is no object")
    return value


def _recorded(header: Mapping[str, Any], digest: str) -> dict[str, Recorded]:
    version = header.get("tape")
    if type(version) is not int or version < 1:
        raise _Damage("its first line is not that of a recording")
    if version > TAPE_VERSION:
        raise _Damage(f"it has format {version}, newer than {TAPE_VERSION}", "use a newer skillassay")
    try:
        on = header["recorded_on"]
        sides = (*SIDES, *((SECOND,) if SECOND in header["models"] else ()))
        models = {side: {field: header["models"][side][field] for field in _MODEL} for side in sides}
    except (KeyError, TypeError) as error:
        raise _Damage("its first line lacks a field") from error
    for model in models.values():
        texts = [on, model["label"], model["provider"], model["name"], model["endpoint"] or ""]
        if not (all(isinstance(text, str) for text in texts) and isinstance(model["is_fixture"], bool)):
            raise _Damage("a field of its first line is not of its type")
    return {side: Recorded(**model, recorded_on=on, digest=digest) for side, model in models.items()}


def _call(value: Mapping[str, Any], pieces: Mapping[str, Json]) -> Call:
    request = dict(value["request"])
    for name in _PIECES:
        request[name] = None if request[name] is None else pieces[request[name]]
    request["turns"] = [pieces[name] for name in request["turns"]]
    if digest_of(request) != value["call"]:
        raise ValueError("the request is not the one of its key")
    if value["side"] not in {*SIDES, SECOND} or not isinstance(value["slot"], str):
        raise ValueError("no side, or no slot")
    call = Call(key=value["call"], side=value["side"], slot=value["slot"], request=request)
    return _answered(call, value, pieces)


def _answered(call: Call, value: Mapping[str, Any], pieces: Mapping[str, Json]) -> Call:
    told: Sequence[str] = [name for name in ("reply", "error") if name in value]
    if told == ["error"]:
        failure = _failure_from_json(value["error"])
        return Call(key=call.key, side=call.side, slot=call.slot, request=call.request, failure=failure)
    if told != ["reply"]:
        raise ValueError("neither a reply nor an error, or both")
    reply = value["reply"]
    answer = reply_from_json(pieces[reply["turn"]], reply)
    return Call(key=call.key, side=call.side, slot=call.slot, request=call.request, reply=answer)


def _failure_from_json(value: Any) -> Failure:
    kind, message = value["kind"], value["message"]
    if not isinstance(message, str) or not isinstance(kind, (str, type(None))) or len(value) != len(fields(Failure)):
        raise TypeError("an error's words are no text, or it has other fields")
    return Failure(
        reason=Reason(value["reason"]),
        stage=Stage(value["stage"]),
        kind=kind,
        message=message,
        n_attempts=attempts_of_failure(value["n_attempts"]),
        usage=None if value["usage"] is None else usage_from_json(value["usage"]),
    )
