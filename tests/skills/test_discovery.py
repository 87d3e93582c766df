"""Discovery: which folders are skills, each once, and no bad one hides another."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from skillassay.contract.contract import DEFAULT_GLOBS
from skillassay.errors import InputError
from skillassay.findings import Severity, has_errors
from skillassay.skills.discovery import Discovery, discover

HERE = Path(__file__).parents[1]
PUBLIC = HERE / "data" / "public" / "encoding"


def add(root: Path, path: str, *, name: str | None = None, file: str = "SKILL.md") -> Path:
    """Write a good skill at a path; returns its folder."""
    folder = root / path
    folder.mkdir(parents=True, exist_ok=True)
    called = name or folder.name
    text = f'---\nname: {called}\ndescription: d\nmetadata:\n  version: "1.0.0"\n---\n\nDo it.\n'
    (folder / file).write_text(text, encoding="utf-8")
    return folder


def paths(found: Discovery) -> list[str]:
    """The paths of the packages."""
    return [package.path for package in found.packages]


def codes(found: Discovery) -> list[str]:
    """The codes of all findings."""
    return [finding.code for finding in found.all_findings]


def test_the_usual_layouts(tmp_path: Path) -> None:
    """Collection, clients' folders, plugins; sorted by path."""
    for path in ("skills/b", "skills/a", ".claude/skills/c", ".agents/skills/d", "plugins/p/skills/e"):
        add(tmp_path, path)
    found = discover(tmp_path, globs=DEFAULT_GLOBS, ignore=())
    assert paths(found) == [".agents/skills/d", ".claude/skills/c", "plugins/p/skills/e", "skills/a", "skills/b"]
    assert found.all_findings == ()


def test_the_root_as_one_skill(tmp_path: Path) -> None:
    """Its path is `.`; the clone's folder name is not compared; lock and run records are not part of it."""
    root = add(tmp_path, "some-clone", name="demo")
    (root / "skills.lock.json").write_text("{}", encoding="utf-8")
    (root / ".skillassay").mkdir()
    (root / ".skillassay" / "x").write_text("", encoding="utf-8")
    found = discover(root, globs=["."])
    assert paths(found) == ["."]
    assert found.all_findings == ()
    files = found.packages[0].files
    assert files is not None
    assert [entry.path for entry in files.entries] == ["SKILL.md"]


def test_folders_without_skill_md_are_passed_over(tmp_path: Path) -> None:
    """Also files beside the skills, and hidden folders."""
    add(tmp_path, "skills/a")
    add(tmp_path, "skills/.hidden")
    (tmp_path / "skills" / "docs").mkdir()
    (tmp_path / "skills" / "README.md").write_text("x", encoding="utf-8")
    found = discover(tmp_path, globs=["skills/*"])
    assert (paths(found), codes(found)) == (["skills/a"], [])


def test_another_spelling_is_a_skill(tmp_path: Path) -> None:
    """skill.md is found, with a warning, and parsed under its own name."""
    add(tmp_path, "skills/a", file="skill.md")
    [package] = discover(tmp_path, globs=["skills/*"]).packages
    assert package.skill is not None
    assert package.skill.file_path == "skills/a/skill.md"
    assert [one.code for one in package.findings] == ["digest.skill-file-name"]


def test_git_hunk_42_one_bad_skill_never_hides_the_others(tmp_path: Path) -> None:
    """wkentaro/git-hunk#42: an error for each bad one, and the good one loads."""
    root = Path(shutil.copytree(PUBLIC / "git-hunk-42", tmp_path / "x"))
    (root / "skills" / "isdir" / "SKILL.md").mkdir(parents=True)
    found = discover(root, globs=["skills/*"])
    assert [(package.path, package.skill is not None, has_errors(package.findings)) for package in found.packages] == [
        ("skills/good", True, False),
        ("skills/isdir", False, True),
        ("skills/latin1", False, True),
        ("skills/nul", False, True),
        ("skills/utf16", False, True),
    ]


PROBE = """
import json, sys
from pathlib import Path
from skillassay.skills.discovery import discover
found = discover(Path(sys.argv[1]), globs=["*"], ignore=())
json.dump([[p.path, p.skill.name, p.skill.description, p.files.digest, [f.message for f in p.findings]]
           for p in found.packages], sys.stdout)
"""


@pytest.mark.parametrize(("locale", "utf8"), [("C", "0"), ("C.UTF-8", "1"), ("C", "1")])
def test_plugins_3921_the_locale_does_not_count(locale: str, utf8: str, tmp_path: Path) -> None:
    """anthropics/claude-plugins-official#3921: same text, digest and findings; no file is opened without encoding."""
    root = Path(shutil.copytree(PUBLIC / "plugins-3921", tmp_path / "přehled"))
    add(root, "česky", name="cesky")
    (root / "česky" / "references").mkdir()
    (root / "česky" / "references" / "žluť.md").write_text("x", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-X", "warn_default_encoding", "-W", "error::EncodingWarning", "-c", PROBE, os.fsencode(root)],
        env={**os.environ, "LC_ALL": locale, "PYTHONUTF8": utf8, "PYTHONCOERCECLOCALE": "0"},
        cwd=HERE.parent,
        capture_output=True,
        check=True,
    )
    expected = [
        [p.path, p.skill.name, p.skill.description, p.files.digest, [f.message for f in p.findings]]
        for p in discover(root, globs=["*"]).packages
        if p.skill is not None and p.files is not None
    ]
    assert json.loads(done.stdout) == expected
    assert [row[0] for row in expected] == ["demo", "česky"]


