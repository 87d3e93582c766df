"""Two people, one lock: branches that changed different skills merge with git's own merge."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import pytest

from skillassay.isolation.process import git as ask
from skillassay.locks.lock import SkillState, verify
from skillassay.locks.lockfile import LOCK_PATH, Lock, parse_lock, render_lock
from tests.locks.states import SUITES, TERMS, lock_of, state_of
from tests.project import git

NAMES = [f"skills/{name}" for name in ("alpha", "beta", "gamma", "delta")]
BEFORE = [state_of(name) for name in NAMES]


def raised(states: Sequence[SkillState], *names: str) -> list[SkillState]:
    """The skills, these in a new version with other bytes and other evidence."""
    return [state_of(s.path, version="1.1.0", text="Say more.") if s.path in names else s for s in states]


def commit(root: Path, states: Sequence[SkillState], message: str) -> None:
    """Write the lock of these skills and commit it."""
    (root / LOCK_PATH).write_bytes(render_lock(lock_of(states)))
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", message)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose main branch holds the lock of four skills."""
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    commit(tmp_path, BEFORE, "before")
    return tmp_path


def merged(root: Path, ours: Sequence[SkillState], theirs: Sequence[SkillState]) -> Lock | None:
    """The lock after git merged two branches; None when it did not parse."""
    git(root, "checkout", "--quiet", "-b", "theirs")
    commit(root, theirs, "theirs")
    git(root, "checkout", "--quiet", "main")
    commit(root, ours, "ours")
    ask(root, "-c", "user.name=t", "-c", "user.email=t@example.invalid", "merge", "--no-edit", "theirs")
    return parse_lock((root / LOCK_PATH).read_bytes())[0]


@pytest.mark.parametrize(("mine", "yours"), list(itertools.combinations(NAMES, 2)))
def test_changes_of_two_skills_merge(repository: Path, mine: str, yours: str) -> None:
    """Neighbours in the file too: no conflict, and the merged lock is the one of both changes."""
    lock = merged(repository, raised(BEFORE, mine), raised(BEFORE, yours))
    both = raised(BEFORE, mine, yours)
    assert lock == lock_of(both)
    assert (repository / LOCK_PATH).read_bytes() == render_lock(lock_of(both))
    errors = [one for one in verify(both, SUITES, lock_of(both), TERMS) if one.severity == "error"]
    assert errors == []


def test_a_skill_added_and_one_changed_merge(repository: Path) -> None:
    """An entry put between others touches no line of theirs."""
    added = [*BEFORE, state_of("skills/between")]
    lock = merged(repository, raised(BEFORE, NAMES[1]), added)
    assert lock == lock_of(raised(added, NAMES[1]))


def test_two_changes_of_one_skill_conflict(repository: Path) -> None:
    """Nobody's version wins in silence: git leaves markers, and the lock is refused at their line."""
    other = [state_of(s.path, version="1.0.1") if s.path == NAMES[0] else s for s in BEFORE]
    assert merged(repository, raised(BEFORE, NAMES[0]), other) is None
    data = (repository / LOCK_PATH).read_bytes()
    (finding,) = parse_lock(data)[1]
    assert finding.line == data.split(b"\n").index(b"<<<<<<< HEAD") + 1
    assert "merge conflict marker" in finding.message
