"""The OpenAI wire format (chat completions): turns out, replies in. Owns the mapping; opens no connection.

A reply is classified by its finish reason, never by its emptiness:

    content_filter                                      blocked, with or without text
    length                                              truncated, with or without text or calls
    stop, tool_calls, function_call                     the calls; without calls an answer, and without text it is ""
    a call without a name, arguments that are no object contract_error, kind ``malformed_function_call``
    no choice                                           provider_error, kind ``empty``
    tool_calls without a call, no or another reason     provider_error, kind ``finish``
    a reply of another shape, or not UTF-8              provider_error, kind ``non_json``

A ``refusal`` is what the model said, so it is the answer's text where there is no other: only a filter blocks.

A model's message is kept as the JSON it came as and goes back as it is, unknown fields included: endpoints refuse a
history without the ``reasoning_content`` or the signatures that they sent, and none refuses what is its own.
"""

from __future__ import annotations

import json
from typing import Any

from skillassay.canonical import Json, JsonProblem, parse_json
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
from skillassay.transcript import ModelTurn, Tool, ToolCall, ToolTurn, Turn, Usage, UserTurn

SCHEMA_NAME = "reply"
NORMAL_WORDS = frozenset({"stop", "tool_calls", "function_call"})
NOTE_REFUSAL = "the text is the message's refusal"
NOTE_UNFLAGGED_THOUGHT = "text begins with <think> and is not flagged as a thought; kept as text"
THOUGHT_TYPES = frozenset({"thinking", "reasoning", "redacted_thinking"})


def build_messages(system: str, turns: tuple[Turn, ...]) -> list[dict[str, Any]]:
    """The ``messages`` of a request. Each result of a tool turn is a message of its own, in the order of the calls."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
    for turn in turns:
        if isinstance(turn, UserTurn):
            messages.append({"role": "user", "content": turn.text})
        elif isinstance(turn, ToolTurn):
            messages += _results(turn, asked_by=messages[-1] if messages else {})
        else:
            messages.append(_assistant(turn))
    return messages


def _results(turn: ToolTurn, *, asked_by: dict[str, Any]) -> list[dict[str, Any]]:
    texts = [json.dumps(result.response, ensure_ascii=False) for result in turn.results]
    if asked_by.get("function_call") and not asked_by.get("tool_calls"):  # the form before there were several calls
        pairs = zip(turn.results, texts, strict=True)
        return [{"role": "function", "name": result.name, "content": text} for result, text in pairs]
    return [
        {"role": "tool", "tool_call_id": _call_id(result.id, index), "content": text}
        for index, (result, text) in enumerate(zip(turn.results, texts, strict=True))
    ]


def _assistant(turn: ModelTurn) -> dict[str, Any]:
    if turn.raw is not None:
        raw: dict[str, Any] = turn.raw
        return raw
    message: dict[str, Any] = {"role": "assistant", "content": turn.text}
    if turn.calls:
        message["tool_calls"] = [
            {
                "id": _call_id(call.id, index),
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.args, ensure_ascii=False)},
            }
            for index, call in enumerate(turn.calls)
        ]
    return message


def _call_id(told: str | None, index: int) -> str:
    """The id of a call; one that has none is told by its place, alike in the call and in its result."""
    return told or f"call-{index + 1}"


def build_tools(tools: tuple[Tool, ...]) -> list[dict[str, Any]]:
    """The ``tools`` of a request."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
        }
        for tool in tools
    ]


def build_response_format(schema: dict[str, Any]) -> dict[str, Any]:
    """Ask for one JSON object. ``strict`` is off: it means a subset of JSON Schema that differs between endpoints, and
    outside of it the request is refused. What counts is our own strict reading of the reply.
    """
    named = {"name": SCHEMA_NAME, "strict": False, "schema": mapped_schema(schema, _without_long_bound)}
    return {"type": "json_schema", "json_schema": named}


def _without_long_bound(was: dict[str, Json], schema: dict[str, Json]) -> dict[str, Json]:
    """``maxLength`` told in words. Engines that compile a schema into a grammar write a bound out as so many
    repetitions, and several versions refuse some from 2000 on; the reader of the reply holds the bound anyway.
    """
    if "maxLength" not in was:
        return schema
    words = [schema["description"]] if "description" in schema else []
    kept = {key: value for key, value in schema.items() if key != "maxLength"}
    return {**kept, "description": " ".join([*words, f"At most {was['maxLength']} characters."])}


def read_reply(body: bytes, *, stage: Stage) -> WireReply:
    """Read the body of an HTTP 200, whatever charset a header names. Raises :class:`TrialError` as said above.

    The error of a reply without an answer carries the usage that the reply tells.
    """
    document = parse_body(body, stage=stage)
    try:
        reply = object_in({"the reply": document}, "the reply") or {}
        told = object_in(reply, "usage")
        return _read(reply, stage, None if told is None else _usage(told))
    except ShapeProblem as problem:
        message = f"HTTP 200 with JSON that is no chat completion: {problem}"
    raise provider_error("non_json", message, stage)


def told_error(body: bytes) -> Json:
    """What stands at ``error`` in a body without choices, else None: gateways tell a refusal so under HTTP 200 too."""
    try:
        document = parse_json(body.decode())
    except (UnicodeDecodeError, JsonProblem):
        return None
    if isinstance(document, list) and len(document) == 1:  # as Google's endpoint of this format writes it
        document = document[0]
    if not isinstance(document, dict) or document.get("choices"):
        return None
    return document.get("error")


