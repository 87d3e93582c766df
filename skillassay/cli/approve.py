"""``skillassay approve``."""

from __future__ import annotations

from pathlib import Path

import click

from skillassay.cli.output import columns, emit, say
from skillassay.commandline import next_command
from skillassay.errors import Exit
from skillassay.people.approving import approve, failed_lines
from skillassay.printable import one_line
from skillassay.report.table import decision_lines, told_lines
from skillassay.runs.evaluation import load_view


@click.command("approve")
@click.argument("run", required=False)
@click.option("--by", metavar="NAME", help="Who approves: a person's name, not the owner's.")
@click.option("--note", metavar="TEXT", help="What was seen, and why it is enough.")
@click.option("--seen", metavar="DIGEST", help="What was looked at, as shown; refused if it is not that any more.")
@click.pass_context
def command(ctx: click.Context, *, run: str | None, by: str | None, note: str | None, seen: str | None) -> int:
    """Show what there is to approve of a run (the newest, or RUN by id or prefix), or approve it under a name.

    A run on live models needs, besides everything that is measured, a named person who has seen its result and its
    unknowns. Without --by the decision with all its lines is shown, what people still have to look at, and a digest of
    it. With --by, --note and --seen one line is appended to .skillassay/runs/ID/approvals.jsonl; nothing recorded
    changes. Whatever changes what there is to see makes the approval one of another state.

    Reads the stored run and the project's calibrations; writes that one line and nothing else.

    Exit codes: 0 shown or approved; 1 the run failed; 2 wrong usage, no person's name, the owner, or a run of authored
    answers; 3 the run is undecided or did not end, there is no such run, or something else to see than --seen says.
    """
    root = Path(ctx.obj["root"])
    given = (by, note, seen)
    if any(given) and not all(given):
        raise click.UsageError("who approves says --by, --note and --seen")
    view = load_view(root, run)
    failed = failed_lines(view)
    if failed:
        say(f"run {view.header['id']} failed, which nobody approves: {', '.join(failed)}")
        say("mend the skill; for an exception see docs/reference/waivers.md")
        return int(Exit.FAILED)
    if by is not None and note is not None and seen is not None:
        approval = approve(root, view, by=by, note=note, seen=seen)
        emit(f"run {view.header['id']} approved by {one_line(approval.by)} ({approval.id})")
        say(f"make its evidence again: {next_command(root, 'eval', '--resume', view.header['id'])}")
        return int(Exit.PASSED)
    queue = view.assessment.queue
    open_ = sum(entry.is_open for entry in queue)
    lines = [*told_lines(view, columns()), *decision_lines(view, columns())]
    emit("\n".join([*lines, f"for people to see: {len(queue)} entries, {open_} open"]))
    emit(f"record: {view.place}\nseen: {view.assessment.seen}")
    return int(Exit.PASSED)
