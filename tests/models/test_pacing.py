"""The pace: what holds in every minute, and who goes first."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.models.base import ModelRequest
from skillassay.models.pacing import WINDOW_S, Pace, Paces, Window, estimated_tokens, total_tokens
from skillassay.transcript import ModelTurn, ToolCall, ToolResult, ToolTurn, Usage, UserTurn
from tests.models.paced import ASK, PATIENCE_S, Clock, Server, failed, never


def most_in_a_minute(times: list[float]) -> int:
    """By definition: the most of them in any closed interval of 60 s, which may be taken to begin at one of them."""
    return max(sum(start <= time <= start + 60.0 for time in times) for start in times)


@given(st.integers(1, 7), st.lists(st.floats(0.0, 45.0), min_size=1, max_size=60))
def test_no_minute_holds_more_requests_than_the_limit(rpm: int, gaps: list[float]) -> None:
    """Whatever the arrivals; and nobody waits while there is room."""
    clock = Clock()
    pace = Pace(rpm=rpm, clock=clock, wait=clock.wait)
    times: list[float] = []
    for gap in gaps:
        clock.now_s += gap
        came_s = clock.now_s
        pace.begin(0, give_up=never)
        if clock.now_s > came_s:
            assert sum(time > came_s - WINDOW_S for time in times) >= rpm
        times.append(clock.now_s)
    assert most_in_a_minute(times) <= rpm


Requests = st.lists(st.tuples(st.floats(0.0, 45.0), st.integers(0, 120), st.integers(0, 120)), min_size=1, max_size=50)


@given(Requests)
def test_no_minute_holds_more_tokens_than_the_limit(requests: list[tuple[float, int, int]]) -> None:
    """Of estimates and, once told, of what was used: what is known at a begin leaves room for it, or it is alone."""
    clock = Clock()
    pace = Pace(tpm=100, clock=clock, wait=clock.wait)
    held: list[tuple[float, int]] = []
    for gap, estimate, used in requests:
        clock.now_s += gap
        begun = pace.begin(estimate, give_up=never)
        others = sum(tokens for at_s, tokens in held if at_s >= clock.now_s - 60.0)
        assert others + min(estimate, 100) <= 100
        held.append((clock.now_s, used))
        pace.correct(begun, used)


def test_what_a_reply_says_takes_the_place_of_the_estimate() -> None:
    """Less than was feared frees the room at once; more has to be waited for."""
    window = Window(tpm=100)
    begun = window.begin(0.0, 90)
    assert window.delay_s(10.0, 50) == WINDOW_S - 10.0
    begun.tokens = 50
    assert window.delay_s(10.0, 50) == 0.0
    begun.tokens = 51
    assert window.delay_s(10.0, 50) == WINDOW_S - 10.0


def test_a_request_above_the_limit_by_itself_goes_alone() -> None:
    """It would wait for ever otherwise."""
    window = Window(tpm=100)
    assert window.delay_s(0.0, 5000) == 0.0
    window.begin(0.0, 5000)
    assert window.delay_s(1.0, 1) == WINDOW_S - 1.0


def test_without_limits_nobody_waits() -> None:
    """And nothing is kept."""
    window = Window()
    for _ in range(3):
        assert window.delay_s(0.0, 10**9) == 0.0
        window.begin(0.0, 10**9)
    assert not window._begun


@pytest.mark.parametrize(
    ("request_", "tokens"),
    [
        (replace(ASK, system="abcd", turns=(UserTurn(text="efgh"),)), 2),
        (replace(ASK, turns=(UserTurn(text="日本語"),)), 3),
        (replace(ASK, turns=(UserTurn(text="abcde"),), max_output_tokens=100), 102),
        (replace(ASK, turns=(ModelTurn(text="abcd", calls=(ToolCall(name="t", args={"a": "b"}),)),)), 4),
        (replace(ASK, turns=(ToolTurn(results=(ToolResult(name="t", response={"a": "bcde"}),)),)), 4),
        (replace(ASK, turns=(), response_schema={"type": "object"}), 5),
    ],
)
def test_the_estimate_is_bytes_by_four_and_all_the_output(request_: ModelRequest, tokens: int) -> None:
    """Rounded up; a language of three bytes a letter counts three times as much as English."""
    assert estimated_tokens(request_) == tokens


def test_retries_count_as_requests_and_wait_their_turn(timed: Callable[..., Paces]) -> None:
    """Every HTTP attempt is one; the wait for the pace is told, and no deadline runs while it lasts."""
    server = Server(failures=[failed(asked_s=5.0), failed(asked_s=5.0)])
    reply = timed(server.clock, rpm=1).over(server).generate(ASK)
    assert server.begun_s == pytest.approx([0.0, WINDOW_S, 2 * WINDOW_S])
    assert reply.n_attempts == 3
    assert reply.waited_s == pytest.approx(2 * WINDOW_S)
    # Of 50 s of deadline only the two waits of 5 s are gone, though two minutes have passed.
    assert server.left_s == [None, pytest.approx(45.0), pytest.approx(40.0)]


def test_attempts_that_nobody_asked_for_are_counted_afterwards(timed: Callable[..., Paces]) -> None:
    """A model that retries by itself goes over the limit within its call, and whoever comes next waits for it."""
    server = Server(failures=[failed()], asks=False)
    model = timed(server.clock, rpm=2).over(server)
    assert model.generate(ASK).n_attempts == 2
    came_s = server.clock.now_s
    model.generate(ASK)
    assert server.begun_s[2] == pytest.approx(WINDOW_S)
    assert server.begun_s[2] > came_s


def test_one_budget_for_one_model_at_one_endpoint(timed: Callable[..., Paces]) -> None:
    """Two models of the same name and endpoint wait for each other; another name or endpoint does not."""
    clock = Clock()
    paces = timed(clock, rpm=1)
    servers = [Server(clock=clock, name=name, endpoint=end) for name, end in ("ab", "ab", "ac", "db")]
    for server in servers:
        paces.over(server).generate(ASK)
    first, same, *others = (server.begun_s[0] for server in servers)
    assert (first, same) == (0.0, WINDOW_S)
    assert others == [WINDOW_S, WINDOW_S]  # at once: only the wait of the second has passed


def test_used_tokens_make_room(timed: Callable[..., Paces]) -> None:
    """The estimate takes all that may be used; a reply that used little lets the next one begin at once."""
    server = Server(usage=Usage(input_tokens=5, output_tokens=5, n_calls=1))
    model = timed(server.clock, tpm=1000).over(server)
    for _ in range(3):
        model.generate(replace(ASK, max_output_tokens=900))
    assert server.begun_s == [0.0, 0.0, 0.0]


def test_threads_go_in_the_order_in_which_they_came() -> None:
    """First come, first served, also when many wait; and nobody spins: each wakes a few times for its whole wait."""
    clock, order, n_waits = Clock(), [], 0

    def wait(turn: threading.Condition, seconds: float | None) -> None:
        nonlocal n_waits
        n_waits += 1
        if seconds is None:
            assert turn.wait(PATIENCE_S)
        else:
            turn.wait(0.02)  # let the others queue
            clock.now_s += seconds

    pace = Pace(rpm=1, clock=clock, wait=wait)
    pace.begin(0, give_up=never)

    def go(number: int) -> None:
        pace.begin(0, give_up=never)
        order.append(number)

    threads = [threading.Thread(target=go, args=(number,)) for number in range(8)]
    for number, thread in enumerate(threads):
        thread.start()
        until = time.monotonic() + PATIENCE_S
        while len(pace._queue) + len(order) <= number and time.monotonic() < until:
            time.sleep(0.001)
    for thread in threads:
        thread.join(PATIENCE_S)
    assert order == list(range(8))
    assert n_waits <= 4 * len(threads)


def test_many_threads_at_once_keep_to_the_limit() -> None:
    """Real threads: 12 callers want 192 requests, 100 may begin, exactly these do, and nobody is left in the queue."""
    begun: list[int] = []
    pace, closing = Pace(rpm=100), threading.Event()

    def leave() -> None:
        if closing.is_set():
            raise InterruptedError

    def go() -> None:
        with suppress(InterruptedError):
            for number in range(16):
                pace.begin(0, give_up=leave)
                begun.append(number)

    threads = [threading.Thread(target=go) for _ in range(12)]
    for thread in threads:
        thread.start()
    until = time.monotonic() + PATIENCE_S
    while len(pace._queue) < sum(thread.is_alive() for thread in threads) and time.monotonic() < until:
        time.sleep(0.001)
    closing.set()
    pace.wake()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert len(begun) == 100
    assert not pace._queue


@pytest.mark.parametrize(
    ("told", "used"),
    [
        (Usage(input_tokens=10, output_tokens=5, total_tokens=15), 15),
        (Usage(input_tokens=900, output_tokens=50, total_tokens=1), 950),
        (Usage(input_tokens=900, output_tokens=50, thought_tokens=30, total_tokens=0), 980),
        (Usage(input_tokens=10, output_tokens=5, total_tokens=40), 40),
        (Usage(input_tokens=10, total_tokens=4), 10),
        (Usage(total_tokens=4), 4),
        (Usage(input_tokens=10, output_tokens=5, thought_tokens=7), 22),
        (Usage(input_tokens=10), None),
        (Usage(), None),
    ],
)
def test_a_total_below_its_parts_is_not_believed(told: Usage, used: int | None) -> None:
    """The larger of the two is booked; where neither is whole, the estimate stays."""
    assert total_tokens(told) == used
