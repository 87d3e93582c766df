"""``skillassay read``."""

from __future__ import annotations

from pathlib import Path

import click

from skillassay.calibration.verdicts_read import RIGHT, UNSURE, VERDICTS_READ_PATH, WRONG
from skillassay.cli.keys import QUIT, ask_key
from skillassay.cli.output import columns, emit, say
from skillassay.commandline import next_command
from skillassay.errors import Exit
from skillassay.people.reading import Reading, load_reading
from skillassay.report.item import render_verdict

SAID = {"r": RIGHT, "w": WRONG, "u": UNSURE}
BACK = "b"
PROMPT = "[r]ight  [w]rong  [u]nsure  [b]ack  [q]uit"


@click.command("read")
@click.argument("run", required=False)
@click.option("--by", required=True, metavar="NAME", help="Who reads: a person's name.")
@click.option("--number", type=click.IntRange(1), metavar="N", help="How many of each skill; else judge.read_min.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the draw and of its order.")
@click.option("--again", is_flag=True, help="Offer also what you called wrong or were unsure of.")
@click.pass_context
def command(ctx: click.Context, /, *, run: str | None, by: str, number: int | None, seed: int, again: bool) -> int:
    """Read a sample of the judge's verdicts in a run (the newest, or RUN by id or prefix), and say which are right.

    One verdict at a time: the query, the answer, the criterion, what the judge said of it and its evidence. Failed and
    passed criteria are drawn in turn; nothing tells which mode gave the answer. Keys: r right, w wrong, u unsure,
    b back, q quit. Every word is kept at once; the next session of the same person goes on where this one stopped.

    The gate of a run on live models asks for this once for each rubric. A verdict that is called wrong is put into the
    run's queue: see `skillassay review`.

    Reads the stored run and the suites; writes evals/verdicts-read.jsonl.

    Exit codes: 0 the sample is read; 2 wrong usage, no person's name, a run of authored verdicts or one that keeps no
    texts; 3 verdicts are left, nothing is there to read, or no such run.
    """
    root = Path(ctx.obj["root"])
    reading = load_reading(root, run, by=by, number=number, seed=seed, again=again)
    say(f"{len(reading.shown)} verdicts drawn, {reading.n_left} left for {reading.by}; every word is kept at once")
    _ask_all(reading)
    emit(f"{len(reading.said)} verdicts read by {reading.by} in {VERDICTS_READ_PATH}, {reading.n_left} left")
    if reading.n_wrong:
        say(f"{reading.n_wrong} called wrong: {next_command(root, 'review', reading.run_id)}")
    if reading.n_left == 0:
        say(f"decide again with: {next_command(root, 'gate', reading.run_id)}")
    return int(Exit.PASSED if reading.n_left == 0 else Exit.UNDECIDED)


def _ask_all(reading: Reading) -> None:
    seen: str | None = None
    while (shown := reading.next) is not None:
        answer = shown.item.answer.id
        emit(
            render_verdict(
                shown.item,
                (shown.verdict, shown.evidence),
                n_left=reading.n_left,
                with_answer=answer != seen,
                columns=columns(),
            )
        )
        seen = answer
        key = ask_key(PROMPT, (*SAID, BACK, QUIT))
        if key == QUIT:
            return
        if key == BACK:
            seen = None
            if not reading.undo():
                say("nothing was said in this session yet")
            continue
        reading.say(shown, SAID[key])
