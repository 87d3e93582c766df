"""``skillassay gate``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from skillassay.cli.output import columns, emit, emit_json, say
from skillassay.people.audit import use_waivers
from skillassay.people.governed import people_json
from skillassay.report.table import decision_lines, told_lines
from skillassay.runs.evaluation import load_view
from skillassay.runs.results import gate_json


@click.command("gate")
@click.argument("run", required=False)
@click.option("--format", "form", type=click.Choice(("table", "json")), default="table", show_default=True)
@click.option("--with-waivers", is_flag=True, help="Exit by the effective decision, which heeds evals/waivers.yaml.")
@click.pass_context
def command(ctx: click.Context, *, run: str | None, form: str, with_waivers: bool) -> int:
    """Decide again on a stored run (the newest, or RUN by id or prefix), under the rules it was made with.

    Reads .skillassay/runs/; calls no model. Each line shows its number, its limit and its counts. Writes nothing, but
    with --with-waivers a line for each use of a waiver to .skillassay/audit.jsonl; the recorded decision stays.

    Exit codes: 0 passed; 1 failed; 2 wrong usage; 3 undecided (unscored trials, an interrupted run), or no such run.
    """
    root = Path(ctx.obj["root"])
    view = load_view(root, run)
    if with_waivers and view.assessment.interrupted:
        say("warning: the run was stopped before its end, so no waiver counts for it")
    elif with_waivers:
        effective = use_waivers(root, view.assessment.decision, view.header, command="gate")
        view = replace(view, effective=effective)
    if form == "json":
        people = people_json(view.assessment, view.effective)
        emit_json(gate_json(view.header, view.assessment) | people)
    else:
        emit("\n".join([*told_lines(view, columns()), *decision_lines(view, columns()), f"record: {view.place}"]))
    return int(view.exit_code)
