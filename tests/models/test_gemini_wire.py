"""Replies as they come over the wire, read through the real SDK from a real server. Public reports are named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillassay.errors import Reason, Stage, TrialError
from skillassay.models.base import ModelReply, ModelRequest
from skillassay.models.gemini_wire import NOTE_UNFLAGGED_THOUGHT
from skillassay.transcript import ModelTurn, ToolCall, Usage
from tests.models.wire_server import ASK, OK, Canned, ask, refused, reply, talking

PUBLIC = Path(__file__).parents[1] / "data" / "public" / "api"


def public(name: str) -> Canned:
    """The bytes of a public report."""
    return Canned(body=(PUBLIC / name).read_bytes())


def bare(finish: str) -> Canned:
    """A candidate without content."""
    return Canned(body=json.dumps({"candidates": [{"finishReason": finish}]}).encode())


SHAPES: dict[str, tuple[Canned, tuple[Reason, str | None]]] = {
    "prompt blocked": (Canned(body=b'{"promptFeedback":{"blockReason":"SAFETY"}}'), (Reason.BLOCKED, "prompt")),
    "blocked by SAFETY": (bare("SAFETY"), (Reason.BLOCKED, "safety")),
    **{
        f"blocked by {word}": (bare(word), (Reason.BLOCKED, word.lower()))
        for word in ("RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "MODEL_ARMOR", "IMAGE_SAFETY")
    },
    "blocked by an image reason of tomorrow": (bare("IMAGE_NEW"), (Reason.BLOCKED, "image_other")),
    "truncated on thoughts": (
        Canned(body=b'{"candidates":[{"content":{"role":"model"},"finishReason":"MAX_TOKENS"}]}'),
        (Reason.TRUNCATED, "max_tokens"),
    ),
    "truncated with text": (reply({"text": "half"}, finish="MAX_TOKENS"), (Reason.TRUNCATED, "max_tokens")),
    **{
        f"broken call {word}": (bare(word), (Reason.CONTRACT_ERROR, word.lower()))
        for word in (
            "MALFORMED_FUNCTION_CALL",
            "UNEXPECTED_TOOL_CALL",
            "MALFORMED_RESPONSE",
            "TOO_MANY_TOOL_CALLS",
            "MISSING_THOUGHT_SIGNATURE",
        )
    },
    "lower case": (bare("malformed_function_call"), (Reason.CONTRACT_ERROR, "malformed_function_call")),
    "call without a name": (reply({"functionCall": {}}), (Reason.CONTRACT_ERROR, "malformed_function_call")),
    "arguments as a list": (
        reply({"functionCall": {"name": "f", "args": [1]}}),
        (Reason.CONTRACT_ERROR, "malformed_function_call"),
    ),
    "empty object": (Canned(body=b"{}"), (Reason.PROVIDER_ERROR, "empty")),
    "empty body": (Canned(body=b""), (Reason.PROVIDER_ERROR, "non_json")),
    "no candidate": (Canned(body=b'{"candidates":[]}'), (Reason.PROVIDER_ERROR, "empty")),
    "candidate of nothing": (Canned(body=b'{"candidates":[{"index":0}]}'), (Reason.PROVIDER_ERROR, "empty")),
    "HTML": (Canned(body=b"<html>proxy</html>"), (Reason.PROVIDER_ERROR, "non_json")),
    "a list": (Canned(body=b"[]"), (Reason.PROVIDER_ERROR, "non_json")),
    "another shape": (Canned(body=b'{"candidates":"none"}'), (Reason.PROVIDER_ERROR, "non_json")),
    "NaN": (Canned(body=b'{"candidates":[{"avgLogprobs":NaN}]}'), (Reason.PROVIDER_ERROR, "non_json")),
    "OTHER": (bare("OTHER"), (Reason.PROVIDER_ERROR, "finish")),
    "CONTINUATION": (reply({"text": "more"}, finish="CONTINUATION"), (Reason.PROVIDER_ERROR, "finish")),
    "a reason of tomorrow": (bare("BRAND_NEW"), (Reason.PROVIDER_ERROR, "finish")),
    "googleapis/python-genai#1120 malformed": (
        public("genai-1120/r1.json"),
        (Reason.CONTRACT_ERROR, "malformed_function_call"),
    ),
    "googleapis/python-genai#1120 unexpected": (
        public("genai-1120/r2.json"),
        (Reason.CONTRACT_ERROR, "unexpected_tool_call"),
    ),
    "vercel/ai#19758 prompt": (public("vercel-ai-19758/r1.json"), (Reason.BLOCKED, "prompt")),
    "vercel/ai#19758 safety": (public("vercel-ai-19758/r2.json"), (Reason.BLOCKED, "safety")),
    "vercel/ai#19758 recitation": (public("vercel-ai-19758/r3.json"), (Reason.BLOCKED, "recitation")),
    "vercel/ai#19758 prompt, no usage": (public("vercel-ai-19758/r4.json"), (Reason.BLOCKED, "prompt")),
}


@pytest.mark.parametrize(("canned", "expected"), SHAPES.values(), ids=SHAPES)
def test_a_reply_without_an_answer_is_classified_and_asked_once(
    canned: Canned, expected: tuple[Reason, str | None]
) -> None:
    """A 200 is never retried, a malformed call included: a second try would favour the arm that needs it."""
    request = ModelRequest(system="", turns=ASK.turns, stage=Stage.JUDGE)
    with talking(canned) as (model, server), pytest.raises(TrialError) as caught:
        model.generate(request)
    error = caught.value
    assert (error.reason, error.kind) == expected
    assert (error.stage, error.n_attempts, len(server.seen)) == (Stage.JUDGE, 1, 1)


def test_an_unknown_finish_reason_is_named() -> None:
    """The word is the provider's, so it stands in the message and not in the kind."""
    assert "BRAND_NEW" in refused(bare("BRAND_NEW")).message


