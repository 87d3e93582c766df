"""What may come back from a provider, one row at a time, in the words of each provider that can say it."""

from __future__ import annotations

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


def provider(what: str, sends: Sends, kind: str, **more: Any) -> Happens:
    """A row that ends as a provider_error."""
    return Happens(what=what, sends=sends, reason="provider_error", kind=kind, **more)
