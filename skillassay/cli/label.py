"""``skillassay label``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from skillassay.calibration.importing import import_labels
from skillassay.calibration.labelling import Session, load_session
from skillassay.calibration.labels import FAIL, LABELS_PATH, ORIGINS, PASS, SKIP
from skillassay.cli.keys import QUIT, ask_key
from skillassay.cli.output import columns, emit, say
from skillassay.errors import Exit, UsageError
from skillassay.people.names import name_problem
from skillassay.report.item import render_item

KEYS = {"p": PASS, "f": FAIL, "s": SKIP}
PROMPT = "[p]ass  [f]ail  [s]kip  [u]ndo  [q]uit"


@click.command("label")
@click.argument("run", required=False)
@click.option("--by", required=True, metavar="NAME", help="Who labels: a person's name.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the order of the answers.")
@click.option("--from", "source", metavar="FILE", help="Take labels made elsewhere: JSON lines.")
@click.option("--origin", type=click.Choice(ORIGINS), help="With --from: who found them, by reading or by writing.")
@click.option("--again", is_flag=True, help="Offer also what you skipped and what people disagree on.")
@click.pass_context
def command(
    ctx: click.Context, /, *, run: str | None, by: str, source: str | None, origin: str | None, **order: Any
) -> int:
    """Say of answers of a run (the newest, or RUN by id or prefix) whether they meet what the judge decides.

    One criterion of one answer at a time: the query, the answer, the statement. Nothing tells which mode gave the
    answer or what the judge said. Keys: p pass, f fail, s skip, u undo, q quit. Every word is kept at once; the next
    session of the same person goes on where this one stopped. Labels are append-only and are committed, and the
    answers with them.

    With --from a file of {"suite", "case", "answer", "criterion", "verdict"} a line is taken instead, under --by and
    --origin: human for what a person found by reading, authored for what was written with its answer and certifies no
    judge.

    Reads the stored run and the suites; writes evals/labels.jsonl.

    Exit codes: 0 nothing is left to label, or all was taken; 2 wrong usage, or a run that keeps no texts; 3 labels are
    left, or no such run.
    """
    root = Path(ctx.obj["root"])
    if source is not None and origin is None:
        raise click.UsageError("--from needs --origin: human for labels found by reading, authored for all others")
    nobody = name_problem(by) if origin != "authored" else None
    if nobody is not None:
        raise UsageError(f"--by {nobody}", hint="a person labels, under a name of their own")
    if source is not None and origin is not None:
        taken = import_labels(root, Path(source), by=" ".join(by.split()), origin=origin)
        emit(f"{taken} labels taken from {source} into {LABELS_PATH}, by {by}, origin {origin}")
        return int(Exit.PASSED)
    if origin is not None:
        raise click.UsageError("--origin goes with --from: what is labelled here is labelled by a person")
    return _session(root, run, by=by, **order)


def _session(root: Path, run: str | None, *, by: str, seed: int, again: bool) -> int:
    session = load_session(root, run, by=by, seed=seed, again=again)
    say(f"{len(session.items)} points, {session.n_left} left for {by}; every word is kept at once")
    _ask_all(session)
    n_said = len(session.said)
    emit(f"{n_said} labels by {by} in {LABELS_PATH}, {session.n_left} points left")
    if session.n_left == 0:
        say("compare the judge with them: skillassay calibrate")
    return int(Exit.PASSED if session.n_left == 0 else Exit.UNDECIDED)


def _ask_all(session: Session) -> None:
    shown: str | None = None
    while (item := session.next) is not None:
        emit(render_item(item, n_left=session.n_left, with_answer=item.answer.id != shown, columns=columns()))
        shown = item.answer.id
        key = ask_key(PROMPT, (*KEYS, "u", QUIT))
        if key == QUIT:
            return
        if key == "u":
            shown = None
            if not session.undo():
                say("nothing was said in this session yet")
            continue
        session.say(item, KEYS[key])
