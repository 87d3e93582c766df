"""`skillassay init` in real git repositories of every layout, through the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.project import Cli, Ran, git, write_json

TEXT = """\
---
name: {name}
description: Adds up the invoices of {name}.
---

# Invoices

- Sum up the amounts of {name}.
- Never round before the end.

## Example

```
12,50 and 7,50
```
"""

LAYOUTS = {
    "skills": (["skills/one", "skills/two"], ["skills/*"]),
    "claude": ([".claude/skills/one"], [".claude/skills/*"]),
    "root": (["."], ["."]),
    "plugins": (["plugins/p/skills/one", "plugins/p/skills/two", "plugins/q/skills/one"], ["plugins/*/skills/*"]),
    "packages": (["packages/p/skills/one", "packages/q/skills/two"], ["packages/*/skills/*"]),
    "mixed": (["skills/one", ".claude/skills/two", "deep/er/three"], ["skills/*", ".claude/skills/*", "deep/er/*"]),
}
IDENTITY = {"id": "mine", "owner": "us", "purpose": "to know", "provenance": "ours", "license": "MIT"}


def build(root: Path, folders: list[str]) -> Path:
    """A committed git repository with a skill in each folder and a Makefile and .gitignore of its own."""
    for folder in folders:
        (root / folder).mkdir(parents=True, exist_ok=True)
        name = "whole" if folder == "." else folder.rpartition("/")[2]
        (root / folder / "SKILL.md").write_text(TEXT.format(name=name), encoding="utf-8")
    (root / "Makefile").write_text("all:\n\t@echo theirs\n", encoding="utf-8")
    (root / ".gitignore").write_bytes(b"/build")
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "theirs")
    return root


def tree(root: Path) -> dict[str, bytes]:
    """Every file of a repository by its path."""
    files = (path for path in root.rglob("*") if path.is_file() and ".git" not in path.relative_to(root).parts)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}


def fill_in(root: Path) -> None:
    """Write what the skeletons leave to be written: a sum for each case."""
    path = root / "evals/quality.json"
    suite: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    for number, case in enumerate(suite["cases"]):
        case["query"] = f"Add 12 and {number}."
        case["checks"] = [
            {
                "id": "sum",
                "type": "contains",
                "text": f"sum {12 + number}",
                "samples": {"pass": [f"sum {12 + number}"], "fail": ["sum 3"]},
            }
        ]
        case["rubric"] = [{"id": "seen", "text": "The answer names the sum."}]
    write_json(path, suite)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_repository_gets_under_way(cli: Cli, layout: str) -> None:
    """After init the three next commands end well but for the skeletons; once these are written check passes too."""
    folders, globs = LAYOUTS[layout]
    before = tree(build(cli.root, folders))
    ran = cli("init")
    assert ran.code == 0
    assert f"{len(folders)} skill{'s' * (len(folders) > 1)}, found by {', '.join(globs)}" in ran.out
    after = tree(cli.root)
    assert {path for path in before if after[path] != before[path]} == {".gitignore"}
    assert after[".gitignore"] == b"/build\n.skillassay/\n"
    assert codes(cli("check", "--format", "json"), "error") == {"suite.todo", "lock.missing"}
    assert cli("bump", "--init").code == 0
    assert cli("lock").code == 0
    assert cli("lock", "--check").code == 0
    assert codes(cli("check", "--format", "json"), "error") == {"suite.todo"}
    fill_in(cli.root)
    assert cli("lock").code == 0
    checked = cli("check", "--format", "json")
    assert (checked.code, codes(checked, "error")) == (0, set())
    assert json.loads((cli.root / "skills.lock.json").read_text())["skills"].keys() == set(folders)


def codes(ran: Ran, severity: str) -> set[str]:
    """The codes of a severity that a check told."""
    return {one["code"] for one in ran.json["findings"] if one["severity"] == severity}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_twice_is_once(cli: Cli, layout: str) -> None:
    """A second call changes no byte and says so."""
    build(cli.root, LAYOUTS[layout][0])
    assert cli("init", "--ci", "github").code == 0
    before = tree(cli.root)
    ran = cli("init", "--ci", "github")
    assert ran.code == 0
    assert "nothing was missing, nothing was changed" in ran.out
    assert tree(cli.root) == before


def test_what_is_there_is_not_touched(cli: Cli) -> None:
    """Each of their own files of these names stays as it is, and is told."""
    root = build(cli.root, ["skills/one"])
    theirs = {
        "evals/contract.yaml": b"contract: 1\nskills: [skills/*]\n",
        "evals/quality.json": b'[{"id": "a", "skill": "one", "query": "q", "must_match": "x"}]',
        "skillassay.mk": b"# mine\n",
        ".github/workflows/skillassay.yml": b"name: mine\n",
        ".gitignore": b".skillassay/\n",
    }
    for name, data in theirs.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    ran = cli("init")
    assert ran.code == 0
    assert {name: (root / name).read_bytes() for name in theirs} == theirs
    told = {line.removeprefix("there already: ") for line in ran.out.splitlines() if line.startswith("there already")}
    assert told == set(theirs) - {".gitignore"}


def test_a_dry_run_writes_nothing(cli: Cli) -> None:
    """It names what would be written, and leaves every byte."""
    before = tree(build(cli.root, ["skills/one"]))
    ran = cli("init", "--dry-run")
    assert ran.code == 0
    assert "would be written: evals/contract.yaml" in ran.out
    assert tree(cli.root) == before


def test_three_skeletons_from_the_skills_own_text(cli: Cli) -> None:
    """Description, firmest rule and example are quoted in the notes, which nobody is asked."""
    build(cli.root, ["skills/one"])
    assert cli("init").code == 0
    cases = json.loads((cli.root / "evals/quality.json").read_text(encoding="utf-8"))["cases"]
    assert [case["id"] for case in cases] == ["one-everyday", "one-rule", "one-edge"]
    notes = [case["note"] for case in cases]
    assert "Adds up the invoices of one." in notes[0]
    assert "Never round before the end." in notes[1]
    assert "12,50 and 7,50" in notes[2]


def test_one_skill_now_and_another_later(cli: Cli) -> None:
    """Skeletons for a named skill alone; a second name gets a suite of its own, which the contract's glob finds."""
    build(cli.root, ["skills/one", "skills/two"])
    assert cli("init", "--skill", "one").code == 0
    first = (cli.root / "evals/quality.json").read_bytes()
    assert b"two" not in first
    assert cli("init", "--skill", "two").code == 0
    assert (cli.root / "evals/quality.json").read_bytes() == first
    todo = [one["path"] for one in cli("check", "--format", "json").json["findings"] if one["code"] == "suite.todo"]
    assert todo == ["evals/quality-two.json"] * 3 + ["evals/quality.json"] * 3


