"""A project as it lies on disk: all that is wrong comes at once, and one broken part hides no other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from skillassay import project as parts
from skillassay.contract.contract import BAD_PATH
from skillassay.documents import NOT_A_DOCUMENT
from skillassay.errors import InputError
from skillassay.findings import Finding, Severity
from skillassay.project import Project, load_project, require_usable
from skillassay.suites.case import BAD_FILE
from tests.project import SKILL, write_json

CONTRACT: dict[str, Any] = {"contract": 1, "skills": ["skills/*"]}
SAMPLES = {"pass": ["a1"], "fail": ["b"]}


def put_skill(root: Path, path: str, name: str | None = None, text: str | None = None) -> None:
    """A skill in a folder, whole unless told otherwise."""
    (root / path).mkdir(parents=True, exist_ok=True)
    text = SKILL.format(name=name or path.rpartition("/")[2]) if text is None else text
    (root / path / "SKILL.md").write_text(text, encoding="utf-8")


def case(case_id: str, skill: str = "greeter", **fields: Any) -> dict[str, Any]:
    """A case of one criterion."""
    return {"id": case_id, "skill": skill, "query": "q", "rubric": ["says hello"]} | fields


def put_suite(root: Path, *cases: Mapping[str, Any], name: str = "quality", suite: str | None = None) -> None:
    """A suite of these cases."""
    write_json(root / f"evals/{name}.json", {"suite": suite or name, "version": "1", "cases": cases})


def put_contract(root: Path, **fields: Any) -> None:
    """A contract with these fields."""
    write_json(root / "evals/contract.yaml", CONTRACT | fields)  # JSON is YAML


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with one skill, three cases and a contract."""
    put_skill(tmp_path, "skills/greeter")
    put_suite(tmp_path, case("a"), case("b"), case("c"))
    put_contract(tmp_path)
    return tmp_path


def errors(project: Project) -> list[Finding]:
    """The errors among a project's findings."""
    return [finding for finding in project.findings if finding.severity is Severity.ERROR]


def codes(findings: Sequence[Finding]) -> list[str]:
    """Their codes."""
    return [finding.code for finding in findings]


def test_a_sound_project_has_no_finding(root: Path) -> None:
    """Skills, cases and checks are at hand."""
    project = load_project(root)
    assert project.findings == ()
    assert [ready.path for ready in project.usable] == ["skills/greeter"]
    assert project.case_skills == {("quality", name): "skills/greeter" for name in "abc"}
    assert len(project.planned_cases()) == 3
    require_usable(project, "an evaluation")


def test_one_broken_skill_hides_no_other(root: Path) -> None:
    """Each broken skill has its findings, the sound one is usable, and its cases are not about an unknown skill."""
    put_skill(root, "skills/torn", text="---\nname: [\n---\n")
    put_skill(root, "skills/empty", text="")
    put_suite(root, case("a"), case("b"), case("c"), case("t", skill="torn"))
    project = load_project(root)
    assert {finding.path for finding in errors(project)} == {"skills/empty/SKILL.md", "skills/torn/SKILL.md"}
    assert [ready.path for ready in project.usable] == ["skills/greeter"]
    assert [item.case.id for item in project.planned_cases()] == ["a", "b", "c"]


def test_one_broken_suite_hides_no_other(root: Path) -> None:
    """Two broken suites are two findings, and the third is read."""
    put_contract(
        root, suites={"quality": ["evals/quality.json", "evals/torn.json", "evals/gone.json", "evals/odd.json"]}
    )
    (root / "evals/torn.json").write_text("{", encoding="utf-8")
    put_suite(root, case("o", files=["no.txt"]), name="odd")
    project = load_project(root)
    assert set(codes(errors(project))) == {NOT_A_DOCUMENT, parts.SUITE_MISSING, BAD_FILE}
    assert [suite.name for suite in project.suites] == ["quality"]


def test_a_broken_contract_hides_neither_skills_nor_suites(root: Path) -> None:
    """The defaults are searched, and everything is told in one run."""
    put_contract(root, skills=["../outside/*"], surprise=1)
    put_suite(root, case("a", skill="nobody"))
    project = load_project(root)
    assert {"file.schema", parts.UNKNOWN_SKILL} <= set(codes(errors(project)))
    assert [ready.path for ready in project.usable] == ["skills/greeter"]


def test_a_glob_that_leaves_is_a_finding(root: Path) -> None:
    """Never an exception in place of all the other findings."""
    put_contract(root, skills=["skills/*", "../outside/*"])
    put_suite(root, case("a", skill="nobody"))
    assert {BAD_PATH, parts.UNKNOWN_SKILL} <= set(codes(errors(load_project(root))))


def test_an_unknown_skill(root: Path) -> None:
    """The case, its line and the name it calls."""
    put_suite(root, case("a"), case("x", skill="nobody"))
    (finding,) = errors(load_project(root))
    lines = (root / "evals/quality.json").read_text(encoding="utf-8").split("\n")
    assert (finding.code, finding.path) == (parts.UNKNOWN_SKILL, "evals/quality.json")
    assert '"id": "x"' in lines[finding.line or 0]  # the line below the case's brace
    assert "case 'x': there is no skill 'nobody'" in finding.message


