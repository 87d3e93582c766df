"""Google's ADK answers through its own Runner, LlmAgent, SkillToolset and Gemini; told is what was said."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skillassay.errors import UsageError
from skillassay.fixture.rules import load_rules
from skillassay.models.opening import Opening, open_model
from skillassay.prompts import CATALOG_INTRO, Offered
from skillassay.runs.plan import Mode
from skillassay.runs.snapshot import Snapshot
from skillassay.subjects.base import SubjectRequest
from skillassay.subjects.opening import SubjectParts, open_subject
from skillassay.transcript import ModelTurn, ToolTurn, UserTurn
from tests.extra.adk.engine import DONE, FAST, LOAD, PRINTS, RUN, SCRIPT, call, engine, input_file
from tests.models.wire_server import KEY, Seen, WireServer, reply
from tests.project import rule, write_json

SIGNED = {"functionCall": {"name": "load_skill", "args": {"skill_name": "greeter"}}, "thoughtSignature": "c2lnbmVkIQ=="}


def test_a_skill_is_listed_loaded_and_run(tmp_path: Path) -> None:
    """The catalog comes by list_skills, as an ADK user gets it; activation and script come from what succeeded."""
    with engine(tmp_path, reply(call("list_skills")), reply(LOAD), reply(RUN), DONE, files={SCRIPT: PRINTS}) as adk:
        result = adk.ask()
        assert (result.answer, result.error, result.turn_limit) == ("hello hello", None, False)
        assert result.activated == ("greeter",)
        assert result.scripts == ("greeter/scripts/hello.py",)
        assert (result.spent.n_calls, result.spent.n_attempts, len(adk.server.seen)) == (4, 4, 4)
        first, second = adk.sent[0], adk.sent[1]
    names = [tool["name"] for tool in first["tools"][0]["functionDeclarations"]]
    assert names == ["list_skills", "load_skill", "load_skill_resource", "run_skill_script"]
    assert result.arm is not None
    assert list(result.arm.tools) == names
    assert "greeter" not in json.dumps(first["systemInstruction"])
    assert "<available_skills>" in json.dumps(second["contents"][-1])


def test_the_transcript_holds_every_turn(tmp_path: Path) -> None:
    """User, call, tool's answer, answer; a model's content stays as it came, signature included."""
    with engine(tmp_path, reply(SIGNED), DONE) as adk:
        turns = adk.ask().transcript.turns
    user, called, loaded, answer = turns
    assert isinstance(user, UserTurn)
    assert user.text == "Greet one."
    assert isinstance(called, ModelTurn)
    assert called.raw == {"role": "model", "parts": [SIGNED]}
    assert isinstance(loaded, ToolTurn)
    assert loaded.results[0].name == "load_skill"
    assert "Say hello twice" in loaded.results[0].response["instructions"]
    assert loaded.results[0].id is None  # the model gave none; ADK's own is no word of the conversation
    assert isinstance(answer, ModelTurn)
    assert answer.text == "hello hello"


@pytest.mark.parametrize(
    ("usage", "told"),
    [({"usageMetadata": {"promptTokenCount": 9, "totalTokenCount": 11}}, (9, 11)), ({}, (None, None))],
)
def test_usage_that_is_not_told_is_not_known(
    tmp_path: Path, usage: dict[str, Any], told: tuple[int | None, int | None]
) -> None:
    """A count that the service does not give stays None."""
    with engine(tmp_path, reply({"text": "hi"}, **usage)) as adk:
        found = adk.ask().spent.usage
    assert (found.input_tokens, found.total_tokens) == told
    assert found.output_tokens is None


def test_a_sum_with_a_gap_is_no_sum(tmp_path: Path) -> None:
    """One call of two without usage: the trial's usage is not known."""
    with engine(tmp_path, reply(LOAD), DONE) as adk:
        assert adk.ask().spent.usage.input_tokens is None


def test_none_shows_no_trace_of_a_skill(tmp_path: Path) -> None:
    """No toolset, no tool, no word of skills in the request."""
    with engine(tmp_path, DONE, files={SCRIPT: PRINTS}) as adk:
        result = adk.ask(Mode.NONE)
        (body,) = adk.sent
    assert "tools" not in body
    assert "skill" not in json.dumps(body).lower()
    assert result.arm is not None
    assert (result.arm.skills, result.arm.tools, result.arm.skill_tools) == ((), (), ())


