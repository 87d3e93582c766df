"""Names of models, where keys come from, and the fixture model as a whole."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from skillassay.agents.launching import secret_variables
from skillassay.errors import EnvironmentFault, Exit, InputError, Reason, TrialError, UsageError
from skillassay.models.base import ModelIdentity, ModelRequest
from skillassay.models.endpoint import address_digest
from skillassay.models.naming import parse_model
from skillassay.models.opening import KEY_VARIABLES, Opening, api_keys_in_environment, open_model
from skillassay.transcript import Tool, ToolResult, ToolTurn, UserTurn
from tests.fixture.authored import read
from tests.models.wire_server import ASK, CHAT_OK, OK, WireServer

RULES = """\
fixture: 1
subject:
  - id: answer
    when: {query: [solde], prompt: ["27 jours"], tools: [load_skill]}
    capture: {n: '(\\d+) jours'}
    reply: {text: "Il reste {{n}}."}
  - id: load
    when: {query: [solde], tools: [load_skill]}
    reply: {calls: [{name: load_skill, args: {skill_name: leave}}]}
  - {id: busy, when: {query: [busy]}, reply: {error: {code: 503, status: UNAVAILABLE, message: later}}}
judge:
  - {criterion: c, pass: "reste 27", missing: "no"}
"""


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        *KEY_VARIABLES,
        *secret_variables(),
        "GOOGLE_GEMINI_BASE_URL",
        "OPENAI_BASE_URL",
        "SKILLASSAY_JUDGE_BASE_URL",
    ):
        monkeypatch.delenv(name, raising=False)


def test_the_forms_of_a_name() -> None:
    """A fixture has no name of its own; the others keep theirs as written."""
    assert parse_model("fixture") == ("fixture", "fixture")
    assert parse_model("gemini:gemini-3.5-flash") == ("gemini", "gemini-3.5-flash")
    assert parse_model("gemini:tunedModels/x-1") == ("gemini", "tunedModels/x-1")
    assert parse_model("openai:gpt-5.4-mini") == ("openai", "gpt-5.4-mini")
    assert parse_model("openai:deepseek/deepseek-r1:free") == ("openai", "deepseek/deepseek-r1:free")
    assert parse_model("openai:Qwen3-8B_Q4.gguf") == ("openai", "Qwen3-8B_Q4.gguf")


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("", "no known provider"),
        ("gemini", "no known provider"),
        ("gemini-3.5-flash", "no known provider"),
        ("fixture:x", "no known provider"),
        ("Gemini:x", "no known provider"),
        ("gemini:", "not the name"),
        ("gemini:a b", "not the name"),
        ("gemini:../x", "not the name"),
        ("gemini:x?y", "not the name"),
        ("openai:", "not the name"),
        ("replay:", "not the path"),
        ("replay:../x", "not the path"),
        ("replay:/x", "not the path"),
        ("agent:", "not the name"),
    ],
)
def test_another_form_is_wrong_usage_and_names_the_right_ones(spec: str, words: str) -> None:
    """Also for providers that are planned: a name that does nothing must not look like one that works."""
    with pytest.raises(UsageError, match=words) as caught:
        parse_model(spec)
    assert "gemini:NAME" in str(caught.value.hint)
    assert caught.value.exit_code is Exit.USAGE


def test_the_fixture_is_a_whole_conversation(tmp_path: Path) -> None:
    """Call, result, answer, verdict: over HTTP, through the SDK, named as a fixture, with estimated usage."""
    tool = Tool(name="load_skill", description="d", parameters={"type": "object", "properties": {}})
    user = UserTurn(text="Quel est mon solde ?")
    with open_model("fixture", Opening(rules=(rules := read(tmp_path, RULES)))) as model:
        first = model.generate(ModelRequest(system="s", turns=(user,), tools=(tool,)))
        (call,) = first.turn.calls
        results = ToolTurn(results=(ToolResult(name=call.name, response={"output": "27 jours"}, id=call.id),))
        last = model.generate(ModelRequest(system="s", turns=(user, first.turn, results), tools=(tool,)))
        document = {"query": user.text, "answer": last.turn.text, "criteria": [{"id": "c", "text": "t"}]}
        judge = ModelRequest(
            system="j", turns=(UserTurn(text=json.dumps(document)),), response_schema={"type": "object"}
        )
        verdict = json.loads(model.generate(judge).turn.text)["criteria"][0]
    assert (call.name, call.args, call.id) == ("load_skill", {"skill_name": "leave"}, "call-1")
    assert last.turn.text == "Il reste 27."
    assert (verdict["evidence"], verdict["verdict"]) == ("reste 27", "PASS")
    assert last.usage.estimated
    assert last.model == f"fixture-{rules.digest[:12]}"
    assert model.identity == ModelIdentity(provider="fixture", name="fixture", endpoint=None, is_fixture=True)
    assert model.identity.label == "fixture"


def test_a_miss_is_an_error_of_its_own_kind(tmp_path: Path) -> None:
    """Asked once, and named."""
    with open_model("fixture", Opening(rules=read(tmp_path, RULES))) as model, pytest.raises(TrialError) as caught:
        model.generate(ASK)
    assert (caught.value.reason, caught.value.kind) == (Reason.PROVIDER_ERROR, "fixture_miss")
    assert caught.value.n_attempts == 1
    assert "Combien" in caught.value.message


def test_an_authored_error_is_retried_without_waiting_long(tmp_path: Path) -> None:
    """The path of retries is the real one; only its waits are short."""
    request = ModelRequest(system="", turns=(UserTurn(text="busy"),))
    with open_model("fixture", Opening(rules=read(tmp_path, RULES))) as model, pytest.raises(TrialError) as caught:
        model.generate(request)
    assert (caught.value.kind, caught.value.n_attempts) == ("server", 4)


def test_a_fixture_without_rules_is_refused(tmp_path: Path) -> None:
    """Before anything is started."""
    for rules in (None, read(tmp_path, "fixture: 1\n")):
        with pytest.raises(InputError, match="no rules"), open_model("fixture", Opening(rules=rules)):
            pass


@pytest.mark.parametrize(
    ("set_to", "key"),
    [
        ({"GEMINI_API_KEY": "k1"}, "k1"),
        ({"GOOGLE_API_KEY": "k2"}, "k2"),
        ({"GEMINI_API_KEY": "k1", "GOOGLE_API_KEY": "k2"}, "k1"),
        ({"GEMINI_API_KEY": " ", "GOOGLE_API_KEY": "k2\n"}, "k2"),
    ],
)
def test_gemini_takes_key_and_endpoint_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, set_to: dict[str, str], key: str
) -> None:
    """GEMINI_API_KEY goes first; the endpoint is recorded without its password."""
    for name, value in set_to.items():
        monkeypatch.setenv(name, value)
    with WireServer(OK) as server:
        url = server.base_url.replace("//", "//user:pw@") + "/gw"
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", url)
        with open_model("gemini:gemini-x") as model:
            assert model.generate(ASK).turn.text == "ok"
            assert model.identity == ModelIdentity(
                provider="gemini",
                name="gemini-x",
                endpoint=f"{server.base_url}/gw",
                is_fixture=False,
                address=address_digest(url),
            )
    (seen,) = server.seen
    assert seen.path == "/gw/v1beta/models/gemini-x:generateContent"
    assert seen.headers["x-goog-api-key"] == key


def test_gemini_without_an_endpoint_is_the_public_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Named in full, so that a record says it."""
    monkeypatch.setenv("GEMINI_API_KEY", "k")
    with open_model("gemini:gemini-x") as model:
        assert model.identity.endpoint == "https://generativelanguage.googleapis.com"


