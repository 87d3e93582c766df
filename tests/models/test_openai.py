"""Chat completions through the real SDK against real local servers: what is sent, and what never is."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import traceback
from collections.abc import Callable
from typing import Any

import pytest

from skillassay.errors import EnvironmentFault, Exit, Reason, TrialError
from skillassay.models import openai_chat
from skillassay.models.base import ModelRequest
from skillassay.models.openai_chat import OpenAIModel, build_body
from skillassay.models.opening import open_model
from skillassay.transcript import Tool, UserTurn
from tests.models.wire_server import (
    ASK,
    CHAT_OK,
    KEY,
    Canned,
    Clock,
    WireServer,
    ask_chat,
    chat,
    chat_refusal,
    chatting,
    opened,
    policy,
    refused_chat,
)

SCHEMA = {"type": "object", "properties": {"z": {"type": "string"}, "a": {"type": "string"}}}
FULL = ModelRequest(
    system="Système",
    turns=(UserTurn(text="été"),),
    tools=(Tool(name="load_skill", description="Loads", parameters={"type": "object", "properties": {}}),),
    response_schema=SCHEMA,
    temperature=0.5,
    max_output_tokens=800,
    seed=7,
)


def body_of(request: ModelRequest) -> Any:
    """The JSON that a request becomes on the wire."""
    with chatting(CHAT_OK) as (model, server):
        model.generate(request)
    assert server.seen[0].path == "/v1/chat/completions"
    return json.loads(server.seen[0].body)


def test_a_request_says_all_and_nothing_more() -> None:
    """Each field of the request has one place on the wire; the schema keeps its order."""
    body = body_of(FULL)
    assert list(body["response_format"]["json_schema"]["schema"]["properties"]) == ["z", "a"]
    assert body == {
        "model": "chat-x",
        "messages": [{"role": "system", "content": "Système"}, {"role": "user", "content": "été"}],
        "temperature": 0.5,
        "max_tokens": 800,
        "seed": 7,
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "load_skill",
                    "description": "Loads",
                    "parameters": {"type": "object", "properties": {}},
                },
            }
        ],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "reply", "strict": False, "schema": SCHEMA},
        },
    }


def test_what_is_none_is_not_sent() -> None:
    """Without tools, schema, system text and limits nothing of them stands there."""
    body = body_of(ModelRequest(system="", turns=ASK.turns, temperature=None))
    assert body == {"model": "chat-x", "messages": [{"role": "user", "content": "Combien ?"}]}


@pytest.mark.parametrize(
    ("base_url", "name"),
    [
        ("https://api.openai.com/v1", "max_completion_tokens"),
        ("https://eu.api.openai.com/v1", "max_completion_tokens"),
        ("https://mine.openai.azure.com/openai/v1", "max_completion_tokens"),
        ("http://127.0.0.1:8080/v1", "max_tokens"),
        ("https://openrouter.ai/api/v1", "max_tokens"),
        ("https://api.openai.com.example.org/v1", "max_tokens"),
        ("https://notapi.openai.com.example/v1", "max_tokens"),
    ],
)
def test_the_limit_has_the_name_that_the_endpoint_knows(base_url: str, name: str) -> None:
    """OpenAI's newer models refuse the old name, and most other servers know no other."""
    body = build_body(FULL, name="m", base_url=base_url)
    assert {key: value for key, value in body.items() if "tokens" in key} == {name: 800}


def test_equal_requests_are_equal_bytes() -> None:
    """The same request object gives the same body twice, whatever was sent in between."""
    with chatting(CHAT_OK) as (model, server):
        for request in (ASK, FULL, ASK, FULL):
            model.generate(request)
    first, full, second, full_again = (seen.body for seen in server.seen)
    assert (first, full) == (second, full_again)


HOSTILE = {
    "OPENAI_API_KEY": "other-key",
    "OPENAI_ADMIN_KEY": "admin-key",
    "OPENAI_ORG_ID": "org-1",
    "OPENAI_PROJECT_ID": "project-1",
    "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
    "OPENAI_CUSTOM_HEADERS": "X-Secret: third-key\nAuthorization: Bearer fourth-key",
    "AZURE_OPENAI_ENDPOINT": "http://127.0.0.1:9",
    "AZURE_OPENAI_API_KEY": "fifth-key",
    "OPENAI_API_TYPE": "azure",
    "HTTP_PROXY": "http://127.0.0.1:9",
    "http_proxy": "http://127.0.0.1:9",
    "ALL_PROXY": "http://127.0.0.1:9",
}