def test_eager_shows_our_text_and_runs_adks_scripts(tmp_path: Path) -> None:
    """The instruction is our eager text, without ADK's own about skills; of its tools only the one for scripts."""
    with engine(tmp_path, reply(RUN), DONE, files={SCRIPT: PRINTS}) as adk:
        result = adk.ask(Mode.EAGER)
        body = adk.sent[0]
    system = body["systemInstruction"]["parts"][0]["text"]
    assert "Say hello twice, as greeter does." in system
    assert "specialized 'skills'" not in system
    assert [tool["name"] for tool in body["tools"][0]["functionDeclarations"]] == ["run_skill_script"]
    assert result.scripts == ("greeter/scripts/hello.py",)


def test_eager_without_a_script_has_no_tool(tmp_path: Path) -> None:
    """Nothing that could run, nothing to run it with."""
    with engine(tmp_path, DONE) as adk:
        assert adk.ask(Mode.EAGER).answer == "hello hello"
        assert "tools" not in adk.sent[0]


def test_eager_of_one_skill_shows_that_one(tmp_path: Path) -> None:
    """The scope `skill`: the other skill's text is not there, and its script cannot be run."""
    other = "---\nname: other\ndescription: Another.\nmetadata: {version: '1.0.0'}\n---\nOTHER BODY\n"
    files = {SCRIPT: PRINTS, "skills/other/SKILL.md": other, "skills/other/scripts/x.py": PRINTS}
    wrong = call("run_skill_script", skill_name="other", file_path="scripts/x.py")
    with engine(tmp_path, reply(wrong), DONE, files=files, eager_scope="skill") as adk:
        result = adk.ask(Mode.EAGER)
        assert "OTHER BODY" not in json.dumps(adk.sent)
    assert result.scripts == ()
    assert result.arm is not None
    assert result.arm.skills == ("greeter",)


def test_previous_offers_the_skill_as_it_was(tmp_path: Path) -> None:
    """load_skill gives the older body; the files are ADK's own reading of the older copy."""

    def older(now: Snapshot) -> Mapping[str, Offered]:
        (skill,) = now.catalog.skills
        was = tmp_path / "was.md"
        text = skill.files["SKILL.md"].source.read_text("utf-8").replace("hello twice", "hello once, as before")
        was.write_text(text, encoding="utf-8")
        file = replace(skill.files["SKILL.md"], source=was)
        catalog = replace(now.catalog, skills=(replace(skill, files={"SKILL.md": file}),))
        return {"skills/greeter": Offered(catalog=catalog, prompt_skills=now.prompt_skills)}

    with engine(tmp_path, reply(LOAD), DONE, reply(LOAD), DONE, older=older) as adk:
        now, was = adk.ask(), adk.ask(Mode.PREVIOUS)
    assert "hello once, as before" not in str(now.transcript.turns)
    assert "hello once, as before" in str(was.transcript.turns)


def test_all_modes_are_asked_alike(tmp_path: Path) -> None:
    """The same first turn and the same digest of the prompt; the user's files are in both."""
    (tmp_path / "in").mkdir()
    notes = input_file(tmp_path / "in" / "notes.txt", "the notes")
    with engine(tmp_path, DONE) as adk:
        results = [adk.ask(mode, files=(notes,)) for mode in (Mode.PROGRESSIVE, Mode.NONE, Mode.EAGER)]
        firsts = [body["contents"][0]["parts"][0]["text"] for body in adk.sent]
    assert len(set(firsts)) == 1
    assert "the notes" in firsts[0]
    arms = [result.arm for result in results]
    assert len({arm.prompt for arm in arms if arm is not None}) == 1
    assert all(arm is not None and [name for name, _ in arm.files] == ["notes.txt"] for arm in arms)