def test_an_ambiguous_name(root: Path) -> None:
    """Two skills of one name: the case must say which, by folder."""
    put_contract(root, skills=["skills/*", "more/*"])
    put_skill(root, "more/greeter")
    put_suite(root, case("a"), case("b", skill="more/greeter"))
    project = load_project(root)
    (finding,) = errors(project)
    assert "skill 'greeter' is ambiguous: more/greeter, skills/greeter" in finding.message
    assert project.case_skills == {("quality", "b"): "more/greeter"}


def test_a_routing_case_names_a_skill_that_exists(root: Path) -> None:
    """It could never pass otherwise; scripts are named by what was run and are not asked about here."""
    body = [{"id": "r", "query": "q", "expect": {"skills": ["greeter", "nobody"]}}]
    write_json(root / "evals/routing.json", {"suite": "routing", "version": "1", "cases": body})
    (finding,) = errors(load_project(root))
    assert (finding.code, finding.path) == (parts.UNKNOWN_SKILL, "evals/routing.json")
    assert finding.line is not None
    assert "case 'r': there is no skill 'nobody'" in finding.message


def test_ids_are_unique_over_suites(root: Path) -> None:
    """Reports name a case by its id alone."""
    put_contract(root, suites={"quality": ["evals/quality.json", "evals/more.json"]})
    put_suite(root, case("d"), case("a"), name="more")
    (finding,) = errors(load_project(root))
    assert (finding.code, finding.path) == (parts.SAME_CASE, "evals/more.json")
    assert "case 'a' is also in evals/quality.json" in finding.message
    assert finding.line is not None


def test_two_suites_of_one_name(root: Path) -> None:
    """The lock keeps suites by name, so that one would be pinned and the other not."""
    put_contract(root, suites={"quality": ["evals/quality.json", "evals/more.json"]})
    put_suite(root, case("d"), name="more", suite="quality")
    (finding,) = errors(load_project(root))
    assert (finding.code, finding.path) == (parts.SAME_SUITE, "evals/more.json")


def test_suites_by_glob(root: Path) -> None:
    """A glob names every suite it finds, each once, and one that finds nothing is an error."""
    put_contract(root, suites={"quality": ["evals/q*.json", "evals/quality.json"], "routing": ["evals/none*.json"]})
    project = load_project(root)
    assert [suite.path for suite in project.suites] == ["evals/quality.json"]
    assert codes(errors(project)) == [parts.SUITE_MISSING]


def test_a_default_suite_may_be_missing(tmp_path: Path) -> None:
    """Only what the contract names must exist, and naming one kind of suites does not name the other."""
    put_skill(tmp_path, "skills/greeter")
    assert errors(load_project(tmp_path)) == []
    put_suite(tmp_path, case("a"))
    put_contract(tmp_path, suites={"quality": ["evals/quality.json"]})
    assert errors(load_project(tmp_path)) == []


@pytest.mark.parametrize(("n_cases", "words"), [(0, "0 graded cases,"), (1, "1 graded case,"), (2, "2 graded cases,")])
def test_numbers_have_their_nouns(root: Path, n_cases: int, words: str) -> None:
    """One case, two cases."""
    put_skill(root, "skills/other")
    put_suite(root, *(case(name) for name in "abc"), *(case(f"o{n}", skill="other") for n in range(n_cases)))
    (finding,) = load_project(root).findings
    assert finding.message.startswith(words)


def test_few_cases_warn(root: Path) -> None:
    """The gate decides at a run; the check says it beforehand, also of a skill without any case."""
    put_skill(root, "skills/lonely")
    put_suite(root, case("a"), case("b"))
    warnings = [finding for finding in load_project(root).findings if finding.code == parts.FEW_CASES]
    assert [(one.path, one.severity) for one in warnings] == [
        ("skills/greeter", Severity.WARNING),
        ("skills/lonely", Severity.WARNING),
    ]
    assert "0 graded cases, the gate requires 3" in warnings[1].message


@pytest.mark.parametrize(("n_cases", "refused"), [(5, True), (6, False)])
def test_bound_is_refused_where_it_could_show_nothing(root: Path, n_cases: int, refused: bool) -> None:
    """No interval of fewer than six cases lies above zero: an error before anything is paid for."""
    put_contract(root, gate={"lift_rule": "bound"})
    put_suite(root, *(case(f"c{n}") for n in range(n_cases)))
    assert codes(errors(load_project(root))) == ([parts.BOUND_CASES] if refused else [])


def test_errors_can_be_made_warnings_by_the_contract(root: Path) -> None:
    """Only those whose code is named."""
    put_contract(root, check={"downgrade": ["skill.name-folder"]})
    put_skill(root, "skills/odd", name="another")
    put_suite(root, case("a"), case("b", files=["gone"]))
    project = load_project(root)
    assert codes(errors(project)) == [BAD_FILE]


def test_unusable_projects_say_everything(root: Path) -> None:
    """The error carries all findings, also warnings, and counts the errors."""
    put_suite(root, case("a", skill="nobody"), case("b", skill="nobody"))
    with pytest.raises(InputError, match="2 problems must be solved before an evaluation") as caught:
        require_usable(load_project(root), "an evaluation")
    assert len(caught.value.findings) > 2


def test_without_suites_only_skills_are_read(root: Path) -> None:
    """What looks at skills alone is not stopped by a suite."""
    (root / "evals/quality.json").write_text("{", encoding="utf-8")
    project = load_project(root, with_suites=False)
    assert (project.findings, project.suites) == ((), ())
