"""The suites of a project held against stored runs: one lint for the command and for the report on a run."""

from __future__ import annotations

from pathlib import Path

from skillassay.errors import SkillassayError
from skillassay.project import Project, load_project, require_usable
from skillassay.report.base import RunView
from skillassay.report.suite_lint import LintView
from skillassay.runs.pooled import Pool
from skillassay.scoring.discrimination import lint_trials, stored_trials
from skillassay.suites.lint import lint_suites


def build_lint(project: Project, pool: Pool, *, is_strict: bool = False) -> LintView:
    """The lint of the project's suites, with what the trials of the pooled runs show."""
    found = lint_suites(project)
    stored = [stored_trials(view.header, view.assessment.scores.rows) for view in pool.views]
    trials = lint_trials(found.cases, stored) if stored else None
    return LintView(lint=found, trials=trials, set_aside=pool.set_aside, is_strict=is_strict)


def lint_of_run(root: Path, view: RunView) -> LintView | None:
    """The same for one run; None where the project does not stand as it should, which is not the run's fault."""
    try:
        project = load_project(root)
        require_usable(project, "a lint of the suites")
        return build_lint(project, Pool(views=(view,)))
    except SkillassayError:
        return None