def test_a_malformed_call_keeps_what_the_service_said_about_it() -> None:
    """googleapis/python-genai#1120: finishMessage holds the call as the model wrote it."""
    assert "default_api.load_skill" in refused(public("genai-1120/r1.json")).message


ANSWERS: dict[str, tuple[Canned, str, tuple[ToolCall, ...], tuple[str, ...]]] = {
    "STOP without parts is the answer ''": (reply(), "", (), ()),
    "STOP without content is the answer ''": (bare("STOP"), "", (), ()),
    "content without a finish reason": (reply({"text": "a"}, finish=None), "a", (), ()),
    "parts are joined": (reply({"text": "a"}, {"text": "b"}), "ab", (), ()),
    "thoughts are left out": (reply({"text": "9", "thought": True}, {"text": "10"}), "10", (), ()),
    "an unknown part is noted": (
        reply({"text": "a"}, {"executableCode": {"code": "1"}}),
        "a",
        (),
        ("a part of kind executableCode is not read",),
    ),
    "googleapis/python-genai#2121 unflagged": (
        public("genai-2121/r1.json"),
        "THOUGHT: maybe 9?\nThe total is 10.",
        (),
        (NOTE_UNFLAGGED_THOUGHT,),
    ),
    "googleapis/python-genai#2121 flagged": (public("genai-2121/r2.json"), "The total is 10.", (), ()),
    "googleapis/python-genai#1120 prefixed name": (
        public("genai-1120/r3.json"),
        "",
        (ToolCall(name="default_api:load_skill", args={"name": "demo"}),),
        (),
    ),
    "googleapis/python-genai#1120 no args": (
        public("genai-1120/r4.json"),
        "",
        (ToolCall(name="load_skill", args={}),),
        (),
    ),
    "googleapis/python-genai#850 text and calls": (
        public("genai-850/r1.json"),
        "Let me load it.",
        (
            ToolCall(name="load_skill", args={"name": "demo"}),
            ToolCall(name="load_skill_resource", args={"name": "demo", "path": "references/a.md"}),
        ),
        (),
    ),
    "call ids": (reply({"functionCall": {"id": "c1", "name": "f"}}), "", (ToolCall(name="f", args={}, id="c1"),), ()),
}


@pytest.mark.parametrize(("canned", "text", "calls", "notes"), ANSWERS.values(), ids=ANSWERS)
def test_an_answer_is_read_whole(
    canned: Canned, text: str, calls: tuple[ToolCall, ...], notes: tuple[str, ...]
) -> None:
    """Text is what is not a thought, calls are kept beside it, oddities are noted and never repaired."""
    turn = ask(canned).turn
    assert (turn.text, turn.calls, turn.notes) == (text, calls, notes)


def test_usage_that_is_not_told_stays_none() -> None:
    """An unknown count is never a zero."""
    told = ask(reply({"text": "a"}, usageMetadata={"promptTokenCount": 3, "newCount": 1}, modelVersion="gemini-x-001"))
    assert told.usage == Usage(input_tokens=3, n_calls=1)
    assert told.model == "gemini-x-001"
    assert ask(OK) == ModelReply(
        turn=ModelTurn(text="ok", raw={"role": "model", "parts": [{"text": "ok"}]}), usage=Usage(n_calls=1)
    )


def test_all_usage_fields_are_read() -> None:
    """Each count has its own field."""
    names = (
        "promptTokenCount",
        "candidatesTokenCount",
        "thoughtsTokenCount",
        "cachedContentTokenCount",
        "totalTokenCount",
    )
    usage = ask(reply({"text": "a"}, usageMetadata=dict(zip(names, range(1, 6), strict=True)))).usage
    told = Usage(input_tokens=1, output_tokens=2, thought_tokens=3, cached_tokens=4, total_tokens=5, n_calls=1)
    assert usage == told


@pytest.mark.parametrize(
    ("told", "read"),
    [(0, 0), (10**9, 10**9), (10**9 + 1, None), (-1, None), (10**300, None), (5.0, None), (True, None), ("5", None)],
)
def test_a_count_that_no_call_can_have_is_not_told(told: object, read: int | None) -> None:
    """Neither negative, nor beyond a thousand million, nor another kind of value."""
    assert ask(reply({"text": "a"}, usageMetadata={"promptTokenCount": told})).usage.input_tokens == read
