"""What `skillassay init` writes works where it is used: make, bash of the workflow, editors, a run."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import jsonschema
import pytest
import yaml

from skillassay.scaffold.editors import SCHEMAS
from skillassay.suites.facts import UNFILLED_MARK
from tests.acceptance.test_init import IDENTITY, build, fill_in, tree
from tests.project import Cli, edit

WORKFLOW = ".github/workflows/skillassay.yml"


def made(root: Path, *arguments: str, makefile: str = "Makefile") -> str:
    """What make would run."""
    argv = ["make", "--no-print-directory", "-n", "-f", makefile, *arguments]
    return subprocess.run(argv, cwd=root, check=True, capture_output=True, text=True).stdout


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_the_fragment_fights_nothing(cli: Cli) -> None:
    """Included first or last, the default goal stays theirs, and the targets call the program."""
    build(cli.root, ["skills/one"])
    ran = cli("init")
    assert "include skillassay.mk" in ran.out
    theirs = (cli.root / "Makefile").read_text()
    for text in (f"include skillassay.mk\n{theirs}", f"{theirs}include skillassay.mk\n"):
        (cli.root / "Makefile").write_text(text)
        assert made(cli.root) == "echo theirs\n"
        assert made(cli.root, "skills-check") == "skillassay check\n"
        assert made(cli.root, "skills-eval", "SKILL=one") == "skillassay eval --skill one\n"
        assert made(cli.root, "skills-bump", "SKILL=one") == "skillassay bump one --suggest\n"
        assert made(cli.root, "skills-bump", "SKILL=one", "PART=minor") == "skillassay bump one minor\n"
        assert "include skillassay.mk" not in cli("init").out
    assert made(cli.root, "skills-verify", makefile="skillassay.mk") == "skillassay lock --check\n"


@pytest.mark.parametrize("code", [0, 1, 3, 70])
@pytest.mark.parametrize("base", ["", "main; touch stolen"])
def test_the_workflow_tells_the_exit_codes_apart(cli: Cli, code: int, base: str) -> None:
    """Its step ends as the program does, says which of 1 and 3 it was, and takes a branch's name for nothing else."""
    build(cli.root, ["skills/one"])
    assert cli("init", "--ci", "github").code == 0
    workflow = yaml.safe_load((cli.root / WORKFLOW).read_text())
    steps = {step.get("name"): step for step in workflow["jobs"]["skills"]["steps"]}
    programs = cli.root / "programs"
    programs.mkdir()
    (programs / "skillassay").write_text(f'#!/bin/sh\nprintf "<%s>" "$@"\nexit {code}\n')
    (programs / "skillassay").chmod(0o755)
    env = {"PATH": f"{programs}:/usr/bin:/bin", "BASE": base}
    done = subprocess.run(
        ["bash", "-e", "-c", steps["Check"]["run"]], cwd=cli.root, env=env, capture_output=True, text=True
    )
    assert done.returncode == code
    assert ("<--base>" in done.stdout, f"<origin/{base}>" in done.stdout) == (bool(base), bool(base))
    assert ("failed:" in done.stdout, "could not decide" in done.stdout) == (code == 1, code == 3)
    assert not (cli.root / "stolen").exists()


def test_the_workflow_has_the_history_and_no_secret(cli: Cli) -> None:
    """The whole history is fetched, nothing may be written, and no secret is named."""
    build(cli.root, ["skills/one"])
    (cli.root / ".github").mkdir()
    assert cli("init").code == 0
    text = (cli.root / WORKFLOW).read_text()
    workflow = yaml.safe_load(text)
    (checkout,) = (step for step in workflow["jobs"]["skills"]["steps"] if "checkout" in step.get("uses", ""))
    assert checkout["with"]["fetch-depth"] == 0
    assert workflow["permissions"] == {"contents": "read"}
    assert "secrets" not in text


def test_editors_find_the_schemas(cli: Cli) -> None:
    """Contract and suite name a schema by a relative path at which it lies, and fit it."""
    build(cli.root, ["skills/one"])
    assert cli("init").code == 0
    contract = (cli.root / "evals/contract.yaml").read_text()
    first = contract.splitlines()[0]
    assert first.startswith("# yaml-language-server: $schema=.schemas/")
    suite = json.loads((cli.root / "evals/quality.json").read_text())
    for value, name in ((yaml.safe_load(contract), first.rpartition("=")[2]), (suite, suite["$schema"])):
        schema = json.loads((cli.root / "evals" / name).read_text())
        jsonschema.validate(value, schema)


def test_schemas_are_renewed(cli: Cli) -> None:
    """`schema --write` mends an older copy and nothing else; printed they are what is written."""
    assert cli("schema", "--write").code == 0
    names = {path.name for path in (cli.root / "evals/.schemas").iterdir()}
    assert names == {f"{name}.schema.json" for name in SCHEMAS}
    before = tree(cli.root)
    (cli.root / "evals/.schemas/suite.schema.json").write_text("{}")
    assert "1 written" in cli("schema", "--write").out
    assert tree(cli.root) == before
    assert cli("schema", "suite").json == json.loads(before["evals/.schemas/suite.schema.json"])
    assert cli("schema", "nothing").code == 2
    assert all(name in cli("schema").out for name in SCHEMAS)


