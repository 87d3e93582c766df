"""The documents say what the program does: generated pages are current, and nothing in them is invented."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from skillassay.agents.base import Ask
from skillassay.agents.described import load_described
from skillassay.cli.main import ALIASES, COMMANDS
from skillassay.documents import load_document
from skillassay.errors import Exit, Reason
from skillassay.project import load_project
from skillassay.schema import load_schema
from tests.project import build_small

ROOT = Path(__file__).parent.parent
COMMAND = re.compile(r"(?:`|^|\$ )skillassay ([a-z][a-z0-9-]*)", flags=re.MULTILINE)
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])


def test_generated_pages_are_current() -> None:
    """commands.md, findings.md and provider-errors.md are what would be written now."""
    done = subprocess.run(
        [sys.executable, "scripts/write_reference.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, "run python scripts/write_reference.py"


def test_every_command_named_in_a_page_exists() -> None:
    """`skillassay WORD` in a page names a command of the table."""
    known = {*COMMANDS, *ALIASES}
    wrong = [
        (page.name, word)
        for page in PAGES
        for word in COMMAND.findall(page.read_text(encoding="utf-8"))
        if word not in known
    ]
    assert not wrong


def test_every_make_target_named_in_a_page_exists() -> None:
    """`make WORD` in a page is a target of the Makefile."""
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    named = {
        word
        for page in PAGES
        for word in re.findall(
            r"(?:`|^)(?:[A-Z_]+=\S+ )?make ([a-z][a-z0-9-]*)", page.read_text(encoding="utf-8"), flags=re.MULTILINE
        )
    }
    assert named <= targets


def test_every_exit_code_is_documented() -> None:
    """exit-codes.md has a row for each exit code, and the README names them all."""
    page = (ROOT / "docs/reference/exit-codes.md").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for code in Exit:
        assert re.search(rf"^\| {int(code)} \|", page, flags=re.MULTILINE)
        assert re.search(rf"\b{int(code)}\b", readme)


def test_every_contract_field_is_documented() -> None:
    """contract.md names each field of the contract's schema."""
    page = (ROOT / "docs/reference/contract.md").read_text(encoding="utf-8")
    for name, body in load_schema("contract")["properties"].items():
        if name == "$schema":
            continue
        assert f"`{name}" in page
        for field in body.get("properties", {}):
            assert field in page, f"{name}.{field}"


def test_every_case_field_is_documented() -> None:
    """suites.md names each field of a quality case."""
    page = (ROOT / "docs/reference/suites.md").read_text(encoding="utf-8")
    for field in load_schema("suite")["definitions"]["case"]["properties"]:
        assert f"`{field}`" in page, field


def test_every_reason_is_documented() -> None:
    """records.md explains each reason that a trial of this version can have."""
    page = (ROOT / "docs/reference/records.md").read_text(encoding="utf-8")
    not_yet = {Reason.HELD}
    for reason in set(Reason) - not_yet:
        assert f"`{reason.value}`" in page, reason


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link of a page leads to a file of the repository."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)", text):
        if not re.match(r"[a-z]+:", target):
            assert (page.parent / target).exists(), target


def test_the_guides_suite_is_a_suite() -> None:
    """The JSON suite of the first guide validates as it stands."""
    text = (ROOT / "docs/guides/first-skill.md").read_text(encoding="utf-8")
    block = re.search(r"```json\n(.*?)```", text, flags=re.DOTALL)
    assert block is not None
    from skillassay.schema import schema_problems

    assert schema_problems(json.loads(block[1]), "suite") == []


def test_the_guides_suite_leaves_nothing_to_say(tmp_path: Path) -> None:
    """`check` finds nothing in the suite of the first guide."""
    text = (ROOT / "docs/guides/first-skill.md").read_text(encoding="utf-8")
    block = re.search(r"```json\n(.*?)```", text, flags=re.DOTALL)
    assert block is not None
    build_small(tmp_path)
    (tmp_path / "evals/quality.json").write_text(block[1].replace("my-skill", "greeter"), encoding="utf-8")
    found = load_project(tmp_path).findings
    assert {finding.code for finding in found if finding.code.startswith(("suite.", "case."))} == set()


def test_the_guides_agent_is_an_agent(tmp_path: Path) -> None:
    """The file of the agents' guide is read as it stands, and hands the query on."""
    text = (ROOT / "docs/guides/agents.md").read_text(encoding="utf-8")
    block = re.search(r"```yaml\n(.*?)```", text, flags=re.DOTALL)
    assert block is not None
    (tmp_path / "my-agent.yaml").write_text(block[1], encoding="utf-8")
    agent = load_described(tmp_path / "my-agent.yaml")
    launch = agent.trial(Ask(query="What is due?", settings="/agent", model="some"))
    assert launch.arguments == ("run", "--model=some", "--prompt=What is due?")
    assert (agent.key_variable, agent.own_model) == ("MY_AGENT_KEY", False)


def test_the_shipped_contract_is_read_without_a_finding() -> None:
    """evals/contract.yaml is valid by its schema."""
    from skillassay.schema import document_findings

    document, findings = load_document(ROOT / "evals/contract.yaml", shown_as="evals/contract.yaml")
    assert document is not None
    assert findings == ()
    assert document_findings(document, "contract") == ()


def test_every_runtime_dependency_has_its_line() -> None:
    """docs/design/dependencies.md gives a reason for each dependency of pyproject.toml."""
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = (ROOT / "docs/design/dependencies.md").read_text(encoding="utf-8")
    for requirement in project["dependencies"]:
        name = re.split(r"[<>=~!\[ ]", requirement)[0]
        assert re.search(rf"^\| {re.escape(name)}\b", page, flags=re.MULTILINE), name
