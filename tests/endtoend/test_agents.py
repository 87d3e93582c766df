"""A command-line agent as the candidate of a whole run: modes, arms, errors and keys as they are recorded."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.project import Cli, Ran, build_small, records, small_case

KEY = "AIza-canary/key+3141"
# It greets twice when its skill is there, in whatever way, and tells its whole environment when asked to.
PROGRAM = """\
#!{python} -E
import os, sys
from pathlib import Path
texts = [path.read_text() for path in Path(".").rglob("*.md")]
if "three" in sys.argv[-1]:
    print(dict(os.environ))
    sys.exit(7)
print("hello hello" if any("Say hello twice" in text for text in texts) else "good day")
"""
AGENT = """\
agent: 1
name: mine
argv: [./mine, "{model}", "{query}"]
skills_folder: .agents/skills
context_file: AGENTS.md
output: text
key: MINE_KEY
"""


def run(cli: Cli, monkeypatch: pytest.MonkeyPatch, *cases: str) -> Ran:
    """Evaluate with the agent, its candidate at an address that it never asks."""
    folder = cli.root / "agents"
    build_small(cli.root, cases=[small_case(name, checks=HELLO_CHECK, rubric=[]) for name in cases], rules=[])
    folder.mkdir()
    (folder / "mine").write_text(PROGRAM.format(python=sys.executable), encoding="utf-8")
    (folder / "mine").chmod(0o755)
    (folder / "mine.yaml").write_text(AGENT, encoding="utf-8")
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:9")
    return cli("eval", "--subject", str(folder / "mine.yaml"), "--model", "gemini:some", "--judge-model", "fixture")


HELLO_CHECK = [{"id": "hello", "type": "contains", "text": "hello hello"}]


def test_the_skill_decides_in_every_mode(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """It passes where it finds the skill, fails where it does not, and nothing else differs between the arms."""
    ran = run(cli, monkeypatch, "one", "two")
    found = {(record["case_id"], record["mode"]): record["outcome"]["status"] for record in records(cli.root)}
    modes = {"progressive": "PASS", "none": "FAIL", "eager": "PASS"}
    assert found == {(case, mode): status for case in ("one", "two") for mode, status in modes.items()}
    arms = {record["mode"]: record["arm"] for record in records(cli.root) if record["case_id"] == "one"}
    assert {mode: arm["skills"] for mode, arm in arms.items()} == {
        "progressive": ["greeter"], "none": [], "eager": ["greeter"],
    }  # fmt: skip
    assert len({arm["prompt"] for arm in arms.values()}) == 1
    assert "saw another prompt" not in ran.out + ran.err


def test_an_agent_that_fails_is_unscored_and_its_key_is_nowhere(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """It printed its environment and exited with 7: no score, and the key in no file and no output."""
    ran = run(cli, monkeypatch, "three")
    outcomes = [record["outcome"] for record in records(cli.root)]
    assert {(item["status"], item["reason"], item["stage"]) for item in outcomes} == {
        ("UNSCORED", "provider_error", "candidate")
    }
    texts = [path.read_text("utf-8", "replace") for path in cli.root.rglob("*") if path.is_file()]
    assert not any("canary" in text for text in [*texts, ran.out, ran.err])
    assert "MINE_KEY" in json.dumps(records(cli.root))


def test_an_unknown_subject_is_wrong_usage(cli: Cli) -> None:
    """It names those there are."""
    build_small(cli.root)
    ran = cli("eval", "--subject", "nobody")
    assert ran.code == 2
    assert "gemini-cli" in ran.err


def test_a_file_that_describes_no_agent_stops_before_any_trial(cli: Cli, tmp_path: Path) -> None:
    """Bad input: exit 3, and no run begins."""
    build_small(cli.root)
    (tmp_path / "bad.yaml").write_text("agent: 1\n", encoding="utf-8")
    ran = cli("eval", "--subject", str(tmp_path / "bad.yaml"))
    assert ran.code == 3
    assert "missing field" in ran.err
    assert not (cli.root / ".skillassay").exists()
