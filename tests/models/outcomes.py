"""What may come back from a provider, and what becomes of it: the one table, for the tests and for the reference page.

Each row is one thing that happens to one trial of a run that passes without it, in the words of each provider that can
say it. ``scripts/write_reference.py`` writes docs/reference/provider-errors.md from it.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from skillassay.models.attempt import MAX_REPLY_BYTES
from tests.models.wire_server import Canned, chat, chat_refusal, refusal, reply

Sends = dict[str, tuple[Canned, ...]]

GOOD = "hello hello"
PLENTY = 4
"""Attempts of the default policy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Happens:
    """One row. ``sends`` are the responses of each provider to the trial's requests, the last one again and again.

    ``status`` PASS or FAIL: it is an answer and is graded. ``n_attempts`` are the HTTP requests of the trial, and
    ``waits_s`` the least that is waited before each further one. ``tokens``: what the trial is booked with, None where
    nothing is told. ``goes_back``: the model's message that stands in the last request as it came; ``last_holds``: a
    text that stands there. ``nobody_listens``: there is no server at all.
    """

    what: str
    sends: Sends
    status: str = "UNSCORED"
    reason: str | None = None
    kind: str | None = None
    n_attempts: int = 1
    waits_s: tuple[float, ...] = ()
    tokens: int | None = None
    goes_back: Mapping[str, Any] = field(default_factory=dict)
    last_holds: str = ""
    timeout_s: float = 30.0
    nobody_listens: bool = False

    @property
    def exit_code(self) -> int:
        """What `eval` ends with, under the fixture gate, when this happens in a run that passes without it."""
        return {"PASS": 0, "FAIL": 1}.get(self.status, 3)


def gemini(*canned: Canned) -> Sends:
    """What Gemini alone sends."""
    return {"gemini": canned}


def openai(*canned: Canned) -> Sends:
    """What OpenAI-compatible endpoints alone send."""
    return {"openai": canned}


def both(*canned: Canned) -> Sends:
    """What is the same from either."""
    return gemini(*canned) | openai(*canned)


def status(code: int, word: str = "word", **headers: str) -> Sends:
    """A refusal with this status, in the words of each."""
    return gemini(refusal(code, word.upper(), **headers)) | openai(chat_refusal(code, word, **headers))


def changed(canned: Canned, *, headers: Mapping[str, str] | None = None, body: bytes | None = None) -> Canned:
    """The same response with another body or other headers."""
    return replace(canned, headers=headers or canned.headers, body=canned.body if body is None else body)


GEMINI_GOOD, CHAT_GOOD = reply({"text": GOOD}), chat(GOOD)
GEMINI_USAGE = {"promptTokenCount": 20, "candidatesTokenCount": 0, "thoughtsTokenCount": 30, "totalTokenCount": 50}
CHAT_USAGE = {"prompt_tokens": 20, "completion_tokens": 30, "total_tokens": 50}
TOLD = 50


def bare(finish: str) -> Canned:
    """A Gemini candidate without content, and what it cost."""
    return Canned(body=json.dumps({"candidates": [{"finishReason": finish}], "usageMetadata": GEMINI_USAGE}).encode())


def quota(quota_id: str, *, delay: str | None = None) -> Canned:
    """A Gemini 429 that names a quota and perhaps a delay."""
    prefix = "type.googleapis.com/google.rpc"
    details: list[Any] = [{"@type": f"{prefix}.QuotaFailure", "violations": [{"quotaId": quota_id}]}]
    if delay is not None:
        details.append({"@type": f"{prefix}.RetryInfo", "retryDelay": delay})
    return refusal(429, "RESOURCE_EXHAUSTED", "Quota exceeded.", details=details)


def bomb() -> bytes:
    """A gzip that unpacks to more than a reply may hold."""
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    blanks = b" " * (1 << 20)
    return b"".join(packer.compress(blanks) for _ in range((MAX_REPLY_BYTES >> 20) + 1)) + packer.flush()


