"""Addresses of models: what may be recorded, what is secret, what leads to this machine."""

from __future__ import annotations

import pytest

from skillassay.models.endpoint import bare_endpoint, client_settings, is_loopback, secrets_in


@pytest.mark.parametrize(
    ("url", "bare", "secrets"),
    [
        ("https://example.org", "https://example.org", set()),
        ("https://example.org:8443/base/?token=0123456789", "https://example.org:8443/base", {"0123456789"}),
        ("https://user:p%2Fw@example.org/v1", "https://example.org/v1", {"p%2Fw", "p/w", "dXNlcjpwL3c="}),
        ("https://user@example.org/v1?api-version=2", "https://example.org/v1", set()),
        ("http://a:b@c:d@[::1]:80/x#f", "http://[::1]:80/x", {"b@c:d", "YTpiQGM6ZA=="}),
        ("https://a-long-user@e.org", "https://e.org", {"a-long-user", "YS1sb25nLXVzZXI6"}),
        ("https://e.org/?a-token-alone", "https://e.org", {"a-token-alone"}),
        ("", "://", set()),
    ],
)
def test_a_record_says_where_and_no_secret(url: str, bare: str, secrets: set[str]) -> None:
    """Scheme, host, port and path alone; the password in each spelling, and what is long of user and query."""
    assert bare_endpoint(url) == bare
    assert secrets_in(url) == secrets


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://127.0.0.1:8080/v1", True),
        ("http://LOCALHOST/v1", True),
        ("http://[::1]:80", True),
        ("http://127.0.0.1.example.org", False),
        ("http://localhost@example.org", False),
        ("https://example.org", False),
    ],
)
def test_this_machine_is_known_by_its_name_alone(url: str, here: bool) -> None:
    """No proxy stands before it; anywhere else the user's own settings hold. No redirect is followed anywhere."""
    assert is_loopback(url) is here
    settings = client_settings(url)
    assert settings["follow_redirects"] is False
    assert settings.get("trust_env", True) is not here
    assert ("verify" in settings) is (here and url.startswith("http:"))
