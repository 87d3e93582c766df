"""Addresses of models: what a record may say of one, what of it is secret, and how it is reached. Opens nothing."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from skillassay.attempt import HOOKS

PUBLIC_ENDPOINTS = {"gemini": "https://generativelanguage.googleapis.com", "openai": "https://api.openai.com/v1"}
"""Where a provider's model is asked when nobody names another address."""

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
MIN_SECRET_CHARS = 8
"""A shorter value of a query is a version or a switch; taking each occurrence out of a message would garble it."""


def is_loopback(url: str) -> bool:
    """Whether ``url`` leads to this machine."""
    return urlsplit(url).hostname in LOOPBACK


def bare_endpoint(url: str) -> str:
    """Scheme, host, port and path of ``url``: what a record may say."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"


def secrets_in(url: str) -> frozenset[str]:
    """What of ``url`` no message may repeat: its password, as written and as meant, and long values of its query."""
    parts = urlsplit(url)
    password = parts.password or ""
    values = [value for _, value in parse_qsl(parts.query) if len(value) >= MIN_SECRET_CHARS]
    return frozenset({password, unquote(password), *values}) - {""}


def client_settings(url: str) -> dict[str, Any]:
    """The arguments of an httpx or httpx2 client for ``url``, all of whose requests are made inside an attempt."""
    # A redirect is not followed: the key's header would go with it to another host.
    settings: dict[str, Any] = {"follow_redirects": False, "event_hooks": HOOKS}
    if is_loopback(url):
        settings["trust_env"] = False  # no proxy of the environment stands before this machine itself
        if urlsplit(url).scheme == "http":
            settings["verify"] = False  # no TLS: loading the certificates would cost more than the first calls
    return settings
