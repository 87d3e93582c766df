"""Projects and command lines for tests: a small project in a line, the command in this process or in one of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from skillassay.agents.launching import secret_variables
from skillassay.cli.main import main
from tests.models.wire_server import Canned, reply

REPOSITORY = Path(__file__).parents[1]
SETTINGS = (
    *("GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_GEMINI_BASE_URL"),
    *("OPENAI_BASE_URL", "SKILLASSAY_JUDGE_API_KEY", "SKILLASSAY_JUDGE_BASE_URL"),
    *("SKILLASSAY_SECOND_JUDGE_API_KEY", "SKILLASSAY_SECOND_JUDGE_BASE_URL"),
    *("GITHUB_STEP_SUMMARY", "QUALITY_MIN", "COLUMNS", "PYTHONIOENCODING", "PYTHONUTF8"),
    *("SKILLASSAY_HOLDOUT", "SKILLASSAY_HOLDOUT_KEY"),
    *secret_variables(),
)
"""Variables that change what a command does; a test sets the ones it is about."""

SKILL = """\
---
name: {name}
description: Says hello the way {name} does.
metadata:
  version: "1.0.0"
---

# Hello

Say hello twice, as {name} does.
"""

HELLO = {"id": "says-hello", "text": "The answer says hello."}
GOOD, BAD = "hello hello", "good day"
JUDGE_RULE = {"criterion": "says-hello", "pass": "(?i)hello", "missing": "No hello stands there."}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What a command came to."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its output as JSON."""
        return json.loads(self.out)


class Cli:
    """The command line in this process, at one project."""

    def __init__(self, root: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self._capture = capture

    def __call__(self, *arguments: str) -> Ran:
        """Run one command."""
        self._capture.readouterr()
        code = main(["--root", str(self.root), *arguments])
        out, err = self._capture.readouterr()
        return Ran(code=code, out=out, err=err)


def environment(**settings: str) -> dict[str, str]:
    """The environment of a command in a process of its own."""
    return {name: value for name, value in os.environ.items() if name not in SETTINGS} | settings


def command(root: Path, *arguments: str) -> list[str]:
    """The argument list of a command in a process of its own."""
    return [sys.executable, "-m", "skillassay", "--root", str(root), *arguments]


def spawn(root: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command in a process of its own to its end; ``settings`` are added to its environment."""
    argv = command(root, *arguments)
    return subprocess.run(argv, capture_output=True, cwd=REPOSITORY, env=environment(**settings), timeout=60)


def write_json(path: Path, value: object) -> None:
    """Write a JSON file, making its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False, indent=2), encoding="utf-8")


def edit(path: Path, old: str, new: str) -> None:
    """Replace a text that stands in a file exactly once."""
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {path}"
    path.write_text(text.replace(old, new), encoding="utf-8")


def small_case(case_id: str, **fields: object) -> dict[str, Any]:
    """A case of the skill `greeter` whose query is ``Greet <its id>.`` and whose rubric asks for a hello."""
    return {"id": case_id, "skill": "greeter", "query": f"Greet {case_id}.", "rubric": [HELLO]} | fields


def rule(case_id: str, reply: Mapping[str, object], **when: object) -> dict[str, Any]:
    """A fixture rule for the query of a small case."""
    name = f"{case_id}-{len(when)}-{'-'.join(sorted(when))}"
    return {"id": name, "when": {"query": [f"Greet {case_id}."]} | when, "reply": dict(reply)}


def answers(case_id: str, good: str = GOOD, bad: str = BAD) -> list[dict[str, Any]]:
    """Rules under which a case passes with the skill's text or tools at hand, and fails without."""
    return [rule(case_id, {"text": bad}, no_tools=True), rule(case_id, {"text": good}, prompt=["greeter"])]


IDENTITY: dict[str, Any] = {
    "id": "greeting",
    "version": "1.0.0",
    "owner": "the tests",
    "purpose": "Says whether the greeter may be used.",
    "risk_class": "low",
    "dataset": {"provenance": "written for the tests", "license": "MIT"},
}
"""What a contract must say itself for its gate to pass."""


def build_small(
    root: Path,
    *,
    cases: Sequence[Mapping[str, Any]] | None = None,
    rules: Sequence[Mapping[str, Any]] | None = None,
    judge: Sequence[Mapping[str, Any]] = (JUDGE_RULE,),
    files: Mapping[str, str] | None = None,
    **contract: object,
) -> Path:
    """A project with the skill `greeter` (three cases unless told otherwise) that passes its gate as it is.

    ``files`` are further files by path. Eager shows no tool here (no script), so its rules go by the prompt.
    """
    names = ("one", "two", "three")
    cases = [small_case(name) for name in names] if cases is None else cases
    rules = [rule for name in names for rule in small_rules(name)] if rules is None else rules
    (root / "skills" / "greeter").mkdir(parents=True)
    (root / "skills" / "greeter" / "SKILL.md").write_text(SKILL.format(name="greeter"), encoding="utf-8")
    for name, text in (files or {}).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    write_json(root / "evals" / "quality.json", {"suite": "quality", "version": "1.0.0", "cases": cases})
    fixtures = {"fixture": 1, "subject": rules, "judge": judge}
    write_json(root / "evals" / "fixtures" / "all.json", fixtures)
    terms = {
        "contract": 1,
        **IDENTITY,
        "skills": ["skills/*"],
        "fixtures": ["evals/fixtures/*.json"],
        "lock": {"requires": "fixture"},
    } | contract
    (root / "evals" / "contract.yaml").write_text(yaml.safe_dump(terms), encoding="utf-8")
    return root


def small_rules(name: str, good: str = GOOD, bad: str = BAD) -> list[dict[str, Any]]:
    """The answer ``good`` where the skill stands in the prompt (catalog or whole), else ``bad``."""
    return [rule(name, {"text": good}, prompt=["greeter"]), rule(name, {"text": bad}, absent=["greeter"])]


def run_folder(root: Path) -> Path:
    """The only run of a project."""
    (folder,) = (root / ".skillassay" / "runs").iterdir()
    return folder


def records(root: Path) -> list[dict[str, Any]]:
    """The records of the only run."""
    return [json.loads(line) for line in (run_folder(root) / "trials.jsonl").read_bytes().split(b"\n") if line]


def git(root: Path, *arguments: str) -> str:
    """Run git in a project of a test; what it prints."""
    name = ("-c", "user.name=test", "-c", "user.email=test@example.invalid", "-c", "init.defaultBranch=main")
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    done = subprocess.run(["git", *name, *arguments], cwd=root, env=env, check=True, capture_output=True)
    return done.stdout.decode()


def verdicts(**words: str) -> Canned:
    """A judge's reply over the wire: ``says_hello="PASS"`` with the evidence that fits the good answer."""
    entries = [
        {"id": name.replace("_", "-"), "reasoning": "r", "evidence": "hello", "verdict": word}
        for name, word in words.items()
    ]
    return reply({"text": json.dumps({"criteria": entries})})