def test_an_unknown_skill_is_wrong_usage(cli: Cli) -> None:
    """The folders that there are stand in the hint, and nothing is written."""
    before = tree(build(cli.root, ["skills/one"]))
    ran = cli("init", "--skill", "nobody")
    assert ran.code == 2
    assert "skills/one" in ran.err
    assert tree(cli.root) == before


def test_no_skill_no_scaffold(cli: Cli) -> None:
    """A folder without a skill is left as it is."""
    ran = cli("init")
    assert ran.code == 3
    assert "there is no skill here" in ran.err
    assert tree(cli.root) == {}


def test_a_skeleton_is_never_asked_nor_locked(cli: Cli) -> None:
    """eval refuses the suite with the finding, and the lock has none of its cases."""
    build(cli.root, ["skills/one"])
    assert cli("init").code == 0
    assert cli("bump", "--init").code == 0
    ran = cli("eval")
    assert ran.code == 3
    assert "suite.todo" in ran.err
    assert cli("lock").code == 0
    assert json.loads((cli.root / "skills.lock.json").read_text())["suites"] == {}


def test_a_locked_suite_does_not_vanish_behind_a_skeleton(cli: Cli) -> None:
    """A skeleton put into a locked suite lets neither lock nor its check pass."""
    build(cli.root, ["skills/one"])
    assert cli("init").code == 0
    assert cli("bump", "--init").code == 0
    fill_in(cli.root)
    assert cli("lock").code == 0
    path = cli.root / "evals/quality.json"
    suite = json.loads(path.read_text(encoding="utf-8"))
    suite["cases"].append({"id": "new", "skill": "one", "query": "TODO(case): x", "must_match": "y"})
    write_json(path, suite)
    assert cli("lock").code == 1
    assert cli("lock", "--check").code == 1


def test_unwritten_words_of_the_contract_are_named(cli: Cli) -> None:
    """Each field that says TODO, and the one that is left out, is a finding, as if nothing stood there."""
    build(cli.root, ["skills/one"])
    assert cli("init").code == 0
    found = cli("check", "--format", "json").json["findings"]
    named = {one["message"].split(" ")[0] for one in found if one["code"] == "contract.incomplete"}
    assert named == {"id", "owner", "purpose", "risk_class", "dataset.provenance", "dataset.license"}


@pytest.mark.parametrize("linked", ["evals", ".github"])
def test_a_link_is_not_written_through(cli: Cli, tmp_path_factory: pytest.TempPathFactory, linked: str) -> None:
    """Where one of the folders leads out of the project nothing at all is written."""
    build(cli.root, ["skills/one"])
    outside = tmp_path_factory.mktemp("outside")
    (cli.root / linked).symlink_to(outside)
    before = tree(cli.root)
    assert cli("init").code == 3
    assert tree(cli.root) == before
    assert list(outside.iterdir()) == []


def test_an_unreadable_skill_hides_nothing(cli: Cli) -> None:
    """The others get their skeletons; with none that can be read there is no suite, and none is said to be there."""
    build(cli.root, ["skills/one"])
    broken = cli.root / "skills/broken/SKILL.md"
    broken.parent.mkdir()
    broken.write_text("no frontmatter", encoding="utf-8")
    assert cli("init").code == 0
    cases = json.loads((cli.root / "evals/quality.json").read_text(encoding="utf-8"))["cases"]
    assert {case["skill"] for case in cases} == {"one"}
    (cli.root / "evals/quality.json").unlink()
    (cli.root / "skills/one/SKILL.md").write_text("no frontmatter", encoding="utf-8")
    ran = cli("init")
    assert (ran.code, "evals/quality.json" in ran.out) == (0, False)


def test_a_suite_of_theirs_elsewhere_is_enough(cli: Cli) -> None:
    """Where the contract names another suite no second one is written beside it."""
    build(cli.root, ["skills/one"])
    (cli.root / "evals").mkdir()
    text = "contract: 1\nsuites: {quality: [mine.json]}\n"
    (cli.root / "evals/contract.yaml").write_text(text, encoding="utf-8")
    write_json(cli.root / "mine.json", [{"id": "a", "skill": "one", "query": "q", "must_match": "x"}])
    ran = cli("init")
    assert "there already: mine.json" in ran.out
    assert not (cli.root / "evals/quality.json").exists()
