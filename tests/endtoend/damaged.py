"""A project whose authored model reads the skill's list: one line matters, one is missed by no rule, one by nobody."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.project import GOOD, build_small, rule, small_case

CALL = {"calls": [{"name": "load_skill", "args": {"skill_name": "greeter"}}]}
SKILL_MD = """\
---
name: greeter
description: Says hello.
metadata:
  version: "1.0.0"
---

# Hello

- Say hello twice.
- Be kind.
- Never sing.
"""
MATTERS, UNFORESEEN, UNTESTED = "- Say hello twice.", "- Be kind.", "- Never sing."


def damaged_rules(name: str) -> list[dict[str, Any]]:
    """Answers of a model that loads the skill, and says hello where the skill says so and says to be kind.

    Without the second no rule answers: that is an error, and not a bad answer.
    """
    return [
        rule(name, CALL, absent=["# Hello"], tools=["load_skill"]),
        rule(name, {"text": GOOD}, prompt=["Say hello twice", "Be kind"]),
        rule(name, {"text": "good day"}, prompt=["Be kind"], absent=["Say hello twice"]),
    ]


def build_damaged(root: Path, names: Sequence[str] = ("one", "two"), **more: Any) -> Path:
    """The project, with these cases; ``more`` are further terms of its contract."""
    return build_small(
        root,
        cases=[small_case(name) for name in names],
        rules=[made for name in names for made in damaged_rules(name)],
        files={"skills/greeter/SKILL.md": SKILL_MD},
        **more,
    )


def fates(result: Mapping[str, Any]) -> dict[str, str]:
    """What became of each mutant, by the text that was changed."""
    return {one["text"]: one["outcome"] for one in result["mutants"]}


def session(root: Path) -> Path:
    """The folder of the only mutation test."""
    (folder,) = (root / ".skillassay" / "mutations").iterdir()
    return folder


def trials(root: Path) -> list[dict[str, Any]]:
    """The records of the only mutation test that are whole."""
    lines = (session(root) / "trials.jsonl").read_bytes().split(b"\n")[:-1]
    return [json.loads(line) for line in lines]


def tree(root: Path) -> dict[str, str]:
    """Every file of the project but what the program keeps of its runs, by digest."""
    return {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".skillassay" not in path.parts
    }
