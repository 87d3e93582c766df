"""A fixture server that fails on purpose: it hangs, resets, refuses, lies or dies, as a test tells it to."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from skillassay.fixture.rules import load_rules
from skillassay.fixture.server import FixtureServer, error_body
from tests.project import environment

HELD_S = 30.0
"""How long a request hangs at most; a test that lets one hang gives the client less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request: its number from 1, whether the judge is asked, and its body."""

    number: int
    is_judge: bool
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What a request gets instead of its answer. ``action``: send, hang or reset."""

    action: str = "send"
    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


HANG, RESET = Fault(action="hang"), Fault(action="reset")
NOT_JSON = Fault(body=b"<html>bad gateway</html>")


def refusal(status: int, word: str, message: str = "told to", **headers: str) -> Fault:
    """An HTTP error of the service; underscores of header names are hyphens."""
    body = json.dumps(error_body(status, word, message)[1]).encode()
    return Fault(status=status, body=body, headers={name.replace("_", "-"): text for name, text in headers.items()})


def said(text: str, finish: str = "STOP") -> Fault:
    """A reply of these words, under the name that the healthy ones tell."""
    candidate = {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": finish, "index": 0}
    return Fault(body=json.dumps({"candidates": [candidate], "modelVersion": "faulty-001"}).encode())


def healthy(_: Asked) -> Fault | None:
    """No fault."""
    return None


class FaultyServer:
    """Answers by the rules of a project but for what ``fault`` says. ``die`` and ``revive`` keep the port."""

    def __init__(self, root: Path, fault: Callable[[Asked], Fault | None] = healthy) -> None:
        rules, _ = load_rules(sorted(root.glob("evals/fixtures/*.json")))
        assert rules is not None
        self.fault = fault
        self.seen: list[Asked] = []
        self._answers = FixtureServer(rules)
        self._lock, self._released = threading.Lock(), threading.Event()
        self._http: ThreadingHTTPServer | None = None
        self._port = 0

    @property
    def base_url(self) -> str:
        """Where it listens, or did."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a run that takes it for the service."""
        return environment(GOOGLE_GEMINI_BASE_URL=self.base_url, GEMINI_API_KEY="k-faulty")

    def __enter__(self) -> Self:
        self.revive()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._released.set()
        self.die()

    def revive(self) -> None:
        """Listen, again on the port of before."""
        self._http = _Server(("127.0.0.1", self._port), _handler(self))
        self._port = self._http.server_address[1]
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def die(self) -> None:
        """Refuse every further connection. What is being answered is answered."""
        http, self._http = self._http, None
        if http is not None:
            http.shutdown()
            http.server_close()

    def ask(self, body: bytes) -> Fault:
        """What the next request gets."""
        text = body.decode()
        with self._lock:
            asked = Asked(number=len(self.seen) + 1, is_judge="You grade one answer" in text, text=text)
            self.seen.append(asked)
        told = self.fault(asked)
        if told is not None:
            return told
        status, value = self._answers.answer(body)
        if status == 200 and isinstance(value, dict):
            value["modelVersion"] = "faulty-001"  # as a service says it that was asked for `faulty`
        return Fault(status=status, body=json.dumps(value).encode())

    def hold(self) -> None:
        """Hang."""
        self._released.wait(HELD_S)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    allow_reuse_address = True

    def server_bind(self) -> None:
        """Bind without the base class's look-up of a name."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that gave up is what these tests are about."""


def _handler(server: FaultyServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def do_POST(self) -> None:
            fault = server.ask(self.rfile.read(int(self.headers["Content-Length"])))
            self.close_connection = True
            if fault.action == "hang":
                server.hold()
            elif fault.action == "reset":
                # With a linger of 0 the system sends RST in place of FIN.
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
            else:
                self.send_response_only(fault.status)
                for name, text in {"Content-Length": str(len(fault.body)), **fault.headers}.items():
                    self.send_header(name, text)
                with suppress(ConnectionError):
                    self.end_headers()
                    self.wfile.write(fault.body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
            pass

    return Handler
