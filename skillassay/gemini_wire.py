"""The Gemini wire format (``generateContent``): turns out, replies in. Owns the mapping; opens no connection.

A reply is classified by its finish reason, never by its emptiness:

    promptFeedback.blockReason, SAFETY and its kin      blocked
    MAX_TOKENS                                          truncated, with or without text
    MALFORMED_FUNCTION_CALL and its kin                 contract_error, the finish reason in lower case as kind
    STOP, or content without a finish reason            an answer; without text it is the answer ""
    no candidate and no block reason                    provider_error, kind ``empty``
    any other finish reason                             provider_error, kind ``finish``
    a reply of another shape, or not UTF-8              provider_error, kind ``non_json``

A model's content is kept as the JSON it came as, with unknown fields and thought signatures, and goes back as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from skillassay.canonical import Json, JsonProblem, parse_json
from skillassay.errors import Reason, Stage, TrialError
from skillassay.transcript import ModelTurn, ToolCall, ToolTurn, Turn, Usage, UserTurn

BLOCKED_WORDS = frozenset({
    "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "MODEL_ARMOR", "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "IMAGE_OTHER",
})  # fmt: skip
CONTRACT_WORDS = frozenset({
    "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE", "TOO_MANY_TOOL_CALLS",
    "MISSING_THOUGHT_SIGNATURE",
})  # fmt: skip
UNDECIDED_WORDS = frozenset({
    "FINISH_REASON_UNSPECIFIED", "OTHER", "NO_IMAGE", "ESCALATION", "PUP_LIMITED_DISABLED", "CONTINUATION",
})  # fmt: skip
FINISH_WORDS = BLOCKED_WORDS | CONTRACT_WORDS | UNDECIDED_WORDS | {"STOP", "MAX_TOKENS"}
"""Every finish reason of the service as of google-genai 3.6.1."""

THOUGHT_PREFIX = "THOUGHT:"
NOTE_UNFLAGGED_THOUGHT = "text begins with THOUGHT: and is not flagged as a thought; kept as text"

MAX_MESSAGE_CHARS = 500
MAX_TOKENS = 10**9
"""A count beyond it is no count: no model reads or writes so much in one call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WireReply:
    """An answer as read from the wire. ``model`` is ``modelVersion``, None when not told."""

    turn: ModelTurn
    usage: Usage
    model: str | None


def build_contents(turns: tuple[Turn, ...]) -> list[dict[str, Any]]:
    """The ``contents`` of a request. All results of a tool turn go into one user content, in the order of the calls."""
    return [_content(turn) for turn in turns]


def _content(turn: Turn) -> dict[str, Any]:
    if isinstance(turn, UserTurn):
        return {"role": "user", "parts": [{"text": turn.text}]}
    if isinstance(turn, ToolTurn):
        parts = [_with_id(r.id, {"name": r.name, "response": r.response}) for r in turn.results]
        return {"role": "user", "parts": [{"functionResponse": part} for part in parts]}
    if turn.raw is not None:
        raw: dict[str, Any] = turn.raw
        return raw
    calls = [{"functionCall": _with_id(call.id, {"name": call.name, "args": call.args})} for call in turn.calls]
    # A content without parts is refused by the service, so a turn of nothing is sent as an empty text.
    return {"role": "model", "parts": [*([{"text": turn.text}] if turn.text or not calls else []), *calls]}


def _with_id(call_id: str | None, part: dict[str, Any]) -> dict[str, Any]:
    return part if call_id is None else {"id": call_id, **part}


