"""Gemini through google-genai (2.30 up to 3.x). Owns the SDK: nothing else in the package imports it.

The SDK builds the request, speaks HTTP and names HTTP errors. Three things are kept from it on purpose. It does not
retry: attempts are counted here. It does not parse the reply: its types drop unknown fields, and bytes fields come back
in another base64 alphabet, while a model's content has to go back as it came; so the body is read by
:mod:`skillassay.gemini_wire` and ``contents`` is handed over as ``extra_body``. It does not read the environment: the
backend, the endpoint, the API version and the key are all passed. A timed-out attempt is not retried.

It does not limit an attempt either, so :mod:`skillassay.attempt` does, through hooks of its HTTP client.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote, urlsplit

from skillassay.attempt import HOOKS, MAX_REPLY_BYTES, Attempt, BadEncoding, TooLarge
from skillassay.errors import Reason, Stage, TrialError
from skillassay.gemini_wire import MAX_MESSAGE_CHARS, build_contents, ordered_schema, read_reply
from skillassay.models.base import ModelIdentity, ModelReply, ModelRequest
from skillassay.retry import AttemptFailed, RetryPolicy, call_with_retries

DEFAULT_BASE_URL = "https://generativelanguage.googleapis.com"
DEFAULT_API_VERSION = "v1beta"
"""Passed always, since the SDK's own default differs between its lines 2 and 3; `-latest` aliases exist only here."""

