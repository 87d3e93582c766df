"""What lies around a trial: files a user sent along, scripts that read them, skills that share a name."""

from __future__ import annotations

from typing import Any

import pytest

from tests.project import SKILL, Cli, build_small, records, rule, small_case, small_rules

SUM = """\
import csv, pathlib, sys
rows = list(csv.DictReader(open(sys.argv[1], encoding="utf-8", newline="")))
total = sum(int(row["amount"]) for row in rows)
print(f"hello {total}")
pathlib.Path("left-behind.txt").write_text("x")
print(sorted(str(p) for p in pathlib.Path(".").rglob("*")))
"""


def run_sum(path: str) -> dict[str, Any]:
    """A reply that calls the script on a file."""
    args = {"skill_name": "greeter", "file_path": "scripts/sum.py", "args": [path]}
    return {"calls": [{"name": "run_skill_script", "args": args}]}


@pytest.mark.parametrize("name", ["sales.csv", "data/2026/ventes d'été.csv"])
def test_a_script_reads_a_file_by_its_relative_path(cli: Cli, name: str) -> None:
    """The file is shown in the prompt, lies in the workspace under its name, and the script's output is the answer."""
    answer = rule("one", {"text": "{{said}}"}, prompt=["hello 42"]) | {"capture": {"said": r"(hello \d+)"}}
    rules = [answer, rule("one", run_sum(name), tools=["run_skill_script"]), rule("one", {"text": "good day"})]
    case = small_case("one", files=[name], checks=[{"id": "sum", "type": "contains", "text": "hello 42"}])
    files = {"skills/greeter/scripts/sum.py": SUM, f"evals/{name}": "amount\n40\n2\n"}
    build_small(cli.root, cases=[case], rules=rules, files=files, gate={"min_cases": 1})
    ran = cli("eval", "--repeats", "2")
    assert ran.code == 0, ran.out + ran.err
    by_mode = {(record["mode"], record["repeat"]): record for record in records(cli.root)}
    assert by_mode["progressive", 1]["answer"] == "hello 42"
    assert by_mode["eager", 2]["scripts"] == ["greeter/scripts/sum.py"]
    assert by_mode["none", 1]["scripts"] == []
    first = {record["transcript"][0]["text"] for record in records(cli.root)}
    assert len(first) == 1
    assert "amount\n40\n2" in first.pop()


def test_every_trial_has_a_workspace_of_its_own(cli: Cli) -> None:
    """What one script leaves behind no other trial finds, and nothing is left in the project."""
    answer = rule("one", {"text": "hello 42"}, prompt=["hello 42"])
    rules = [answer, rule("one", run_sum("sales.csv"), tools=["run_skill_script"]), rule("one", {"text": "good day"})]
    files = {"skills/greeter/scripts/sum.py": SUM, "evals/sales.csv": "amount\n40\n2\n"}
    cases = [small_case("one", files=["sales.csv"])]
    build_small(cli.root, cases=cases, rules=rules, files=files, gate={"min_cases": 1})
    assert cli("eval", "--repeats", "3", "--mode", "progressive").code == 3
    results = [turn for record in records(cli.root) for turn in record["transcript"] if turn["who"] == "ToolTurn"]
    told = {result["response"]["stdout"] for turn in results for result in turn["results"]}
    assert told == {"hello 42\n['left-behind.txt', 'sales.csv']\n"}
    assert list(cli.root.rglob("left-behind.txt")) == []


def test_a_file_that_is_missing_is_found_before_a_model_is_called(cli: Cli) -> None:
    """Exit 3 with the suite, the file and its line."""
    build_small(cli.root, cases=[small_case("one", files=["gone.csv"])])
    ran = cli("eval")
    assert ran.code == 3
    assert "gone.csv" in ran.err
    assert not (cli.root / ".skillassay").exists()


def two_of_one_name(cli: Cli, **fields: object) -> None:
    """A second skill of the same name in another folder."""
    files = {"skills/second/SKILL.md": SKILL.format(name="greeter")}
    cases = [small_case(name, **fields) for name in ("one", "two", "three")]
    build_small(cli.root, cases=cases, files=files)


@pytest.mark.parametrize("command", ["check", "eval"])
def test_two_skills_of_one_name_are_reported(cli: Cli, command: str) -> None:
    """A case that names them by name is ambiguous: both folders are said, and nothing is guessed."""
    two_of_one_name(cli)
    ran = cli(command)
    assert ran.code == {"check": 1, "eval": 3}[command]
    assert "skills/greeter, skills/second" in ran.out + ran.err


def test_two_skills_of_one_name_are_not_offered_together(cli: Cli) -> None:
    """Cases may name the folder; a model still could not tell the two apart, so no trial is run."""
    two_of_one_name(cli, skill="skills/greeter")
    ran = cli("eval")
    assert ran.code == 3
    assert "greeter" in ran.err
    assert "bug" not in ran.err


def test_a_broken_neighbour_stops_an_evaluation_with_its_finding(cli: Cli) -> None:
    """The catalog is part of what is measured: nothing is left out of it in silence."""
    build_small(cli.root, rules=small_rules("one"), files={"skills/broken/SKILL.md": "---\nname: a: b\n---\n"})
    ran = cli("eval")
    assert ran.code == 3
    assert "skills/broken/SKILL.md:2" in ran.err