def test_gemini_without_a_key_says_which_variable_to_set() -> None:
    """The machine lacks something: exit 3."""
    with pytest.raises(EnvironmentFault) as caught, open_model("gemini:gemini-x"):
        pass
    assert "GEMINI_API_KEY" in str(caught.value.hint)
    assert "OPENAI" not in str(caught.value.hint)
    assert caught.value.exit_code is Exit.UNDECIDED


def test_openai_without_a_key_says_that_this_machine_needs_none() -> None:
    """Most who name one mean a server of their own."""
    with pytest.raises(EnvironmentFault) as caught, open_model("openai:gpt-x"):
        pass
    assert "OPENAI_API_KEY" in str(caught.value.hint)
    assert "OPENAI_BASE_URL at a loopback address, which needs none" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GEMINI_API_KEY", "clé"),
        ("GEMINI_API_KEY", "two words"),
        ("GEMINI_API_KEY", "a\r\nX-Evil: 1"),
        ("GOOGLE_GEMINI_BASE_URL", "ftp://secret@example.org"),
        ("GOOGLE_GEMINI_BASE_URL", "http://secret:port"),
        ("GOOGLE_GEMINI_BASE_URL", "//secret"),
    ],
)
def test_an_unusable_setting_is_named_and_not_shown(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """Both may hold a secret."""
    monkeypatch.setenv("GEMINI_API_KEY", "k")
    monkeypatch.setenv(name, value)
    with pytest.raises(EnvironmentFault, match=name) as caught, open_model("gemini:gemini-x"):
        pass
    assert value not in repr(caught.value) + str(caught.value.hint)


OPENAI = {
    "its own": ({"OPENAI_API_KEY": "k1"}, {}, "k1"),
    "a server here needs none": ({}, {}, "no-key"),
    "a server here gets the one there is": ({"OPENAI_API_KEY": "k1"}, {}, "k1"),
    "a judge's own goes first": ({"OPENAI_API_KEY": "k1", "SKILLASSAY_JUDGE_API_KEY": "k2"}, {"side": "judge"}, "k2"),
    "a judge without one shares": ({"OPENAI_API_KEY": "k1"}, {"side": "judge"}, "k1"),
    "a candidate never gets the judge's": ({"SKILLASSAY_JUDGE_API_KEY": "k2"}, {}, "no-key"),
}


@pytest.mark.parametrize(("set_to", "how", "key"), OPENAI.values(), ids=OPENAI)
def test_openai_takes_its_key_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, set_to: dict[str, str], how: dict[str, Any], key: str
) -> None:
    """The key of the side that is asked, and none where a server on this machine asks for none."""
    pytest.importorskip("openai", reason="needs the extra openai")
    for name, value in set_to.items():
        monkeypatch.setenv(name, value)
    with WireServer(CHAT_OK) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.base_url}/v1")
        with open_model("openai:chat-x", Opening(**how)) as model:
            assert model.generate(ASK).turn.text == "ok"
            assert model.identity.endpoint == f"{server.base_url}/v1"
    assert server.seen[0].headers["authorization"] == f"Bearer {key}"


