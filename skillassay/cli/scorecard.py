"""``skillassay scorecard``."""

from __future__ import annotations

from pathlib import Path

import click

from skillassay.cli.output import columns, emit, emit_json, say
from skillassay.errors import Exit
from skillassay.printable import one_line
from skillassay.report.scorecard import (
    render_scorecard,
    render_scorecard_csv,
    render_scorecard_markdown,
    scorecard_json,
    skipped_texts,
)
from skillassay.runs.scorecards import read_scorecard

FORMATS = ("table", "markdown", "csv", "json")


@click.command("scorecard")
@click.option("--skill", "skills", multiple=True, metavar="NAME", help="Only this skill (path or folder). Repeatable.")
@click.option("--last", type=click.IntRange(1), metavar="N", help="Only the newest N runs.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True, help="Output format.")
@click.pass_context
def command(ctx: click.Context, *, skills: tuple[str, ...], last: int | None, form: str) -> int:
    """Show what the stored runs say of each skill and version: trials, score, lift, decision, trend.

    A row sums the runs of one version that were measured in one way (subject, candidate, judge, gate); lift, decision
    and date are its newest run's. The trend is against the newest earlier run that compares by the rules of `compare`;
    where none does it says why and is no number. A run that cannot be read is listed as skipped.

    Reads .skillassay/runs/; writes nothing; calls no model.

    Exit codes: 0 shown, whatever was decided; 2 wrong usage, no such skill; 3 no run, or none that can be read.
    """
    read = read_scorecard(Path(ctx.obj["root"]), skills=skills, last=last)
    if form == "json":
        emit_json(scorecard_json(read.rows, read.skipped, n_runs=read.n_runs))
    elif form == "csv":
        emit(render_scorecard_csv(read.rows))
        for text in skipped_texts(read.skipped):
            say(one_line(text))
    elif form == "markdown":
        emit(render_scorecard_markdown(read.rows, read.skipped))
    else:
        emit(render_scorecard(read.rows, read.skipped, columns=columns()))
    return int(Exit.PASSED if read.n_runs else Exit.UNDECIDED)
