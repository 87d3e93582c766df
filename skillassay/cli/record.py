"""``skillassay record``: an evaluation whose traffic is kept. Owns the command that plays it again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from skillassay.cli import evaluate as eval_command
from skillassay.cli.options import LIVE_FORMS
from skillassay.cli.output import say
from skillassay.cli.progress import Progress
from skillassay.cli.show import append_step_summary, show
from skillassay.commandline import next_command
from skillassay.contract.contract import Contract, load_contract
from skillassay.errors import Exit
from skillassay.printable import one_line
from skillassay.runs.evaluation import evaluate
from skillassay.runs.keeping import recording_name
from skillassay.runs.plan import ALL_MODES, Mode
from skillassay.runs.preparation import EvalRequest, chosen_models, prepare

_NOT_HERE = ("cache", "resume", "retry", "like", "with_waivers")
"""Options of ``eval`` under which a part of the answers would come from another run."""
_OTHERWISE = (*_NOT_HERE, "model")
"""Those, and the one that takes less here."""


@click.command("record", params=[option for option in eval_command.command.params if option.name not in _OTHERWISE])
@click.option("--model", metavar="MODEL", help=f"Candidate: {', '.join(LIVE_FORMS)}. Default: the contract's, if live.")
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
        eval_command.show_plan(prepared)
        return int(Exit.PASSED)
    view = evaluate(prepared, Progress(quiet=ctx.obj["quiet"]))
    show(view, form)
    append_step_summary(view)
    kept = view.recording
    if kept is None:
        say("interrupted; nothing was recorded")
        return int(Exit.INTERRUPTED)
    if kept.path is None:
        say(f"error: {one_line(kept.why or '')}; nothing was recorded, the run's record is whole")
        return int(Exit.UNDECIDED)
    if kept.why is not None:
        say(f"warning: {one_line(kept.why)}; this is in {kept.path}")
    again = _replay_command(request, kept.path, has_second="second" in view.header["models"])
    say(f"recorded in {kept.path}; play it again with: {again}")
    return int(view.assessment.decision.exit_code)


def _with_usual_name(request: EvalRequest) -> EvalRequest:
    contract, _ = load_contract(request.root)  # what is wrong with it is told when the run is prepared
    modes = request.modes
    if request.base is not None and Mode.PREVIOUS not in modes:
        modes = (*modes, Mode.PREVIOUS)
    selection = {
        "skills": sorted(request.skills),
        "cases": sorted(request.cases),
        "modes": [] if modes == ALL_MODES else sorted(modes),
        "repeats": 0 if request.repeats == 1 else request.repeats,
        "samples": request.judge_samples or 0,
        "sample": request.sample or 0,
        "seed": request.seed or 0,
    }
    models = chosen_models(request, contract or Contract())
    name = recording_name(models, selection | {"second": models.second})
    return replace(request, record_to=name)


def _replay_command(request: EvalRequest, recording: str, *, has_second: bool) -> str:
    words = ["eval", "--model", f"replay:{recording}"]
    for option, values in (("--skill", request.skills), ("--case", request.cases)):
        words += [word for value in values for word in (option, value)]
    if request.base is not None:
        words += ["--base", request.base]
    if request.modes != ALL_MODES:
        words += [word for mode in request.modes for word in ("--mode", mode.value)]
    if has_second:
        words += ["--second-judge-model", f"replay:{recording}"]
    for option, number in (("--sample", request.sample), ("--seed", request.seed)):
        words += [option, str(number)] if number is not None else []
    if request.judge_samples is not None:
        words += ["--judge-samples", str(request.judge_samples)]
    if request.repeats > 1:
        words += ["--repeats", str(request.repeats)]
    return next_command(request.root, *words)