@pytest.mark.parametrize(
    ("set_to", "how", "endpoint"),
    [
        ({}, {}, "https://api.openai.com/v1"),
        ({"OPENAI_BASE_URL": "https://a.example/v1"}, {}, "https://a.example/v1"),
        ({"OPENAI_BASE_URL": "https://a.example/v1"}, {"base_url": "https://b.example/v1"}, "https://b.example/v1"),
        ({"OPENAI_BASE_URL": "https://a.example/v1"}, {"side": "judge"}, "https://a.example/v1"),
        (
            {"OPENAI_BASE_URL": "https://a.example/v1", "SKILLASSAY_JUDGE_BASE_URL": "https://j.example/v1"},
            {"side": "judge"},
            "https://j.example/v1",
        ),
        ({"SKILLASSAY_JUDGE_BASE_URL": "https://j.example/v1"}, {}, "https://api.openai.com/v1"),
        (
            {"SKILLASSAY_JUDGE_BASE_URL": "https://j.example/v1"},
            {"side": "judge", "base_url": "https://o.example/v1"},
            "https://o.example/v1",
        ),
        ({"GOOGLE_GEMINI_BASE_URL": "https://g.example"}, {}, "https://api.openai.com/v1"),
    ],
)
def test_openai_is_asked_where_option_or_environment_says(
    monkeypatch: pytest.MonkeyPatch, set_to: dict[str, str], how: dict[str, Any], endpoint: str
) -> None:
    """An option first, then the judge's own variable for a judge, then the provider's, then OpenAI itself."""
    pytest.importorskip("openai", reason="needs the extra openai")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    for name, value in set_to.items():
        monkeypatch.setenv(name, value)
    with open_model("openai:chat-x", Opening(**how)) as model:
        assert model.identity == ModelIdentity(provider="openai", name="chat-x", endpoint=endpoint, is_fixture=False)


def test_openai_elsewhere_without_a_key_says_which_variable_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only this machine is asked without one: exit 3."""
    monkeypatch.setenv("OPENAI_BASE_URL", "https://127.0.0.1.example.org/v1")
    with pytest.raises(EnvironmentFault, match="OPENAI_API_KEY is not set") as caught, open_model("openai:chat-x"):
        pass
    assert caught.value.exit_code is Exit.UNDECIDED


def test_the_names_of_set_keys_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty variable is not a key, and no value is told."""
    assert api_keys_in_environment() == ()
    monkeypatch.setenv("GOOGLE_API_KEY", "k")
    monkeypatch.setenv("OPENAI_API_KEY", "")
    assert api_keys_in_environment() == ("GOOGLE_API_KEY",)


@pytest.mark.parametrize(
    "name", ["CODEX_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "MISTRAL_API_KEY", "GH_TOKEN", "DB_PASSWORD", "my_secret"]
)
def test_a_key_is_told_by_what_it_is_called(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """We cannot know every service: a script must not read what a name says to be secret."""
    monkeypatch.setenv(name, "k")
    assert api_keys_in_environment() == (name,)


def test_importing_and_parsing_costs_neither_server_nor_sdk() -> None:
    """--help and check must start fast."""
    code = (
        "import sys; from skillassay.models.naming import parse_model; parse_model('gemini:x'); "
        "print([m for m in sys.modules if m.startswith(('google', 'http', 'skillassay.fixture', 'yaml'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
