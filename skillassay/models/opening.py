"""From a model's name on the command line to an open model. Owns the names and where keys come from.

    fixture        authored answers behind a local server; no key, no network
    gemini:NAME    a model of the Gemini API; the key is in GEMINI_API_KEY or, where that is not set, GOOGLE_API_KEY,
                   and GOOGLE_GEMINI_BASE_URL may name another endpoint

Keys come from the environment alone. A server or an SDK is imported when a model is opened, never before: listing,
checking and help must start without them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from skillassay.errors import EnvironmentFault, InputError, UsageError
from skillassay.models.base import Model
from skillassay.retry import RetryPolicy

if TYPE_CHECKING:
    from skillassay.fixture.base import FixtureRules

FIXTURE = "fixture"
GEMINI = "gemini"

GEMINI_KEY_VARIABLES = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
KEY_VARIABLES = (*GEMINI_KEY_VARIABLES, "ANTHROPIC_API_KEY", "OPENAI_API_KEY")
"""Variables that hold a model provider's key, whether or not this version can use it."""

BASE_URL_VARIABLE = "GOOGLE_GEMINI_BASE_URL"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)*")
_FORMS = "write `fixture` or `gemini:NAME`, for example gemini:gemini-3.5-flash"
_NOT_YET = frozenset({"openai", "replay"})

FIXTURE_RETRY = RetryPolicy(first_delay_s=0.01, max_delay_s=0.05)
"""An authored error comes again at every attempt, so waiting long for another outcome would be theatre."""


def parse_model(spec: str) -> tuple[str, str]:
    """Provider and name of ``fixture`` or ``gemini:NAME``. Raises :class:`UsageError` for every other form."""
    if spec == FIXTURE:
        return FIXTURE, FIXTURE
    provider, colon, name = spec.partition(":")
    if provider in _NOT_YET:
        raise UsageError(f"model {spec!r}: the provider {provider} is not there yet", hint=_FORMS)
    if provider != GEMINI or not colon:
        raise UsageError(f"model {spec!r} names no known provider", hint=_FORMS)
    if not _NAME.fullmatch(name):
        raise UsageError(f"model {spec!r}: {name!r} is not the name of a model", hint=_FORMS)
    return GEMINI, name


def api_keys_in_environment() -> tuple[str, ...]:
    """The names of the key variables that are set to something."""
    return tuple(name for name in KEY_VARIABLES if os.environ.get(name, "").strip())


@contextmanager
def open_model(spec: str, *, rules: FixtureRules | None = None, retry: RetryPolicy | None = None) -> Iterator[Model]:
    """Open the model that ``spec`` names and close it at the end.

    ``rules`` are the fixture's; ``retry`` replaces the provider's default policy. Raises :class:`UsageError` for an
    unknown form, :class:`EnvironmentFault` without a usable key or endpoint, :class:`InputError` for a fixture without
    rules.
    """
    provider, name = parse_model(spec)
    opened = _fixture(rules, retry or FIXTURE_RETRY) if provider == FIXTURE else _gemini(name, retry or RetryPolicy())
    with opened as model:
        yield model


def require_rules(rules: FixtureRules | None) -> FixtureRules:
    """The fixture's rules. Raises :class:`InputError` when there are none."""
    if rules is None or not (rules.subject or rules.judge):
        raise InputError(
            "the fixture model has no rules, so it could answer nothing",
            hint="write evals/fixtures/*.yaml (docs/reference/fixtures.md), or name a model with --model gemini:NAME",
        )
    return rules


@contextmanager
def _fixture(rules: FixtureRules | None, retry: RetryPolicy) -> Iterator[Model]:
    rules = require_rules(rules)
    # Imported here: the server costs what only a run may cost.
    from skillassay.fixture.server import FixtureServer
    from skillassay.models.gemini import GeminiModel

    with FixtureServer(rules) as server:
        model = GeminiModel(
            name=FIXTURE,
            api_key="no-key",  # the SDK asks for one even here
            base_url=server.base_url,
            provider=FIXTURE,
            is_fixture=True,
            retry=retry,
        )
        try:
            yield model
        finally:
            model.close()


@contextmanager
def _gemini(name: str, retry: RetryPolicy) -> Iterator[Model]:
    # Imported here: see _fixture.
    from skillassay.models.gemini import GeminiModel

    model = GeminiModel(name=name, api_key=_gemini_key(), base_url=_base_url(), retry=retry)
    try:
        yield model
    finally:
        model.close()


def _gemini_key() -> str:
    for variable in GEMINI_KEY_VARIABLES:
        key = os.environ.get(variable, "").strip()
        if key:
            # A header carries nothing else, and the HTTP library's own complaint would show the key.
            if not (key.isascii() and key.isprintable() and " " not in key):
                raise EnvironmentFault(f"{variable} holds characters that no key has", hint="set it again, key alone")
            return key
    raise EnvironmentFault(
        "no key for the Gemini API: neither GEMINI_API_KEY nor GOOGLE_API_KEY is set",
        hint="export GEMINI_API_KEY=…, or run on authored answers with --model fixture",
    )


def _base_url() -> str | None:
    url = os.environ.get(BASE_URL_VARIABLE, "").strip()
    if not url:
        return None
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        # The value is not shown: it may hold a password.
        raise EnvironmentFault(f"{BASE_URL_VARIABLE} is no http or https address", hint="write https://HOST[:PORT]")
    return url
