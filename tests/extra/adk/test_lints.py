"""The lints about ADK against ADK itself: what they name it refuses, drops or hides; what they do not, it loads."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from google.adk.skills import load_skill_from_dir
from hypothesis import given
from hypothesis import strategies as st

from skillassay.findings import Severity
from skillassay.skills.adk_lints import ADK_KINDS, OTHER_KINDS
from skillassay.skills.discovery import SkillPackage, load_package
from tests.adk_cases import CASES, AdkCase, case
from tests.extra.adk.engine import DONE, call, engine
from tests.models.wire_server import reply
from tests.project import REPOSITORY

PUBLIC = REPOSITORY / "tests" / "data" / "public"
SKILLS = sorted(path.parent for kind in ("frontmatter", "encoding") for path in (PUBLIC / kind).rglob("SKILL.md"))


def adk_skill(folder: Path) -> Any:
    """ADK's skill; None where it refuses."""
    try:
        return load_skill_from_dir(folder)
    except ValueError:  # also what its data class and its reader of UTF-8 raise
        return None


def package_of(folder: Path) -> SkillPackage:
    """Our reading of a folder."""
    package = load_package(str(folder), path=f"skills/{folder.name}")
    assert package is not None
    return package


def codes(package: SkillPackage) -> set[str]:
    """The codes of all findings."""
    return {finding.code for finding in package.findings}


def is_sound(package: SkillPackage) -> bool:
    """Whether there is no error of ours, so that the lints about ADK speak."""
    return package.skill is not None and all(one.severity is not Severity.ERROR for one in package.findings)


@pytest.mark.parametrize("one", CASES, ids=lambda one: one.id)
def test_adk_agrees(tmp_path: Path, one: AdkCase) -> None:
    """A case that is named refused is refused; one read otherwise has another text; each other one is read alike."""
    folder = tmp_path / one.folder
    folder.mkdir()
    (folder / "SKILL.md").write_bytes(one.data)
    loaded = adk_skill(folder)
    assert (loaded is None) == (one.refused is not None)
    if loaded is not None:
        ours = package_of(folder).skill
        assert ours is not None
        alike = (loaded.description.strip(), loaded.instructions.strip()) == (ours.description, ours.body.strip())
        assert alike == (one.otherwise is None)


@pytest.mark.parametrize("source", SKILLS, ids=lambda path: "/".join(path.parts[-2:]))
def test_public_files(tmp_path: Path, source: Path) -> None:
    """The files of public reports: those without an error load exactly where no lint says that ADK refuses."""
    name = b"".join(line for line in (source / "SKILL.md").read_bytes().splitlines() if line.startswith(b"name:"))
    called = name.removeprefix(b"name:").strip().strip(b"\"'").decode("utf-8", "replace") or source.name
    folder = tmp_path / called.replace("/", "-")
    shutil.copytree(source, folder)
    package = package_of(folder)
    if is_sound(package):
        assert (adk_skill(folder) is None) == ("skill.adk-refuses" in codes(package))


SCALARS = st.text(st.sampled_from("0123456789.-+:_eExobyYnNtrufalsTFi~=<> \"'#[]{}|&*!%@?,\t\n"), max_size=12)


@given(
    key=st.sampled_from(["license", "compatibility", "allowed-tools", "metadata", "other", "1", "no"]), value=SCALARS
)
def test_any_scalar(tmp_path_factory: pytest.TempPathFactory, key: str, value: str) -> None:
    """Whatever stands behind a key: without an error of ours, ADK refuses exactly what the lint names."""
    folder = tmp_path_factory.mktemp("skill") / "demo"
    folder.mkdir()
    (folder / "SKILL.md").write_bytes(case("x", f"{key}: {value}").data)
    package = package_of(folder)
    if is_sound(package):
        assert (adk_skill(folder) is None) == ("skill.adk-refuses" in codes(package))


def test_files_that_adk_does_not_see(tmp_path: Path) -> None:
    """A file outside the three folders, and a script that is not UTF-8, are named; ADK has neither."""
    folder = tmp_path / "demo"
    files = {
        "forms.md": b"x",
        "docs/a.md": b"x",
        "references/deep/b.md": b"x",
        "assets/c.png": b"\x89PNG\xff",
        "scripts/good.py": b"1\n",
        "scripts/bad.py": b"# \xe9\n",
    }
    for name, data in {"SKILL.md": case("x").data, **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    resources = adk_skill(folder).resources
    seen = {
        *(f"references/{name}" for name in resources.list_references()),
        *(f"assets/{name}" for name in resources.list_assets()),
        *(f"scripts/{name}" for name in resources.list_scripts()),
    }
    told = {finding.code: finding.message for finding in package_of(folder).findings}
    for name in files:
        named = f"`{name}`" in told["skill.unseen-files"] or f"`{name}`" in told["skill.adk-script"]
        assert named == (name not in seen), name


@pytest.mark.parametrize("kind", [*ADK_KINDS, *sorted(OTHER_KINDS), ".BASH", ".Js"])
def test_kinds_of_scripts(tmp_path: Path, kind: str) -> None:
    """ADK says UNSUPPORTED_SCRIPT_TYPE to the kinds that the lint names, and runs the others."""
    called = call("run_skill_script", skill_name="greeter", file_path=f"scripts/x{kind}")
    with engine(tmp_path, reply(called), DONE, files={f"skills/greeter/scripts/x{kind}": ""}) as adk:
        result = adk.ask()
        told = str(adk.sent[1]["contents"][-1])
    refused = kind.lower() in OTHER_KINDS
    assert ("UNSUPPORTED_SCRIPT_TYPE" in told) == refused
    assert (result.scripts == ()) == refused
    assert ("skill.adk-script" in codes(package_of(tmp_path / "skills" / "greeter"))) == refused
