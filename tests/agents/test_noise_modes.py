"""A command-line agent in the modes again and placebo: it finds what it finds in progressive, or the placebo there."""

from __future__ import annotations

from pathlib import Path

from skillassay.runs.plan import Mode
from tests.agents.candidate import ask, catalog, seen, subject


def test_again_finds_what_progressive_finds(tmp_path: Path) -> None:
    """The same files, context, command line and arm."""
    asked = subject(tmp_path)
    results = [ask(asked, tmp_path, mode=mode) for mode in (Mode.PROGRESSIVE, Mode.AGAIN)]
    first, second = (seen(result) for result in results)
    assert [first[key] for key in ("files", "skill", "context", "argv")] == [
        second[key] for key in ("files", "skill", "context", "argv")
    ]
    assert results[0].arm == results[1].arm


def test_placebo_finds_the_placebo_in_the_place_of_the_skill(tmp_path: Path) -> None:
    """Under the same paths, with an arm that differs in nothing that is told of it."""
    asked = subject(tmp_path, placebo={"skills/greeter": catalog(tmp_path, "A heron is at the edge of it.")})
    results = [ask(asked, tmp_path, mode=mode) for mode in (Mode.PROGRESSIVE, Mode.PLACEBO)]
    first, second = (seen(result) for result in results)
    assert "A heron is at the edge of it." in second["skill"]
    assert "A heron is at the edge of it." not in first["skill"]
    assert first["files"] == second["files"]
    assert results[0].arm == results[1].arm
