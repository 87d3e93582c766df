"""Keeping to a quota: at most so many requests, and so many tokens, in any minute. Owns who waits and for how long.

Requests are HTTP attempts, the first ones and the retries. In every window of ``WINDOW_S`` seconds at most ``rpm`` of
them begin, and those that begin in it hold at most ``tpm`` tokens. One pace holds for one model at one endpoint,
whoever asks it: candidate and judge together where they are the same. Who comes first goes first.

How exact that is. Requests are counted when they leave here; they arrive later by what the network and the opening of a
connection take, which differs from one to the next, so a window is ``SLACK_S`` longer than the minute that a provider
counts. A model that does not ask before its retries has them counted when it comes back. Tokens are an estimate until
the reply tells: the bytes of the request by four (characters would be too few outside of English) plus all the output
that it may have, so that the limit holds also when everybody uses what they may. What the reply says used takes the
estimate's place, and it may be more; an attempt without a reply keeps its estimate, since nobody says what it used. A
request that is estimated above ``tpm`` by itself begins when nothing else is in the window.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from skillassay.errors import Reason, Stage, TrialError
from skillassay.models.base import Model, ModelIdentity, ModelReply, ModelRequest
from skillassay.models.breaker import Breaker
from skillassay.transcript import ModelTurn, Turn, Usage, UserTurn

SLACK_S = 1.0
WINDOW_S = 60.0 + SLACK_S
BYTES_PER_TOKEN = 4
SHORTEST_WAIT_S = 0.001


@dataclass(slots=True)
class Begun:
    """One attempt that has begun: when, and how many tokens it holds."""

    at_s: float
    tokens: int


@dataclass(slots=True, kw_only=True)
class Window:
    """The attempts of the last ``WINDOW_S`` seconds, and when the next one may begin. Pure: the time is given to it.

    Times never go back. A window without the first of its instants: what began ``WINDOW_S`` ago is out of it.
    """

    rpm: int | None = None
    tpm: int | None = None
    _begun: deque[Begun] = field(default_factory=deque)

    def delay_s(self, now_s: float, tokens: int) -> float:
        """How long an attempt of so many tokens has to wait, from now; 0 when it may begin."""
        while self._begun and self._begun[0].at_s + WINDOW_S <= now_s:
            self._begun.popleft()
        until_s = now_s
        if self.rpm is not None and len(self._begun) >= self.rpm:
            until_s = self._begun[len(self._begun) - self.rpm].at_s + WINDOW_S
        if self.tpm is not None:
            over = sum(begun.tokens for begun in self._begun) + min(tokens, self.tpm) - self.tpm
            for begun in self._begun:
                if over <= 0:
                    break
                over -= begun.tokens
                until_s = max(until_s, begun.at_s + WINDOW_S)
        return max(0.0, until_s - now_s)

    def begin(self, now_s: float, tokens: int) -> Begun:
        """Book an attempt."""
        begun = Begun(now_s, tokens)
        if self.rpm is not None or self.tpm is not None:
            self._begun.append(begun)
        return begun


def _wait(turn: threading.Condition, seconds: float | None) -> None:
    turn.wait(seconds)


class Pace:
    """A window that several threads share. Each waits on a condition of its own, and only the first of them on time.

    ``clock`` and ``wait`` are there so that a test need not wait; ``wait`` gets None for as long as it takes.
    """

    def __init__(
        self,
        *,
        rpm: int | None = None,
        tpm: int | None = None,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[threading.Condition, float | None], None] = _wait,
    ) -> None:
        self.clock = clock
        self._wait = wait
        self._window = Window(rpm=rpm, tpm=tpm)
        self._lock = threading.Lock()
        self._queue: deque[threading.Condition] = deque()

    @property
    def counts_tokens(self) -> bool:
        """Whether estimates are of any use."""
        return self._window.tpm is not None

    def begin(self, tokens: int, *, give_up: Callable[[], None]) -> Begun:
        """Wait for this attempt's turn and book it. ``give_up`` is asked at every waking, and raises to leave."""
        turn = threading.Condition(self._lock)
        with self._lock:
            self._queue.append(turn)
            try:
                while True:
                    give_up()
                    is_first = self._queue[0] is turn
                    delay_s = self._window.delay_s(self.clock(), tokens) if is_first else None
                    if delay_s == 0.0:
                        return self._window.begin(self.clock(), tokens)
                    self._wait(turn, None if delay_s is None else max(delay_s, SHORTEST_WAIT_S))
            finally:
                self._queue.remove(turn)
                self._wake_first()

    def book(self, tokens: int) -> Begun:
        """Book an attempt that has begun already."""
        with self._lock:
            return self._window.begin(self.clock(), tokens)

    def correct(self, begun: Begun, tokens: int) -> None:
        """What an attempt really used."""
        with self._lock:
            begun.tokens = tokens
            self._wake_first()

    def wake(self) -> None:
        """Have everybody who waits ask ``give_up``."""
        with self._lock:
            for turn in self._queue:
                turn.notify()

    def _wake_first(self) -> None:
        if self._queue:
            self._queue[0].notify()


