"""What the tests of the pace share: a clock that passes only while somebody waits, and a model that fails as told."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace

from skillassay.errors import Reason, Stage, TrialError
from skillassay.models.base import ModelIdentity, ModelReply, ModelRequest
from skillassay.models.retry import AttemptFailed, RetryPolicy, call_with_retries
from skillassay.transcript import ModelTurn, Usage, UserTurn

ASK = ModelRequest(system="", turns=(UserTurn(text="q"),))

REPLY = ModelReply(turn=ModelTurn(text="a"), usage=Usage())

PATIENCE_S = 10.0


class Clock:
    """Time that passes only while somebody waits."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        """The clock."""
        return self.now_s

    def wait(self, _turn: threading.Condition, seconds: float | None) -> None:
        """The wait of a pace; nobody stands before the only caller."""
        assert seconds is not None
        self.now_s += seconds

    def sleep(self, seconds: float) -> None:
        """The sleep of a retry."""
        self.now_s += seconds


def never() -> None:
    """Nobody gives up."""


@dataclass(kw_only=True)
class Server:
    """A model that fails as it is told, through the real retry loop, and notes when each attempt began."""

    clock: Clock = field(default_factory=Clock)
    failures: list[AttemptFailed] = field(default_factory=list)
    begun_s: list[float] = field(default_factory=list)
    left_s: list[float | None] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    asks: bool = True
    name: str = "m"
    endpoint: str = "e"

    @property
    def identity(self) -> ModelIdentity:
        """Somebody."""
        return ModelIdentity(provider="p", name=self.name, endpoint=self.endpoint, is_fixture=False)

    def generate(self, request: ModelRequest) -> ModelReply:
        """Answer, after the failures."""

        def attempt(left_s: float | None) -> ModelReply:
            self.begun_s.append(self.clock.now_s)
            self.left_s.append(left_s)
            if self.failures:
                raise self.failures.pop(0)
            return replace(REPLY, usage=self.usage)

        policy = RetryPolicy(clock=self.clock, sleep=self.clock.sleep, deadline_s=50.0, seed=1)
        reply, n_attempts = call_with_retries(policy, attempt, again=request.again if self.asks else None)
        return replace(reply, n_attempts=n_attempts)

    def close(self) -> None:
        """Nothing."""


def failed(kind: str = "server", *, again: bool = True, asked_s: float | None = None) -> AttemptFailed:
    """An attempt that brought nothing."""
    error = TrialError("no", reason=Reason.PROVIDER_ERROR, stage=Stage.CANDIDATE, kind=kind)
    return AttemptFailed(error, may_retry=again, asked_delay_s=asked_s)
