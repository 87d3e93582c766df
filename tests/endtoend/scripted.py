"""A project of one case whose scripts are called wherever they are offered, and what these calls came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.project import build_small, records, rule, small_case

SCRIPT = "skills/greeter/scripts/act.py"
SAYS = {"id": "says", "type": "contains", "text": "hello"}
MODES = ("--mode", "progressive", "--mode", "none")
"""Eager is left out: its prompt names the scripts, which here says that one was run."""


def run_script(*args: str, file: str = "scripts/act.py") -> dict[str, Any]:
    """A call of a script of the skill."""
    return {"name": "run_skill_script", "args": {"skill_name": "greeter", "file_path": file, "args": [*args]}}


def load_resource(file: str) -> dict[str, Any]:
    """A call that reads a file of the skill."""
    return {"name": "load_skill_resource", "args": {"skill_name": "greeter", "file_path": file}}


def build_scripted(
    root: Path,
    script: str,
    *,
    checks: Sequence[Mapping[str, Any]] = (SAYS,),
    calls: Sequence[Mapping[str, Any]] = (),
    files: Mapping[str, str] | None = None,
    sent: Sequence[str] = (),
) -> Path:
    """Build it. Whoever can call the script makes all ``calls`` in their order (default: the script, once) and then
    says hello; whoever cannot says good day. ``sent`` are the files of the case."""
    rules = [
        {**rule("one", {"text": "hello, done"}, prompt=["scripts/act.py"]), "id": "end"},
        {**rule("one", {"calls": [*calls] or [run_script()]}, tools=["run_skill_script"]), "id": "begin"},
        {**rule("one", {"text": "good day"}), "id": "without"},
    ]
    case = small_case("one", checks=[*checks], rubric=[], files=[*sent])
    all_files = {SCRIPT: script, **(files or {})}
    return build_small(root, cases=[case], rules=rules, files=all_files, gate={"min_cases": 1})


def told(root: Path) -> list[dict[str, Any]]:
    """What each call of the trials was answered, in their order."""
    turns = [turn for record in records(root) for turn in record["transcript"] if turn["who"] == "ToolTurn"]
    return [result["response"] for turn in turns for result in turn["results"]]