def gateway(**error: Any) -> Sends:
    """An HTTP 200 that holds an error instead of an answer."""
    return openai(Canned(body=json.dumps({"error": error}).encode()))


def chat_call(function: Any) -> Canned:
    """A chat completion that calls."""
    return chat(tool_calls=[{"id": "c", "type": "function", "function": function}], finish="tool_calls")


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


def provider(what: str, sends: Sends, kind: str, **more: Any) -> Happens:
    """A row that ends as a provider_error."""
    return Happens(what=what, sends=sends, reason="provider_error", kind=kind, **more)


NO_REPLY = (
    provider("an empty object", both(Canned(body=b"{}")), "empty"),
    provider(
        "no candidate, no choice",
        gemini(Canned(body=b'{"candidates":[]}')) | openai(Canned(body=b'{"choices":[]}')),
        "empty",
    ),
    provider("another finish reason: OTHER", gemini(bare("OTHER")), "finish", tokens=TOLD),
    provider(
        "a finish reason of tomorrow",
        gemini(bare("BRAND_NEW")) | openai(chat(GOOD, finish="novel", usage=CHAT_USAGE)),
        "finish",
        tokens=TOLD,
    ),
    provider("text without a finish reason", openai(chat(GOOD, finish=None)), "finish"),
    provider("calls announced, and none there", openai(chat(GOOD, finish="tool_calls")), "finish"),
    provider("HTTP 200 with a page of HTML", both(Canned(body=b"<html>proxy</html>")), "non_json"),
    provider("HTTP 200 with an empty body", both(Canned(body=b"")), "non_json"),
    provider("HTTP 200 with half a JSON document", both(Canned(body=b'{"candidates":')), "non_json"),
    provider("HTTP 200 with JSON of another shape", both(Canned(body=b"[]")), "non_json"),
    provider(
        "HTTP 200 whose text is not UTF-8",
        gemini(changed(GEMINI_GOOD, body=GEMINI_GOOD.body.replace(b"hello hello", b"caf\xe9")))
        | openai(changed(CHAT_GOOD, body=CHAT_GOOD.body.replace(b"hello hello", b"caf\xe9"))),
        "non_json",
    ),
    provider(
        "a packed body that is damaged", both(Canned(body=b"no gzip", headers={"Content-Encoding": "gzip"})), "non_json"
    ),
    provider(
        "a packed body that ends too early",
        both(Canned(body=gzip.compress(bytes(99))[:-9], headers={"Content-Encoding": "gzip"})),
        "non_json",
    ),
    provider("a body above 32 MiB", both(Canned(body=bomb(), headers={"Content-Encoding": "gzip"})), "too_large"),
)

LOST = (
    provider("nobody listens", both(Canned()), "connection", n_attempts=PLENTY, nobody_listens=True),
    provider("the connection is closed without a byte", both(Canned(drop=True)), "connection", n_attempts=PLENTY),
    provider("the connection is reset", both(Canned(reset=True)), "connection", n_attempts=PLENTY),
    provider(
        "the connection is closed in the middle of the body",
        both(Canned(body=b"{", headers={"Content-Length": "4000"})),
        "connection",
        n_attempts=PLENTY,
    ),
    Happens(
        what="no answer within the time of one attempt",
        sends=both(Canned(delay_s=0.6)),
        reason="timeout",
        timeout_s=0.2,
    ),
    Happens(
        what="an answer that trickles in for longer than one attempt may take",
        sends=both(Canned(body=b" " * 60, trickle_s=0.02)),
        reason="timeout",
        timeout_s=0.3,
    ),
)

