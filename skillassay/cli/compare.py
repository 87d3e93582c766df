"""``skillassay compare``."""

from __future__ import annotations

from pathlib import Path

import click

from skillassay.cli.output import emit, emit_json
from skillassay.errors import Exit
from skillassay.report.comparison import comparison_json, refusal_json, render_comparison, render_refusal
from skillassay.runs.evaluation import load_view
from skillassay.scoring.comparison import build_comparison, incompatibilities, other_judges


@click.command("compare")
@click.argument("old")
@click.argument("new")
@click.option("--format", "form", type=click.Choice(("table", "json", "html")), default="table", show_default=True)
@click.pass_context
def command(ctx: click.Context, *, old: str, new: str, form: str) -> int:
    """Compare two stored runs (ids or prefixes) case by case, mode by mode, repeat by repeat.

    Runs compare only where their frozen contracts allow it: the same cases, scorer code, judge, rubric, machine and
    gate. The candidate may differ. Shows what changed both ways, and the rates with their counts. That nothing
    regressed never qualifies a run which its own gate refused.

    Reads .skillassay/runs/; writes nothing; calls no model.

    Exit codes: 0 nothing regressed and the new run passed its gate; 1 a trial in progressive got worse, whatever the
    average, or the new run's gate refused it; 2 wrong usage; 3 the runs do not compare (what differs is listed), cannot
    be read, or something is undecided.
    """
    root = Path(ctx.obj["root"])
    views = [load_view(root, run) for run in (old, new)]
    differences = (
        *(view.changed for view in views if view.changed is not None),
        *incompatibilities(views[0].header, views[1].header),
        *other_judges(*((view.header, view.assessment) for view in views)),
    )
    if differences:
        runs = (views[0].header["id"], views[1].header["id"])
        if form == "json":
            emit_json(refusal_json(*runs, differences))
        else:
            emit(render_refusal(*runs, differences))
        return int(Exit.UNDECIDED)
    comparison = build_comparison(*((view.header, view.assessment) for view in views))
    if form == "json":
        emit_json(comparison_json(comparison))
    elif form == "html":
        from skillassay.report.comparison_page import render_comparison_page

        emit(render_comparison_page(comparison))
    else:
        emit(render_comparison(comparison))
    return int(comparison.exit_code)
