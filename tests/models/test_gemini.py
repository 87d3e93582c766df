"""Gemini through the real SDK against real local servers: what is sent, and what an error becomes."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from skillassay.models.base import ModelRequest
from skillassay.models.gemini import GeminiModel
from skillassay.transcript import ModelTurn, Tool, ToolCall, ToolResult, ToolTurn, UserTurn
from tests.models.wire_server import (
    ASK,
    KEY,
    OK,
    Canned,
    WireServer,
    ask,
    talking,
)

PUBLIC = Path(__file__).parents[1] / "data" / "public" / "api"


def body_of(request: ModelRequest) -> Any:
    """The JSON that a request becomes on the wire."""
    with talking(OK) as (model, server):
        model.generate(request)
    return json.loads(server.seen[0].body)


SCHEMA = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "evidence": {"type": "object", "properties": {"z": {"type": "string"}, "a": {"type": "string"}}},
    },
    "required": ["id"],
}
FULL = ModelRequest(
    system="Système",
    turns=(UserTurn(text="été"),),
    tools=(Tool(name="load_skill", description="Loads", parameters={"type": "object", "properties": {}}),),
    response_schema=SCHEMA,
    temperature=0.5,
    max_output_tokens=800,
    seed=7,
)


def test_a_request_says_all_and_nothing_more() -> None:
    """Each field of the request has one place on the wire; the stage has none."""
    body = body_of(FULL)
    assert body["contents"] == [{"role": "user", "parts": [{"text": "été"}]}]
    assert [part["text"] for part in body["systemInstruction"]["parts"]] == ["Système"]
    (declaration,) = body["tools"][0]["functionDeclarations"]
    assert (declaration["name"], declaration["description"]) == ("load_skill", "Loads")
    assert {"type": "object", "properties": {}} in declaration.values()
    config = body["generationConfig"]
    schema = config.pop("responseJsonSchema")
    assert config == {
        "temperature": 0.5,
        "maxOutputTokens": 800,
        "seed": 7,
        "responseMimeType": "application/json",
    }
    assert list(schema["properties"]) == schema["propertyOrdering"] == ["id", "evidence"]
    assert schema["properties"]["evidence"]["propertyOrdering"] == ["z", "a"]
    assert set(body) == {"contents", "systemInstruction", "tools", "generationConfig"}


def test_a_request_without_tools_and_schema_shows_no_trace_of_them() -> None:
    """The arm without a skill must not look like one with a skill left out."""
    assert body_of(ModelRequest(system="", turns=ASK.turns, temperature=None)) == {
        "contents": [{"role": "user", "parts": [{"text": "Combien ?"}]}],
        "generationConfig": {},
    }


def test_equal_requests_are_equal_bytes() -> None:
    """The same request object gives the same body twice, whatever was sent in between."""
    with talking(OK) as (model, server):
        for request in (ASK, FULL, ASK, FULL):
            model.generate(request)
    first, full, second, full_again = (seen.body for seen in server.seen)
    assert (first, full) == (second, full_again)


def echoed(turn: ModelTurn, *more: Any) -> tuple[Any, bytes]:
    """The contents sent after a model turn that went through a JSON file, and the whole body."""
    stored = ModelTurn(text=turn.text, calls=turn.calls, raw=json.loads(json.dumps(turn.raw)))
    request = ModelRequest(system="", turns=(UserTurn(text="q"), stored, *more))
    with talking(OK) as (model, server):
        model.generate(request)
    body = server.seen[0].body
    return json.loads(body)["contents"], body


CONTENTS: dict[str, Any] = {
    "googleapis/js-genai#1275": json.loads((PUBLIC / "js-genai-1275" / "turn1.json").read_bytes()),
    "both base64 alphabets": {
        "role": "model",
        "parts": [{"functionCall": {"name": "f", "args": {}}, "thoughtSignature": sign} for sign in ("+/+/", "-_-_")],
    },
    "fields of tomorrow": {
        "role": "model",
        "parts": [{"text": "a", "novelField": {"b": [1, 2.5, None]}}, {"novelPart": {"snake_case": 1, "camelCase": 2}}],
        "novelContent": "é",
    },
    "thoughts": {
        "role": "model",
        "parts": [{"text": "hm", "thought": True, "thoughtSignature": "c2ln"}, {"text": "a"}],
    },
}


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
def test_a_models_content_goes_back_byte_for_byte(content: Any) -> None:
    """Signatures, unknown fields and their order survive the reply, a JSON file and the next request."""
    turn = ask(Canned(body=json.dumps({"candidates": [{"content": content, "finishReason": "STOP"}]}).encode())).turn
    contents, body = echoed(turn)
    assert contents[1] == content
    assert json.dumps(content).encode() in body


def test_parallel_results_are_one_content_in_the_order_of_the_calls() -> None:
    """googleapis/js-genai#1275: one model content, then one user content; split history is refused by the service."""
    raw = CONTENTS["googleapis/js-genai#1275"]
    results = ToolTurn(
        results=(
            ToolResult(name="load_skill", response={"output": "A"}, id="c1"),
            ToolResult(name="load_skill", response={"error": "B"}),
        )
    )
    contents, _ = echoed(ModelTurn(text="", raw=raw), results)
    assert contents[1:] == [
        raw,
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "c1", "name": "load_skill", "response": {"output": "A"}}},
                {"functionResponse": {"name": "load_skill", "response": {"error": "B"}}},
            ],
        },
    ]


