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

from collections.abc import Mapping
from typing import Any

from skillassay.canonical import Json
from skillassay.errors import Reason, Stage, TrialError
from skillassay.models.wire import (
    ShapeProblem,
    WireReply,
    count_in,
    kind_of,
    list_in,
    malformed_call,
    mapped_schema,
    object_in,
    parse_body,
    provider_error,
    text_in,
)
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
    return mapped_schema(schema, _ordered)


def _ordered(was: dict[str, Json], schema: dict[str, Json]) -> dict[str, Json]:
    properties = was.get("properties")
    if not isinstance(properties, dict):
        return schema
    schema.setdefault("propertyOrdering", list(properties))
    return schema


def read_reply(body: bytes, *, stage: Stage, estimated: bool = False) -> WireReply:
    """Read the body of an HTTP 200, whatever charset a header names. Raises :class:`TrialError` as said above.

    The error of a reply without an answer carries the usage that the reply tells.
    """
    document = parse_body(body, stage=stage)
    try:
        reply = object_in({"the reply": document}, "the reply") or {}
        told = object_in(reply, "usageMetadata")
        usage = None if told is None else _usage(told, estimated)
        return _read(reply, stage, usage)
    except ShapeProblem as problem:
        message = f"HTTP 200 with JSON that is no Gemini reply: {problem}"
    raise provider_error("non_json", message, stage)


def quota_of(details: list[dict[str, Any]]) -> str:
    """The kind of a 429 by its ``google.rpc.QuotaFailure``: ``quota_day`` where a violated quota is one per day."""
    for detail in details:
        if str(detail.get("@type", "")).endswith("google.rpc.QuotaFailure"):
            violations = detail.get("violations")
            named = [item.get("quotaId") for item in violations or [] if isinstance(item, Mapping)]
            if any("perday" in str(quota_id).lower() for quota_id in named):
                return "quota_day"
    return "quota"


def _read(reply: dict[str, Any], stage: Stage, usage: Usage | None) -> WireReply:
    feedback = object_in(reply, "promptFeedback") or {}
    if feedback.get("blockReason"):
        message = f"the prompt was blocked: {feedback['blockReason']}"
        raise TrialError(message, reason=Reason.BLOCKED, stage=stage, kind="prompt", usage=usage)
    candidates = list_in(reply, "candidates")
    if not candidates:
        raise provider_error("empty", "the reply holds no candidate and no block reason", stage, usage=usage)
    candidate = object_in({"candidates[0]": candidates[0]}, "candidates[0]") or {}
    content = object_in(candidate, "content")
    finish = candidate.get("finishReason")
    if finish is None and not (content and content.get("parts")):
        message = "the candidate holds neither content nor a finish reason"
        raise provider_error("empty", message, stage, usage=usage)
    word = "STOP" if finish is None else str(finish).upper()
    if word != "STOP":
        raise _unfinished(word, candidate.get("finishMessage"), stage, usage)
    turn = _turn(content, stage, usage)
    return WireReply(turn=turn, usage=usage or Usage(n_calls=1), model=text_in(reply, "modelVersion"))


def _unfinished(word: str, told: Json, stage: Stage, usage: Usage | None) -> TrialError:
    """What a candidate is that did not end normally."""
    said = f": {told}" if isinstance(told, str) and told else ""
    kind = word.lower()
    if word == "MAX_TOKENS":
        message, reason = f"the answer was cut at the token limit{said}", Reason.TRUNCATED
    elif word in BLOCKED_WORDS or word.startswith("IMAGE_"):
        kind = kind if word in BLOCKED_WORDS else "image_other"  # a kind is one of a fixed set of words
        message, reason = f"the answer was blocked: {word}{said}", Reason.BLOCKED
    elif word in CONTRACT_WORDS:
        message, reason = f"the model broke the call format: {word}{said}", Reason.CONTRACT_ERROR
    else:
        return provider_error("finish", f"the answer ended with {word}{said}", stage, usage=usage)
    return TrialError(message, reason=reason, stage=stage, kind=kind, usage=usage)


def _turn(content: dict[str, Any] | None, stage: Stage, usage: Usage | None) -> ModelTurn:
    texts: list[str] = []
    calls: list[ToolCall] = []
    notes: list[str] = []
    for part in list_in(content or {}, "parts"):
        if not isinstance(part, dict):
            raise ShapeProblem(f"a part is {kind_of(part)}")
        if part.get("functionCall") is not None:
            calls.append(_call(part["functionCall"], stage, usage))
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


def _call(call: Json, stage: Stage, usage: Usage | None) -> ToolCall:
    """One call. Without ``args`` it is a call with none; without a name, or with other arguments, it is malformed."""
    args = call.get("args") if isinstance(call, dict) else None
    if not isinstance(call, dict) or not isinstance(call.get("name"), str) or not isinstance(args, (dict, type(None))):
        what = "a function call without a name or with arguments that are no object"
        raise malformed_call(what, call, stage, usage=usage)
    return ToolCall(name=call["name"], args=args or {}, id=text_in(call, "id") or None)


def _usage(told: dict[str, Any], estimated: bool) -> Usage:  # noqa: FBT001 - internal, one caller
    return Usage(
        input_tokens=count_in(told, "promptTokenCount"),
        output_tokens=count_in(told, "candidatesTokenCount"),
        thought_tokens=count_in(told, "thoughtsTokenCount"),
        cached_tokens=count_in(told, "cachedContentTokenCount"),
        total_tokens=count_in(told, "totalTokenCount"),
        estimated=estimated,
        n_calls=1,
    )
