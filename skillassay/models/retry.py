"""Retries of transport: how often, how long, until when. Owns the loop; what may be retried is the caller's decision.

An answer is never retried: the loop sees only attempts that brought none. Every attempt is counted, and the count
travels in the result or in the error.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from skillassay.errors import TrialError

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """The limits of one call with all its attempts.

    The wait before attempt n+1 is ``first_delay_s * 2 ** (n-1)``, at most ``max_delay_s``, times a random factor from
    0.5 to 1, or what the server asked for where that is longer. A wait that would pass ``deadline_s`` (counted from the
    first attempt) ends the call at once. ``seed`` makes the factors repeatable; ``clock`` (s) and ``sleep`` are there
    so that a test need not wait.
    """

    max_attempts: int = 4
    deadline_s: float = 300.0
    first_delay_s: float = 1.0
    max_delay_s: float = 30.0
    seed: int | None = None
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


class AttemptFailed(Exception):
    """One attempt brought no answer. ``error`` is what the caller gets when no further attempt is made.

    ``only_once_more``: the same kind of failure directly after it ends the call.
    """

    def __init__(
        self,
        error: TrialError,
        *,
        may_retry: bool,
        asked_delay_s: float | None = None,
        only_once_more: bool = False,
    ) -> None:
        super().__init__(error.message)
        self.error = error
        self.may_retry = may_retry
        self.asked_delay_s = asked_delay_s
        self.only_once_more = only_once_more

    def repeats(self, earlier: AttemptFailed | None) -> bool:
        """Whether it is what ``earlier`` was, and that was to be tried once more only."""
        return earlier is not None and earlier.only_once_more and earlier.error.kind == self.error.kind


def call_with_retries(
    policy: RetryPolicy, attempt: Callable[[float | None], T], *, again: Callable[[float], None] | None = None
) -> tuple[T, int]:
    """Call ``attempt`` until it returns: (its result, the number of attempts).

    ``attempt`` gets the seconds that are left for it, None the first time: what the caller allows one attempt is not
    cut by the deadline, which limits further ones. ``again`` is told before each further attempt how long it has waited
    and returns when it may begin; that time is not the deadline's. Raises the error of the last :class:`AttemptFailed`
    with ``n_attempts`` set; any other exception passes through.
    """
    # Jitter spreads callers over time; nothing secret depends on it.
    jitter = random.Random(policy.seed)  # noqa: S311
    started_s = policy.clock()
    left_s: float | None = None
    earlier: AttemptFailed | None = None
    for n_attempts in range(1, policy.max_attempts + 1):
        try:
            return attempt(left_s), n_attempts
        except AttemptFailed as failed:
            last = failed
        may_go_on = last.may_retry and not last.repeats(earlier)
        earlier = last
        backoff_s = min(policy.max_delay_s, policy.first_delay_s * 2 ** (n_attempts - 1)) * jitter.uniform(0.5, 1.0)
        delay_s = max(backoff_s, last.asked_delay_s or 0.0)
        left_s = policy.deadline_s - (policy.clock() - started_s) - delay_s
        if not may_go_on or n_attempts == policy.max_attempts or left_s <= 0:
            break
        policy.sleep(delay_s)
        if again is not None:
            held_s = policy.clock()
            again(delay_s)
            started_s += policy.clock() - held_s
    last.error.n_attempts = n_attempts
    # Raised outside the except block, so that no provider exception (which knows headers) hangs on as its context.
    raise last.error
