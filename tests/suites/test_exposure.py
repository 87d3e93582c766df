"""Files that decide about an answer must not lie in a skill."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skillassay.skills.digest import read_files
from skillassay.suites.exposure import exposed_files
from tests.project import SKILL, Cli, build_small, small_case, write_json

SUITE = {"suite": "hidden", "version": "1.0.0", "cases": [small_case("one")]}
CASES: dict[str, tuple[str, object, dict[str, Any]]] = {
    "suite": ("skills/greeter/tests/cases.json", SUITE, {"suites": {"quality": ["skills/greeter/tests/cases.json"]}}),
    "routing": (
        "skills/greeter/routes.json",
        {"suite": "routes", "version": "1.0.0", "cases": [{"id": "r", "query": "q", "expect": {"skills": []}}]},
        {"suites": {"routing": ["skills/*/routes.json"]}},
    ),
    "fixture": (
        "skills/greeter/answers.json",
        {"fixture": 1, "subject": []},
        {"fixtures": ["evals/fixtures/*.json", "skills/*/answers.json"]},
    ),
}


@pytest.mark.parametrize("what", CASES)
def test_a_private_file_in_a_skill_stops_a_run(cli: Cli, what: str) -> None:
    """A candidate would read it, in eager whole: exit 3 before any model, naming file and skill."""
    path, body, contract = CASES[what]
    build_small(cli.root, **contract)
    write_json(cli.root / path, body)
    ran = cli("eval")
    assert ran.code == 3
    assert f"{path}: error suite.inside-skill: the {what.replace('routing', 'suite')} lies in skills/greeter" in ran.err
    assert not (cli.root / ".skillassay").exists()


def test_links_hide_nothing(tmp_path: Path) -> None:
    """A file is the same whatever it is called: outside by a link to it, inside by a link or a linked folder above."""
    build_small(tmp_path, files={"skills/greeter/data/in.json": "{}"})
    (tmp_path / "skills/greeter/alias.json").symlink_to("data/in.json")
    (tmp_path / "evals/outside.json").symlink_to("../skills/greeter/data/in.json")
    (tmp_path / "linked").symlink_to("skills")
    private = {tmp_path / "evals/outside.json": "suite"}
    for path in ("skills/greeter", "linked/greeter"):
        files, _, _ = read_files(tmp_path / path, path=path)
        assert files is not None
        (finding,) = exposed_files(tmp_path, {path: files}, private)
        assert (finding.code, finding.path) == ("suite.inside-skill", "evals/outside.json")
        assert exposed_files(tmp_path, {path: files}, {tmp_path / "evals/quality.json": "suite"}) == ()


def root_as_skill(root: Path) -> None:
    """A repository that is one skill."""
    build_small(root, skills=["."])
    (root / "skills/greeter/SKILL.md").unlink()
    (root / "SKILL.md").write_text(SKILL.format(name="greeter"), encoding="utf-8")


def test_a_repository_that_is_one_skill_keeps_its_evals_apart(cli: Cli) -> None:
    """evals/ at a skill's top is left out of it, so nothing is exposed there; a suite elsewhere is."""
    root_as_skill(cli.root)
    assert cli("eval").code == 0
    suite = cli.root / "evals/quality.json"
    (cli.root / "tests").mkdir()
    suite.rename(cli.root / "tests/cases.json")
    contract = cli.root / "evals/contract.yaml"
    contract.write_text(contract.read_text("utf-8") + "suites:\n  quality: [tests/cases.json]\n", encoding="utf-8")
    ran = cli("eval")
    assert ran.code == 3
    assert "tests/cases.json: error suite.inside-skill: the suite lies in ., where" in ran.err


def test_routing_refuses_as_well(cli: Cli) -> None:
    """e2e shows skills to a candidate too."""
    path, body, contract = CASES["routing"]
    build_small(cli.root, **contract)
    write_json(cli.root / path, body)
    ran = cli("e2e")
    assert ran.code == 3
    assert "suite.inside-skill" in ran.err