REFUSED = (
    provider("HTTP 400", status(400, "invalid_argument"), "request"),
    provider(
        "HTTP 400: the endpoint refuses the JSON schema", openai(chat_refusal(400, "invalid_request_error")), "request"
    ),
    provider(
        "HTTP 400: the key is not valid",
        gemini(refusal(400, "INVALID_ARGUMENT", details=[{"reason": "API_KEY_INVALID"}])),
        "auth",
    ),
    provider("HTTP 401", status(401), "auth"),
    provider("HTTP 402: no credit is left", openai(chat_refusal(402, "insufficient_credits")), "quota"),
    provider("HTTP 403", status(403), "auth"),
    provider("HTTP 404", status(404), "request"),
    provider("HTTP 408", status(408), "request", n_attempts=PLENTY),
    provider("HTTP 409", status(409), "request"),
    provider("HTTP 413", status(413), "request"),
    provider("HTTP 422", status(422), "request"),
    provider("HTTP 429", status(429), "quota", n_attempts=PLENTY, waits_s=(0.5, 1.0, 2.0)),
    provider(
        "HTTP 429 with Retry-After",
        status(429, Retry_After="7"),
        "quota",
        n_attempts=PLENTY,
        waits_s=(7.0, 7.0, 7.0),
    ),
    provider(
        "HTTP 429 with a Retry-After beyond five minutes: given up at once", status(429, Retry_After="4000"), "quota"
    ),
    provider(
        "HTTP 429 for the minute, with a RetryInfo",
        gemini(quota("GenerateRequestsPerMinutePerProjectPerModel", delay="37.5s")),
        "quota",
        n_attempts=PLENTY,
        waits_s=(37.5, 37.5, 37.5),
    ),
    provider(
        "HTTP 429 for the day: tried once more",
        gemini(quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier"))
        | openai(chat_refusal(429, "rate_limit_exceeded", "Rate limit reached on requests per day (RPD).")),
        "quota_day",
        n_attempts=2,
        waits_s=(0.5,),
    ),
    provider(
        "HTTP 429 for the day that asks for seconds: tried once more after them",
        gemini(quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier", delay="36s"))
        | openai(chat_refusal(429, "insufficient_quota", Retry_After="36")),
        "quota_day",
        n_attempts=2,
        waits_s=(36.0,),
    ),
    Happens(
        what="HTTP 429 for the day, then an answer",
        sends=gemini(quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier"), GEMINI_GOOD)
        | openai(chat_refusal(429, "insufficient_quota"), CHAT_GOOD),
        status="PASS",
        n_attempts=2,
        waits_s=(0.5,),
    ),
    *(provider(f"HTTP {code}", status(code), "server", n_attempts=PLENTY) for code in (500, 502, 503, 504)),
    provider("HTTP 501", status(501), "server"),
    provider("HTTP 502 with a page of HTML", both(Canned(status=502, body=b"<html>")), "server", n_attempts=PLENTY),
    Happens(
        what="HTTP 503, then an answer",
        sends=gemini(refusal(503, "UNAVAILABLE"), GEMINI_GOOD) | openai(chat_refusal(503), CHAT_GOOD),
        status="PASS",
        n_attempts=2,
    ),
    provider(
        "a redirect: not followed, the key would go along",
        both(Canned(status=302, body=b"", headers={"Location": "http://127.0.0.1:9/"})),
        "request",
    ),
    provider("HTTP 200 with an error of status 429 inside", gateway(code=429, message="m"), "quota", n_attempts=PLENTY),
    provider(
        "HTTP 200 with an error of status 502 inside", gateway(code=502, message="m"), "server", n_attempts=PLENTY
    ),
    provider("HTTP 200 with an error of no status inside", gateway(message="m"), "request"),
)

FAMILIES: dict[str, tuple[Happens, ...]] = {
    "Answers": ANSWERS,
    "Blocked": BLOCKED,
    "Truncated": TRUNCATED,
    "Malformed calls": MALFORMED,
    "Replies that are none": NO_REPLY,
    "Connections": LOST,
    "Refusals": REFUSED,
}
ROWS = tuple((name, row) for rows in FAMILIES.values() for row in rows for name in row.sends)
"""Each row once for each provider that can say it."""
