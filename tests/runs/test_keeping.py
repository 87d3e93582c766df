"""What may be kept for later: the refusals where no texts are, and the names that no model made up."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillassay.errors import UsageError
from skillassay.runs.keeping import kept_words, refuse_without_texts
from skillassay.tools import Catalog, CatalogSkill, ToolFile


def test_what_needs_texts_is_refused_under_hash_with_the_reason() -> None:
    """Named, with the line of the contract that would keep them."""
    with pytest.raises(UsageError) as caught:
        refuse_without_texts("hash", "this")
    assert "this needs the texts of candidate and judge" in str(caught.value)
    assert "retention: full" in str(caught.value.hint)
    refuse_without_texts("full", "this")


def test_the_names_of_a_run_are_its_skills_scripts_tools_and_models() -> None:
    """A script by its skill; of an agent the tools that it is known by."""
    files = {path: ToolFile(source=Path(path), size=1) for path in ("SKILL.md", "scripts/x.py", "references/y.md")}
    skill = CatalogSkill(
        name="greeter", path="skills/greeter", description="", frontmatter={}, instructions="", files=files
    )
    words = kept_words([Catalog(skills=(skill,))], subjects=["loop", "gemini-cli"], models=["gemini-x"])
    assert {"greeter", "greeter/scripts/x.py", "load_skill", "run_skill_script", "gemini-x"} <= words
    assert {"activate_skill", "run_shell_command"} <= words
    assert words.isdisjoint({"references/y.md", "greeter/references/y.md"})
