"""What every wire format shares: strict reading of a body, schemas, and the words of a failure. Owns no format.

A body is UTF-8 and one strict JSON value, whatever charset a header names. A part of another type than the format
knows makes the whole reply one of kind ``non_json``: nothing is guessed from the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from skillassay.canonical import Json, JsonProblem, parse_json
from skillassay.errors import Reason, Stage, TrialError
from skillassay.transcript import ModelTurn, Usage

MAX_MESSAGE_CHARS = 500
"""Of an error's message. Cut where secrets are taken out (:mod:`skillassay.models.calls`) and nowhere before."""

MAX_TOKENS = 10**9
"""A count beyond it is no count: no model reads or writes so much in one call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WireReply:
    """An answer as read from the wire. ``model`` is the name as answered, None when not told."""

    turn: ModelTurn
    usage: Usage
    model: str | None


class ShapeProblem(ValueError):
    """A part of a reply has a type that the format does not know."""


def parse_body(body: bytes, *, stage: Stage) -> Json:
    """The JSON of an HTTP 200's body. Raises a ``provider_error`` of kind ``non_json`` naming what it is instead."""
    try:
        text = body.decode()
        return parse_json(text)
    except UnicodeDecodeError as error:
        message = f"HTTP 200 with a body that is not UTF-8 at byte {error.start}: {body!r}"
    except JsonProblem as problem:
        message = f"HTTP 200 with a body that is {problem}: {text!r}"
    raise provider_error("non_json", message, stage)


def object_in(parent: dict[str, Any], name: str) -> dict[str, Any] | None:
    """The object at ``name``, None when absent or null. Raises :class:`ShapeProblem` for anything else."""
    value = parent.get(name)
    if value is not None and not isinstance(value, dict):
        raise ShapeProblem(f"{name} is {kind_of(value)}")
    return value


def list_in(parent: dict[str, Any], name: str) -> list[Any]:
    """The list at ``name``, empty when absent or null. Raises :class:`ShapeProblem` for anything else."""
    value = parent.get(name)
    if value is not None and not isinstance(value, list):
        raise ShapeProblem(f"{name} is {kind_of(value)}")
    return value or []


def count_in(parent: dict[str, Any], name: str) -> int | None:
    """A number of tokens at ``name``; None for what is absent or cannot be one."""
    value = parent.get(name)
    return value if type(value) is int and 0 <= value <= MAX_TOKENS else None


def text_in(parent: dict[str, Any], name: str) -> str | None:
    """The text at ``name``; None for everything else."""
    value = parent.get(name)
    return value if isinstance(value, str) else None


def kind_of(value: Json) -> str:
    """What a JSON value is, in a word."""
    words = {dict: "an object", list: "a list", str: "text", bool: "a truth value", type(None): "null"}
    return words.get(type(value), "a number")


def mapped_schema(schema: Json, change: Callable[[dict[str, Json], dict[str, Json]], dict[str, Json]]) -> Json:
    """A JSON Schema in which each object that is a schema is ``change(as it was, with its inner schemas changed)``."""
    if isinstance(schema, list):
        return [mapped_schema(item, change) for item in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {
        # Below `properties` keys are names chosen by the author, so only their values are schemas.
        key: {name: mapped_schema(item, change) for name, item in value.items()}
        if key in {"properties", "$defs"} and isinstance(value, dict)
        else value
        if key in {"enum", "const", "default", "examples"}
        else mapped_schema(value, change)
        for key, value in schema.items()
    }
    return change(schema, inner)


def provider_error(kind: str, message: str, stage: Stage, *, usage: Usage | None = None) -> TrialError:
    """A ``provider_error`` of this kind."""
    return TrialError(message, reason=Reason.PROVIDER_ERROR, stage=stage, kind=kind, usage=usage)


def malformed_call(what: str, call: Json, stage: Stage, *, usage: Usage | None = None) -> TrialError:
    """The ``contract_error`` of a call that cannot be made; ``call`` is shown as it came."""
    kind = "malformed_function_call"
    return TrialError(f"{what}: {call!r}", reason=Reason.CONTRACT_ERROR, stage=stage, kind=kind, usage=usage)
