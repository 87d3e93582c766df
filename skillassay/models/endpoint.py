"""Addresses of models: what a record may say of one, what of it is secret, and how it is reached. Opens nothing."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import scrypt
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from skillassay.models.attempt import HOOKS

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


@cache
def address_digest(url: str) -> str | None:
    """What tells addresses apart that a record calls alike; None where nothing was stripped from ``url``.

    A user, a password or a query may choose another model behind the same path. One way, and slow on purpose: a record
    may be shown to people who should not be able to try out passwords.
    """
    parts = urlsplit(url)
    told = [parts.username or "", parts.password or "", parts.query]
    if not any(told):
        return None
    words = "\n".join([str(len(word)) + ":" + word for word in told]).encode()
    return scrypt(words, salt=bare_endpoint(url).encode(), n=2**14, r=8, p=1, dklen=8).hex()


def secrets_in(url: str) -> frozenset[str]:
    """What of ``url`` no message may repeat: its password, as written, as meant and as sent, and what is long of its
    user and its query.
    """
    parts = urlsplit(url)
    user, password = parts.username or "", parts.password or ""
    told = [value or name for name, value in parse_qsl(parts.query, keep_blank_values=True)]
    words = {word for word in (user, unquote(user), *told) if len(word) >= MIN_SECRET_CHARS}
    sent = b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode()
    words |= {password, unquote(password), sent} if password or user in words else set()
    return frozenset(words) - {""}


def client_settings(url: str) -> dict[str, Any]:
    """The arguments of an httpx or httpx2 client for ``url``, all of whose requests are made inside an attempt."""
    # A redirect is not followed: the key's header would go with it to another host.
    settings: dict[str, Any] = {"follow_redirects": False, "event_hooks": HOOKS}
    if is_loopback(url):
        settings["trust_env"] = False  # no proxy of the environment stands before this machine itself
        if urlsplit(url).scheme == "http":
            settings["verify"] = False  # no TLS: loading the certificates would cost more than the first calls
    return settings
