"""What Google's ADK makes of a skill, said without ADK. That ADK agrees is shown in tests/extra/adk."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillassay.findings import Finding, Severity
from skillassay.skills.adk_lints import lint_scripts
from skillassay.skills.discovery import SkillPackage, load_package
from tests.adk_cases import CASES, AdkCase, case


def load(root: Path, one: AdkCase) -> SkillPackage:
    """The package of a case, written below ``root``."""
    folder = root / one.folder
    folder.mkdir()
    (folder / "SKILL.md").write_bytes(one.data)
    package = load_package(str(folder), path=f"skills/{one.folder}")
    assert package is not None
    return package


def about_adk(package: SkillPackage) -> list[Finding]:
    """The findings that are about ADK."""
    return [finding for finding in package.findings if finding.code.startswith("skill.adk-")]


@pytest.mark.parametrize("one", CASES, ids=lambda one: one.id)
def test_each_case_is_told(tmp_path: Path, one: AdkCase) -> None:
    """A skill without an error of ours: refused with the reason, read otherwise with what, or nothing."""
    package = load(tmp_path, one)
    assert [finding.code for finding in package.findings if finding.severity is Severity.ERROR] == []
    found = about_adk(package)
    if one.refused is not None:
        assert [(finding.code, finding.severity) for finding in found] == [("skill.adk-refuses", Severity.WARNING)]
        assert one.refused in found[0].message
    elif one.otherwise is not None:
        assert [(finding.code, finding.severity) for finding in found] == [
            ("skill.adk-reads-otherwise", Severity.WARNING)
        ]
        assert one.otherwise in found[0].message
    else:
        assert found == []


def test_an_error_of_ours_says_it_already(tmp_path: Path) -> None:
    """A name that ADK refuses too is one finding, not two."""
    package = load(tmp_path, case("x", called="Demo"))
    assert "skill.name-charset" in [finding.code for finding in package.findings]
    assert about_adk(package) == []


def test_scripts_that_adk_cannot_run(tmp_path: Path) -> None:
    """Not UTF-8, or of a kind without an interpreter there: one note with both; data and other folders are none."""
    files = {
        "scripts/run.py": b"print(1)\n",
        "scripts/run.BASH": b"echo\n",
        "scripts/table.json": b"{}",
        "scripts/old.py": "é".encode("latin-1"),
        "scripts/page.JS": b"1\n",
        "references/image.png": b"\x89PNG",
    }
    paths = [(name, tmp_path / str(index)) for index, name in enumerate(files)]
    for (name, path), data in zip(paths, files.values(), strict=True):
        path.write_bytes(data)
        assert name in files
    found = lint_scripts("skills/demo/SKILL.md", paths)
    assert found is not None
    assert (found.code, found.severity) == ("skill.adk-script", Severity.NOTE)
    assert found.message == (
        "ADK cannot run `scripts/old.py` (dropped: not UTF-8), `scripts/page.JS` (no .py, .sh, .bash)"
    )


def test_good_scripts_are_no_finding(tmp_path: Path) -> None:
    """Python and shell in UTF-8."""
    path = tmp_path / "x"
    path.write_text("é", encoding="utf-8")
    assert lint_scripts("SKILL.md", [("scripts/a.py", path), ("scripts/b.sh", path)]) is None


def test_a_cut_character_at_the_end_is_not_utf8(tmp_path: Path) -> None:
    """A file that ends within a character is not UTF-8, as ADK sees it."""
    path = tmp_path / "x"
    path.write_bytes("é".encode()[:1])
    assert lint_scripts("SKILL.md", [("scripts/a.py", path)]) is not None
