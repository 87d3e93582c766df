"""``skillassay events``."""

from __future__ import annotations

from pathlib import Path

import click

from skillassay.cli.output import emit_json_line
from skillassay.contract.frozen import require_whole
from skillassay.errors import Exit, InputError, StoreError
from skillassay.report.events import run_frame, summary_frame, trial_frame
from skillassay.runs.plan import ORDER
from skillassay.runs.retention import FULL
from skillassay.runs.selection import refuse_unknown
from skillassay.runs.slim import SlimHeader, read_slim_header, read_slim_result
from skillassay.runs.store import read_records, run_folder


@click.command("events")
@click.argument("run", required=False)
@click.option("--case", "cases", multiple=True, metavar="ID", help="Only this case. Repeatable.")
@click.option(
    "--mode",
    "modes",
    multiple=True,
    type=click.Choice([mode.value for mode in ORDER]),
    help="Only this mode. Repeatable.",
)
@click.option("--texts", is_flag=True, help="With answers and evidence; otherwise no word of a model.")
@click.pass_context
def command(ctx: click.Context, *, run: str | None, cases: tuple[str, ...], modes: tuple[str, ...], texts: bool) -> int:
    """Stream a stored run (the newest, or RUN by id or prefix) as JSON lines.

    First a frame `run`, then a frame `trial` for each record in the order in which it was written, last a frame
    `summary` with what the run came to. A stream without a summary is not whole. It replays what is stored and scores
    nothing anew; --case and --mode leave out frames, the summary is of the whole run.

    Reads .skillassay/runs/; writes nothing; calls no model.

    Exit codes: 0 streamed, whatever was decided; 2 wrong usage; 3 no such run, its record is damaged, or --texts of one
    that keeps none; 141 the reader left.
    """
    folder = run_folder(Path(ctx.obj["root"]), run)
    header = read_slim_header(folder)
    require_whole(header.value, None)
    refuse_unknown(cases, {name.split("/", 1)[-1] for name in header.value["cases"]}, "case")
    if texts and header.value.get("retention", FULL) != FULL:
        message = f"run {folder.name} keeps no texts (retention {header.value['retention']})"
        raise InputError(message, hint="leave out --texts")
    try:
        _stream(folder, header, cases=cases, modes=modes, texts=texts)
    except (KeyError, TypeError, AttributeError) as error:
        raise StoreError(
            f"run {folder.name} lacks {error}", hint="it was damaged, or made by an older version"
        ) from error
    return int(Exit.PASSED)


def _stream(folder: Path, header: SlimHeader, *, cases: tuple[str, ...], modes: tuple[str, ...], texts: bool) -> None:
    emit_json_line(run_frame(header))
    n_records = n_shown = 0
    for record in read_records(folder):
        n_records += 1
        if (not cases or record.case_id in cases) and (not modes or record.mode in modes):
            n_shown += 1
            emit_json_line(trial_frame(record, texts=texts))
    # Read behind the records: a run that ends meanwhile is told as one that ended.
    result = read_slim_result(folder)
    emit_json_line(summary_frame(header, result, n_records=n_records, n_shown=n_shown, texts=texts))