def test_a_turn_that_no_provider_made_is_built_from_its_words() -> None:
    """Without ``raw`` text and calls are sent in this order; a turn of nothing is an empty text."""
    calls = (ToolCall(name="f", args={"a": 1}, id="c1"), ToolCall(name="g", args={}))
    contents, _ = echoed(ModelTurn(text="I call.", calls=calls))
    assert contents[1]["parts"] == [
        {"text": "I call."},
        {"functionCall": {"id": "c1", "name": "f", "args": {"a": 1}}},
        {"functionCall": {"name": "g", "args": {}}},
    ]
    assert echoed(ModelTurn(text=""))[0][1]["parts"] == [{"text": ""}]


@pytest.mark.parametrize("version", [None, "v1", "v1beta"])
def test_the_version_and_the_prefix_of_the_endpoint_are_kept(version: str | None) -> None:
    """Both versions, and a gateway's path in front of them; the default does not depend on the SDK's."""
    with WireServer(OK) as server:
        model = GeminiModel(name="gemini-x", api_key=KEY, base_url=f"{server.base_url}/gw/", api_version=version)
        model.generate(ASK)
        model.close()
    assert server.seen[0].path == f"/gw/{version or 'v1beta'}/models/gemini-x:generateContent"


def test_the_model_does_not_show_its_key() -> None:
    """Its repr and its identity are what logs and records get; the endpoint comes without credentials."""
    model = GeminiModel(name="x", api_key=KEY, base_url="https://user:pw@example.org:8443/base/?token=t")
    shown = repr(model) + repr(model.identity)
    assert not any(secret in shown for secret in (KEY, "pw", "token"))
    assert model.identity.endpoint == "https://example.org:8443/base"
    assert model.identity.label == "gemini:x"


HOSTILE = {
    "GOOGLE_GENAI_USE_VERTEXAI": "true",
    "GOOGLE_GENAI_USE_ENTERPRISE": "true",
    "GOOGLE_CLOUD_PROJECT": "p",
    "GOOGLE_CLOUD_LOCATION": "europe-west1",
    "GOOGLE_API_KEY": "other-key",
    "GEMINI_API_KEY": "third-key",
    "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:9",
    "GOOGLE_VERTEX_BASE_URL": "http://127.0.0.1:9",
    "GOOGLE_GENAI_API_VERSION": "v9",
    "GOOGLE_GENAI_CLIENT_MODE": "replay",
    "HTTP_PROXY": "http://127.0.0.1:9",
    "http_proxy": "http://127.0.0.1:9",
    "ALL_PROXY": "http://127.0.0.1:9",
}


def test_the_environment_does_not_change_where_a_request_goes(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Backend, endpoint, version, key and proxy are all passed, and the SDK has nothing to say about it on stdout."""
    for name, value in HOSTILE.items():
        monkeypatch.setenv(name, value)
    with talking(OK) as (model, server), caplog.at_level(logging.CRITICAL + 1, logger="root"):
        model.generate(ASK)
    assert server.seen[0].path == "/v1beta/models/gemini-x:generateContent"
    assert server.seen[0].headers["x-goog-api-key"] == KEY
    assert capfd.readouterr() == ("", "")


def test_no_sdk_is_imported_before_the_first_call() -> None:
    """The import takes several hundred milliseconds, which --help must not pay."""
    code = (
        "import sys; from skillassay.models.gemini import GeminiModel; GeminiModel(name='x', api_key='k').identity; "
        "print([m for m in sys.modules if m.startswith(('google', 'httpx', 'pydantic'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
