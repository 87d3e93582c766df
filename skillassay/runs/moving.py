"""Whether a run's files are still those that it began with. Reads them again; changes nothing."""

from __future__ import annotations

from skillassay.holdout.doubts import moved_holdout
from skillassay.runs.preparation import Prepared
from skillassay.skills.digest import read_files
from skillassay.suites.case import load_suite


def moved_paths(prepared: Prepared) -> tuple[str, ...]:
    """Catalog skills, and suites with their cases' files, that are no longer what the run began with.

    No trial has seen the difference; but evidence would speak of files that are not there any more.
    """
    project, ignore = prepared.project, prepared.contract.lock.ignore
    moved = []
    for ready in project.usable:
        files, _, _ = read_files(str(project.root / ready.path), path=ready.path, ignore=ignore)
        if files is None or files.digest != ready.digest:
            moved.append(ready.path)
    planned = {trial.suite for trial in prepared.plan.trials}
    moved += moved_holdout(project, prepared.holdout)
    for suite in project.suites:
        if suite.name in planned and suite.name != prepared.hidden_suite:
            now = load_suite(project.root / suite.path, shown_as=suite.path).suite
            if now is None or now.digest != suite.digest:
                moved.append(suite.path)
    return tuple(moved)
