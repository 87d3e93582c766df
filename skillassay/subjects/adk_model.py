"""ADK's own ``Gemini``, watched: its calls have our limits, are counted, and are read from the bytes of the reply.

ADK keeps of a reply what its types know, and calls a truncated or blocked one an event like any other. So the body is
kept on its way in and read as our own loop's replies are (:mod:`skillassay.models.gemini_wire`): what is an answer
there is one here, and nothing else. Attempts, retries and time-outs are those of :mod:`skillassay.models.calls` too.
The key is handed to the client and never to the environment.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import httpx
from google import genai
from google.adk.models import Gemini
from google.genai import client as genai_client
from google.genai import errors, types
from pydantic import PrivateAttr

from skillassay.errors import Reason, Stage, TrialError
from skillassay.models import calls
from skillassay.models.attempt import MAX_REPLY_BYTES, Attempt, BadEncoding, TooLarge
from skillassay.models.base import Address, ModelReply, ModelRequest
from skillassay.models.endpoint import PUBLIC_ENDPOINTS, client_settings, secrets_in
from skillassay.models.gemini import DEFAULT_API_VERSION, refused
from skillassay.models.gemini_wire import read_reply
from skillassay.models.retry import AttemptFailed, RetryPolicy
from skillassay.models.wire import provider_error
from skillassay.transcript import Turn, Usage

# Python prints what nobody handles to stderr, and ADK's calls of logging.warning would make a handler for good.
for _name in ("google_adk", "google_genai", None):
    logging.getLogger(_name).addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What the first request of a trial held, off the wire: its system instruction, and its contents as JSON."""

    system: str
    contents: str


@dataclass(slots=True, kw_only=True)
class Watch:
    """What the model calls of one trial came to. ``error`` is the first failure, after which none is made."""

    turns: list[Turn]
    n_calls: int = 0
    n_attempts: int = 0
    waited_s: float = 0.0
    usage: Usage = field(default_factory=Usage)
    model: str | None = None
    tools: tuple[str, ...] | None = None
    sent: Sent | None = None
    error: TrialError | None = None

    def add(self, reply: ModelReply) -> None:
        """Book an answered call."""
        self.turns.append(reply.turn)
        self.n_attempts += reply.n_attempts
        self.waited_s += reply.waited_s
        self.usage = self.usage.plus(reply.usage)
        self.model = reply.model or self.model

    def fail(self, error: TrialError) -> TrialError:
        """Book a failure, once; the first one is what the trial came to."""
        if error is not self.error:
            self.n_attempts += error.n_attempts
            self.waited_s += error.waited_s
            self.usage = self.usage.plus(error.usage or Usage())
        self.error = self.error or error
        return self.error


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """How the model is reached: where, how long an attempt may take, how often one is made."""

    address: Address
    timeout_s: float
    retry: RetryPolicy
    estimated: bool

    @property
    def base_url(self) -> str:
        """Where it is asked."""
        return self.address.base_url or PUBLIC_ENDPOINTS["gemini"]


