"""``skillassay plan``: what the cases of each skill can show, before anything is spent."""

from __future__ import annotations

from pathlib import Path

import click

from skillassay.cli.output import columns, emit, emit_json, say
from skillassay.errors import Exit, UsageError
from skillassay.project import Project, load_project, require_usable
from skillassay.report.base import RunView
from skillassay.report.forecast import forecasts_json, render_forecasts
from skillassay.runs.evaluation import load_view
from skillassay.suites.forecast import Aim, build_forecasts, measured_shares

SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)


@click.command("plan")
@click.option("--power", "wanted", type=SHARE, default=0.8, show_default=True, help="Wanted chance to show the lift.")
@click.option("--lift", type=click.FloatRange(0, 1, min_open=True), default=0.2, show_default=True, help="Mean lift.")
@click.option("--skill", "skills", multiple=True, metavar="NAME", help="Only this skill (name or path); repeatable.")
@click.option("--repeats", type=click.IntRange(1, 100), default=1, show_default=True, help="Repeats planned a case.")
@click.option(
    "--base-rate",
    type=click.FloatRange(0, 1),
    default=0.5,
    show_default=True,
    help="Share that passes without the skill.",
)
@click.option("--from", "run", metavar="RUN", help="Base rates as this run (id or prefix) measured them in mode none.")
@click.option("--format", "form", type=click.Choice(("table", "json")), default="table", show_default=True)
@click.pass_context
def command(  # noqa: PLR0913 - one parameter an option
    ctx: click.Context,
    *,
    wanted: float,
    lift: float,
    skills: tuple[str, ...],
    repeats: int,
    base_rate: float,
    run: str | None,
    form: str,
) -> int:
    """Say how large a lift the cases of each skill can show, and how many cases a lift of --lift takes.

    Shown means that the 95 % interval of the lift lies above zero. Seeded simulation under a model that the output
    states; cases of a hidden holdout are not counted. It decides nothing.

    Reads the project, with --from a stored run; writes nothing; calls no model.

    Exit codes: 0 shown; 2 wrong usage, no such skill; 3 the project or the run cannot be read.
    """
    root = Path(ctx.obj["root"])
    project = load_project(root)
    require_usable(project, "a forecast")
    paths = _called(project, skills)
    view = _measured(root, run) if run is not None else None
    aim = Aim(
        wanted=wanted,
        lift=lift,
        repeats=repeats,
        base_rate=base_rate,
        measured=measured_shares(view.assessment.scores.counted) if view is not None else {},
    )
    forecasts = build_forecasts(project, aim, skills=paths)
    rule, from_run = project.contract.gate.lift_rule, None if view is None else str(view.header["id"])
    if form == "json":
        emit_json(forecasts_json(forecasts, aim, rule=rule, run=from_run))
    else:
        emit(render_forecasts(forecasts, aim, rule=rule, run=from_run, columns=columns()))
    return int(Exit.PASSED)


def _measured(root: Path, run: str) -> RunView:
    view = load_view(root, run)
    if view.changed is not None:
        say(f"warning: {view.changed}")
    return view


def _called(project: Project, names: tuple[str, ...]) -> tuple[str, ...]:
    """The paths of the skills that are named by path or folder."""
    paths = [ready.path for ready in project.usable]
    unknown = [name for name in names if not any(name in (path, path.rsplit("/", 1)[-1]) for path in paths)]
    if unknown:
        raise UsageError(f"there is no skill {', '.join(map(repr, unknown))}", hint=f"skills: {', '.join(paths)}")
    return tuple(path for path in paths if path in names or path.rsplit("/", 1)[-1] in names)
