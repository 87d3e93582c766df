"""One call to a model over HTTP: attempts with their limits, retries, and what a failure may say. Knows no format.

A provider hands over how it asks and how it reads; here each attempt is limited (:mod:`skillassay.models.attempt`),
counted and retried (:mod:`skillassay.models.retry`), and each failure is classified alike:

    408, 429, 500, 502, 503, 504 and broken connections   tried again; 408 ``request``, 429 ``quota``, 5xx ``server``
    401, 403                                              ``auth``
    any other status than 200, a redirect included        ``request`` below 500, ``server`` from there
    no whole answer in time                               ``timeout``, asked once
    too many bytes, damaged or unknown packing            ``too_large``, ``non_json``, asked once

A quota for the day (``quota_day``) is tried again once: servers name one and ask for seconds in the same breath, so
that its name decides nothing; the same answer a second time does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from email.utils import parsedate_to_datetime

from skillassay.blotting import blot
from skillassay.errors import Reason, Stage, TrialError
from skillassay.models.attempt import MAX_REPLY_BYTES, Attempt, BadEncoding, TooLarge
from skillassay.models.base import ModelReply, ModelRequest
from skillassay.models.retry import AttemptFailed, RetryPolicy, call_with_retries
from skillassay.models.wire import MAX_MESSAGE_CHARS, WireReply, provider_error

RETRIED_CODES = frozenset({408, 429, 500, 502, 503, 504})
QUOTA_DAY = "quota_day"


def call_model(
    request: ModelRequest,
    *,
    ask: Callable[[float], None],
    read: Callable[[bytes], WireReply],
    retry: RetryPolicy,
    secrets: Iterable[str],
) -> ModelReply:
    """Ask until there is an answer or no attempt is left. ``ask`` makes one request with a time-out in seconds.

    ``ask`` raises :class:`AttemptFailed` for whatever is no answer. No error holds one of ``secrets``.
    """

    def attempt(left_s: float | None) -> bytes:
        timeout_s = request.timeout_s if left_s is None else min(request.timeout_s, left_s)
        return _one_attempt(ask, timeout_s=timeout_s, stage=request.stage)

    n_attempts = 0
    try:
        body, n_attempts = call_with_retries(retry, attempt, again=request.again)
        reply = read(body)
        return ModelReply(turn=reply.turn, usage=reply.usage, model=reply.model, n_attempts=n_attempts)
    except TrialError as error:
        failed = _told(error, error.n_attempts or n_attempts, secrets)
    raise failed  # outside the except block: the original, which may hold the key, is not even its context


def _one_attempt(ask: Callable[[float], None], *, timeout_s: float, stage: Stage) -> bytes:
    failed: AttemptFailed | None = None
    with Attempt(timeout_s) as attempt:
        try:
            ask(timeout_s)
        except AttemptFailed as error:
            failed = error
    if attempt.timed_out:  # whatever else seems to have happened came of the connection being cut
        raise late(timeout_s, stage)
    if failed is not None:
        raise failed
    return bytes(attempt.body)


def _told(error: TrialError, n_attempts: int, secrets: Iterable[str]) -> TrialError:
    """The error without secrets, which a server may have put into its message, and without context."""
    return TrialError(
        blot(error.message, secrets, max_chars=MAX_MESSAGE_CHARS),
        reason=error.reason,
        stage=error.stage,
        kind=error.kind,
        n_attempts=n_attempts,
        usage=error.usage,
    )


def late(timeout_s: float, stage: Stage) -> AttemptFailed:
    """No whole answer in time."""
    message = f"no answer within {timeout_s:g} s"
    return AttemptFailed(TrialError(message, reason=Reason.TIMEOUT, stage=stage), may_retry=False)


def broken(error: BaseException, stage: Stage) -> AttemptFailed:
    """What an attempt becomes whose answer did not come through: too large, not to be unpacked, or cut off."""
    if isinstance(error, TooLarge):
        message = f"the reply is larger than {MAX_REPLY_BYTES >> 20} MiB"
        return AttemptFailed(provider_error("too_large", message, stage), may_retry=False)
    if isinstance(error, BadEncoding):
        message = f"the reply cannot be unpacked: {error}"
        return AttemptFailed(provider_error("non_json", message, stage), may_retry=False)
    message = f"no answer: {type(error).__name__}: {error}"
    return AttemptFailed(provider_error("connection", message, stage), may_retry=True)


def refused(
    code: int, message: str, stage: Stage, *, kind: str | None = None, asked_delay_s: float | None = None
) -> AttemptFailed:
    """What an attempt becomes that was answered with the HTTP status ``code``; ``kind`` where the body tells more."""
    if kind is None:
        kind = "quota" if code == 429 else "auth" if code in {401, 403} else "server" if code >= 500 else "request"
    return AttemptFailed(
        provider_error(kind, message, stage),
        may_retry=code in RETRIED_CODES,
        asked_delay_s=asked_delay_s,
        only_once_more=kind == QUOTA_DAY,
    )


def asked_delay_s(headers: Mapping[str, str], *told_s: float | None) -> float | None:
    """The longest wait that a server asks for: ``Retry-After``, in seconds or as a date against the server's own
    ``Date``, and what its body said.
    """
    asked = [seconds(headers.get("retry-after") or ""), *told_s]
    try:
        until = parsedate_to_datetime(headers["retry-after"]) - parsedate_to_datetime(headers["date"])
        asked.append(until.total_seconds())
    except (KeyError, ValueError, TypeError):
        pass
    return max((wait for wait in asked if wait is not None), default=None)


def seconds(text: str) -> float | None:
    """A plain decimal number of seconds; None for anything else."""
    return float(text) if text.strip().replace(".", "", 1).isdecimal() else None
