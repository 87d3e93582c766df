"""What becomes of HTTP errors, broken connections and silence, through the real SDK against a real local server."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable

import pytest

from skillassay.errors import Reason, TrialError
from skillassay.models.base import ModelRequest
from skillassay.models.gemini import GeminiModel
from tests.models.wire_server import ASK, KEY, OK, Canned, Clock, WireServer, policy, refusal, refused, reply, talking

REFUSALS: dict[str, tuple[Canned, str, int]] = {
    "quota": (refusal(429, "RESOURCE_EXHAUSTED"), "quota", 4),
    "no key": (refusal(401, "UNAUTHENTICATED"), "auth", 1),
    "forbidden": (refusal(403, "PERMISSION_DENIED"), "auth", 1),
    "wrong key": (refusal(400, "INVALID_ARGUMENT", details=[{"reason": "API_KEY_INVALID"}]), "auth", 1),
    "bad request": (refusal(400, "INVALID_ARGUMENT"), "request", 1),
    "no such model": (refusal(404, "NOT_FOUND"), "request", 1),
    "fixture miss": (refusal(404, "FIXTURE_MISS"), "fixture_miss", 1),
    "too large": (refusal(413, "X"), "request", 1),
    "request timeout": (refusal(408, "X"), "request", 4),
    "server error": (refusal(500, "INTERNAL"), "server", 4),
    "bad gateway, HTML": (Canned(status=502, body=b"<html>"), "server", 4),
    "unavailable": (refusal(503, "UNAVAILABLE"), "server", 4),
    "gateway timeout": (refusal(504, "DEADLINE_EXCEEDED"), "server", 4),
    "not implemented": (refusal(501, "X"), "server", 1),
    "redirect": (Canned(status=302, body=b"", headers={"Location": "http://127.0.0.1:9/"}), "request", 1),
    "error as a list": (Canned(status=400, body=b'[{"error":{"code":400,"message":"m"}}]'), "request", 1),
    "error as text": (Canned(status=400, body=b'"no"'), "request", 1),
    "dropped connection": (Canned(drop=True), "connection", 4),
}


@pytest.mark.parametrize(("canned", "kind", "n_attempts"), REFUSALS.values(), ids=REFUSALS)
def test_an_http_error_has_a_kind_and_a_number_of_attempts(canned: Canned, kind: str, n_attempts: int) -> None:
    """Only 408, 429, 500, 502, 503, 504 and broken connections are tried again, four times in all."""
    with talking(canned) as (model, server), pytest.raises(TrialError) as caught:
        model.generate(ASK)
    assert (caught.value.reason, caught.value.kind) == (Reason.PROVIDER_ERROR, kind)
    assert caught.value.n_attempts == len(server.seen) == n_attempts


def test_nobody_listening_is_a_connection_error() -> None:
    """The port of a server that has gone."""
    with WireServer(OK) as server:
        pass
    model = GeminiModel(name="x", api_key=KEY, base_url=server.base_url, retry=policy(Clock()))
    with pytest.raises(TrialError) as caught:
        model.generate(ASK)
    assert (caught.value.kind, caught.value.n_attempts) == ("connection", 4)


def test_a_slow_answer_is_a_timeout_and_is_not_asked_for_again() -> None:
    """The limit is one attempt's, in seconds; the SDK counts milliseconds."""
    with talking(Canned(delay_s=0.4)) as (model, server), pytest.raises(TrialError) as caught:
        model.generate(ModelRequest(system="", turns=ASK.turns, timeout_s=0.1))
    assert (caught.value.reason, caught.value.kind, len(server.seen)) == (Reason.TIMEOUT, None, 1)


def test_an_answer_after_retries_says_how_many_attempts_it_took() -> None:
    """Retries are counted, and the requests are equal."""
    with talking(refusal(503, "X"), Canned(drop=True), OK) as (model, server):
        assert model.generate(ASK).n_attempts == 3
    assert len({seen.body for seen in server.seen}) == 1


def test_a_broken_answer_after_retries_says_how_many_attempts_it_took() -> None:
    """The count does not get lost when the reply is no answer."""
    assert refused(refusal(503, "X"), reply(finish="SAFETY")).n_attempts == 2


RETRY_INFO = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "37.5s"}]
WAITS: dict[str, tuple[Canned, float]] = {
    "Retry-After": (refusal(429, "X", Retry_After="7"), 7.0),
    "Retry-After as a date": (
        refusal(503, "X", Date="Mon, 30 Nov 2026 10:00:00 GMT", Retry_After="Mon, 30 Nov 2026 10:00:09 GMT"),
        9.0,
    ),
    "RetryInfo": (refusal(429, "X", details=RETRY_INFO), 37.5),
    "the longer of two": (refusal(429, "X", details=RETRY_INFO, Retry_After="7"), 37.5),
    "neither, and what cannot be read": (refusal(503, "X", Retry_After="soon"), 0.5),
}


@pytest.mark.parametrize(("canned", "at_least_s"), WAITS.values(), ids=WAITS)
def test_the_wait_that_the_server_asks_for_is_kept(canned: Canned, at_least_s: float) -> None:
    """Both ways of asking are honoured; without them the wait is the backoff's."""
    clock = Clock()
    with talking(canned, OK, retry=policy(clock)) as (model, _):
        model.generate(ASK)
    (slept,) = clock.slept
    assert at_least_s <= slept < at_least_s + 1.0


def test_a_wait_beyond_the_deadline_ends_the_call_at_once() -> None:
    """A daily quota asks for hours; nobody waits five minutes to hear that."""
    clock = Clock()
    with (
        talking(refusal(429, "X", Retry_After="4000"), retry=policy(clock)) as (model, server),
        pytest.raises(TrialError),
    ):
        model.generate(ASK)
    assert (clock.slept, len(server.seen)) == ([], 1)


LEAKS: dict[str, Callable[[], TrialError]] = {
    "an error that repeats the key": lambda: refused(refusal(400, "X", f"bad key {KEY} in ?key={KEY}")),
    "an error page that repeats it": lambda: refused(Canned(status=403, body=KEY.encode() * 100)),
    "a non-JSON 200 that repeats it": lambda: refused(Canned(body=KEY.encode())),
    "a finish message that repeats it": lambda: refused(
        Canned(body=json.dumps({"candidates": [{"finishReason": "OTHER", "finishMessage": KEY}]}).encode())
    ),
}


@pytest.mark.parametrize("make", LEAKS.values(), ids=LEAKS)
def test_no_error_holds_the_key(make: Callable[[], TrialError]) -> None:
    """Neither message, nor repr, nor the traceback with all that hangs on it; and it stays short."""
    error = make()
    shown = f"{error!r} {vars(error)} {''.join(traceback.format_exception(error))}"
    assert KEY not in shown
    assert "x-goog-api-key" not in shown
    assert error.__context__ is None
    assert len(error.message) <= 500
