"""What the project has: contract, skills, git, lock, runs. Reads it, writes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from skillassay.doctor.base import Item, note, ok, problem
from skillassay.errors import SkillassayError
from skillassay.findings import Severity, has_errors
from skillassay.isolation.process import git
from skillassay.locks.locking import build_states, read_lock
from skillassay.locks.relocking import git_ignored
from skillassay.project import Project
from skillassay.runs.store import RUNS, list_runs

N_NAMED = 5
_FOLDER = RUNS.split("/", maxsplit=1)[0]


def project_items(project: Project) -> Iterator[Item]:
    """One item each for the contract, the skills and suites, git, the lock and the runs."""
    if project.contract.path is None:
        yield note("contract", "there is none: defaults hold", "`skillassay init` writes one to begin with")
    else:
        yield ok("contract", f"{project.contract.path}, the lock requires {project.contract.lock.requires} evidence")
    yield _contents(project)
    yield from _git(project)
    yield _lock(project.root)
    yield _runs(project.root)


def _contents(project: Project) -> Item:
    counts = {"skill": project.packages, "quality case": project.cases, "routing case": project.routing}
    says = ", ".join(_counted(len(found), word) for word, found in counts.items())
    if has_errors(project.findings):
        n_errors = sum(finding.severity is Severity.ERROR for finding in project.findings)
        return problem(
            "project", f"{says}; {_counted(n_errors, 'error')}, so that no run starts", "`skillassay check` names them"
        )
    return (
        ok("project", says) if project.cases else note("project", says, "docs/guides/first-case.md: how to write one")
    )


def _counted(n: int, word: str) -> str:
    return f"{n} {word}{'' if n == 1 else 's'}"


def _git(project: Project) -> Iterator[Item]:
    inside = git(project.root, "rev-parse", "--is-inside-work-tree")
    if inside is None or inside.exit_code != 0:
        why = "there is no git" if inside is None else "this is no git repository"
        yield note("git", f"{why}: nothing can be compared with an earlier state", "git init, and commit the skills")
        return
    shallow = git(project.root, "rev-parse", "--is-shallow-repository")
    if shallow is not None and shallow.stdout.strip() == b"true":
        says = "a shallow clone: --base and --suggest may lack the revisions that they need"
        yield note("git", says, "git fetch --unshallow; in CI check out with fetch-depth: 0")
    else:
        yield ok("git", "a repository with its history")
    try:
        ignored = [finding.path for finding in git_ignored(project.root, build_states(project))]
    except SkillassayError as error:
        yield note("git ignores", error.message, error.hint)
        return
    if ignored:
        more = f" and {len(ignored) - N_NAMED} more" if len(ignored) > N_NAMED else ""
        says = f"files of skills, or of the lock, that git ignores: {', '.join(ignored[:N_NAMED])}{more}"
        yield problem("git ignores", says, "take them out of .gitignore, or name them in the contract's lock.ignore")


def _lock(root: Path) -> Item:
    lock, findings = read_lock(root)
    if lock is None:
        first = findings[0]
        says = first.message
        return note("lock", says, first.hint) if not (root / first.path).exists() else problem("lock", says, first.hint)
    return ok("lock", f"{_counted(len(lock.skills), 'skill')} locked; `skillassay lock --check` compares")


def _runs(root: Path) -> Item:
    n_runs, n_bytes = len(list_runs(root)), _size(root / _FOLDER)
    return ok("runs", f"{n_runs} in {RUNS}; {_FOLDER} holds {n_bytes / (1 << 20):.1f} MiB")


def _size(folder: Path) -> int:
    """The bytes of all files below; what vanishes meanwhile has none."""
    total = 0
    for here, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(here) / name).lstat().st_size
            except OSError:
                continue
    return total
