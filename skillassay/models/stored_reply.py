"""A model's reply as JSON and back. Owns what of a stored one is believed: only what a model could have answered.

A digest shows that a text is what it was when it was written, not that it was written well. So each field is read as
strictly as it is off the wire (:mod:`skillassay.models.wire`), and whatever is of another type or size is no reply.
"""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

from skillassay.canonical import Json
from skillassay.models.base import ModelReply
from skillassay.models.wire import MAX_TOKENS
from skillassay.transcript import ModelTurn, ToolCall, Usage

MAX_ATTEMPTS = 10**6
_COUNTS = ("input_tokens", "output_tokens", "thought_tokens", "cached_tokens", "total_tokens")


def model_turn_json(turn: ModelTurn) -> dict[str, Json]:
    """A model's turn as JSON, the same as inside a later request."""
    return {"who": ModelTurn.__name__, **asdict(turn)}


def model_turn_from_json(value: Any) -> ModelTurn:
    """A model's turn from its JSON. Raises ``KeyError``, ``TypeError`` or ``ValueError`` for anything else."""
    if value["who"] != ModelTurn.__name__:
        raise ValueError(f"a reply is a {value['who']}")
    calls = tuple(
        ToolCall(name=_text(call["name"]), args=_object(call["args"]), id=_text_or_none(call["id"]))
        for call in _list(value["calls"])
    )
    notes = tuple(_text(note) for note in _list(value["notes"]))
    return ModelTurn(text=_text(value["text"]), calls=calls, raw=value["raw"], notes=notes)


def usage_from_json(value: Any) -> Usage:
    """A usage from its JSON. Raises ``KeyError``, ``TypeError`` or ``ValueError`` for anything else."""
    known = {field.name for field in fields(Usage)}
    if not isinstance(value, dict) or not set(value) <= known:
        raise ValueError("a usage has other fields")
    counts = {name: None if value[name] is None else _count(value[name], MAX_TOKENS) for name in _COUNTS}
    estimated = value["estimated"]
    if not isinstance(estimated, bool):
        raise TypeError("estimated is no truth value")
    return Usage(**counts, estimated=estimated, n_calls=_count(value.get("n_calls", 0), MAX_TOKENS))


def reply_from_json(turn: Any, value: Any) -> ModelReply:
    """A reply from the JSON of its turn, and of its usage, model and attempts. Raises as above."""
    n_attempts = _count(value["n_attempts"], MAX_ATTEMPTS)
    if n_attempts < 1:
        raise ValueError("a reply took no attempt")
    usage, model = usage_from_json(value["usage"]), _text_or_none(value["model"])
    return ModelReply(turn=model_turn_from_json(turn), usage=usage, model=model, n_attempts=n_attempts)


def attempts_of_failure(value: Any) -> int:
    """How often was asked in vain: none where nothing was sent. Raises as above."""
    return _count(value, MAX_ATTEMPTS)


def _count(value: Any, most: int) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError(f"{value!r} is no count")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _text_or_none(value: Any) -> str | None:
    return None if value is None else _text(value)


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"{value!r} is no object")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r} is no list")
    return value
