"""Gemini through google-genai (2.30 up to 3.x). Owns the SDK: nothing else in the package imports it.

The SDK builds the request, speaks HTTP and names HTTP errors. Three things are kept from it on purpose. It does not
retry: attempts are counted here. It does not parse the reply: its types drop unknown fields, and bytes fields come back
in another base64 alphabet, while a model's content has to go back as it came; so the body is read by
:mod:`skillassay.models.gemini_wire` and ``contents`` is handed over as ``extra_body``. It does not read the
environment: the backend, the endpoint, the API version and the key are all passed. A timed-out attempt is not retried.

It does not limit an attempt either, so :mod:`skillassay.models.attempt` does, through hooks of its HTTP client.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from skillassay.errors import Stage
from skillassay.models import calls
from skillassay.models.attempt import BadEncoding, TooLarge
from skillassay.models.base import Address, ModelIdentity, ModelReply, ModelRequest
from skillassay.models.client import OnSdk
from skillassay.models.endpoint import PUBLIC_ENDPOINTS, address_digest, bare_endpoint, client_settings, secrets_in
from skillassay.models.gemini_wire import build_contents, ordered_schema, quota_of, read_reply
from skillassay.models.retry import AttemptFailed, RetryPolicy

DEFAULT_API_VERSION = "v1beta"
"""Passed always, since the SDK's own default differs between its lines 2 and 3; `-latest` aliases exist only here."""


@dataclass(kw_only=True, eq=False)
class GeminiModel(OnSdk["_Sdk"]):
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

    @property
    def identity(self) -> ModelIdentity:
        """Who is asked; the endpoint without user, password and query."""
        url = self.base_url or PUBLIC_ENDPOINTS["gemini"]
        endpoint, address = (None, None) if self.is_fixture else (bare_endpoint(url), address_digest(url))
        return ModelIdentity(
            provider=self.provider, name=self.name, endpoint=endpoint, is_fixture=self.is_fixture, address=address
        )

    @property
    def address(self) -> Address:
        """For an agent that asks this model by itself."""
        return Address(provider=self.provider, name=self.name, base_url=self.base_url, api_key=self.api_key)

    def generate(self, request: ModelRequest) -> ModelReply:
        """Answer ``request``; see :meth:`skillassay.models.base.Model.generate`."""
        sdk = self._opened()
        contents = build_contents(request.turns)
        settings = _settings(request)
        return calls.call_model(
            request,
            ask=lambda timeout_s: sdk.post(self.name, contents, settings, timeout_s=timeout_s, stage=request.stage),
            read=partial(read_reply, stage=request.stage, estimated=self.is_fixture),
            retry=self.retry,
            secrets={self.api_key, *secrets_in(self.base_url or "")},
        )

    def _open(self) -> _Sdk:
        return _open_sdk(
            api_key=self.api_key,
            base_url=self.base_url or PUBLIC_ENDPOINTS["gemini"],
            api_version=self.api_version or DEFAULT_API_VERSION,
        )


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
    broken_errors: tuple[type[Exception], ...]

    def post(
        self, name: str, contents: list[dict[str, Any]], settings: Mapping[str, Any], *, timeout_s: float, stage: Stage
    ) -> None:
        """One HTTP attempt; whatever is no answer is an :class:`AttemptFailed`."""
        # The SDK wants contents of its own types; extra_body replaces them by the real ones, whole and untouched.
        stand_in = {"role": "user", "parts": [{"text": ""}]}
        config = self.types.GenerateContentConfig(
            **settings,
            **self._fixed(),
            http_options=self.types.HttpOptions(
                timeout=max(1, round(timeout_s * 1000)), extra_body={"contents": contents}
            ),
        )
        try:
            self.client.models.generate_content(model=name, contents=[stand_in], config=config)
        except self.api_error as error:
            raise refused(error, stage) from None
        except self.timeouts:
            raise calls.late(timeout_s, stage) from None
        except self.broken_errors as error:
            raise calls.broken(error, stage) from None

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
    client = genai.Client(
        vertexai=False,
        api_key=api_key,
        debug_config=genai_client.DebugConfig(client_mode=None, replays_directory=None, replay_id=None),
        http_options=types.HttpOptions(
            base_url=base_url, api_version=api_version, client_args=client_settings(base_url)
        ),
    )
    # 3.x speaks through httpx2, 2.x through httpx; whichever is loaded may raise its own errors through the SDK.
    loaded = [sys.modules[name] for name in ("httpx2", "httpx") if name in sys.modules]
    return _Sdk(
        client=client,
        types=types,
        api_error=errors.APIError,
        timeouts=tuple(module.TimeoutException for module in loaded),
        broken_errors=(TooLarge, BadEncoding, *(module.RequestError for module in loaded)),
    )


def refused(error: Any, stage: Stage) -> AttemptFailed:
    """Classify an HTTP status other than 200, as the SDK raises it."""
    code = int(error.code or 0)
    status = str(error.status or "")
    details = _details(error.details)
    kind = None
    if status == "FIXTURE_MISS":
        kind = "fixture_miss"
    elif code == 429:
        kind = quota_of(details)
    elif any(detail.get("reason") == "API_KEY_INVALID" for detail in details):  # told as a 400 by this API
        kind = "auth"
    delays = [
        calls.seconds(str(detail.get("retryDelay", "")).removesuffix("s"))
        for detail in details
        if str(detail.get("@type", "")).endswith("google.rpc.RetryInfo")
    ]
    return calls.refused(
        code,
        f"HTTP {code} {status}: {error.message or 'no message'}",
        stage,
        kind=kind,
        asked_delay_s=calls.asked_delay_s(getattr(error.response, "headers", None) or {}, *delays),
    )


def _details(body: Any) -> list[dict[str, Any]]:
    error = body.get("error", body) if isinstance(body, dict) else {}
    details = error.get("details") if isinstance(error, dict) else None
    return [detail for detail in details if isinstance(detail, dict)] if isinstance(details, list) else []
