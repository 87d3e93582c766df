"""The replay model: recorded answers of another run, looked up by the whole request. Owns the look-up and its misses.

A request that was recorded gets what came back then: turn, usage, attempts, model, or the error. Of several calls with
one request those of the same trial (slot) answer first, in their order; then, and for another trial, the first one of
the file; but a trial of the mode ``again`` is answered by its own calls alone, as it would else agree with the trial
that it repeats by construction. So an answer never depends on which thread came first. A request that was not recorded
is an error, never a guess, and the error says what differs from the call that was recorded in its place.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from skillassay.canonical import Json, digest_of
from skillassay.errors import REPLAY_MISS, InputError, Reason, TrialError
from skillassay.models.base import ModelIdentity, ModelReply, ModelRequest, asks_anew, is_further_sample, request_json
from skillassay.models.naming import REPLAY
from skillassay.models.tape import Call, Tape, load_tape

_FIELDS = ("system", "tools", "turns", "response_schema", "temperature", "max_output_tokens", "seed")
_EXCERPT_CHARS = 40


class ReplayModel:
    """One side of a tape as a model. ``name`` is the path that the user named."""

    def __init__(self, tape: Tape, *, side: str, name: str) -> None:
        self.identity = ModelIdentity(
            provider=REPLAY,
            name=name,
            endpoint=None,
            is_fixture=False,
            is_replay=True,
            recorded=tape.recorded[side],
        )
        self._side = side
        self._calls = tuple(call for call in tape.calls if call.side == side)
        self._by_key: dict[str, list[Call]] = {}
        for call in self._calls:
            self._by_key.setdefault(call.key, []).append(call)
        self._n_served: dict[tuple[str, str], int] = {}
        self._lock = threading.Lock()

    def generate(self, request: ModelRequest) -> ModelReply:
        """What came back to this request when it was recorded. Raises the recorded error, or ``replay_miss``."""
        whole = request_json(request)
        call = self._find(digest_of(whole), request.slot)
        if call is None:
            message = f"the recording {self.identity.name} lacks this call: {self._why(whole, request.slot)}"
            raise TrialError(message, reason=Reason.PROVIDER_ERROR, stage=request.stage, kind=REPLAY_MISS)
        if call.failure is not None:
            raise call.failure.error()
        assert call.reply is not None
        return call.reply

    def close(self) -> None:
        """Nothing to release."""

    def _find(self, key: str, slot: str) -> Call | None:
        calls = self._by_key.get(key, [])
        own = [call for call in calls if call.slot == slot]
        with self._lock:
            n = self._n_served.get((key, slot), 0)
            self._n_served[key, slot] = n + 1
        if n < len(own):
            return own[n]
        return None if asks_anew(slot) or is_further_sample(slot) else next(iter(calls), None)

    def _why(self, whole: Mapping[str, Json], slot: str) -> str:
        """What differs from the call of the same trial and turn."""
        asked = json.loads(json.dumps(whole))  # tuples and lists are one in JSON
        own = [call for call in self._calls if call.slot == slot]
        if not own:
            return f"no call of the {self._side} was recorded for {slot or 'a request without a trial'}"
        n = len(asked["turns"])
        nearest = min(own, key=lambda call: abs(len(call.request["turns"]) - n))
        told = first_difference(nearest.request, asked)
        # Equal requests have equal keys, so there is one; after an edit of the format's code there might not be.
        return told or "it differs in what is not sent"


def load_replay(path: Path, *, side: str, name: str | None = None) -> ReplayModel:
    """The recording at ``path`` as the model of one side (``candidate``, ``judge`` or ``second``).

    Raises :class:`skillassay.errors.InputError` for a file that is no whole recording.
    """
    shown_as = name or str(path)
    tape = load_tape(path, shown_as=shown_as)
    if side not in tape.recorded:
        hint = "record a run that has one"
        raise InputError(f"the recording {shown_as} holds no {side} judge", hint=hint)
    return ReplayModel(tape, side=side, name=shown_as)


def first_difference(recorded: Mapping[str, Json], asked: Mapping[str, Json]) -> str | None:
    """In words, the first thing in which a request differs from a recorded one; None when nothing does."""
    names = [*_FIELDS, *sorted({*recorded, *asked} - set(_FIELDS))]
    for name in names:
        for path, old, new in _differences(recorded.get(name), asked.get(name), (name,)):
            return f"{_place(path, asked)} {_change(old, new)}"
    return None


Steps = tuple[str | int, ...]


def _differences(old: Json, new: Json, path: Steps) -> Iterator[tuple[Steps, Json, Json]]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*new, *(key for key in old if key not in new)]:
            if key != "raw" or (old.get("text"), old.get("calls")) == (new.get("text"), new.get("calls")):
                yield from _differences(old.get(key), new.get(key), (*path, key))
    elif isinstance(old, list) and isinstance(new, list):
        for index, (left, right) in enumerate(zip(old, new, strict=False)):
            yield from _differences(left, right, (*path, index))
        if len(old) != len(new):
            yield (*path, "length"), len(old), len(new)
    elif old != new or type(old) is not type(new):
        yield path, old, new


def _place(path: Steps, asked: Mapping[str, Json]) -> str:
    """The place in words. Names of tools come from the request that is asked now."""
    if path[0] == "system":
        return "the system instruction"
    if path[-1] == "length" and len(path) == 2:
        return f"the number of {path[0]}"
    if path[0] == "tools" and len(path) > 2:
        tool = asked["tools"][path[1]]["name"]
        what = "the description of" if path[2] == "description" else f"{_dotted(path[2:])} of"
        return f"{what} tool {tool}"
    if path[0] == "turns" and len(path) > 2:
        return _place_in_turn(path, asked["turns"][path[1]])
    return _dotted(path)


def _place_in_turn(path: Steps, turn: Mapping[str, Any]) -> str:
    if turn["who"] == "UserTurn":
        return "the user's text"
    if turn["who"] == "ToolTurn" and len(path) > 3 and isinstance(path[3], int):
        result = turn["results"][path[3]]
        return f"{_dotted(path[4:])} of the result of {result['name']} (turn {path[1]})"
    return f"{_dotted(path[2:])} of turn {path[1]}"


def _dotted(path: Sequence[str | int]) -> str:
    return ".".join(str(part) for part in path)


def _change(old: Json, new: Json) -> str:
    if isinstance(old, str) and isinstance(new, str):
        at = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
        return f"differs at character {at}: recorded {_excerpt(old, at)}, now {_excerpt(new, at)}"
    return f"was recorded as {_short(old)} and is now {_short(new)}"


def _excerpt(text: str, at: int) -> str:
    rest = text[at : at + _EXCERPT_CHARS]
    return f'"{rest}{"…" if at + _EXCERPT_CHARS < len(text) else ""}"' if rest else "the end"


def _short(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _EXCERPT_CHARS else f"{text[:_EXCERPT_CHARS]}…"