def test_from_init_to_evidence(cli: Cli) -> None:
    """With the words written and answers authored a run passes its gate and the lock takes its evidence."""
    build(cli.root, ["skills/one"])
    assert cli("init").code == 0
    assert cli("bump", "--init").code == 0
    fill_in(cli.root)
    contract = cli.root / "evals/contract.yaml"
    terms = yaml.safe_load(contract.read_text())
    terms |= {name: IDENTITY[name] for name in ("id", "owner", "purpose")} | {"risk_class": "low"}
    terms["dataset"] = {name: IDENTITY[name] for name in ("provenance", "license")}
    terms["lock"] = {"requires": "fixture", "require_evidence": "all"}
    contract.write_text(yaml.safe_dump(terms), encoding="utf-8")
    rules = [
        {
            "id": f"{how}-{n}",
            "when": {"query": [f"Add 12 and {n}."], part: ["Adds up the invoices"]},
            "reply": {"text": text},
        }
        for n in range(3)
        for how, part, text in (("with", "prompt", f"sum {12 + n}"), ("without", "absent", "no idea"))
    ]
    judge = [{"criterion": "seen", "pass": "sum", "missing": "no sum"}]
    (cli.root / "evals/fixtures").mkdir()
    (cli.root / "evals/fixtures/a.yaml").write_text(yaml.safe_dump({"fixture": 1, "subject": rules, "judge": judge}))
    ran = cli("eval")
    assert ran.code == 0, ran.out + ran.err
    assert cli("lock").code == 0
    assert cli("lock", "--check").code == 0
    assert cli("check", "--strict").code == 0


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("query", f"  {UNFILLED_MARK} x"),
        ("rubric", [f"{UNFILLED_MARK} x"]),
        ("rubric", [{"id": "a", "text": f"{UNFILLED_MARK} x"}]),
        ("reference", f"{UNFILLED_MARK} x"),
        ("must_match", f"{UNFILLED_MARK} x"),
        ("checks", [{"id": "a", "type": "contains", "text": f"{UNFILLED_MARK} x"}]),
    ],
)
def test_no_text_of_a_case_may_be_a_skeletons(cli: Cli, field: str, value: object) -> None:
    """Wherever the mark begins a text that is asked, judged or checked, the case is refused by its name."""
    build(cli.root, ["skills/one"])
    case = {"id": "c", "skill": "one", "query": "q", "rubric": ["It adds."]} | {field: value}
    (cli.root / "evals").mkdir()
    (cli.root / "evals/quality.json").write_text(json.dumps([case]))
    found = [one for one in cli("check", "--format", "json").json["findings"] if one["code"] == "suite.todo"]
    assert [(one["severity"], f"case 'c': {field} not filled in" in one["message"]) for one in found] == [
        ("error", True)
    ]


def test_a_todo_that_a_user_wrote_is_no_skeleton(cli: Cli) -> None:
    """Real requests begin with TODO too, and a note may hold the mark: nobody is asked it."""
    build(cli.root, ["skills/one"])
    note = f"{UNFILLED_MARK} more of these"
    case = {"id": "c", "skill": "one", "query": "TODO: buy milk. Sort this.", "rubric": ["It sorts."], "note": note}
    (cli.root / "evals").mkdir()
    (cli.root / "evals/quality.json").write_text(json.dumps([case]))
    assert "suite.todo" not in cli("check").out


def test_a_gitignore_with_crlf_keeps_its_line_ends(cli: Cli) -> None:
    """The line that is added ends as the others do; a file that knows the folder is left alone."""
    build(cli.root, ["skills/one"])
    (cli.root / ".gitignore").write_bytes(b"a\r\nb")
    assert cli("init").code == 0
    assert (cli.root / ".gitignore").read_bytes() == b"a\r\nb\r\n.skillassay/\r\n"


def test_outside_git_nothing_is_ignored(cli: Cli) -> None:
    """No .gitignore is made where there is no repository, and that is said."""
    (cli.root / "skills/one").mkdir(parents=True)
    (cli.root / "skills/one/SKILL.md").write_text("---\nname: one\ndescription: One.\n---\nDo.\n")
    ran = cli("init")
    assert "left out: .gitignore: this is no git repository" in ran.out
    assert not (cli.root / ".gitignore").exists()


def test_a_skill_that_is_the_repository_does_not_change_with_its_ci(cli: Cli) -> None:
    """What init wrote beside it is no part of its digest, so that it needs no version for it."""
    build(cli.root, ["."])
    assert cli("init", "--ci", "github").code == 0
    assert cli("bump", "--init").code == 0
    assert cli("lock").code == 0
    with (cli.root / WORKFLOW).open("a") as file:
        file.write("# more\n")
    edit(cli.root / "skillassay.mk", "SKILLASSAY ?= skillassay", "SKILLASSAY ?= other")
    assert cli("lock", "--check").code == 0
