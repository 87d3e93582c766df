"""``skillassay review``."""

from __future__ import annotations

from pathlib import Path

import click

from skillassay.cli.output import columns, emit, emit_json
from skillassay.errors import Exit
from skillassay.people.adjudication import VERDICTS, Target
from skillassay.people.governed import entry_json
from skillassay.people.reviewing import Reviewed, Said, adjudicate, load_reviewed, target_of
from skillassay.printable import one_line
from skillassay.report.queue import render_one, render_queue
from skillassay.runs.plan import ORDER

REVIEW_FORMAT = 1


@click.command("review")
@click.argument("run", required=False)
@click.option("--case", metavar="ID", help="One case: show it, or say what --verdict is about.")
@click.option("--mode", type=click.Choice([mode.value for mode in ORDER]), help="One mode of it.")
@click.option("--repeat", type=click.IntRange(1), help="One repeat of it; without, all repeats of the mode.")
@click.option("--verdict", type=click.Choice(VERDICTS), help="Say this about it, with --by and --reason.")
@click.option("--by", metavar="NAME", help="Who decides: a person's name.")
@click.option("--reason", metavar="TEXT", help="Why.")
@click.option("--record", metavar="DIGEST", help="What was looked at, as shown: refused if it is not that any more.")
@click.option("--format", "form", type=click.Choice(("table", "json")), default="table", show_default=True)
@click.pass_context
def command(ctx: click.Context, /, *, run: str | None, form: str, **options: str | int | None) -> int:
    """Show what of a run (the newest, or RUN by id or prefix) people must look at, or say what one of them decided.

    In the queue are trials on which the judge abstained or made up its evidence, repeats that disagree, cases that may
    have been seen, oracles in doubt, and people who disagree. With --verdict one line is appended to
    .skillassay/runs/ID/adjudications.jsonl; no record and no result is changed, and no score that there is.

    Reads the stored run; writes that one line and nothing else.

    Exit codes: 0 shown or appended; 2 wrong usage, a verdict that cannot stand, or a run that keeps no texts; 3 no such
    run, or another record than --record says.
    """
    said = {name: options[name] for name in ("verdict", "by", "reason", "record")}
    where = {name: options[name] for name in ("case", "mode", "repeat")}
    if said["verdict"] is None and any(value is not None for value in said.values()):
        raise click.UsageError("--by, --reason and --record go with --verdict")
    if said["verdict"] is not None and None in {where["case"], said["by"], said["reason"]}:
        raise click.UsageError("a verdict is about a --case, given --by a person for a --reason")
    if where["case"] is None and any(value is not None for value in where.values()):
        raise click.UsageError("--mode and --repeat go with --case")
    reviewed = load_reviewed(Path(ctx.obj["root"]), run)
    if where["case"] is None:
        _show_queue(reviewed, form)
        return int(Exit.PASSED)
    target = target_of(reviewed, **where)  # type: ignore[arg-type]  # click has checked each
    if said["verdict"] is None:
        _show_one(reviewed, target, form)
    else:
        _say(reviewed, target, Said(**said), form)  # type: ignore[arg-type]  # as above
    return int(Exit.PASSED)


def _show_queue(reviewed: Reviewed, form: str) -> None:
    if form == "json":
        queue = [entry_json(entry) for entry in reviewed.queue]
        emit_json({"review_format": REVIEW_FORMAT, "run": reviewed.run_id, "queue": queue})
    elif reviewed.queue:
        emit(render_queue(reviewed.queue, columns=columns()))
    else:
        emit(f"nothing for people to see in {reviewed.run_id}")


def _show_one(reviewed: Reviewed, target: Target, form: str) -> None:
    entry, record = reviewed.entry_of(target), reviewed.digest_of(target)
    if form == "json":
        body = None if entry is None else entry_json(entry)
        emit_json({"review_format": REVIEW_FORMAT, "run": reviewed.run_id, "record": record, "entry": body})
    else:
        emit(render_one(target, reviewed.rows_of(target), entry, record=record, columns=columns()))


def _say(reviewed: Reviewed, target: Target, said: Said, form: str) -> None:
    entry = adjudicate(reviewed, target, said)
    if form == "json":
        emit_json({"review_format": REVIEW_FORMAT, "run": reviewed.run_id, "entry": entry_json(entry)})
        return
    state = f"{entry.kind}, {'still open' if entry.is_open else 'adjudicated'}"
    emit(f"{one_line(str(target))}: {said.verdict} by {one_line(said.by)}; now {state}")
    emit(f"decide again with: skillassay gate {reviewed.run_id}")
