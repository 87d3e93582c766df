"""From a model's name to an open model. Owns where keys and addresses come from.

    gemini   GEMINI_API_KEY, else GOOGLE_API_KEY; another endpoint: GOOGLE_GEMINI_BASE_URL
    openai   OPENAI_API_KEY; another endpoint: OPENAI_BASE_URL; one on this machine needs no key
    a judge  SKILLASSAY_JUDGE_API_KEY and SKILLASSAY_JUDGE_BASE_URL come before all of these, for a second judge
             SKILLASSAY_SECOND_JUDGE_API_KEY and SKILLASSAY_SECOND_JUDGE_BASE_URL

An address given by option comes before the environment's. No file of a project names an address: whoever writes one
would choose where a key is sent. Keys come from the environment alone. A server or an SDK is imported when a model is
opened, never before: listing, checking and help must start without them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from skillassay.agents.launching import secret_variables
from skillassay.errors import EnvironmentFault, InputError
from skillassay.models.base import Model, ModelIdentity
from skillassay.models.endpoint import PUBLIC_ENDPOINTS, address_digest, bare_endpoint, is_loopback
from skillassay.models.naming import AGENT, FIXTURE, GEMINI, OPENAI, REPLAY, parse_model
from skillassay.models.retry import RetryPolicy

if TYPE_CHECKING:
    from skillassay.fixture.base import FixtureRules

GEMINI_KEY_VARIABLES = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
JUDGE_KEY_VARIABLE, SECOND_KEY_VARIABLE = "SKILLASSAY_JUDGE_API_KEY", "SKILLASSAY_SECOND_JUDGE_API_KEY"
KEY_VARIABLES = (*GEMINI_KEY_VARIABLES, "OPENAI_API_KEY", JUDGE_KEY_VARIABLE, SECOND_KEY_VARIABLE, "ANTHROPIC_API_KEY")
"""Variables that hold a model provider's key."""

JUDGE_BASE_URL_VARIABLE = "SKILLASSAY_JUDGE_BASE_URL"
_OWN_KEYS = {"judge": (JUDGE_KEY_VARIABLE,), "second": (SECOND_KEY_VARIABLE,)}
_OWN_BASE_URLS = {"judge": (JUDGE_BASE_URL_VARIABLE,), "second": ("SKILLASSAY_SECOND_JUDGE_BASE_URL",)}
_BASE_URLS = {GEMINI: "GOOGLE_GEMINI_BASE_URL", OPENAI: "OPENAI_BASE_URL"}
_KEYS = {GEMINI: GEMINI_KEY_VARIABLES, OPENAI: ("OPENAI_API_KEY",)}
_TITLES = {GEMINI: "the Gemini API", OPENAI: "an OpenAI-compatible endpoint"}