def ordered_schema(schema: Json) -> Json:
    """The schema with ``propertyOrdering`` at each object: JSON objects have no order, and this one is asked for."""
    if isinstance(schema, list):
        return [ordered_schema(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {
        # Below `properties` keys are names chosen by the author, so only their values are schemas.
        key: {name: ordered_schema(item) for name, item in value.items()}
        if key in {"properties", "$defs"} and isinstance(value, dict)
        else value
        if key in {"enum", "const", "default", "examples"}
        else ordered_schema(value)
        for key, value in schema.items()
    }
    if isinstance(schema.get("properties"), dict):
        result.setdefault("propertyOrdering", list(schema["properties"]))
    return result


def read_reply(body: bytes, *, stage: Stage, estimated: bool = False) -> WireReply:
    """Read the body of an HTTP 200, whatever charset a header names. Raises :class:`TrialError` as said above."""
    try:
        text = body.decode()
        document = parse_json(text)
    except UnicodeDecodeError as error:
        message = f"HTTP 200 with a body that is not UTF-8 at byte {error.start}: {body[:80]!r}"
        raise _provider("non_json", message, stage) from None
    except JsonProblem as problem:
        raise _provider("non_json", f"HTTP 200 with a body that is {problem}: {text[:80]!r}", stage) from None
    try:
        return _read(document, stage, estimated)
    except _ShapeProblem as problem:
        raise _provider("non_json", f"HTTP 200 with JSON that is no Gemini reply: {problem}", stage) from None


class _ShapeProblem(ValueError):
    """A part of a reply has a type that the format does not know."""


def _read(document: Json, stage: Stage, estimated: bool) -> WireReply:  # noqa: FBT001 - internal, one caller
    reply = _object({"the reply": document}, "the reply") or {}
    feedback = _object(reply, "promptFeedback") or {}
    if feedback.get("blockReason"):
        message = f"the prompt was blocked: {feedback['blockReason']}"
        raise TrialError(_cut(message), reason=Reason.BLOCKED, stage=stage, kind="prompt")
    candidates = _list(reply, "candidates")
    if not candidates:
        raise _provider("empty", "the reply holds no candidate and no block reason", stage)
    candidate = _object({"candidates[0]": candidates[0]}, "candidates[0]") or {}
    content = _object(candidate, "content")
    finish = candidate.get("finishReason")
    if finish is None and not (content and content.get("parts")):
        raise _provider("empty", "the candidate holds neither content nor a finish reason", stage)
    _refuse_finish("STOP" if finish is None else str(finish).upper(), candidate.get("finishMessage"), stage)
    turn = _turn(content, stage)
    model = reply.get("modelVersion")
    usage = _usage(_object(reply, "usageMetadata") or {}, estimated)
    return WireReply(turn=turn, usage=usage, model=model if isinstance(model, str) else None)


def _refuse_finish(word: str, told: Json, stage: Stage) -> None:
    """Raise unless the candidate ended normally."""
    said = f": {told}" if isinstance(told, str) and told else ""
    kind = word.lower()
    if word == "STOP":
        return
    if word == "MAX_TOKENS":
        message = f"the answer was cut at the token limit{said}"
        raise TrialError(_cut(message), reason=Reason.TRUNCATED, stage=stage, kind=kind)
    if word in BLOCKED_WORDS or word.startswith("IMAGE_"):
        kind = kind if word in BLOCKED_WORDS else "image_other"  # a kind is one of a fixed set of words
        raise TrialError(_cut(f"the answer was blocked: {word}{said}"), reason=Reason.BLOCKED, stage=stage, kind=kind)
    if word in CONTRACT_WORDS:
        message = f"the model broke the call format: {word}{said}"
        raise TrialError(_cut(message), reason=Reason.CONTRACT_ERROR, stage=stage, kind=kind)
    raise _provider("finish", f"the answer ended with {word}{said}", stage)


def _turn(content: dict[str, Any] | None, stage: Stage) -> ModelTurn:
    texts: list[str] = []
    calls: list[ToolCall] = []
    notes: list[str] = []
    for part in _list(content or {}, "parts"):
        if not isinstance(part, dict):
            raise _ShapeProblem(f"a part is {_kind(part)}")
        if part.get("functionCall") is not None:
            calls.append(_call(part["functionCall"], stage))
        elif isinstance(part.get("text"), str):
            if part.get("thought") is True:
                continue
            texts.append(part["text"])
            if part["text"].lstrip().startswith(THOUGHT_PREFIX):
                notes.append(NOTE_UNFLAGGED_THOUGHT)
        elif other := sorted(part.keys() - {"thought", "thoughtSignature"}):
            notes.append(f"a part of kind {other[0][:40]} is not read")
    # The service names the role; where it does not, the turn must not come back as the user's.
    raw = content if content is None or "role" in content else {"role": "model", **content}
    return ModelTurn(text="".join(texts), calls=tuple(calls), raw=raw or None, notes=tuple(dict.fromkeys(notes)))


def _call(call: Json, stage: Stage) -> ToolCall:
    """One call. Without ``args`` it is a call with none; without a name, or with other arguments, it is malformed."""
    args = call.get("args") if isinstance(call, dict) else None
    if not isinstance(call, dict) or not isinstance(call.get("name"), str) or not isinstance(args, (dict, type(None))):
        message = f"a function call without a name or with arguments that are no object: {call!r}"
        kind = "malformed_function_call"
        raise TrialError(_cut(message), reason=Reason.CONTRACT_ERROR, stage=stage, kind=kind)
    call_id = call.get("id")
    return ToolCall(name=call["name"], args=args or {}, id=call_id if isinstance(call_id, str) and call_id else None)


def _usage(told: dict[str, Any], estimated: bool) -> Usage:  # noqa: FBT001 - internal, one caller
    def count(name: str) -> int | None:
        value = told.get(name)
        return value if type(value) is int and 0 <= value <= MAX_TOKENS else None

    return Usage(
        input_tokens=count("promptTokenCount"),
        output_tokens=count("candidatesTokenCount"),
        thought_tokens=count("thoughtsTokenCount"),
        cached_tokens=count("cachedContentTokenCount"),
        total_tokens=count("totalTokenCount"),
        estimated=estimated,
        n_calls=1,
    )


def _object(parent: dict[str, Any], name: str) -> dict[str, Any] | None:
    value = parent.get(name)
    if value is not None and not isinstance(value, dict):
        raise _ShapeProblem(f"{name} is {_kind(value)}")
    return value


def _list(parent: dict[str, Any], name: str) -> list[Any]:
    value = parent.get(name)
    if value is not None and not isinstance(value, list):
        raise _ShapeProblem(f"{name} is {_kind(value)}")
    return value or []


def _kind(value: Json) -> str:
    return {dict: "an object", list: "a list", str: "text", bool: "a truth value"}.get(type(value), "a number")


def _provider(kind: str, message: str, stage: Stage) -> TrialError:
    return TrialError(_cut(message), reason=Reason.PROVIDER_ERROR, stage=stage, kind=kind)


def _cut(message: str) -> str:
    return message if len(message) <= MAX_MESSAGE_CHARS else message[: MAX_MESSAGE_CHARS - 1] + "…"
