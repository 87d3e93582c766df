"""What a provider may send instead of an answer: nothing of the format, a lost connection, a refusal."""

from __future__ import annotations

import gzip

from tests.models.happenings import (
    CHAT_GOOD,
    CHAT_USAGE,
    GEMINI_GOOD,
    GOOD,
    PLENTY,
    TOLD,
    Happens,
    bare,
    bomb,
    both,
    changed,
    gateway,
    gemini,
    openai,
    provider,
    quota,
    status,
)
from tests.models.wire_server import Canned, chat, chat_refusal, refusal

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
