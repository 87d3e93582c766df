"""``skillassay report``."""

from __future__ import annotations

from pathlib import Path

import click

from skillassay.cli.show import FORMATS, show
from skillassay.errors import Exit
from skillassay.runs.evaluation import load_view


@click.command("report")
@click.argument("run", required=False)
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True, help="Output format.")
@click.pass_context
def command(ctx: click.Context, *, run: str | None, form: str) -> int:
    """Show a stored run again (the newest, or RUN by id or prefix), scored anew from its records.

    Reads .skillassay/runs/; writes nothing; calls no model.

    Exit codes: 0 shown, whatever was decided (see gate); 2 wrong usage; 3 no such run, or its record is damaged.
    """
    show(load_view(Path(ctx.obj["root"]), run), form)
    return int(Exit.PASSED)