def test_a_linked_folder_counts_once(tmp_path: Path) -> None:
    """Under its own path where a glob names it, in whatever order the globs stand."""
    add(tmp_path, "skills/a")
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "skills").symlink_to("../skills")
    for globs in (["skills/*", ".claude/skills/*"], [".claude/skills/*", "skills/*"], ["skills/a", "skills/*"]):
        assert paths(discover(tmp_path, globs=globs)) == ["skills/a"]
    assert paths(discover(tmp_path, globs=[".claude/skills/*"])) == [".claude/skills/a"]


def test_two_links_to_one_folder(tmp_path: Path) -> None:
    """Where only links are named, the first path stands for it."""
    add(tmp_path, "store/a")
    for client in (".b", ".a"):
        (tmp_path / client).mkdir()
        (tmp_path / client / "a").symlink_to("../store/a")
    assert paths(discover(tmp_path, globs=[".b/*", ".a/*"])) == [".a/a"]


def test_a_folder_linked_from_outside_is_refused(tmp_path: Path) -> None:
    """Another machine does not have it."""
    add(tmp_path, "elsewhere/a")
    root = tmp_path / "project"
    add(root, "skills/b")
    (root / "skills" / "a").symlink_to("../../elsewhere/a")
    found = discover(root, globs=["skills/*"])
    assert (paths(found), codes(found)) == (["skills/b"], ["discovery.link-outside"])


def test_a_dangling_link_is_worth_a_warning(tmp_path: Path) -> None:
    """A skill that vanished is not passed over in silence."""
    add(tmp_path, "skills/b")
    (tmp_path / "skills" / "a").symlink_to("../gone")
    found = discover(tmp_path, globs=["skills/*"])
    assert [(one.code, one.severity, one.path) for one in found.findings] == [
        ("discovery.link-dangles", Severity.WARNING, "skills/a")
    ]


def test_a_dangling_skill_md(tmp_path: Path) -> None:
    """A folder whose SKILL.md leads to nothing is a skill with an error."""
    (tmp_path / "skills" / "a").mkdir(parents=True)
    (tmp_path / "skills" / "a" / "SKILL.md").symlink_to("../../moved/SKILL.md")
    [package] = discover(tmp_path, globs=["skills/*"]).packages
    assert (package.skill, [one.code for one in package.findings]) == (None, ["digest.link-leaves"])


def test_two_skills_of_one_name(tmp_path: Path) -> None:
    """A warning that names both paths; both stay."""
    add(tmp_path, "skills/demo")
    add(tmp_path, "plugins/p/skills/demo")
    found = discover(tmp_path, globs=DEFAULT_GLOBS)
    [finding] = found.findings
    assert (finding.code, finding.severity) == ("discovery.same-name", Severity.WARNING)
    assert "`plugins/p/skills/demo` and `skills/demo`" in finding.message
    assert len(found.packages) == 2


@pytest.mark.parametrize("glob", ["/etc/*", "../*", "skills/../../x", "~/skills/*", "C:/skills/*", "skills\\*", ""])
def test_a_glob_that_leaves_the_root_is_refused(glob: str, tmp_path: Path) -> None:
    """Before anything is read."""
    with pytest.raises(InputError, match="leaves the project"):
        discover(tmp_path, globs=[glob])


def test_a_root_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    """With its name."""
    with pytest.raises(InputError, match="none is not a folder"):
        discover(tmp_path / "none", globs=["."])


@pytest.mark.parametrize("globs", [["skills/*"], []])
def test_no_skill_at_all_is_an_error(globs: list[str], tmp_path: Path) -> None:
    """Nothing checked is never success."""
    found = discover(tmp_path, globs=globs)
    assert [(one.code, one.severity) for one in found.findings] == [("discovery.no-skills", Severity.ERROR)]


@pytest.mark.parametrize("wanted", ["one", "skills/one", "first"])
def test_only_keeps_what_answers_to_the_name(wanted: str, tmp_path: Path) -> None:
    """By name, by folder path, by folder name."""
    add(tmp_path, "skills/one", name="first")
    add(tmp_path, "skills/two")
    found = discover(tmp_path, globs=["skills/*"], only=[wanted])
    assert (paths(found), found.findings) == (["skills/one"], ())


def test_only_names_what_is_unknown(tmp_path: Path) -> None:
    """An error, with the names there are."""
    add(tmp_path, "skills/one")
    found = discover(tmp_path, globs=["skills/*"], only=["one", "other"])
    [finding] = found.findings
    assert (finding.code, paths(found)) == ("discovery.unknown-skill", ["skills/one"])
    assert "'other'" in finding.message
    assert "one" in (finding.hint or "")


def test_a_folder_name_that_is_not_utf8(tmp_path: Path) -> None:
    """Reported; the others load."""
    add(tmp_path, "skills/b")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/skills/caf\xe9")).mkdir()
    found = discover(tmp_path, globs=["skills/*"])
    assert (paths(found), codes(found)) == (["skills/b"], ["discovery.folder-name"])


def test_importing_discovery_loads_no_heavy_package() -> None:
    """Reading skills needs PyYAML and semver alone."""
    code = (
        "import sys, skillassay.skills.discovery\n"
        "heavy = {'jsonschema', 'click', 'google', 'jinja2', 'regex', 'tabulate'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {code}"],
        cwd=HERE.parent,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout.strip() == "[]"
