"""Who answered a run: its subject, an agent with a model of its own, and what a run of another subject proves."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.project import Cli, Ran, build_small, git, run_folder, small_case

PROGRAM = """\
#!{python} -E
import sys
from pathlib import Path
texts = [path.read_text() for path in Path(".").rglob("*.md")]
print("hello hello" if any("Say hello twice" in text for text in texts) else "good day")
"""
AGENT: dict[str, Any] = {
    "agent": 1,
    "name": "mine",
    "argv": ["./mine", "{query}"],
    "skills_folder": ".agents/skills",
    "context_file": "AGENTS.md",
    "output": "text",
}
CHECKED = {"checks": [{"id": "hello", "type": "contains", "text": "hello hello"}]}


def agent(folder: Path, **fields: object) -> str:
    """A described agent that greets twice when its skill is there, however it is shown; the path of its file."""
    folder.mkdir()
    (folder / "mine").write_text(PROGRAM.format(python=sys.executable), encoding="utf-8")
    (folder / "mine").chmod(0o755)
    (folder / "mine.yaml").write_text(yaml.safe_dump(AGENT | fields), encoding="utf-8")
    return str(folder / "mine.yaml")


def run(cli: Cli, *arguments: str, **fields: object) -> Ran:
    """A project that passes its gate with this agent, evaluated with it."""
    names = ("one", "two", "three")
    build_small(cli.root, cases=[small_case(name, **CHECKED) for name in names])
    return cli("eval", "--subject", agent(cli.root / "agents", **fields), *arguments)


def header(root: Path) -> dict[str, Any]:
    """The header of the only run."""
    value: dict[str, Any] = json.loads((run_folder(root) / "run.json").read_text("utf-8"))
    return value


def test_a_model_of_its_own_is_no_fixture_and_passes_no_gate(cli: Cli) -> None:
    """Every trial came out as it should, and nobody can say whose doing it was: undecided, and named so everywhere."""
    ran = run(cli)
    assert ran.code == 3, ran.out + ran.err
    said = " ".join(ran.out.split())
    assert said.startswith(
        "AGENT RUN: mine answered with a model of its own, unknown here; authored rules judged. candidate unknown"
    )
    assert "FIXTURE RUN" not in ran.out
    assert "candidate fixture" not in ran.out
    assert "OPEN candidate_named: mine answered with a model of its own" in said
    assert "fixture_gate: UNDECIDED" in ran.out
    assert "PASSED" not in ran.out
    model = header(cli.root)["models"]["candidate"]
    assert (model["own_model"], model["is_fixture"], model["label"]) == (True, False, "agent:mine")
    assert header(cli.root)["models"]["independent"] is False
    result = json.loads((run_folder(cli.root) / "result.json").read_text("utf-8"))
    assert result["counts"]["unscored"] == 0
    assert result["evidence"] == {}
    assert [line["name"] for line in result["decision"]["lines"] if line["status"] in {"failed", "undecided"}] == [
        "candidate_named"
    ]


@pytest.mark.parametrize("command", [("report",), ("report", "--format", "markdown"), ("gate",)], ids=" ".join)
def test_a_stored_run_says_the_same(cli: Cli, command: tuple[str, ...]) -> None:
    """The fact is in the record: every command that decides or shows again comes to the same."""
    run(cli)
    ran = cli(*command)
    assert "mine answered with a model of its own" in " ".join(ran.out.split())
    assert ran.code == (3 if command == ("gate",) else 0)


def test_such_a_run_goes_on(cli: Cli) -> None:
    """Its candidate's label names no model, which is no reason to refuse a resume."""
    run(cli)
    ran = cli("eval", "--resume", run_folder(cli.root).name, "--subject", str(cli.root / "agents/mine.yaml"))
    assert ran.code == 3
    assert "AGENT RUN" in ran.out


def test_a_subject_that_the_contract_does_not_name_is_named_and_no_evidence(cli: Cli) -> None:
    """The run passes; the model line says through whom, and the report why it proves nothing."""
    ran = run(cli, argv=["./mine", "{query}", "{model}"])
    assert ran.code == 0, ran.out + ran.err
    said = " ".join(ran.out.split())
    assert f"candidate fixture through {cli.root}/agents/mine.yaml, judge fixture" in said
    assert "no evidence for skills/greeter: its subject" in said
    assert "which no contract can name" in said
    assert "through" in cli("report", "--format", "markdown").out


def test_our_own_loop_is_not_named(cli: Cli) -> None:
    """What every run has says nothing."""
    build_small(cli.root)
    assert "candidate fixture, judge fixture" in cli("eval").out


def test_the_lock_tells_other_terms_from_no_run(cli: Cli) -> None:
    """A run on the same bytes under another term is named with that term; before it there is none to name."""
    root = build_small(cli.root, lock={"requires": "fixture", "require_evidence": "all"})
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    before = cli("lock")
    assert before.code == 1
    assert "no run has evaluated exactly these bytes" in before.out
    assert cli("eval").code == 0
    contract = root / "evals/contract.yaml"
    contract.write_text(contract.read_text("utf-8") + "\ncandidate: {turn_limit: 7}\n", encoding="utf-8")
    ran = cli("lock")
    assert ran.code == 1
    assert f"run {run_folder(root).name} evaluated these bytes under other terms: candidate.turn_limit 12, not 7" in (
        " ".join(ran.out.split())
    )