def test_settings_arrive(tmp_path: Path) -> None:
    """Temperature, seed, token limit and schema are sent; the instruction is no template, whatever braces it holds."""
    schema = {"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "string"}}}
    terms = replace(FAST, instructions="Use {name} and {{x}}.", temperature=0.25, seed=11)
    with engine(tmp_path, reply({"text": "{}"}), terms=terms) as adk:
        assert adk.ask(response_schema=schema, max_output_tokens=77).answer == "{}"
        (body,) = adk.sent
    config = body["generationConfig"]
    assert (config["temperature"], config["seed"], config["maxOutputTokens"]) == (0.25, 11, 77)
    assert config["responseMimeType"] == "application/json"
    assert config["responseJsonSchema"]["propertyOrdering"] == ["b", "a"]
    assert body["systemInstruction"]["parts"][0]["text"].startswith("Use {name} and {{x}}.\n")
    names = {tool["name"] for tool in body["tools"][0]["functionDeclarations"]}
    assert "set_model_response" not in names
    assert CATALOG_INTRO not in body["systemInstruction"]["parts"][0]["text"]


def test_the_key_is_sent_and_never_in_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes to the address of the model in its header, whatever else the environment says of Google's services."""
    monkeypatch.setenv("GOOGLE_API_KEY", "another")
    monkeypatch.setenv("GOOGLE_GENAI_USE_ENTERPRISE", "true")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:9")
    meanwhile: list[dict[str, str]] = []
    ask = WireServer.answer

    def look(server: WireServer, seen: Seen) -> object:
        meanwhile.append(dict(os.environ))
        return ask(server, seen)

    monkeypatch.setattr(WireServer, "answer", look)
    with engine(tmp_path, DONE) as adk:
        assert adk.ask().answer == "hello hello"
        assert [seen.headers["x-goog-api-key"] for seen in adk.server.seen] == [KEY]
        assert adk.server.seen[0].headers["accept-encoding"] == "identity"
        assert adk.server.seen[0].path == "/v1beta/models/gemini-x:generateContent"
    assert meanwhile
    assert all(KEY not in value for seen in meanwhile for value in seen.values())


def test_many_threads_get_their_own_answers(tmp_path: Path) -> None:
    """Sixteen questions from eight threads through one subject on the embedded fixture: each its own answer."""
    names = [f"number{n}" for n in range(16)]
    rules = [rule(name, {"text": f"hello {name}"}, prompt=["Say hello twice"]) for name in names]
    rules += [rule(name, {"calls": [{"name": "load_skill", "args": {"skill_name": "greeter"}}]}) for name in names]
    write_json(tmp_path / "rules.json", {"fixture": 1, "subject": rules})
    loaded, findings = load_rules([tmp_path / "rules.json"], root=tmp_path)
    assert findings == ()
    with engine(tmp_path / "project", DONE) as adk, open_model("fixture", Opening(rules=loaded)) as model:
        subject = adk.subject
        parts = SubjectParts(
            model=model,
            direct=model,
            terms=FAST,
            offering=subject.offering,  # type: ignore[attr-defined]
            isolation=subject.isolation,  # type: ignore[attr-defined]
            policy=subject.policy,  # type: ignore[attr-defined]
            limits=subject.limits,  # type: ignore[attr-defined]
        )
        together = threading.Barrier(8)

        def ask(name: str) -> tuple[str | None, tuple[str, ...], bool]:
            together.wait(timeout=30)
            workspace = tmp_path / name
            workspace.mkdir()
            request = SubjectRequest(query=f"Greet {name}.", files=(), mode=Mode.PROGRESSIVE, skill_path="")
            result = fixture.answer(request, workspace)
            return result.answer, result.activated, result.spent.usage.estimated

        with open_subject("adk", parts) as fixture, ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(ask, names))
    assert answers == [(f"hello {name}", ("greeter",), True) for name in names]


def test_a_model_of_another_kind_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ADK asks a Gemini model by itself: an OpenAI-compatible one is wrong usage."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with engine(tmp_path, DONE) as adk, open_model("openai:some") as model:
        subject = adk.subject
        parts = SubjectParts(
            model=model,
            direct=model,
            terms=FAST,
            offering=subject.offering,  # type: ignore[attr-defined]
            isolation=subject.isolation,  # type: ignore[attr-defined]
            policy=subject.policy,  # type: ignore[attr-defined]
            limits=subject.limits,  # type: ignore[attr-defined]
        )
        with pytest.raises(UsageError, match="openai:some is none"), open_subject("adk", parts):
            pass
