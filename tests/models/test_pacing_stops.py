"""Who waits for a pace gives up where the run stops or the line is broken."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from skillassay.errors import Reason, Stage, TrialError
from skillassay.models.base import ModelRequest
from skillassay.models.breaker import LIMIT, Breaker
from skillassay.models.pacing import Paces
from skillassay.transcript import ModelTurn
from tests.models.paced import ASK, PATIENCE_S, Server, failed


def waiting(paces: Paces, server: Server, request: ModelRequest) -> tuple[threading.Thread, list[TrialError]]:
    """A thread that waits for its turn on real time, and the errors that it gets."""
    model, errors = paces.over(server), []
    model.generate(ASK)

    def go() -> None:
        try:
            model.generate(request)
        except TrialError as error:
            errors.append(error)

    thread = threading.Thread(target=go, daemon=True)
    thread.start()
    lane = next(iter(paces._lanes.values()))
    until = time.monotonic() + PATIENCE_S
    while not lane.pace._queue:
        assert time.monotonic() < until
        time.sleep(0.001)
    return thread, errors


def test_stopping_gives_up_what_has_not_begun() -> None:
    """A trial that waits to send its first request leaves at once, with nothing sent."""
    server, paces = Server(), Paces(rpm=1, tpm=None)
    thread, errors = waiting(paces, server, ASK)
    paces.stop()
    thread.join(PATIENCE_S)
    assert [(error.reason, error.n_attempts) for error in errors] == [(Reason.INTERRUPTED, 0)]
    assert len(server.begun_s) == 1


@pytest.mark.parametrize(
    "request_",
    [replace(ASK, turns=(*ASK.turns, ModelTurn(text="x"))), replace(ASK, stage=Stage.JUDGE)],
    ids=["later turn", "judge"],
)
def test_stopping_lets_a_trial_under_way_go_on(request_: ModelRequest) -> None:
    """What was paid for already is brought to its end."""
    paces = Paces(rpm=1, tpm=None)
    thread, errors = waiting(paces, Server(), request_)
    paces.stop()
    thread.join(0.2)
    assert thread.is_alive()
    assert errors == []


def test_a_broken_line_lets_nobody_wait() -> None:
    """Whoever waits for a turn when the breaker opens is told at once, and sends nothing."""
    server, paces = Server(), Paces(rpm=1, tpm=None)
    thread, errors = waiting(paces, server, ASK)
    lane = next(iter(paces._lanes.values()))
    for _ in range(LIMIT):
        lane.breaker.failed(failed("auth").error)
    lane.pace.wake()
    thread.join(PATIENCE_S)
    assert [(error.kind, error.n_attempts) for error in errors] == [("auth", 0)]
    assert len(server.begun_s) == 1


@pytest.mark.parametrize("kind", ["quota_day", "auth"])
def test_after_three_in_a_row_nothing_more_is_sent(timed: Callable[..., Paces], kind: str) -> None:
    """The fourth call fails at once as the same provider error, says how to go on, and is no attempt."""
    server = Server(failures=[failed(kind, again=False) for _ in range(9)])
    paces = timed(server.clock)
    model, same = paces.over(server), paces.over(server)
    for _ in range(3):
        with pytest.raises(TrialError, match=r"^no$"):
            model.generate(ASK)
    with pytest.raises(TrialError, match="--retry-unscored RUN") as caught:
        same.generate(replace(ASK, stage=Stage.JUDGE))
    error = caught.value
    assert (error.reason, error.kind, error.stage, error.n_attempts) == (Reason.PROVIDER_ERROR, kind, Stage.JUDGE, 0)
    assert len(server.begun_s) == 3


@pytest.mark.parametrize("between", ["answer", "blocked", "contract_error"])
def test_an_answer_in_between_begins_the_count_anew(between: str) -> None:
    """A reply, or a refusal to say it: the key is right, and the quota has room."""
    breaker = Breaker()
    for _ in range(2 * LIMIT):
        for _ in range(LIMIT - 1):
            breaker.failed(failed("auth").error)
        if between == "answer":
            breaker.answered()
        else:
            breaker.failed(TrialError("x", reason=Reason(between), stage=Stage.CANDIDATE))
    assert not breaker.is_open


@pytest.mark.parametrize("between", ["connection", "quota", "server", "quota_day"])
def test_another_failure_in_between_begins_the_count_anew(between: str) -> None:
    """Calls in a row means in a row; and the kind that comes between has a count of its own."""
    breaker = Breaker()
    for _ in range(50):
        for kind in ["auth"] * (LIMIT - 1) + [between]:
            breaker.failed(failed(kind).error)
            assert not breaker.is_open
    for _ in range(LIMIT):
        assert not breaker.is_open
        breaker.failed(failed("auth").error)
    assert breaker.is_open


def test_a_quota_per_minute_opens_nothing() -> None:
    """It mends by itself, however often it comes."""
    patient = Breaker()
    for _ in range(50):
        patient.failed(failed("quota").error)
    assert not patient.is_open
