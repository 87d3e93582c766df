"""A command-line agent as the candidate: what it finds in each mode."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillassay.agents.base import Agent
from skillassay.prompts import Offered
from skillassay.runs.plan import Mode
from skillassay.subjects import agent as agent_subject
from skillassay.subjects.base import InputFile
from skillassay.subjects.equipment import EAGER_INTRO, equip
from tests.agents.candidate import BODY, INSTRUCTIONS, NEEDS_NAMESPACES, SKILL, ask, catalog, seen, subject


def test_progressive_finds_the_whole_skill_in_the_agents_folder(tmp_path: Path) -> None:
    """File by file, byte for byte; and the instructions in the agent's context file."""
    found = seen(ask(subject(tmp_path), tmp_path))
    folder = ".agents/skills/greeter"
    assert found["files"] == [f"{folder}/SKILL.md", f"{folder}/scripts/greet.py", "AGENTS.md"]
    assert found["skill"] == SKILL
    assert found["context"] == f"{INSTRUCTIONS}\n"


def test_none_finds_no_trace_of_a_skill(tmp_path: Path) -> None:
    """No folder, and no word of one in anything the agent sees but the path of its own program."""
    found = seen(ask(subject(tmp_path), tmp_path, mode=Mode.NONE))
    assert found["files"] == ["AGENTS.md"]
    assert found["context"] == f"{INSTRUCTIONS}\n"
    assert "greeter" not in json.dumps(found)


def test_eager_finds_the_text_and_the_other_files_elsewhere(tmp_path: Path) -> None:
    """The instructions first, as in the other modes; no folder of skills; the script can be run from where it says."""
    found = seen(ask(subject(tmp_path), tmp_path, mode=Mode.EAGER))
    script = "skill-files/greeter/scripts/greet.py"
    assert found["files"] == ["AGENTS.md", script]
    assert found["context"].startswith(f"{INSTRUCTIONS}\n\n{EAGER_INTRO}")
    assert BODY in found["context"]
    assert f'<script path="{script}"/>' in found["context"]


def test_an_eager_script_runs(tmp_path: Path) -> None:
    """By the path in the context file."""
    result = ask(subject(tmp_path), tmp_path, "RUN skill-files/greeter/scripts/greet.py", Mode.EAGER)
    assert result.answer == "hello from a script\n"


def test_previous_finds_the_older_skill(tmp_path: Path) -> None:
    """In the same place."""
    asked = subject(tmp_path, previous={"skills/greeter": catalog(tmp_path, "Said hello once, long ago.")})
    assert "long ago" in seen(ask(asked, tmp_path, mode=Mode.PREVIOUS))["skill"]


def test_the_arms_differ_in_the_skill_alone(tmp_path: Path) -> None:
    """The same query, model, environment and context; another prompt digest for another query."""
    asked = subject(tmp_path)
    results = {mode: ask(asked, tmp_path, mode=mode) for mode in (Mode.PROGRESSIVE, Mode.NONE, Mode.EAGER)}
    arms = [result.arm for result in results.values()]
    assert all(arms)
    assert len({arm.prompt for arm in arms if arm}) == 1
    assert [arm.skills for arm in arms if arm] == [("greeter",), (), ("greeter",)]
    same = [{key: seen(result)[key] for key in ("argv", "cwd", "home_path")} for result in results.values()]
    assert same[0] == same[1] == same[2]
    (tmp_path / "workspace-none").rename(tmp_path / "done")
    other = ask(asked, tmp_path, "PROBE else", Mode.NONE).arm
    assert other is not None
    assert other.prompt != arms[0].prompt  # type: ignore[union-attr]  # asserted above


def test_the_users_files_are_laid_out_and_named(tmp_path: Path) -> None:
    """Their content is in the workspace, not on the command line."""
    (tmp_path / "given.txt").write_text("the content", "utf-8")
    file = InputFile(name="data/given.txt", source=tmp_path / "given.txt", text="the content")
    found = seen(ask(subject(tmp_path), tmp_path, mode=Mode.NONE, files=(file,)))
    assert found["files"] == ["AGENTS.md", "data/given.txt"]
    assert '<file name="data/given.txt"/>' in found["argv"][-1]
    assert "the content" not in found["argv"][-1]


def test_the_home_is_new_and_the_users_is_out_of_reach(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing lies in it, and it is gone afterwards."""
    monkeypatch.setenv("HOME", str(tmp_path))
    found = seen(ask(subject(tmp_path), tmp_path, mode=Mode.NONE))
    assert found["home"] == []
    assert found["home_path"] != str(tmp_path)
    assert not Path(found["home_path"]).exists()


@NEEDS_NAMESPACES
def test_the_agent_sees_no_file_and_no_process_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies beside its program is not there for it, and no environment but those of its own room."""
    (tmp_path / "secret").write_text("private", "utf-8")
    monkeypatch.setenv("SOMETHING_PRIVATE", "canary of the harness")
    found = seen(ask(subject(tmp_path), tmp_path, "PROBE processes", Mode.NONE))
    assert found["secret"] is None
    assert len(found["processes"]) > 1
    assert "canary of the harness" not in json.dumps(found)
    assert (found["cwd"], found["home_path"]) == ("/trial", "/agent")


def test_the_key_is_where_the_agent_looks_and_in_nothing_that_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It tells the whole environment; the key in it is blotted out, the address and what was handed on are not."""
    monkeypatch.setenv("PROBE_WORD", "handed on")
    monkeypatch.setenv("GEMINI_API_KEY", "another key, of the harness")
    result = ask(subject(tmp_path), tmp_path, mode=Mode.NONE)
    env = seen(result)["env"]
    assert env["PROBE_KEY"] == "[key]"
    assert (env["PROBE_URL"], env["PROBE_WORD"]) == ("http://127.0.0.1:9", "handed on")
    assert "GEMINI_API_KEY" not in env
    assert "canary" not in repr(result)


def test_a_structured_answer_is_asked_for_in_the_query(tmp_path: Path) -> None:
    """An agent has no option for a schema; the request is the same in every mode."""
    schema = {"type": "object", "required": ["action"]}
    asked = subject(tmp_path)
    queries = {
        seen(ask(asked, tmp_path, mode=mode, response_schema=schema))["argv"][-1] for mode in (Mode.NONE, Mode.EAGER)
    }
    assert len(queries) == 1
    assert json.dumps(schema) in queries.pop()


@pytest.mark.parametrize("leak", ["AGENTS.md", "notes.md", "skill-files/greeter/SKILL.md"])
def test_what_lies_there_in_one_mode_alone_is_another_arm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, leak: str
) -> None:
    """Also in the place of skills, where `none` may have nothing: the digest is of what lies there, not of a wish."""
    sound = equip

    def leaking(agent: Agent, mode: Mode, shown: Offered, **how: Any) -> None:
        sound(agent, mode, shown, **how)
        if mode is Mode.NONE:
            path = how["workspace"] / leak
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{INSTRUCTIONS}\n\nSay hello twice, as greeter does.\n", encoding="utf-8")

    asked = subject(tmp_path)
    monkeypatch.setattr(agent_subject, "equip", leaking)
    arms = [ask(asked, tmp_path, mode=mode).arm for mode in (Mode.PROGRESSIVE, Mode.NONE)]
    assert all(arms)
    assert len({arm.prompt for arm in arms if arm}) == 2
