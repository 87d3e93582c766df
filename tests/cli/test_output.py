"""What leaves a command: safe for a CI log, whole for a program."""

from __future__ import annotations

import json

import pytest

from skillassay.cli.output import command_safe, emit_json

COMMANDS = [
    ("::error::x", ": error::x"),
    ("  ::group::x", "  : group::x"),
    ("a\n\t::stop-commands::t", "a\n\t: stop-commands::t"),
    ("x ##[error]y", "x # [error]y"),
    ("###[debug]", "## [debug]"),
    ("##vso[task.x]", "# vso[task.x]"),
    ("\u00a0::warning::x", "\u00a0: warning::x"),
]


@pytest.mark.parametrize(("text", "safe"), COMMANDS)
def test_a_workflow_command_loses_one_character(text: str, safe: str) -> None:
    """Neither service knows it any more, people still read it, and it is as wide as before."""
    assert command_safe(text) == safe
    assert len(safe) == len(text)
    assert command_safe(safe) == safe


@pytest.mark.parametrize("text", ["a::b", "std::vector", "# [x]", "## x", "http://[::1]/", "", "::"[:1]])
def test_other_text_is_not_touched(text: str) -> None:
    """Only what a service would obey is changed."""
    assert command_safe(text) == text


@pytest.mark.parametrize(
    "text", ["##[error]x", "##vso[x]", "\x9b\x7f\u202e\u2028\ufeff\U000e0041", "é 日本語 😀", "\\##["]
)
def test_json_says_the_same_to_a_program(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Escapes replace what a log or a terminal would obey; the value is the same."""
    emit_json({"text": text})
    out = capsys.readouterr().out
    assert json.loads(out) == {"text": text}
    assert "##[" not in out
    assert "##vso[" not in out
    assert not set("\x9b\x7f\u202e\u2028\ufeff\U000e0041") & set(out)