class Paces:
    """The paces of a run: one for each model at each endpoint, and its breaker with it."""

    def __init__(self, *, rpm: int | None, tpm: int | None) -> None:
        self._limits = (rpm, tpm)
        self._lanes: dict[tuple[str, str, str | None, str | None], _Lane] = {}
        self._stopping = threading.Event()

    def over(self, model: Model) -> Model:
        """``model`` at its pace."""
        identity = model.identity
        key = (identity.provider, identity.name, identity.endpoint, identity.address)
        rpm, tpm = self._limits
        lane = self._lanes.setdefault(key, _Lane(pace=Pace(rpm=rpm, tpm=tpm), stopping=self._stopping))
        return PacedModel(model=model, lane=lane)

    def stop(self) -> None:
        """Let no trial begin any more: one that waits to send its very first request is given up, nothing is lost."""
        self._stopping.set()
        for lane in self._lanes.values():
            lane.pace.wake()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lane:
    """What all who ask one model at one endpoint share."""

    pace: Pace
    stopping: threading.Event
    breaker: Breaker = field(default_factory=Breaker)


@dataclass(frozen=True, slots=True, kw_only=True)
class PacedModel:
    """A model that is asked in its turn, and not at all once that is of no use."""

    model: Model
    lane: _Lane

    @property
    def identity(self) -> ModelIdentity:
        """The model's own."""
        return self.model.identity

    def generate(self, request: ModelRequest) -> ModelReply:
        """Answer ``request``; see :meth:`skillassay.models.base.Model.generate`."""
        pace, breaker = self.lane.pace, self.lane.breaker
        call = _Call(request=request, lane=self.lane)
        try:
            call.begin()
            reply = self.model.generate(replace(request, again=call.again))
        except TrialError as error:
            error.waited_s += call.waited_s
            if call.begun:
                call.settle(error.n_attempts, error.usage)
                breaker.failed(error)
                if breaker.is_open:
                    pace.wake()
            raise
        call.settle(reply.n_attempts, reply.usage)
        breaker.answered()
        return replace(reply, waited_s=reply.waited_s + call.waited_s)

    def close(self) -> None:
        """Whoever opened the model closes it."""


@dataclass(slots=True, kw_only=True)
class _Call:
    """One call with its attempts."""

    request: ModelRequest
    lane: _Lane
    begun: list[Begun] = field(default_factory=list)
    waited_s: float = 0.0
    _tokens: int = field(init=False)

    def __post_init__(self) -> None:
        self._tokens = estimated_tokens(self.request) if self.lane.pace.counts_tokens else 0

    def begin(self) -> None:
        """Wait for the turn of an attempt."""
        pace = self.lane.pace
        started_s = pace.clock()
        try:
            self.begun.append(pace.begin(self._tokens, give_up=self._give_up))
        finally:
            self.waited_s += pace.clock() - started_s

    def again(self, delay_s: float) -> None:
        """Wait for the turn of a further attempt, after a delay that has passed; whoever asked may refuse it first."""
        if self.request.again is not None:
            self.request.again(delay_s)
        self.waited_s += delay_s
        self.begin()

    def settle(self, n_attempts: int, usage: Usage | None) -> None:
        """Book the attempts that the model made without asking, and what the last one used where that is told."""
        for _ in range(n_attempts - len(self.begun)):
            self.begun.append(self.lane.pace.book(self._tokens))
        used = None if usage is None else total_tokens(usage)
        if used is not None:
            self.lane.pace.correct(self.begun[-1], used)

    def _give_up(self) -> None:
        if self.begun:
            return  # a call that has begun is brought to its end
        self.lane.breaker.check(self.request.stage)
        if self.lane.stopping.is_set() and _is_first(self.request):
            message = "the run was stopped before anything was sent"
            raise TrialError(message, reason=Reason.INTERRUPTED, stage=Stage.HARNESS)


def _is_first(request: ModelRequest) -> bool:
    """Whether this is the first request of its trial."""
    return request.stage is Stage.CANDIDATE and not any(isinstance(turn, ModelTurn) for turn in request.turns)


def estimated_tokens(request: ModelRequest) -> int:
    """The most that a request is expected to use: what is sent, and all the output that it may have."""
    n_bytes = sum(len(text.encode("utf-8", "replace")) for text in _texts(request))
    return -(-n_bytes // BYTES_PER_TOKEN) + (request.max_output_tokens or 0)


def _texts(request: ModelRequest) -> Iterator[str]:
    yield request.system
    for turn in request.turns:
        yield from _turn_texts(turn)
    for tool in request.tools:
        yield from (tool.name, tool.description, json.dumps(tool.parameters, ensure_ascii=False))
    if request.response_schema is not None:
        yield json.dumps(request.response_schema, ensure_ascii=False)


def _turn_texts(turn: Turn) -> Iterator[str]:
    if isinstance(turn, UserTurn):
        yield turn.text
    elif isinstance(turn, ModelTurn):
        yield turn.text
        yield from (json.dumps(call.args, ensure_ascii=False) for call in turn.calls)
    else:
        yield from (json.dumps(result.response, ensure_ascii=False) for result in turn.results)


def total_tokens(usage: Usage) -> int | None:
    """What a reply says was used, the larger of total and parts; None where it does not say all of it."""
    parts = [usage.input_tokens, usage.output_tokens]
    if usage.total_tokens is None and None in parts:
        return None
    return max(usage.total_tokens or 0, sum(part or 0 for part in [*parts, usage.thought_tokens]))
