"""``skillassay baseline``."""

from __future__ import annotations

from pathlib import Path

import click

from skillassay.cli.output import emit
from skillassay.errors import Exit
from skillassay.inside import refuse_links
from skillassay.printable import one_line
from skillassay.runs.baseline import BASELINE_PATH, load_pinned, pin_baseline
from skillassay.runs.store import run_folder
from skillassay.scoring.regression import Baseline


@click.command("baseline")
@click.argument("run", required=False)
@click.option("--pin", is_flag=True, help="Compare new runs with this one (the newest, or RUN) from now on.")
@click.option("--unpin", is_flag=True, help="Compare them again with the newest run that is comparable.")
@click.pass_context
def command(ctx: click.Context, *, run: str | None, pin: bool, unpin: bool) -> int:
    """Show, pin or unpin the run that new runs are compared with.

    Without a pin each run is compared with the newest one before it that is comparable: the same contract, candidate
    but for the skill's bytes, judge, scorer and machine, whole, and itself without regression. The gate's line
    no_regression fails where the share of passing cases fell beyond threshold and noise, or a critical case got worse.

    Reads .skillassay/runs/ and evals/baseline.json; with --pin it writes that file, with --unpin it removes it. Commit
    it.

    Exit codes: 0 shown, pinned or unpinned; 2 wrong usage; 3 no such run, or one that is no baseline.
    """
    root = Path(ctx.obj["root"])
    if pin and unpin:
        raise click.UsageError("--pin or --unpin: one of the two")
    if run is not None and not pin:
        raise click.UsageError("RUN goes with --pin")
    if pin:
        emit(f"pinned: {_words(pin_baseline(root, run_folder(root, run)))}, in {BASELINE_PATH}")
        return int(Exit.PASSED)
    pinned = load_pinned(root)
    if pinned is None:
        emit("no baseline is pinned: a run is compared with the newest comparable one before it")
    elif unpin:
        refuse_links(root, root / BASELINE_PATH)
        (root / BASELINE_PATH).unlink()
        emit(f"unpinned: {_words(pinned[1])}")
    else:
        emit(f"pinned: {_words(pinned[1])}")
    return int(Exit.PASSED)


def _words(baseline: Baseline) -> str:
    passed = sum(state.passed for state in baseline.cases)
    return f"run {one_line(baseline.run)}, {passed} of {len(baseline.cases)} cases pass"