FIXTURE_RETRY = RetryPolicy(first_delay_s=0.01, max_delay_s=0.05)
"""An authored error comes again at every attempt, so waiting long for another outcome would be theatre."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """How to open a model: for which side (``candidate``, ``judge`` or ``second``), at which address, by whose rules.

    ``rules`` are the fixture's; ``retry`` replaces the provider's default policy; ``root`` is where a recording's path
    begins.
    """

    side: str = "candidate"
    base_url: str | None = None
    rules: FixtureRules | None = None
    retry: RetryPolicy | None = None
    root: Path = Path()


def api_keys_in_environment() -> tuple[str, ...]:
    """The names of the variables that are set to something and hold a key, by our list or by what they are called."""
    ours = (name for name in KEY_VARIABLES if os.environ.get(name, "").strip())
    return tuple(sorted({*ours, *secret_variables()}))


@contextmanager
def open_model(spec: str, how: Opening = Opening()) -> Iterator[Model]:
    """Open the model that ``spec`` names and close it at the end.

    Raises :class:`UsageError` for an unknown form, :class:`EnvironmentFault` without a usable key, endpoint or program,
    :class:`InputError` for a fixture without rules or a recording that cannot be read.
    """
    provider, name = parse_model(spec)
    if provider == FIXTURE:
        with _fixture(how) as model:
            yield model
        return
    with closing(_opened(provider, name, how)) as model:
        yield model


def _opened(provider: str, name: str, how: Opening) -> Model:
    # Imported here: each of these costs what only a run with it may cost.
    if provider == REPLAY:
        from skillassay.models.replay import load_replay

        return load_replay(how.root / name, side=how.side, name=name)
    if provider == AGENT:
        from skillassay.models.agent import load_agent_model

        return load_agent_model(name)
    base_url = _base_url(provider, how)
    api_key = _api_key(provider, how, base_url)
    retry = how.retry or RetryPolicy()
    if provider == OPENAI:
        from skillassay.models.openai_chat import OpenAIModel, require_sdk

        require_sdk()
        return OpenAIModel(name=name, api_key=api_key, base_url=base_url, retry=retry)
    from skillassay.models.gemini import GeminiModel

    return GeminiModel(name=name, api_key=api_key, base_url=base_url, retry=retry)


def identity_unasked(provider: str, name: str, how: Opening) -> ModelIdentity:
    """Who would be asked, as a record says it, where nobody can be; no endpoint without a usable address."""
    endpoint = address = None
    with suppress(EnvironmentFault):
        if provider in _BASE_URLS:
            url = _base_url(provider, how) or PUBLIC_ENDPOINTS[provider]
            endpoint, address = bare_endpoint(url), address_digest(url)
    return ModelIdentity(provider=provider, name=name, endpoint=endpoint, is_fixture=False, address=address)


def judge_has_own_variables() -> bool:
    """Whether the environment gives the judge a key or an address of its own."""
    return any(os.environ.get(name, "").strip() for name in (JUDGE_KEY_VARIABLE, JUDGE_BASE_URL_VARIABLE))


def require_rules(rules: FixtureRules | None) -> FixtureRules:
    """The fixture's rules. Raises :class:`InputError` when there are none."""
    if rules is None or not (rules.subject or rules.judge or rules.pairwise):
        raise InputError(
            "the fixture model has no rules, so it could answer nothing",
            hint="write evals/fixtures/*.yaml (docs/reference/fixtures.md), or name a model with --model gemini:NAME",
        )
    return rules


@contextmanager
def _fixture(how: Opening) -> Iterator[Model]:
    rules = require_rules(how.rules)
    # Imported here: the server costs what only a run may cost.
    from skillassay.fixture.server import FixtureServer
    from skillassay.models.gemini import GeminiModel

    with (
        FixtureServer(rules) as server,
        closing(
            GeminiModel(
                name=FIXTURE,
                api_key="no-key",  # the SDK asks for one even here
                base_url=server.base_url,
                provider=FIXTURE,
                is_fixture=True,
                retry=how.retry or FIXTURE_RETRY,
            )
        ) as model,
    ):
        yield model


def _api_key(provider: str, how: Opening, base_url: str | None) -> str:
    names = _OWN_KEYS.get(how.side, ()) + _KEYS[provider]
    for variable in names:
        key = os.environ.get(variable, "").strip()
        if key:
            # A header carries nothing else, and the HTTP library's own complaint would show the key.
            if not (key.isascii() and key.isprintable() and " " not in key):
                raise EnvironmentFault(f"{variable} holds characters that no key has", hint="set it again, key alone")
            return key
    if provider == OPENAI and base_url is not None and is_loopback(base_url):
        return "no-key"  # a server on this machine asks for none, and the SDK does
    local = ", or an OPENAI_BASE_URL at a loopback address, which needs none" if provider == OPENAI else ""
    raise EnvironmentFault(
        f"no key for {_TITLES[provider]}: neither {' nor '.join(names)} is set"
        if len(names) > 1
        else f"no key for {_TITLES[provider]}: {names[0]} is not set",
        hint=f"export {_KEYS[provider][0]}=…{local}, or run on authored answers with --model fixture",
    )


def _base_url(provider: str, how: Opening) -> str | None:
    given = [("the option for the base URL", how.base_url)]
    names = (*_OWN_BASE_URLS.get(how.side, ()), _BASE_URLS[provider])
    given += [(name, os.environ.get(name)) for name in names]
    for source, text in given:
        if text and (url := text.strip()):
            return _usable(url, source)
    return None


def _usable(url: str, source: str) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        # The value is not shown: it may hold a password.
        raise EnvironmentFault(f"{source} is no http or https address", hint="write https://HOST[:PORT]")
    return url