RETRIED_CODES = frozenset({408, 429, 500, 502, 503, 504})
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(kw_only=True, eq=False)
class GeminiModel:
    """One Gemini model at one endpoint. The SDK client is made at the first call and shared by all threads.

    A fixture has no endpoint in its identity: its port is another one in every run and says nothing.
    """

    name: str
    api_key: str = field(repr=False)
    base_url: str | None = field(default=None, repr=False)  # it may hold a gateway's password
    api_version: str | None = None
    provider: str = "gemini"
    is_fixture: bool = False
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    _sdk: _Sdk | None = field(default=None, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    @property
    def identity(self) -> ModelIdentity:
        """Who is asked; the endpoint without user, password and query."""
        endpoint = None if self.is_fixture else bare_endpoint(self.base_url or DEFAULT_BASE_URL)
        return ModelIdentity(provider=self.provider, name=self.name, endpoint=endpoint, is_fixture=self.is_fixture)

    def generate(self, request: ModelRequest) -> ModelReply:
        """Answer ``request``; see :meth:`skillassay.models.base.Model.generate`."""
        sdk = self._opened()
        contents = build_contents(request.turns)
        settings = _settings(request)

        def attempt(left_s: float | None) -> bytes:
            timeout_s = request.timeout_s if left_s is None else min(request.timeout_s, left_s)
            return sdk.post(self.name, contents, settings, timeout_s=timeout_s, stage=request.stage)

        n_attempts = 0
        try:
            body, n_attempts = call_with_retries(self.retry, attempt)
            reply = read_reply(body, stage=request.stage, estimated=self.is_fixture)
            return ModelReply(turn=reply.turn, usage=reply.usage, model=reply.model, n_attempts=n_attempts)
        except TrialError as error:
            failed = self._told(error, error.n_attempts or n_attempts)
        raise failed  # outside the except block: the original, which may hold the key, is not even its context

    def close(self) -> None:
        """Release the connections. Idempotent; a later call opens new ones."""
        with self._lock:
            sdk, self._sdk = self._sdk, None
        if sdk is not None:
            sdk.client.close()

    def _opened(self) -> _Sdk:
        with self._lock:
            if self._sdk is None:
                self._sdk = _open_sdk(
                    api_key=self.api_key,
                    base_url=self.base_url or DEFAULT_BASE_URL,
                    api_version=self.api_version or DEFAULT_API_VERSION,
                )
            return self._sdk

    def _told(self, error: TrialError, n_attempts: int) -> TrialError:
        """The error without the key, which a server may have put into its message, and without context."""
        message = error.message
        for secret in {self.api_key, quote(self.api_key, safe="")} - {""}:
            message = message.replace(secret, "[key]")
        return TrialError(
            message[:MAX_MESSAGE_CHARS],
            reason=error.reason,
            stage=error.stage,
            kind=error.kind,
            n_attempts=n_attempts,
        )


def bare_endpoint(url: str) -> str:
    """Scheme, host, port and path of ``url``: what a record may say."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"


def _settings(request: ModelRequest) -> dict[str, Any]:
    """The fields of the SDK's config that come from the request; a field that is None is not sent."""
    settings: dict[str, Any] = {
        "system_instruction": request.system or None,
        "temperature": request.temperature,
        "max_output_tokens": request.max_output_tokens,
        "seed": request.seed,
    }
    if request.tools:
        declarations = [
            {"name": tool.name, "description": tool.description, "parameters_json_schema": tool.parameters}
            for tool in request.tools
        ]
        settings["tools"] = [{"function_declarations": declarations}]
    if request.response_schema is not None:
        settings["response_mime_type"] = "application/json"
        settings["response_json_schema"] = ordered_schema(request.response_schema)
    return settings


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sdk:
    """The opened SDK: its client and the classes that are needed of it, which the type checker sees as ``Any``."""

    client: Any
    types: Any
    api_error: type[Exception]
    timeouts: tuple[type[Exception], ...]
    transport_errors: tuple[type[Exception], ...]

    def post(
        self, name: str, contents: list[dict[str, Any]], settings: Mapping[str, Any], *, timeout_s: float, stage: Stage
    ) -> bytes:
        """One HTTP attempt: the body of a 200, or :class:`AttemptFailed`."""
        config = self.types.GenerateContentConfig(
            **settings,
            **self._fixed(),
            http_options=self.types.HttpOptions(
                timeout=max(1, round(timeout_s * 1000)), extra_body={"contents": contents}
            ),
        )
        failed: AttemptFailed | None = None
        with Attempt(timeout_s) as attempt:
            try:
                self._ask(name, config, timeout_s=timeout_s, stage=stage)
            except AttemptFailed as error:
                failed = error
        if attempt.timed_out:  # whatever else seems to have happened came of the connection being cut
            raise _late(timeout_s, stage)
        if failed is not None:
            raise failed
        return bytes(attempt.body)

    def _ask(self, name: str, config: Any, *, timeout_s: float, stage: Stage) -> None:
        # The SDK wants contents of its own types; extra_body replaces them by the real ones, whole and untouched.
        stand_in = {"role": "user", "parts": [{"text": ""}]}
        try:
            self.client.models.generate_content(model=name, contents=[stand_in], config=config)
        except self.api_error as error:
            raise _refused(error, stage) from None
        except self.timeouts:
            raise _late(timeout_s, stage) from None
        except self.transport_errors as error:
            message = f"no answer: {type(error).__name__}: {error}"
            raise AttemptFailed(_provider("connection", message, stage), may_retry=True) from None
        except TooLarge:
            message = f"the reply is larger than {MAX_REPLY_BYTES >> 20} MiB"
            raise AttemptFailed(_provider("too_large", message, stage), may_retry=False) from None
        except BadEncoding as error:
            message = f"the reply cannot be unpacked: {error}"
            raise AttemptFailed(_provider("non_json", message, stage), may_retry=False) from None

    def _fixed(self) -> dict[str, Any]:
        fixed: dict[str, Any] = {
            "automatic_function_calling": {"disable": True},
            "should_return_http_response": True,
        }
        if "automatic_continuation" in self.types.GenerateContentConfig.model_fields:
            fixed["automatic_continuation"] = False  # the SDK would send further requests that nobody counted
        return fixed


def _open_sdk(*, api_key: str, base_url: str, api_version: str) -> _Sdk:
    # Imported here because it takes several hundred milliseconds, which only a call to a model may cost.
    from google import genai
    from google.genai import client as genai_client
    from google.genai import errors, types

    # Without a handler Python prints the SDK's advice to stderr (two keys are set, …), on arguments that are not used.
    logging.getLogger("google_genai").addHandler(logging.NullHandler())
    # A redirect is not followed: the key's header would go with it to another host.
    client_args: dict[str, Any] = {"follow_redirects": False, "event_hooks": HOOKS}
    url = urlsplit(base_url)
    if url.hostname in LOOPBACK:
        client_args["trust_env"] = False  # no proxy of the environment stands before this machine itself
        if url.scheme == "http":
            client_args["verify"] = False  # no TLS: loading the certificates would cost more than the first calls
    client = genai.Client(
        vertexai=False,
        api_key=api_key,
        debug_config=genai_client.DebugConfig(client_mode=None, replays_directory=None, replay_id=None),
        http_options=types.HttpOptions(base_url=base_url, api_version=api_version, client_args=client_args),
    )
    # 3.x speaks through httpx2, 2.x through httpx; whichever is loaded may raise its own errors through the SDK.
    loaded = [sys.modules[name] for name in ("httpx2", "httpx") if name in sys.modules]
    return _Sdk(
        client=client,
        types=types,
        api_error=errors.APIError,
        timeouts=tuple(module.TimeoutException for module in loaded),
        transport_errors=tuple(module.RequestError for module in loaded),
    )


def _late(timeout_s: float, stage: Stage) -> AttemptFailed:
    message = f"no answer within {timeout_s:g} s"
    return AttemptFailed(TrialError(message, reason=Reason.TIMEOUT, stage=stage), may_retry=False)


def _refused(error: Any, stage: Stage) -> AttemptFailed:
    """Classify an HTTP status other than 200."""
    code = int(error.code or 0)
    status = str(error.status or "")
    details = _details(error.details)
    is_wrong_key = any(detail.get("reason") == "API_KEY_INVALID" for detail in details)  # told as a 400 by this API
    if status == "FIXTURE_MISS":
        kind = "fixture_miss"
    elif code == 429:
        kind = "quota"
    elif code in {401, 403} or is_wrong_key:
        kind = "auth"
    else:
        kind = "server" if code >= 500 else "request"
    message = f"HTTP {code} {status}: {error.message or 'no message'}"
    return AttemptFailed(
        _provider(kind, message, stage),
        may_retry=code in RETRIED_CODES,
        asked_delay_s=_asked_delay_s(getattr(error.response, "headers", None) or {}, details),
    )


def _details(body: Any) -> list[dict[str, Any]]:
    error = body.get("error", body) if isinstance(body, dict) else {}
    details = error.get("details") if isinstance(error, dict) else None
    return [detail for detail in details if isinstance(detail, dict)] if isinstance(details, list) else []


def _asked_delay_s(headers: Mapping[str, str], details: list[dict[str, Any]]) -> float | None:
    """The longest wait the server asks for: ``Retry-After`` (seconds, or a date against the server's own ``Date``) and
    ``google.rpc.RetryInfo``.
    """
    asked = [_seconds(headers.get("retry-after") or "")]
    try:
        until = parsedate_to_datetime(headers["retry-after"]) - parsedate_to_datetime(headers["date"])
        asked.append(until.total_seconds())
    except (KeyError, ValueError, TypeError):
        pass
    asked += [
        _seconds(str(detail.get("retryDelay", "")).removesuffix("s"))
        for detail in details
        if str(detail.get("@type", "")).endswith("google.rpc.RetryInfo")
    ]
    return max((seconds for seconds in asked if seconds is not None), default=None)


def _seconds(text: str) -> float | None:
    return float(text) if text.strip().replace(".", "", 1).isdecimal() else None


def _provider(kind: str, message: str, stage: Stage) -> TrialError:
    return TrialError(message, reason=Reason.PROVIDER_ERROR, stage=stage, kind=kind)
