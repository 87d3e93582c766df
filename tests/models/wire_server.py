"""A server that answers what it is told, in order: the other end of the wire for tests of models, and a model on it."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self, TypeVar

import pytest

from skillassay.errors import TrialError
from skillassay.models.base import ModelReply, ModelRequest
from skillassay.models.gemini import GeminiModel
from skillassay.models.openai_chat import OpenAIModel
from skillassay.models.retry import RetryPolicy
from skillassay.transcript import UserTurn

KEY = "AIza-secret/key+1"
ASK = ModelRequest(system="Be brief.", turns=(UserTurn(text="Combien ?"),))


@dataclass(frozen=True, slots=True, kw_only=True)
class Canned:
    """One response. ``drop`` closes the connection without a byte, ``reset`` breaks it; ``delay_s`` waits before
    answering, ``trickle_s`` before each byte of the body.
    """

    body: bytes = b"{}"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    trickle_s: float = 0.0
    drop: bool = False
    reset: bool = False


def reply(*parts: Any, finish: str | None = "STOP", **more: Any) -> Canned:
    """A reply with one candidate of these parts."""
    candidate = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = finish
    return Canned(body=json.dumps({"candidates": [candidate], **more}).encode())


OK = reply({"text": "ok"})


def refusal(status: int, word: str, message: str = "", *, details: Any = None, **headers: str) -> Canned:
    """A Gemini error; ``headers`` are written with underscores."""
    error = {"code": status, "status": word, "message": message, **({"details": details} if details else {})}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Canned(status=status, body=json.dumps({"error": error}).encode(), headers=named)


def chat(content: Any = None, *, finish: str | None = "stop", usage: Any = None, **message: Any) -> Canned:
    """A chat completion with one choice; ``message`` holds further fields of its message."""
    choice = {"index": 0, "message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}
    body = {"id": "chatcmpl-1", "object": "chat.completion", "model": "chat-x-1", "choices": [choice]}
    return Canned(body=json.dumps(body | ({} if usage is None else {"usage": usage})).encode())


CHAT_OK = chat("ok")


def chat_refusal(status: int, word: str | None = None, message: str = "", **headers: str) -> Canned:
    """An OpenAI error, whose type and code are ``word``; ``headers`` are written with underscores."""
    error = {"message": message, "type": word, "param": None, "code": word}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Canned(status=status, body=json.dumps({"error": error}).encode(), headers=named)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: bytes


class WireServer:
    """Context manager: answers the canned responses in order, then the last one again; keeps what it was sent."""

    def __init__(self, *canned: Canned) -> None:
        self.seen: list[Seen] = []
        self._left = deque(canned)
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self._http.block_on_close = False
        self.base_url = f"http://127.0.0.1:{self._http.server_address[1]}"

    def answer(self, seen: Seen) -> Canned:  # noqa: ARG002 - another server looks at it
        """The response to a request: the next one."""
        return self.next()

    def stop(self) -> None:
        """Listen no more. Idempotent."""
        self._http.shutdown()
        self._http.server_close()

    def next(self) -> Canned:
        """The next response."""
        with self._lock:
            return self._left.popleft() if len(self._left) > 1 else self._left[0]

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                seen = Seen(path=self.path, headers=headers, body=body)
                outer.seen.append(seen)
                canned = outer.answer(seen)
                time.sleep(canned.delay_s)
                if canned.reset:  # closing then sends RST instead of FIN
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self.connection.close()
                if canned.reset or canned.drop:
                    return
                self.send_response_only(canned.status)
                for name, value in {"Content-Length": str(len(canned.body)), **canned.headers}.items():
                    self.send_header(name, value)
                with suppress(
                    ConnectionError
                ):  # the client may have given up, which is what a test of time-outs is about
                    self.end_headers()
                    for part in (canned.body,) if not canned.trickle_s else (bytes([byte]) for byte in canned.body):
                        time.sleep(canned.trickle_s)
                        self.wfile.write(part)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
                pass

        return Handler


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        """The clock."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """The sleep."""
        self.slept.append(seconds)
        self.now += seconds


def policy(clock: Clock, **limits: Any) -> RetryPolicy:
    """A policy that does not really wait."""
    return RetryPolicy(clock=clock, sleep=clock.sleep, seed=1, **limits)


M = TypeVar("M", bound=GeminiModel | OpenAIModel)


@contextmanager
def talking(*canned: Canned, **settings: Any) -> Iterator[tuple[GeminiModel, WireServer]]:
    """A Gemini model and the server that it talks to."""
    with WireServer(*canned) as server, opened(GeminiModel, server.base_url, **settings) as model:
        yield model, server


@contextmanager
def chatting(*canned: Canned, **settings: Any) -> Iterator[tuple[OpenAIModel, WireServer]]:
    """A chat completions model and the server that it talks to."""
    with WireServer(*canned) as server, opened(OpenAIModel, f"{server.base_url}/v1", **settings) as model:
        yield model, server


@contextmanager
def opened(kind: type[M], base_url: str, **settings: Any) -> Iterator[M]:
    """A model of this kind at an address, closed at the end."""
    if kind is OpenAIModel:
        pytest.importorskip("openai", reason="needs the extra openai")
    settings.setdefault("retry", policy(Clock()))
    model = kind(name="gemini-x" if kind is GeminiModel else "chat-x", api_key=KEY, base_url=base_url, **settings)
    try:
        yield model
    finally:
        model.close()


def ask(*canned: Canned, request: ModelRequest = ASK) -> ModelReply:
    """Gemini's reply to one request."""
    with talking(*canned) as (model, _):
        return model.generate(request)


def ask_chat(*canned: Canned, request: ModelRequest = ASK) -> ModelReply:
    """A chat completions model's reply to one request."""
    with chatting(*canned) as (model, _):
        return model.generate(request)


def refused(*canned: Canned, request: ModelRequest = ASK) -> TrialError:
    """Gemini's error to one request."""
    with talking(*canned) as (model, _), pytest.raises(TrialError) as caught:
        model.generate(request)
    return caught.value


def refused_chat(*canned: Canned, request: ModelRequest = ASK) -> TrialError:
    """A chat completions model's error to one request."""
    with chatting(*canned) as (model, _), pytest.raises(TrialError) as caught:
        model.generate(request)
    return caught.value
