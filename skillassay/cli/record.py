"""``skillassay record``: an evaluation whose traffic is kept. Owns the command that plays it again."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Any

import click

from skillassay.cli import evaluate as eval_command
from skillassay.cli.output import emit, say
from skillassay.cli.progress import Progress
from skillassay.cli.show import append_step_summary, show
from skillassay.contract import Contract, load_contract
from skillassay.errors import Exit
from skillassay.evaluation import evaluate
from skillassay.keeping import recording_name
from skillassay.plan import ALL_MODES, Mode
from skillassay.preparation import EvalRequest, chosen_models, prepare

_NOT_HERE = ("cache", "resume", "retry")
"""Options of ``eval`` under which a part of the answers would come from another run."""


@click.command("record", params=[option for option in eval_command.command.params if option.name not in _NOT_HERE])
@click.option("--to", "record_to", metavar="FILE", help="Where to, below the project. Default: in evals/recordings.")
@click.pass_context
def command(ctx: click.Context, /, *, dry_run: bool, form: str, record_to: str | None, **options: Any) -> int:
    """Evaluate as `eval` does, and keep what candidate and judge were asked and what came back.

    Reads what `eval` reads, and writes its record and the recording: when the run is over. One that is interrupted
    leaves an older recording as it is.
    `eval --model replay:FILE` then gives the same answers again without key and network (docs/reference/recordings.md).

    Exit codes: 0 the gate passed; 1 it failed; 2 wrong usage; 3 it cannot decide; 130 interrupted, nothing recorded.
    A gate that failed is recorded all the same.
    """
    request = eval_command.build_request(ctx, dry_run=dry_run, record_to=record_to, **options)
    if record_to is None:
        request = _with_usual_name(request)
    prepared = prepare(request)
    if dry_run:
        emit(eval_command.plan_text(prepared))
        return int(Exit.PASSED)
    view = evaluate(prepared, Progress(quiet=ctx.obj["quiet"]))
    show(view, form)
    append_step_summary(view)
    if view.recording is None:
        say("interrupted; nothing was recorded")
        return int(Exit.INTERRUPTED)
    if view.recording != request.record_to:
        say(f"warning: not every call was answered, so {request.record_to} stays; this is in {view.recording}")
    say(f"recorded in {view.recording}; play it again with: {_replay_command(request, view.recording)}")
    return int(view.assessment.decision.exit_code)


def _with_usual_name(request: EvalRequest) -> EvalRequest:
    contract, _ = load_contract(request.root)  # what is wrong with it is told when the run is prepared
    selection = {
        "skills": sorted(request.skills),
        "cases": sorted(request.cases),
        "modes": [] if request.modes == ALL_MODES else sorted(request.modes),
        "repeats": 0 if request.repeats == 1 else request.repeats,
    }
    name = recording_name(chosen_models(request, contract or Contract()), selection)
    return replace(request, record_to=name)


def _replay_command(request: EvalRequest, recording: str) -> str:
    words = ["skillassay"]
    if str(request.root) != ".":
        words += ["--root", str(request.root)]
    words += ["eval", "--model", f"replay:{recording}"]
    for option, values in (("--skill", request.skills), ("--case", request.cases)):
        words += [word for value in values for word in (option, value)]
    # --base alone adds the mode previous.
    modes = request.modes if request.base is None else tuple(m for m in request.modes if m is not Mode.PREVIOUS)
    if request.base is not None:
        words += ["--base", request.base]
    if modes != ALL_MODES:
        words += [word for mode in modes for word in ("--mode", mode.value)]
    if request.repeats > 1:
        words += ["--repeats", str(request.repeats)]
    return shlex.join(words)
