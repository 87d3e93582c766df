"""A command-line agent as the candidate of a whole run: modes, arms, errors and keys as they are recorded."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from skillassay.errors import UsageError
from skillassay.subjects.opening import confirmed_subject
from tests.project import Cli, Ran, build_small, edit, records, run_folder, small_case, write_json

KEY = "AIza-canary/key+3141"
# It greets twice when its skill is there, in whatever way, and tells its whole environment when asked to.
PROGRAM = """\
#!{python} -E
import os, sys
from pathlib import Path
from typing import Any
if sys.argv[-1] == "--version":
    sys.exit(print("mine 1.2.3"))
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


def run(cli: Cli, monkeypatch: pytest.MonkeyPatch, *cases: str, **contract: Any) -> Ran:
    """Evaluate with the agent, its candidate at an address that it never asks."""
    folder = cli.root / "agents"
    build_small(
        cli.root, cases=[small_case(name, checks=HELLO_CHECK, rubric=[]) for name in cases], rules=[], **contract
    )
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


CONTRACT = {"model": "gemini:some", "subject": "gemini-cli"}
ROUTING = {"suite": "routing", "version": "1.0.0", "cases": [{"id": "r", "query": "q", "expect": {"skills": []}}]}


@pytest.mark.parametrize("command", ["eval", "e2e"])
def test_a_contract_alone_starts_no_agent(cli: Cli, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    """It would run the project's scripts with the user's key and the network: wrong usage, until the user says so."""
    build_small(cli.root, candidate=CONTRACT)
    write_json(cli.root / "evals" / "routing.json", ROUTING)
    started = cli.root / "started"
    (cli.root / "gemini").write_text(f"#!/bin/sh\ntouch {started}\n", encoding="utf-8")
    (cli.root / "gemini").chmod(0o755)
    monkeypatch.setenv("PATH", f"{cli.root}:/usr/bin:/bin")
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    ran = cli(command)
    assert ran.code == 2
    assert "with your key and the network" in ran.err
    assert "--subject gemini-cli" in ran.err
    assert not started.exists()
    assert not (cli.root / ".skillassay").exists()
    assert cli(command, "--subject", "loop", "--model", "fixture").code != 2


@pytest.mark.parametrize("options", [(), ("--subject", "gemini-cli")], ids=["contract", "option"])
def test_only_an_agent_must_be_confirmed(options: tuple[str, ...]) -> None:
    """What is named on the command counts; our own loop and ADK start nothing."""
    named = options[1] if options else None
    if named is None:
        with pytest.raises(UsageError):
            confirmed_subject(named, "gemini-cli")
    else:
        assert confirmed_subject(named, "gemini-cli") == "gemini-cli"
    assert [confirmed_subject(named, stated) for stated in ("loop", "adk")] == [named or "loop", named or "adk"]


def test_a_run_says_what_an_agent_may(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """At its start, on standard error; and the report says what stands around it, though no skill has a script."""
    ran = run(cli, monkeypatch, "one")
    assert "mine runs the skills' scripts, and whatever its model writes, with your key and the network" in ran.err
    isolation = json.loads((run_folder(cli.root) / "run.json").read_text("utf-8"))["isolation"]
    assert isolation["skills"] == []
    assert isolation["scripts"].endswith("; the machine's network")
    assert "network," not in isolation["scripts"]
    line = next(line for line in ran.out.splitlines() if "and all it runs" in line)
    assert "level" in line


def test_the_record_names_program_and_file(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the digest of the file that describes it, and what the program says of its version."""
    run(cli, monkeypatch, "one")
    file = cli.root / "agents" / "mine.yaml"
    agents = json.loads((run_folder(cli.root) / "run.json").read_text("utf-8"))["agents"]
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert agents == {"candidate": {"name": "mine", "file_digest": digest, "version": "mine 1.2.3"}}


@pytest.mark.parametrize(("name", "old", "new"), [("mine.yaml", "key:", "# \nkey:"), ("mine", "1.2.3", "1.2.4")])
def test_a_run_does_not_go_on_with_another_agent(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, name: str, old: str, new: str
) -> None:
    """Described or programmed otherwise it is another experiment: exit 3, and nothing is written."""
    run(cli, monkeypatch, "three")
    folder = run_folder(cli.root)
    before = (folder / "trials.jsonl").read_bytes()
    edit(cli.root / "agents" / name, old, new)
    ran = cli("eval", "--retry-unscored", folder.name)
    assert ran.code == 3
    assert "the candidate's agent (mine" in ran.err
    assert (folder / "trials.jsonl").read_bytes() == before


def test_an_agents_time_is_not_tried_again(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """It had the time of all its turns: unscored, and no trial is left for another attempt."""
    monkeypatch.setattr(
        "tests.endtoend.test_agents.PROGRAM", '#!/bin/sh\n[ "$1" = --version ] || sleep 600\n{python:.0}'
    )
    ran = run(cli, monkeypatch, "one", candidate={"model": "fixture", "timeout_s": 0.5, "turn_limit": 1})
    outcomes = [record["outcome"] for record in records(cli.root)]
    assert {(item["reason"], item["stage"]) for item in outcomes} == {("timeout", "candidate")}
    assert "can be tried again" not in ran.err
    n_records = len(records(cli.root))
    cli("eval", "--retry-unscored", run_folder(cli.root).name)
    assert len(records(cli.root)) == n_records


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
