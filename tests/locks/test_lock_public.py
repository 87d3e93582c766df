"""Public reports on locks, end to end: what a check says, and that it touches nothing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from skillassay.locks.lockfile import LOCK_PATH
from tests.project import Cli

PUBLIC = Path(__file__).parents[1] / "data" / "public" / "digest"
CONTRACT = "contract: 1\nlock: {require_evidence: ratchet}\n"


def put(root: Path, source: Path, *, version: str | None = None) -> None:
    """Put a skill of a report into the project as ``skills/demo``; ``version`` where the report's is no semver."""
    target = root / "skills/demo"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("lock.json"))
    manifest = target / "SKILL.md"
    text = manifest.read_text(encoding="utf-8")
    text = text.replace('version: "1.0"', 'version: "1.0.0"').replace('version: "1.1"', 'version: "1.1.0"')
    if version is not None:
        text = text.replace("description: d\n", f'description: d\nmetadata:\n  version: "{version}"\n')
    manifest.write_text(text, encoding="utf-8")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project under ratchet, so that a lock needs no evaluation."""
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals/contract.yaml").write_text(CONTRACT, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("member", "code", "words"),
    [
        ("base", 0, []),
        ("changed", 1, ["lock.edited-without-version", "demo", "1.0.0", "SKILL.md changed", "bump"]),
        ("bumped", 1, ["lock.not-locked", "1.0.0 -> 1.1.0 is not locked yet", "SKILL.md changed"]),
        ("only-bump", 1, ["lock.not-locked", "1.0.0 -> 1.1.0 is not locked yet"]),
    ],
)
def test_mcp_ts_core_238(cli: Cli, project: Path, member: str, code: int, words: list[str]) -> None:
    """cyanheads/mcp-ts-core#238: changed, bumped and only bumped are three verdicts with their own messages.

    A version alone is content here (it stands in SKILL.md), so that only-bump is a new version to lock.
    """
    put(project, PUBLIC / "mcp-ts-core-238/base")
    assert cli("lock").code == 0
    put(project, PUBLIC / "mcp-ts-core-238" / member)
    ran = cli("lock", "--check")
    assert ran.code == code
    said = " ".join((ran.out + ran.err).split())
    assert all(word in said for word in words), said


def test_vercel_skills_1517(cli: Cli, project: Path) -> None:
    """vercel-labs/skills#1517: the file that is gone is named by the lock, and its dangling link by the check."""
    put(project, PUBLIC / "vercel-skills-1517/full", version="1.0.0")
    assert cli("lock").code == 0
    put(project, PUBLIC / "vercel-skills-1517/stripped", version="1.0.0")
    ran = cli("check")
    said = " ".join((ran.out + ran.err).split())
    assert ran.code == 1
    assert "references/rules.md missing" in said
    assert said.count("references/rules.md") >= 2


BROKEN = [*sorted((PUBLIC / "npm-cli-4844").glob("*.lock")), PUBLIC / "vercel-skills-471/skills.lock"]


@pytest.mark.parametrize("command", [("check",), ("lock", "--check"), ("lock",)], ids=" ".join)
@pytest.mark.parametrize("broken", BROKEN, ids=lambda path: path.name)
def test_a_broken_lock_is_left_as_it_is(cli: Cli, project: Path, broken: Path, command: tuple[str, ...]) -> None:
    """Never read as empty, never rewritten: not by a check, and not by ``lock`` without --rebuild."""
    put(project, PUBLIC / "mcp-ts-core-238/base")
    shutil.copy(broken, project / LOCK_PATH)
    before = sorted(path for path in project.rglob("*"))
    ran = cli(*command)
    assert ran.code in {1, 3}
    assert f"{LOCK_PATH}:" in ran.out + ran.err
    assert "lock.unreadable" in ran.out + ran.err
    assert (project / LOCK_PATH).read_bytes() == broken.read_bytes()
    assert sorted(path for path in project.rglob("*")) == before


def test_the_next_step_works_on_a_broken_file(cli: Cli, project: Path) -> None:
    """What the message recommends is a command that succeeds there."""
    put(project, PUBLIC / "mcp-ts-core-238/base")
    shutil.copy(PUBLIC / "npm-cli-4844/conflict.lock", project / LOCK_PATH)
    assert "skillassay lock --rebuild" in cli("lock", "--check").out
    assert cli("lock", "--rebuild").code == 0
    assert cli("lock", "--check").code == 0


def test_a_refused_lock_writes_nothing(cli: Cli, project: Path) -> None:
    """An unversioned edit: exit 1, and every byte stays."""
    put(project, PUBLIC / "mcp-ts-core-238/base")
    assert cli("lock").code == 0
    before = (project / LOCK_PATH).read_bytes()
    put(project, PUBLIC / "mcp-ts-core-238/changed")
    ran = cli("lock")
    assert ran.code == 1
    assert "lock.edited-without-version" in ran.out + ran.err
    assert (project / LOCK_PATH).read_bytes() == before
    assert json.loads(before)["skills"]["skills/demo"]["version"] == "1.0.0"
