"""What a provider may answer: good, blocked, truncated, or in a broken form."""

from __future__ import annotations

from tests.models.happenings import (
    CHAT_GOOD,
    CHAT_USAGE,
    GEMINI_GOOD,
    GEMINI_USAGE,
    GOOD,
    TOLD,
    Happens,
    bare,
    changed,
    chat_call,
    gemini,
    openai,
)
from tests.models.wire_server import Canned, chat, chat_refusal, reply

LOAD = {"name": "load_skill", "args": {"skill_name": "greeter"}}

SIGNED = [{"functionCall": LOAD, "thoughtSignature": "c2ln"}, {"functionCall": LOAD, "novelField": [1, None]}]

CHAT_LOAD = {"name": "load_skill", "arguments": '{"skill_name": "greeter"}'}

CHAT_CALLS = [{"id": f"call_{name}", "type": "function", "function": CHAT_LOAD} for name in ("a", "b")]

NOVEL = {"tool_calls": CHAT_CALLS, "reasoning_content": "hm", "novel_field": [1, None]}

ANSWERS = (
    Happens(what="an answer", sends=gemini(GEMINI_GOOD) | openai(CHAT_GOOD), status="PASS"),
    Happens(what="an answer without a finish reason", sends=gemini(reply({"text": GOOD}, finish=None)), status="PASS"),
    Happens(
        what="a thought beside the answer: the answer alone is graded",
        sends=gemini(reply({"text": GOOD, "thought": True}, {"text": "no"})) | openai(chat("no", reasoning=GOOD)),
        status="FAIL",
    ),
    Happens(what="a normal end without text: an empty answer", sends=gemini(reply()) | openai(chat()), status="FAIL"),
    Happens(what="a refusal in the model's own words: an answer", sends=openai(chat(refusal="No.")), status="FAIL"),
    Happens(
        what="parallel calls, one of them signed: sent back as they came",
        sends=gemini(reply(*SIGNED), GEMINI_GOOD) | openai(chat(**NOVEL, finish="tool_calls"), CHAT_GOOD),
        status="PASS",
        n_attempts=2,
        goes_back={
            "gemini": {"role": "model", "parts": SIGNED},
            "openai": {"role": "assistant", "content": None, **NOVEL},
        },
    ),
    Happens(
        what="calls although the finish reason is an answer's: calls",
        sends=openai(chat("I look.", tool_calls=CHAT_CALLS), CHAT_GOOD),
        status="PASS",
        n_attempts=2,
    ),
    Happens(
        what="a call without arguments: the tool tells the model what is missing",
        sends=gemini(reply({"functionCall": {"name": "load_skill"}}), GEMINI_GOOD)
        | openai(chat_call({"name": "load_skill", "arguments": ""}), CHAT_GOOD),
        status="PASS",
        n_attempts=2,
        last_holds="INVALID_ARGUMENTS",
    ),
    Happens(
        what="a header that names another charset: JSON is UTF-8",
        sends=gemini(changed(GEMINI_GOOD, headers={"Content-Type": "text/html; charset=utf-16"}))
        | openai(changed(CHAT_GOOD, headers={"Content-Type": "text/html; charset=utf-16"})),
        status="PASS",
    ),
)

BLOCKED = (
    Happens(
        what="the prompt is blocked",
        sends=gemini(
            Canned(body=b'{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"totalTokenCount":50}}')
        ),
        reason="blocked",
        kind="prompt",
        tokens=TOLD,
    ),
    Happens(
        what="the prompt is blocked, told as a refusal",
        sends=openai(chat_refusal(400, "content_filter")),
        reason="blocked",
        kind="prompt",
    ),
    Happens(
        what="the prompt is blocked by a gateway's moderation",
        sends=openai(Canned(status=403, body=b'{"error":{"code":403,"metadata":{"flagged_input":"q"}}}')),
        reason="blocked",
        kind="prompt",
    ),
    Happens(
        what="the answer is blocked: SAFETY", sends=gemini(bare("SAFETY")), reason="blocked", kind="safety", tokens=TOLD
    ),
    Happens(
        what="the answer is blocked: RECITATION",
        sends=gemini(bare("RECITATION")),
        reason="blocked",
        kind="recitation",
        tokens=TOLD,
    ),
    Happens(
        what="the answer is blocked: content_filter",
        sends=openai(chat("half", finish="content_filter", usage=CHAT_USAGE)),
        reason="blocked",
        kind="content_filter",
        tokens=TOLD,
    ),
)

TRUNCATED = (
    Happens(
        what="the token limit is reached, on thoughts alone",
        sends=gemini(bare("MAX_TOKENS")) | openai(chat(finish="length", reasoning="hm", usage=CHAT_USAGE)),
        reason="truncated",
        kind="max_tokens",
        tokens=TOLD,
    ),
    Happens(
        what="the token limit is reached, with some text",
        sends=gemini(reply({"text": GOOD}, finish="MAX_TOKENS", usageMetadata=GEMINI_USAGE))
        | openai(chat(GOOD, finish="length", usage=CHAT_USAGE)),
        reason="truncated",
        kind="max_tokens",
        tokens=TOLD,
    ),
)

MALFORMED = (
    *(
        Happens(
            what=f"the model breaks the call format: {word}",
            sends=gemini(bare(word)),
            reason="contract_error",
            kind=word.lower(),
            tokens=TOLD,
        )
        for word in (
            "MALFORMED_FUNCTION_CALL",
            "UNEXPECTED_TOOL_CALL",
            "MALFORMED_RESPONSE",
            "TOO_MANY_TOOL_CALLS",
            "MISSING_THOUGHT_SIGNATURE",
        )
    ),
    Happens(
        what="arguments of a call that are no object",
        sends=gemini(reply({"functionCall": {"name": "load_skill", "args": [1]}}))
        | openai(chat_call({"name": "load_skill", "arguments": "[1]"})),
        reason="contract_error",
        kind="malformed_function_call",
    ),
    Happens(
        what="arguments of a call that are not JSON",
        sends=openai(chat_call({"name": "load_skill", "arguments": "{"})),
        reason="contract_error",
        kind="malformed_function_call",
    ),
    Happens(
        what="a call without a name",
        sends=gemini(reply({"functionCall": {"args": {}}})) | openai(chat_call({"arguments": "{}"})),
        reason="contract_error",
        kind="malformed_function_call",
    ),
)
