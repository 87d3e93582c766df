"""The retry loop alone, on a clock of its own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.errors import Reason, Stage, TrialError
from skillassay.models.retry import AttemptFailed, RetryPolicy, call_with_retries


class Line:
    """An attempt that fails ``n_failures`` times, each taking ``takes_s``, and the clock that it moves."""

    def __init__(
        self, n_failures: int, *, takes_s: float = 0.0, asks_s: float | None = None, again: bool = True
    ) -> None:
        self.n_failures, self.takes_s, self.asks_s, self.again = n_failures, takes_s, asks_s, again
        self.now = 0.0
        self.slept: list[float] = []
        self.left: list[float | None] = []

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.slept.append(seconds)
        self.now += seconds

    def attempt(self, left_s: float | None) -> str:
        """One attempt."""
        self.left.append(left_s)
        self.now += self.takes_s
        if len(self.left) <= self.n_failures:
            error = TrialError("no", reason=Reason.PROVIDER_ERROR, stage=Stage.JUDGE, kind="server")
            raise AttemptFailed(error, may_retry=self.again, asked_delay_s=self.asks_s)
        return "yes"

    def call(self, **limits: float) -> tuple[str, int]:
        """Run it."""
        policy = RetryPolicy(clock=lambda: self.now, sleep=self.sleep, seed=3, **limits)  # type: ignore[arg-type]
        return call_with_retries(policy, self.attempt)


def test_the_count_includes_the_attempt_that_succeeded() -> None:
    """Two failures and an answer are three attempts."""
    assert Line(2).call() == ("yes", 3)


def test_the_first_attempt_is_not_cut_by_the_deadline() -> None:
    """What one attempt may take is the caller's; the deadline limits the ones after it."""
    line = Line(1, takes_s=100.0)
    line.call(deadline_s=300.0)
    first, second = line.left
    assert first is None
    assert second == pytest.approx(200.0 - line.slept[0])


@pytest.mark.parametrize(
    ("line", "limits", "n_attempts"),
    [
        (Line(9), {}, 4),
        (Line(9), {"max_attempts": 2}, 2),
        (Line(9, again=False), {}, 1),
        (Line(9, takes_s=200.0), {"deadline_s": 300.0}, 2),
        (Line(9, asks_s=301.0), {"deadline_s": 300.0}, 1),
    ],
    ids=["attempts", "fewer attempts", "not to be retried", "deadline passed", "asked to wait too long"],
)
def test_the_call_ends_at_its_limits(line: Line, limits: dict[str, float], n_attempts: int) -> None:
    """The last error carries the count, and nobody sleeps after it."""
    with pytest.raises(TrialError) as caught:
        line.call(**limits)
    assert caught.value.n_attempts == len(line.left) == n_attempts
    assert len(line.slept) == n_attempts - 1
    assert caught.value.__context__ is None


@given(st.integers(0, 10_000), st.integers(1, 8))
def test_each_wait_lies_between_half_of_the_backoff_and_all_of_it(seed: int, n_failures: int) -> None:
    """1, 2, 4, … s, at most 30, times a factor from 0.5 to 1; the same seed gives the same waits."""
    waits = []
    for _ in range(2):
        line = Line(n_failures)
        policy = RetryPolicy(clock=lambda: 0.0, sleep=line.sleep, seed=seed, max_attempts=9)
        call_with_retries(policy, line.attempt)
        waits.append(line.slept)
    assert waits[0] == waits[1]
    assert all(0.5 * min(30, 2**n) <= wait <= min(30, 2**n) for n, wait in enumerate(waits[0]))


@pytest.mark.parametrize(
    ("told", "n_attempts", "last"),
    [("dd", 2, "d"), ("sdd", 3, "d"), ("dsds", 4, "s"), ("ssss", 4, "s"), ("d", 2, None), ("dsd", 4, None)],
)
def test_what_is_tried_once_more_ends_the_call_when_it_comes_again(
    told: str, n_attempts: int, last: str | None
) -> None:
    """diegosouzapw/OmniRoute#9504: the same answer twice in a row (d) decides, not its name; others (s) are between."""
    left = list(told)

    def attempt(_: float | None) -> str:
        if not left:
            return "yes"
        kind = left.pop(0)
        error = TrialError("no", reason=Reason.PROVIDER_ERROR, stage=Stage.JUDGE, kind=kind)
        raise AttemptFailed(error, may_retry=True, only_once_more=kind == "d")

    policy = RetryPolicy(sleep=lambda _: None, clock=lambda: 0.0)
    if last is None:
        assert call_with_retries(policy, attempt) == ("yes", n_attempts)
        return
    with pytest.raises(TrialError) as caught:
        call_with_retries(policy, attempt)
    assert (caught.value.kind, caught.value.n_attempts) == (last, n_attempts)


def test_another_error_passes_through() -> None:
    """A bug is not a transport failure."""

    def attempt(_: float | None) -> str:
        raise KeyError("bug")

    with pytest.raises(KeyError):
        call_with_retries(RetryPolicy(), attempt)