def _read(reply: dict[str, Any], stage: Stage, usage: Usage | None) -> WireReply:
    choices = list_in(reply, "choices")
    if not choices:
        raise provider_error("empty", "the reply holds no choice", stage, usage=usage)
    choice = object_in({"choices[0]": choices[0]}, "choices[0]") or {}
    message = object_in(choice, "message") or {}
    word = str(choice.get("finish_reason")).lower()
    if word not in NORMAL_WORDS:
        raise _unfinished(word, stage, usage)
    turn = _turn(message, stage, usage)
    if word != "stop" and not turn.calls:
        raise provider_error("finish", f"the answer ended with {word} and holds no call", stage, usage=usage)
    return WireReply(turn=turn, usage=usage or Usage(n_calls=1), model=text_in(reply, "model"))


def _unfinished(word: str, stage: Stage, usage: Usage | None) -> TrialError:
    """What a choice is that did not end normally."""
    if word == "length":
        message, reason, kind = "the answer was cut at the token limit", Reason.TRUNCATED, "max_tokens"
    elif word == "content_filter":
        message, reason, kind = "the answer was blocked: content_filter", Reason.BLOCKED, word
    else:
        ended = "has no finish reason" if word == "none" else f"ended with {word}"
        return provider_error("finish", f"the answer {ended}", stage, usage=usage)
    return TrialError(message, reason=reason, stage=stage, kind=kind, usage=usage)


def _turn(message: dict[str, Any], stage: Stage, usage: Usage | None) -> ModelTurn:
    text, notes = _text(message.get("content"))
    refusal = text_in(message, "refusal")
    if not text and refusal:
        text = refusal
        notes.append(NOTE_REFUSAL)
    if text.lstrip().startswith("<think>"):
        notes.append(NOTE_UNFLAGGED_THOUGHT)
    calls = tuple(_call(call, stage, usage) for call in list_in(message, "tool_calls"))
    if not calls and message.get("function_call") is not None:
        calls = (_named_call(message["function_call"], None, stage, usage),)
    # The service names the role; where it does not, the turn must not come back as the user's.
    raw = message if "role" in message else {"role": "assistant", **message}
    return ModelTurn(text=text, calls=calls, raw=raw, notes=tuple(dict.fromkeys(notes)))


def _text(content: Json) -> tuple[str, list[str]]:
    """The text of a message, given whole or in parts, without thoughts; and what of it was not read."""
    if content is None or isinstance(content, str):
        return content or "", []
    if not isinstance(content, list):
        raise ShapeProblem(f"content is {kind_of(content)}")
    texts: list[str] = []
    notes: list[str] = []
    for part in content:
        if not isinstance(part, dict):
            raise ShapeProblem(f"a part of content is {kind_of(part)}")
        kind = str(part.get("type"))
        text = text_in(part, {"text": "text", "output_text": "text", "refusal": "refusal"}.get(kind, ""))
        if text is not None:
            texts.append(text)
        elif kind not in THOUGHT_TYPES:
            notes.append(f"a part of kind {kind[:40]} is not read")
    return "".join(texts), notes


def _call(call: Json, stage: Stage, usage: Usage | None) -> ToolCall:
    if not isinstance(call, dict) or not isinstance(call.get("function"), dict):
        raise malformed_call("a call of no function", call, stage, usage=usage)
    return _named_call(call["function"], text_in(call, "id") or None, stage, usage)


def _named_call(function: Json, call_id: str | None, stage: Stage, usage: Usage | None) -> ToolCall:
    """One call. Without arguments, or with the empty text for them, it is a call with none."""
    name = function.get("name") if isinstance(function, dict) else None
    args = function.get("arguments") if isinstance(function, dict) else None
    if args is None or (isinstance(args, str) and not args.strip()):
        args = {}
    try:
        args = parse_json(args) if isinstance(args, str) else args
    except JsonProblem as problem:
        raise malformed_call(f"a function call whose arguments are {problem}", function, stage, usage=usage) from None
    if not isinstance(name, str) or not name or not isinstance(args, dict):
        what = "a function call without a name or with arguments that are no object"
        raise malformed_call(what, function, stage, usage=usage)
    return ToolCall(name=name, args=args, id=call_id)


def _usage(told: dict[str, Any]) -> Usage:
    """The counts, in the meaning of :class:`Usage`: thoughts are not output.

    ``completion_tokens`` holds the thoughts at OpenAI and does not at some others; the total tells which. Where no
    thoughts are told they are not known, and the output may hold some.
    """
    read, written, total = (count_in(told, f"{word}_tokens") for word in ("prompt", "completion", "total"))
    thoughts = count_in(object_in(told, "completion_tokens_details") or {}, "reasoning_tokens")
    output = written
    if written is not None and thoughts and total != (read or 0) + written + thoughts:
        output = written - thoughts if thoughts <= written else None
    return Usage(
        input_tokens=read,
        output_tokens=output,
        thought_tokens=thoughts,
        cached_tokens=count_in(object_in(told, "prompt_tokens_details") or {}, "cached_tokens"),
        total_tokens=total,
        n_calls=1,
    )
