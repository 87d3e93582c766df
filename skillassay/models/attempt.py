"""The limits of one HTTP attempt: how long it takes in all, and how large its answer is. Owns both; knows no provider.

The time-out of an HTTP client counts from the last byte, so a peer that trickles outlasts it; and between two bytes of
a header or of a TLS handshake no client asks anybody. So the connection itself is shut down when the time is up, which
ends whatever waits for it, at once and in its own thread. Not bounded are the name's look-up, which is the system's,
and a host whose many addresses all stay silent: each is tried for the time-out.

The answer is unpacked here, since a client unpacks all that it gets. Every attempt has a connection of its own: of a
pooled one nobody says which it is until its answer has begun.
"""

from __future__ import annotations

import socket
import sys
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

MAX_REPLY_BYTES = 32 << 20


class TooLarge(Exception):
    """A reply holds more than ``MAX_REPLY_BYTES``."""


class BadEncoding(ValueError):
    """A reply is packed in a way that was not asked for, or damaged."""


def unpack(parts: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """The bytes of a body as they come in, without their ``Content-Encoding`` (gzip, or none).

    Never more than ``MAX_REPLY_BYTES`` in all, however little was sent for them, and never more than a part unpacks to.
    """
    packed = encoding.strip().lower() not in {"", "identity"}
    if packed and encoding.strip().lower() not in {"gzip", "x-gzip"}:
        raise BadEncoding(f"Content-Encoding {encoding!r}")
    gzip = zlib.decompressobj(zlib.MAX_WBITS | 16)
    n_left = MAX_REPLY_BYTES
    for part in parts:
        try:
            data = gzip.decompress(part, n_left + 1) if packed else part
        except zlib.error as error:
            raise BadEncoding(f"damaged gzip: {error}") from None
        n_left -= len(data)
        if n_left < 0:
            raise TooLarge
        yield data
    if packed and n_left < MAX_REPLY_BYTES and not gzip.eof:
        raise BadEncoding("gzip that ends too early")


class Deadline:
    """Context manager: when its time is up, the connections that it watches are shut down."""

    def __init__(self, seconds: float) -> None:
        self.passed = False
        self._lock = threading.Lock()
        self._connections: list[socket.socket] = []
        self._timer = threading.Timer(min(seconds, threading.TIMEOUT_MAX), self._end)
        self._timer.daemon = True

    def watch(self, connection: socket.socket) -> None:
        """Shut ``connection`` down at the deadline. A duplicate is kept, since TLS takes the socket itself away."""
        with self._lock:
            self._connections.append(connection.dup())
            if self.passed:
                self._shut_down()

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        self._timer.join()
        for connection in self._connections:
            connection.close()

    def _end(self) -> None:
        with self._lock:
            self.passed = True
            self._shut_down()

    def _shut_down(self) -> None:
        for connection in self._connections:
            with suppress(OSError):  # the peer was faster
                connection.shutdown(socket.SHUT_RDWR)


class Attempt:
    """Context manager around one attempt of this thread. ``body`` is the answer so far; ask ``timed_out`` first: what
    comes back from a connection that was cut may look complete."""

    _of_thread = threading.local()

    def __init__(self, timeout_s: float) -> None:
        self.body = bytearray()
        self._deadline = Deadline(timeout_s)

    @property
    def timed_out(self) -> bool:
        """Whether the deadline passed before the attempt was over."""
        return self._deadline.passed

    def __enter__(self) -> Self:
        Attempt._of_thread.attempt = self
        self._deadline.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._deadline.__exit__(kind, error, trace)
        del Attempt._of_thread.attempt

    @classmethod
    def running(cls) -> Attempt:
        """The attempt under way in this thread."""
        attempt: Attempt = cls._of_thread.attempt
        return attempt

    def trace(self, event: str, details: Mapping[str, Any]) -> None:
        """The ``trace`` extension of a request, which is told of each step below HTTP."""
        if event.endswith("connect_tcp.complete"):
            self._deadline.watch(details["return_value"].get_extra_info("socket"))

    def keep(self, stream: Iterable[bytes], encoding: str, *, is_answer: bool) -> Iterator[bytes]:
        """The body, unpacked, as it comes in. Of a refusal, whose status says it all, what can be read."""
        try:
            for part in unpack(stream, encoding):
                self.body += part
                yield part
        except (TooLarge, BadEncoding):
            if is_answer:
                raise


def _on_request(request: Any) -> None:
    request.headers["connection"] = "close"
    request.headers["accept-encoding"] = "gzip"  # what can be unpacked with a limit
    request.extensions["trace"] = Attempt.running().trace


def _on_response(response: Any) -> None:
    attempt = Attempt.running()
    stream = response.stream
    encoding = response.headers.pop("content-encoding", "")
    response.headers["content-type"] = "application/json"  # the client fails on some charsets, and here none counts
    library = sys.modules[type(response).__module__.partition(".")[0]]  # httpx2 or httpx, whichever speaks

    class Kept(library.SyncByteStream):  # type: ignore[misc, name-defined]
        def __iter__(self) -> Iterator[bytes]:
            return attempt.keep(stream, encoding, is_answer=response.status_code == 200)

        def close(self) -> None:
            stream.close()

    response.stream = Kept()


HOOKS = {"request": [_on_request], "response": [_on_response]}
"""The ``event_hooks`` of an httpx or httpx2 client all of whose requests are made inside an :class:`Attempt`."""