class WatchedGemini(Gemini):  # type: ignore[misc]
    """ADK's ``Gemini``; what its calls come to is told to a :class:`Watch`."""

    _line: Line = PrivateAttr()
    _watch: Watch = PrivateAttr()
    _running: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]] | None = PrivateAttr(default=None)

    @classmethod
    def over(cls, line: Line, watch: Watch) -> WatchedGemini:
        """The model at the end of a line, for one trial."""
        gemini = cls(model=line.address.name, base_url=line.base_url)
        gemini._line = line
        gemini._watch = watch
        return gemini

    async def generate_content_async(  # the signature is ADK's, which streams only where its run is told to
        self,
        llm_request: Any,
        stream: bool = False,  # noqa: ARG002, FBT001, FBT002
    ) -> AsyncIterator[Any]:
        """One call with all its attempts. Raises the ``TrialError`` of whatever is neither answer nor call."""
        watch = self._watch
        if watch.error is not None:
            raise watch.error
        if watch.tools is None:
            watch.tools = tuple(llm_request.tools_dict)
        watch.n_calls += 1
        heard: list[Any] = []
        failed: TrialError | None = None
        try:
            # In a thread, since what limits, repeats and counts attempts is written for calls that wait.
            watch.add(await asyncio.to_thread(self._call, llm_request, heard))
        except TrialError as error:
            failed = watch.fail(error)
        except asyncio.CancelledError:
            self._stop()
            raise
        if failed is not None:
            raise failed
        for response in heard:
            yield response

    def _stop(self) -> None:
        """End the attempt under way: whoever presses Ctrl-C does not wait for a service that is silent."""
        if self._running is not None:
            loop, task = self._running
            with suppress(RuntimeError):  # its loop ended meanwhile
                loop.call_soon_threadsafe(task.cancel)

    def _call(self, llm_request: Any, heard: list[Any]) -> ModelReply:
        line = self._line
        unread: list[Exception] = []

        def ask(timeout_s: float) -> None:
            heard.clear()
            unread.clear()
            try:
                heard.extend(asyncio.run(self._attempt(llm_request, timeout_s)))
            except _Unread as problem:
                unread.append(problem.error)

        reply = calls.call_model(
            ModelRequest(system="", turns=(), timeout_s=line.timeout_s, stage=Stage.CANDIDATE),
            ask=ask,
            read=partial(read_reply, stage=Stage.CANDIDATE, estimated=line.estimated),
            retry=line.retry,
            secrets={line.address.api_key, *secrets_in(line.base_url)},
        )
        if unread:
            message = f"ADK cannot read the reply: {type(unread[0]).__name__}"
            raise provider_error("non_json", message, Stage.CANDIDATE)
        return reply

    def _http(self, status: _Status) -> Any:
        return httpx.AsyncClient(**_settings(self._line.base_url, status, self._watch))

    async def _attempt(self, llm_request: Any, timeout_s: float) -> list[Any]:
        """One HTTP attempt by ADK itself, on a client of its own; whatever is no reply is an :class:`AttemptFailed`."""
        line, status = self._line, _Status()
        if (task := asyncio.current_task()) is not None:
            self._running = asyncio.get_running_loop(), task
        try:
            async with asyncio.timeout(timeout_s), self._http(status) as http:
                with _sdk(line, http) as client:
                    gemini = Gemini(model=self.model, base_url=line.base_url, client=client)
                    return [response async for response in gemini.generate_content_async(llm_request)]
        except errors.APIError as error:
            raise refused(error, Stage.CANDIDATE) from None
        except (TimeoutError, httpx.TimeoutException):
            raise calls.late(timeout_s, Stage.CANDIDATE) from None
        except (httpx.RequestError, TooLarge, BadEncoding) as error:
            raise calls.broken(error, Stage.CANDIDATE) from None
        except Exception as error:  # noqa: BLE001 - ADK and the SDK may raise anything on a reply they do not know
            if status.answered:
                raise _Unread(error) from None
            raise AttemptFailed(broken_harness(error), may_retry=False) from None


def broken_harness(error: Exception) -> TrialError:
    """An exception of ADK that says nothing about the candidate. Its words stay out: they may hold anything."""
    return TrialError(f"ADK failed: {type(error).__name__}", reason=Reason.HARNESS_ERROR, stage=Stage.HARNESS)


class _Unread(Exception):
    """The service answered, and the SDK could not read it: what the answer is, its bytes say."""

    def __init__(self, error: Exception) -> None:
        super().__init__(type(error).__name__)
        self.error = error


@dataclass(slots=True)
class _Status:
    """Whether a reply with status 200 has begun."""

    answered: bool = False


def _sdk(line: Line, http: Any) -> Any:
    return genai.Client(
        vertexai=False,
        api_key=line.address.api_key,
        debug_config=genai_client.DebugConfig(client_mode=None, replays_directory=None, replay_id=None),
        http_options=types.HttpOptions(
            base_url=line.base_url,
            api_version=DEFAULT_API_VERSION,
            httpx_async_client=http,
            client_args={"verify": False},  # of the client for calls that wait, which is never used
        ),
    )


def _settings(base_url: str, status: _Status, watch: Watch) -> Mapping[str, Any]:
    """The arguments of the HTTP client: those of our own, with hooks for a client that does not wait."""

    async def on_request(request: Any) -> None:
        request.headers["accept-encoding"] = "identity"  # its size is what is sent
        if watch.sent is None:
            watch.sent = _sent(await request.aread())

    async def on_response(response: Any) -> None:
        encoding = response.headers.pop("content-encoding", "identity")
        if encoding.strip().lower() not in {"", "identity"}:
            raise BadEncoding(f"Content-Encoding {encoding!r}")
        response.headers["content-type"] = "application/json"  # the client fails on some charsets, and here none counts
        status.answered = response.status_code == 200
        response.stream = _Kept(response.stream, Attempt.running().body)

    return {**client_settings(base_url), "event_hooks": {"request": [on_request], "response": [on_response]}}


def _sent(body: bytes) -> Sent:
    told = json.loads(body)
    system = (told.get("systemInstruction") or {}).get("parts") or []
    contents = json.dumps(told.get("contents"), ensure_ascii=False, sort_keys=True)
    return Sent(system="\n".join(part.get("text", "") for part in system), contents=contents)


class _Kept(httpx.AsyncByteStream):  # type: ignore[misc]
    """A body that is kept while it is read, up to a limit."""

    def __init__(self, stream: Any, kept: bytearray) -> None:
        self._stream = stream
        self._kept = kept

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            self._kept += part
            if len(self._kept) > MAX_REPLY_BYTES:
                raise TooLarge
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()
