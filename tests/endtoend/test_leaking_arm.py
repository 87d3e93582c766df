"""An arm without skills that is told of them all the same is found by what was sent, whatever the mode says."""

from __future__ import annotations

from typing import Any

import pytest

from skillassay.prompts import system_instruction
from skillassay.runs.plan import Mode
from skillassay.subjects import loop
from tests.project import Cli, build_small


def lines(cli: Cli) -> dict[str, dict[str, Any]]:
    """The lines of the gate's decision on the newest run, by name."""
    return {line["name"]: line for line in cli("report", "--format", "json").json["decision"]["lines"]}


def test_a_catalog_in_the_mode_none_fails_the_gate(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop tells of the catalog in `none` too: exit 1, and the line says what differs. As it is, it passes."""
    build_small(cli.root)
    assert cli("eval").code == 0
    assert lines(cli)["clean_arms"]["status"] == "passed"

    def leaking(mode: Mode, **how: Any) -> str:
        told = system_instruction(mode, **how)
        return f"{told}\n\n<available_skills>greeter</available_skills>" if mode is Mode.NONE else told

    monkeypatch.setattr(loop, "system_instruction", leaking)
    assert cli("eval").code == 1
    line = lines(cli)["clean_arms"]
    assert line["status"] == "failed"
    assert "another prompt" in str(line)


def test_other_general_words_beside_the_skill_fail_the_gate(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands in front of the skills in one mode alone is no part of the skill."""
    build_small(cli.root)

    def helped(mode: Mode, **how: Any) -> str:
        told = system_instruction(mode, **how)
        return f"Think twice. {told}" if mode is Mode.PROGRESSIVE else told

    monkeypatch.setattr(loop, "system_instruction", helped)
    assert cli("eval").code == 1
    assert lines(cli)["clean_arms"]["status"] == "failed"
