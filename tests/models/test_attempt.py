"""The limits of one HTTP attempt, through the real SDK against real sockets that misbehave."""

from __future__ import annotations

import gzip
import json
import os
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from skillassay.errors import Reason, TrialError
from skillassay.models.attempt import MAX_REPLY_BYTES, BadEncoding, Deadline, TooLarge, unpack
from skillassay.models.base import ModelRequest
from skillassay.models.gemini import GeminiModel
from tests.models.wire_server import ASK, KEY, OK, Canned, Clock, ask, policy, refusal, refused, talking

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
TIMEOUT_S = 0.6


@contextmanager
def serving(behave: Callable[[socket.socket], None]) -> Iterator[int]:
    """A server that treats each connection with ``behave``: its port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def one(connection: socket.socket) -> None:
            with connection, suppress(OSError):
                behave(connection)

        def loop() -> None:
            with suppress(OSError):
                while True:
                    threading.Thread(target=one, args=listener.accept()[:1], daemon=True).start()

        threading.Thread(target=loop, daemon=True).start()
        yield listener.getsockname()[1]


def trickle(start: bytes, *, byte: bytes, at_once: bool = False) -> Callable[[socket.socket], None]:
    """Send ``start``, then a byte every 0.1 s for ten seconds."""

    def behave(connection: socket.socket) -> None:
        if not at_once:
            connection.recv(1 << 16)
        connection.sendall(start)
        for _ in range(100):
            time.sleep(0.1)
            connection.sendall(byte)

    return behave


TRICKLES: dict[str, tuple[str, Callable[[socket.socket], None]]] = {
    "a body": ("http", trickle(HEAD + b"Content-Length: 4000\r\n\r\n", byte=b" ")),
    "a body without a length": ("http", trickle(HEAD + b"\r\n" + OK.body, byte=b" ")),
    "an error's body": ("http", trickle(b"HTTP/1.1 503 X\r\nContent-Length: 4000\r\n\r\n", byte=b" ")),
    "a header": ("http", trickle(HEAD + b"X: ", byte=b"x")),
    "a status that is not final": ("http", trickle(b"", byte=b"HTTP/1.1 100 Continue\r\n\r\n")),
    "a TLS handshake": ("https", trickle(b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc", byte=b"\x03", at_once=True)),
}


@pytest.mark.parametrize(("scheme", "behave"), TRICKLES.values(), ids=TRICKLES)
def test_a_server_that_trickles_does_not_outlast_the_limit(
    scheme: str, behave: Callable[[socket.socket], None]
) -> None:
    """Each byte comes in time, and the whole does not: a time-out, asked once, with nothing left behind."""
    request = ModelRequest(system="", turns=ASK.turns, timeout_s=TIMEOUT_S)
    with serving(behave) as port:
        model = GeminiModel(name="x", api_key=KEY, base_url=f"{scheme}://127.0.0.1:{port}", retry=policy(Clock()))
        model._opened()  # the SDK's import is not the attempt's time
        started_s = time.monotonic()
        with pytest.raises(TrialError) as caught:
            model.generate(request)
        took_s = time.monotonic() - started_s
        model.close()
    assert (caught.value.reason, caught.value.n_attempts) == (Reason.TIMEOUT, 1)
    assert TIMEOUT_S * 0.9 <= took_s < TIMEOUT_S + 0.5


def test_attempts_leave_neither_threads_nor_sockets() -> None:
    """Fifty answers, and fifty attempts that were cut."""
    slow = trickle(HEAD + b"Content-Length: 4000\r\n\r\n", byte=b" ")
    request = ModelRequest(system="", turns=ASK.turns, timeout_s=0.02)
    with talking(OK) as (model, _), serving(slow) as port:
        late = GeminiModel(name="x", api_key=KEY, base_url=f"http://127.0.0.1:{port}")
        model.generate(ASK)
        before = open_files()
        for _ in range(50):
            model.generate(ASK)
            with pytest.raises(TrialError):
                late.generate(request)
        timers = [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]
        assert timers == []
        assert client_sockets(port) == 0
        assert open_files() - before < 60  # what the servers of this process still hold
        late.close()


def open_files() -> int:
    """How many file descriptors this process has."""
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0  # noqa: PTH112, PTH208


def client_sockets(port: int) -> int:
    """How many established connections to ``port`` this process has not closed, as the kernel tells."""
    if not os.path.exists("/proc/net/tcp"):  # noqa: PTH110
        return 0
    with open("/proc/net/tcp") as table:  # noqa: PTH123
        rows = [line.split() for line in table][1:]
    return sum(row[2].endswith(f":{port:04X}") and row[3] == "01" for row in rows)


def test_a_deadline_that_was_met_cuts_nothing() -> None:
    """The timer ends with the attempt."""
    left, right = socket.socketpair()
    with left, right:
        with Deadline(0.05) as deadline:
            deadline.watch(left)
        time.sleep(0.1)
        left.sendall(b"x")
        assert (right.recv(1), deadline.passed) == (b"x", False)


def test_a_connection_that_comes_too_late_is_shut_down_at_once() -> None:
    """A name or a connect may take longer than the attempt."""
    left, right = socket.socketpair()
    with left, right, Deadline(0.0) as deadline:
        while not deadline.passed:
            time.sleep(0.001)
        deadline.watch(left)
        assert right.recv(1) == b""


def bomb(n_bytes: int) -> Canned:
    """A gzip of very many blanks around an answer."""
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    packed = b"".join(packer.compress(b" " * (1 << 20)) for _ in range(n_bytes >> 20))
    body = packed + packer.compress(OK.body) + packer.flush()
    return Canned(body=body, headers={"Content-Encoding": "gzip"})


@pytest.mark.parametrize(
    "canned", [bomb(200 << 20), Canned(body=b" " * (MAX_REPLY_BYTES + 1))], ids=["a gzip bomb", "plain bytes"]
)
def test_a_reply_beyond_the_limit_is_refused_once(canned: Canned) -> None:
    """However little was sent for it."""
    error = refused(canned)
    assert (error.reason, error.kind, error.n_attempts) == (Reason.PROVIDER_ERROR, "too_large", 1)


def test_a_large_reply_within_the_limit_is_read() -> None:
    """Packed or not."""
    assert ask(bomb(20 << 20)).turn.text == "ok"
    assert ask(Canned(body=OK.body + b" " * (20 << 20))).turn.text == "ok"


@pytest.mark.parametrize(
    ("encoding", "body"),
    [("br", OK.body), ("gzip", OK.body), ("gzip", gzip.compress(OK.body)[:-9]), ("zstd", b"")],
    ids=["never asked for", "no gzip", "half a gzip", "empty"],
)
def test_a_reply_that_cannot_be_unpacked_is_none(encoding: str, body: bytes) -> None:
    """It is not taken for what it would be without its header."""
    error = refused(Canned(body=body, headers={"Content-Encoding": encoding}))
    assert (error.reason, error.kind) == (Reason.PROVIDER_ERROR, "non_json")


def test_a_refusal_keeps_its_kind_however_it_is_packed() -> None:
    """Its status is enough: it is tried again."""
    packed = refusal(503, "X", Content_Encoding="br")
    with talking(packed, packed, OK) as (model, _):
        assert model.generate(ASK).n_attempts == 3


BODY = json.dumps(
    {"candidates": [{"content": {"parts": [{"text": "café"}]}, "finishReason": "STOP"}]}, ensure_ascii=False
)


@pytest.mark.parametrize("charset", ["latin-1", "utf-16", "ascii", "no-such"])
def test_a_charset_header_changes_nothing(charset: str) -> None:
    """JSON is UTF-8."""
    canned = Canned(body=BODY.encode(), headers={"Content-Type": f"application/json; charset={charset}"})
    assert ask(canned).turn.text == "café"


@pytest.mark.parametrize("charset", ["", "; charset=latin-1"])
def test_a_reply_that_is_not_utf_8_is_no_answer(charset: str) -> None:
    """No U+FFFD is graded as if the model had said it."""
    error = refused(Canned(body=BODY.encode("latin-1"), headers={"Content-Type": f"application/json{charset}"}))
    assert (error.reason, error.kind) == (Reason.PROVIDER_ERROR, "non_json")
    assert "not UTF-8" in error.message


def test_unpacking_stops_at_the_limit() -> None:
    """The last byte allowed, and one more."""
    exact = gzip.compress(bytes(MAX_REPLY_BYTES))
    assert sum(map(len, unpack([exact], "gzip"))) == MAX_REPLY_BYTES
    with pytest.raises(TooLarge):
        list(unpack([gzip.compress(bytes(MAX_REPLY_BYTES + 1))], "gzip"))
    with pytest.raises(BadEncoding):
        list(unpack([b"x"], "compress"))
    assert list(unpack([b"a", b"b"], "")) == [b"a", b"b"]
