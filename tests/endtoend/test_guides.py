"""Every command of the first guides is run, in a repository made by the guide itself."""

from __future__ import annotations

from pathlib import Path

from tests.documented import follow
from tests.project import REPOSITORY, git

GUIDES = REPOSITORY / "docs/guides"


def test_the_first_skill_from_nothing_to_its_second_version(tmp_path: Path) -> None:
    """The whole guide, step by step, in an empty git repository."""
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "--quiet")
    outputs = follow(GUIDES / "first-skill.md", root)
    assert "written: evals/contract.yaml" in outputs[0]
    assert "fixture_gate: PASSED" in outputs[3]
    assert "skills/my-skill: minor, since 0.1.0, as locked, from commit" in outputs[-1]
    assert "list item added: 'Round only the total.'" in outputs[-1]
    assert '"version": "0.2.0"' in (root / "skills.lock.json").read_text(encoding="utf-8")


def test_the_commands_of_a_good_case(tmp_path: Path) -> None:
    """They run on the project of the first guide, once that is locked."""
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "--quiet")
    follow(GUIDES / "first-skill.md", root)
    (output,) = follow(GUIDES / "first-case.md", root)
    assert "check: 0 errors" in output
