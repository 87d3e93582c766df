"""Any endpoint that speaks OpenAI's chat completions, through the openai SDK. Owns the SDK; nothing else imports it.

Chat completions and not the newer responses format, since llama.cpp, vLLM, Ollama and the gateways all speak it. The
SDK builds the request, speaks HTTP and names HTTP errors. Kept from it on purpose: retries (attempts are counted by
:mod:`skillassay.models.calls`), the reply (read strictly by :mod:`skillassay.models.openai_wire`, never by the SDK's
types, which take anything), the body (sent as it was built), and the environment: it would add an organization, a
project and any header that a variable names, to whatever endpoint is asked.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from typing import Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from skillassay.errors import EnvironmentFault, Reason, Stage, TrialError
from skillassay.models import calls
from skillassay.models.attempt import Attempt, BadEncoding, TooLarge
from skillassay.models.base import Address, ModelIdentity, ModelReply, ModelRequest
from skillassay.models.client import OnSdk
from skillassay.models.endpoint import PUBLIC_ENDPOINTS, address_digest, bare_endpoint, client_settings, secrets_in
from skillassay.models.openai_wire import build_messages, build_response_format, build_tools, read_reply, told_error
from skillassay.models.retry import AttemptFailed, RetryPolicy

PROVIDER = "openai"
OWN_HOSTS = ("api.openai.com", ".api.openai.com", ".openai.azure.com")
"""Where the limit is called ``max_completion_tokens``, and the older name is refused by the newer models. Everywhere
else it is ``max_tokens``, the only name that all compatible servers know."""

SENT_HEADERS = frozenset({
    "host", "accept", "accept-encoding", "connection", "content-length", "content-type", "user-agent", "authorization",
})  # fmt: skip
BLOCKED_CODES = frozenset({"content_filter", "content_policy_violation", "invalid_prompt"})
"""Codes of a refusal by a filter of the prompt (Azure and OpenAI tell it as a 400)."""
SPENT_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
PER_DAY = re.compile(r"per[- ]day\b", re.IGNORECASE)
"""How a limit of a day is told, in words alone: "on requests per day (RPD)", "free-models-per-day"."""


@dataclass(kw_only=True, eq=False)
class OpenAIModel(OnSdk["_Sdk"]):
    """One model at one endpoint. The SDK client is made at the first call and shared by all threads."""

    name: str
    api_key: str = field(repr=False)
    base_url: str | None = field(default=None, repr=False)  # it may hold a gateway's password
    retry: RetryPolicy = field(default_factory=RetryPolicy)

    @property
    def identity(self) -> ModelIdentity:
        """Who is asked; the endpoint without user, password and query."""
        url = self.base_url or PUBLIC_ENDPOINTS[PROVIDER]
        endpoint, address = bare_endpoint(url), address_digest(url)
        return ModelIdentity(provider=PROVIDER, name=self.name, endpoint=endpoint, is_fixture=False, address=address)

    @property
    def address(self) -> Address:
        """For an agent that asks this model by itself."""
        return Address(provider=PROVIDER, name=self.name, base_url=self.base_url, api_key=self.api_key)

    def generate(self, request: ModelRequest) -> ModelReply:
        """Answer ``request``; see :meth:`skillassay.models.base.Model.generate`."""
        sdk = self._opened()
        body = build_body(request, name=self.name, base_url=self.base_url or PUBLIC_ENDPOINTS[PROVIDER])
        return calls.call_model(
            request,
            ask=lambda timeout_s: sdk.post(body, timeout_s=timeout_s, stage=request.stage),
            read=partial(read_reply, stage=request.stage),
            retry=self.retry,
            secrets={self.api_key, *secrets_in(self.base_url or "")},
        )

    def _open(self) -> _Sdk:
        return _open_sdk(api_key=self.api_key, base_url=self.base_url or PUBLIC_ENDPOINTS[PROVIDER])


def require_sdk() -> None:
    """Raise :class:`EnvironmentFault` where the SDK, an extra, is not installed. Does not import it."""
    if find_spec("openai") is None:
        raise EnvironmentFault("a model openai:NAME needs the openai package", hint="pip install 'skillassay[openai]'")


def build_body(request: ModelRequest, *, name: str, base_url: str) -> dict[str, Any]:
    """The JSON of a request; a field that is None is not sent."""
    host = urlsplit(base_url).hostname or ""
    is_own = any(host == own or (own.startswith(".") and host.endswith(own)) for own in OWN_HOSTS)
    body: dict[str, Any] = {
        "model": name,
        "messages": build_messages(request.system, request.turns),
        "temperature": request.temperature,
        "max_completion_tokens" if is_own else "max_tokens": request.max_output_tokens,
        "seed": request.seed,
        "tools": build_tools(request.tools) or None,
        "response_format": None if request.response_schema is None else build_response_format(request.response_schema),
    }
    return {key: value for key, value in body.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sdk:
    """The opened SDK: its client and the classes that are needed of it, which the type checker sees as ``Any``."""

    client: Any
    response: Any
    status_error: type[Exception]
    timeout_error: type[Exception]
    connection_error: type[Exception]

    def post(self, body: dict[str, Any], *, timeout_s: float, stage: Stage) -> None:
        """One HTTP attempt; whatever is no answer is an :class:`AttemptFailed`."""
        try:
            self.client.post("/chat/completions", cast_to=self.response, body=body, options={"timeout": timeout_s})
        except self.status_error as error:
            raise _refused(error, stage) from None
        except self.timeout_error:
            raise calls.late(timeout_s, stage) from None
        except self.connection_error as error:
            raise calls.broken(error.__cause__ or error, stage) from None
        except (TooLarge, BadEncoding) as error:
            raise calls.broken(error, stage) from None
        told = told_error(bytes(Attempt.running().body))
        if told is not None:
            raise _told_refusal(200, told, {}, stage)


def _open_sdk(*, api_key: str, base_url: str) -> _Sdk:
    # Imported here because it takes several hundred milliseconds, which only a call to a model may cost.
    import openai

    client_class: Any = openai.DefaultHttpxClient
    libraries = (base.__module__.partition(".")[0] for base in client_class.__mro__)
    library = sys.modules[next(name for name in libraries if name.startswith("httpx"))]  # httpx2 since openai 3
    settings = client_settings(base_url)
    parts = urlsplit(base_url)
    password_in_url = parts.password is not None

    def only_own_headers(request: Any) -> None:
        for name in set(request.headers) - SENT_HEADERS:
            del request.headers[name]
        if not password_in_url:  # a user and a password go in this very header, and stand there already
            request.headers["authorization"] = f"Bearer {api_key}"

    hooks = settings.pop("event_hooks")
    client = openai.OpenAI(
        api_key=api_key,
        base_url=urlunsplit(parts._replace(query="", fragment="")),
        default_query=dict(parse_qsl(parts.query)),
        max_retries=0,
        http_client=client_class(**settings, event_hooks={**hooks, "request": [*hooks["request"], only_own_headers]}),
    )
    return _Sdk(
        client=client,
        response=library.Response,
        status_error=openai.APIStatusError,
        timeout_error=openai.APITimeoutError,
        connection_error=openai.APIConnectionError,
    )


def _refused(error: Any, stage: Stage) -> AttemptFailed:
    """Classify an HTTP status other than 200, by what its body says where that is of the format."""
    body = bytes(Attempt.running().body)
    told = told_error(body)
    return _told_refusal(
        int(error.status_code), body.decode(errors="replace") if told is None else told, error.response.headers, stage
    )


def _told_refusal(status: int, told: Any, headers: Any, stage: Stage) -> AttemptFailed:
    """``told`` is the error object, or whatever stands in its place. A gateway's 200 names the real status inside."""
    said: dict[str, Any] = told if isinstance(told, dict) else {"message": told}
    code = said.get("code")
    if status == 200:
        status = code if type(code) is int and 400 <= code < 600 else 200
    words = [str(said[key]) for key in ("code", "type") if isinstance(said.get(key), str)]
    message = f"{' '.join(['HTTP', str(status), *words])}: {said.get('message') or 'no message'}"
    metadata = said.get("metadata")
    if (isinstance(code, str) and code in BLOCKED_CODES) or (
        isinstance(metadata, dict) and "flagged_input" in metadata
    ):
        error = TrialError(message, reason=Reason.BLOCKED, stage=stage, kind="prompt")
        return AttemptFailed(error, may_retry=False)
    kind = None
    if status == 429 and (SPENT_CODES.intersection(words) or PER_DAY.search(message)):
        kind = calls.QUOTA_DAY
    elif status == 402:  # gateways: no credit is left
        kind = "quota"
    elif status == 200:
        kind = "request"
    milliseconds = calls.seconds(headers.get("retry-after-ms") or "")
    asked = calls.asked_delay_s(headers, None if milliseconds is None else milliseconds / 1000)
    return calls.refused(status, message, stage, kind=kind, asked_delay_s=asked)
