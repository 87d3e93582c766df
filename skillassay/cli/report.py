"""``skillassay report``."""

from __future__ import annotations

from pathlib import Path

import click

from skillassay.cli.output import say
from skillassay.cli.show import FORMATS, show, write
from skillassay.errors import Exit
from skillassay.runs.evaluation import load_view


@click.command("report")
@click.argument("run", required=False)
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True, help="Output format.")
@click.option("--output", "-o", "to", type=click.Path(path_type=Path), metavar="FILE", help="Write it to FILE.")
@click.pass_context
def command(ctx: click.Context, *, run: str | None, form: str, to: Path | None) -> int:
    """Show a stored run again (the newest, or RUN by id or prefix), scored anew from its records.

    html is one file that needs nothing else; junit, csv and github (annotations) are for CI services.

    Reads .skillassay/runs/; with --output it writes FILE, whole or not at all; calls no model.

    Exit codes: 0 shown, whatever was decided (see gate); 2 wrong usage; 3 no such run, its record is damaged, or FILE
    cannot be written.
    """
    view = load_view(Path(ctx.obj["root"]), run)
    if view.changed is not None:
        say(f"warning: {view.changed}")
    if to is None:
        show(view, form)
    else:
        write(view, form, to)
        say(f"written: {to}")
    return int(Exit.PASSED)
