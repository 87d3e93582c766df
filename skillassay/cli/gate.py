"""``skillassay gate``."""

from __future__ import annotations

from pathlib import Path

import click

from skillassay.cli.output import columns, emit, emit_json
from skillassay.errors import Exit
from skillassay.evaluation import load_view
from skillassay.report.table import decision_lines
from skillassay.results import decision_json


@click.command("gate")
@click.argument("run", required=False)
@click.option("--format", "form", type=click.Choice(("table", "json")), default="table", show_default=True)
@click.pass_context
def command(ctx: click.Context, *, run: str | None, form: str) -> int:
    """Decide again on a stored run (the newest, or RUN by id or prefix), under the rules it was made with.

    Reads .skillassay/runs/; writes nothing; calls no model. Each line shows its number, its limit and its counts.

    Exit codes: 0 passed; 1 failed; 2 wrong usage; 3 undecided (unscored trials, an interrupted run), or no such run.
    """
    view = load_view(Path(ctx.obj["root"]), run)
    if form == "json":
        emit_json(decision_json(view.assessment.decision))
    else:
        emit("\n".join([*decision_lines(view, columns()), f"record: {view.place}"]))
    code = view.assessment.decision.exit_code
    if view.assessment.interrupted and code is Exit.PASSED:
        return int(Exit.UNDECIDED)
    return int(code)