def test_the_environment_changes_nothing_of_a_request(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Endpoint, key, headers and proxy are ours: no organization and no header of a variable goes to an endpoint."""
    for name, value in HOSTILE.items():
        monkeypatch.setenv(name, value)
    with chatting(CHAT_OK) as (model, server), caplog.at_level(logging.CRITICAL + 1, logger="root"):
        model.generate(ASK)
    (seen,) = server.seen
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert set(seen.headers) == openai_chat.SENT_HEADERS
    assert not any(value in str(seen.headers) for name, value in HOSTILE.items() if "PROXY" not in name.upper())
    assert capfd.readouterr() == ("", "")


def test_a_password_in_the_address_goes_in_the_place_of_the_key() -> None:
    """There is one header for both; the query goes along, and neither is in the identity."""
    with WireServer(CHAT_OK) as server:
        url = server.base_url.replace("//", "//user:pw@") + "/gw/v1?api-version=2"
        with opened(OpenAIModel, url) as model:
            model.generate(ASK)
            assert model.identity.endpoint == f"{server.base_url}/gw/v1"
    (seen,) = server.seen
    assert seen.path == "/gw/v1/chat/completions?api-version=2"
    assert seen.headers["authorization"] == "Basic dXNlcjpwdw=="  # user:pw, RFC 7617


def test_without_an_address_it_is_openais_own() -> None:
    """Named in full, so that a record says it."""
    model = OpenAIModel(name="gpt-x", api_key=KEY)
    assert (model.identity.endpoint, model.identity.label) == ("https://api.openai.com/v1", "openai:gpt-x")
    assert KEY not in repr(model) + repr(model.identity) + repr(model.address)
    assert model.address.api_key == KEY


def test_the_name_as_answered_is_told() -> None:
    """A router may answer with another model than the one that was asked for."""
    assert ask_chat(CHAT_OK).model == "chat-x-1"
    assert ask_chat(Canned(body=b'{"model":1,"choices":[{"finish_reason":"stop"}]}')).model is None


def test_an_answer_after_retries_says_how_many_attempts_it_took() -> None:
    """Retries are counted here and not by the SDK, and the requests are equal."""
    with chatting(chat_refusal(503), Canned(drop=True), chat_refusal(429), CHAT_OK) as (model, server):
        assert model.generate(ASK).n_attempts == len(server.seen) == 4
    assert len({seen.body for seen in server.seen}) == 1


@pytest.mark.parametrize(
    ("headers", "at_least_s"),
    [({"retry_after_ms": "2500"}, 2.5), ({"retry_after_ms": "2500", "retry_after": "7"}, 7.0), ({}, 0.5)],
    ids=["milliseconds", "the longer of two", "nothing"],
)
def test_the_wait_that_the_server_asks_for_is_kept(headers: dict[str, str], at_least_s: float) -> None:
    """OpenAI and Azure also ask in milliseconds."""
    clock = Clock()
    with chatting(chat_refusal(429, **headers), CHAT_OK, retry=policy(clock)) as (model, _):
        model.generate(ASK)
    (slept,) = clock.slept
    assert at_least_s <= slept < at_least_s + 1.0


def test_a_refused_schema_is_told_in_the_servers_words() -> None:
    """Nothing is dropped from the request to please an endpoint."""
    words = "'response_format' of type json_schema is not supported"
    error = refused_chat(chat_refusal(400, "invalid_request_error", words), request=FULL)
    assert (error.reason, error.kind, error.n_attempts) == (Reason.PROVIDER_ERROR, "request", 1)
    assert words in error.message


LEAKS: dict[str, Callable[[], TrialError]] = {
    "an error that repeats the key": lambda: refused_chat(chat_refusal(401, "invalid_api_key", f"wrong key: {KEY}")),
    "an error page that repeats it": lambda: refused_chat(Canned(status=403, body=KEY.encode() * 100)),
    "a non-JSON 200 that repeats it": lambda: refused_chat(Canned(body=KEY.encode())),
    "an error in a 200": lambda: refused_chat(Canned(body=json.dumps({"error": {"message": KEY}}).encode())),
    "a finish reason": lambda: refused_chat(chat("a", finish=KEY.lower() + KEY)),
    "arguments of a call": lambda: refused_chat(chat(tool_calls=[{"function": {"name": "f", "arguments": KEY}}])),
}


@pytest.mark.parametrize("make", LEAKS.values(), ids=LEAKS)
def test_no_error_holds_the_key(make: Callable[[], TrialError]) -> None:
    """Neither message, nor repr, nor the traceback with all that hangs on it; and it stays short."""
    error = make()
    shown = f"{error!r} {vars(error)} {''.join(traceback.format_exception(error))}"
    assert KEY not in shown
    assert "authorization" not in shown.lower()
    assert error.__context__ is None
    assert len(error.message) <= 500


def test_no_sdk_is_imported_before_the_first_call() -> None:
    """The import takes several hundred milliseconds, which --help must not pay."""
    code = (
        "import sys; from skillassay.models.openai_chat import OpenAIModel; "
        "OpenAIModel(name='x', api_key='k').identity; "
        "print([m for m in sys.modules if m.startswith(('openai', 'httpx', 'pydantic'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_without_the_extra_opening_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before any trial: the machine lacks something, exit 3."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setattr(openai_chat, "find_spec", lambda _: None)
    with pytest.raises(EnvironmentFault, match="openai package") as caught, open_model("openai:gpt-x"):
        pass
    assert "skillassay[openai]" in str(caught.value.hint)
    assert caught.value.exit_code is Exit.UNDECIDED
