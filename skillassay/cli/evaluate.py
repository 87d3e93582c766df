"""``skillassay eval``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from skillassay.cli.options import LIVE_FORMS, candidate_options, isolation_options, judge_options, pace_options
from skillassay.cli.output import counted, emit, say
from skillassay.cli.progress import Progress
from skillassay.cli.show import FORMATS, append_step_summary, show
from skillassay.commandline import next_command
from skillassay.errors import Exit
from skillassay.holdout.doubts import PURPOSES, RELEASE
from skillassay.printable import one_line
from skillassay.report.base import RunView
from skillassay.runs.attempts import again_of
from skillassay.runs.evaluation import Start, evaluate
from skillassay.runs.foreseen import foreseen_texts
from skillassay.runs.plan import ALL_MODES, NOISE_MODES, ORDER, Mode, highest_cost
from skillassay.runs.preparation import EvalRequest, Prepared, prepare
from skillassay.runs.rebuild import resumed_request
from skillassay.runs.record import TrialRecord
from skillassay.suites.reach import planned_in_lift, reach_text


@click.command("eval")
@click.option(
    "--skill", "skills", multiple=True, metavar="NAME", help="Only this skill's cases (name or folder). Repeatable."
)
@click.option("--case", "cases", multiple=True, metavar="ID", help="Only this case. Repeatable.")
@click.option("--sample", type=click.IntRange(1), metavar="N", help="Only N of these cases, drawn by the seed.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), metavar="S", help="Of the draw; 0 unless given.")
@click.option(
    "--mode",
    "modes",
    multiple=True,
    type=click.Choice([mode.value for mode in ORDER]),
    help="Only this mode. Repeatable. Default: progressive, none, eager.",
)
@click.option("--noise", is_flag=True, help="Also run the modes again and placebo: what a lift is to be held against.")
@click.option("--base", metavar="REF", help="Also run the mode previous: each skill as of this git revision.")
@click.option("--repeats", type=click.IntRange(1, 1000), default=1, show_default=True, help="Times each trial runs.")
@click.option("--subject", metavar="NAME", help="What answers: loop, adk, gemini-cli, … Default: the contract's.")
@candidate_options("fixture", *LIVE_FORMS, "replay:FILE")
@judge_options
@pace_options
@click.option("--quality-min", metavar="X", envvar="QUALITY_MIN", help="Raise gate.quality_min for this run.")
@click.option("--resume", metavar="RUN", help="Go on with a stopped run (id or prefix) as it was begun.")
@click.option(
    "--retry-unscored", "retry", metavar="RUN", help="Try again what judge, provider or machine left unscored in a run."
)
@click.option("--like", metavar="RUN", help="Make a stored run again as a new one; refuses where anything differs.")
@click.option(
    "--purpose",
    type=click.Choice(PURPOSES),
    default=RELEASE,
    show_default=True,
    help="tuning: no evidence, no holdout.",
)
@click.option("--holdout/--no-holdout", default=None, help="Plan the hidden holdout. Default: not for tuning.")
@click.option("--dry-run", is_flag=True, help="Show the plan and its highest cost; call no model.")
@click.option("--cache", is_flag=True, help="Reuse replies of earlier runs to the same requests (one repeat only).")
@isolation_options
@click.option("--with-waivers", is_flag=True, help="Exit by the effective decision, which heeds evals/waivers.yaml.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True, help="Output format.")
@click.pass_context
def command(
    ctx: click.Context, /, *, dry_run: bool, resume: str | None, retry: str | None, like: str | None, **options: Any
) -> int:
    """Run the quality cases in the modes progressive, none and eager, score them, decide, and keep a record.

    Reads skills, evals/ and the contract. Writes .skillassay/runs/ID/, with --cache .skillassay/cache.sqlite and, where
    GITHUB_STEP_SUMMARY names a file, appends the report to it. With --base or --mode previous each skill also runs as
    it was, out of git; with --noise once more as it is, and with neutral words in its place. A --sample is no evidence
    and no baseline; its seed chooses cases and makes no remote model repeat itself. The fixture model needs no key and
    no network; gemini:NAME takes its key from GEMINI_API_KEY, openai:NAME from OPENAI_API_KEY.

    Exit codes: 0 the gate passed; 1 it failed; 2 wrong usage; 3 it cannot decide (bad input, errors, an incomplete or
    empty run); 130 interrupted, the record can be resumed.
    """
    form = options.pop("form")
    request = build_request(ctx, dry_run=dry_run, **options)
    if resume is not None and retry is not None:
        raise click.UsageError("--retry-unscored also goes on with a stopped run; leave --resume out")
    if like is not None and (resume or retry) is not None:
        raise click.UsageError("--like starts a run of its own; leave --resume and --retry-unscored out")
    run = resume or retry or like
    if run is not None:
        request = resumed_request(request, run)
    prepared = prepare(request)
    if dry_run:
        show_plan(prepared)
        return int(Exit.PASSED)
    start = Start(resume=resume or retry, like=like, retry_unscored=retry is not None)
    view = evaluate(prepared, Progress(quiet=ctx.obj["quiet"]), start=start)
    show(view, form)
    append_step_summary(view)
    if view.assessment.interrupted:
        say(f"interrupted; go on with: {next_command(request.root, 'eval', '--resume', view.header['id'])}")
        return int(Exit.INTERRUPTED)
    n_again = sum(_may_help(view, row.record) for row in view.assessment.scores.rows)
    if n_again:
        again = next_command(request.root, "eval", "--retry-unscored", view.header["id"])
        say(f"{counted(n_again, 'trial')} can be tried again: {again}")
    return int(view.exit_code)


def _may_help(view: RunView, record: TrialRecord) -> bool:
    """Whether trying a trial again may come to something else: a recorded error comes again as it was."""
    side = view.header["models"].get(record.outcome.stage, {})
    return again_of(record) is not None and not side.get("is_replay")


def build_request(
    ctx: click.Context, *, modes: tuple[str, ...], base: str | None, noise: bool, **options: Any
) -> EvalRequest:
    """The request of an evaluation from its options, which have the names of its fields but for ``noise``."""
    chosen = tuple(Mode(mode) for mode in modes) or ALL_MODES
    chosen += tuple(mode for mode in NOISE_MODES if noise and mode not in chosen)
    options["quality_min"] = options["quality_min"] or None
    return EvalRequest(root=Path(ctx.obj["root"]), modes=chosen, base=base, **options)


def show_plan(prepared: Prepared) -> None:
    """What ``--dry-run`` prints."""
    for notice in prepared.notices:
        say(f"warning: {one_line(notice)}")
    emit(plan_text(prepared))


def plan_text(prepared: Prepared) -> str:
    """The plan and its highest cost."""
    plan, contract = prepared.plan, prepared.contract
    cost = highest_cost(
        plan,
        turn_limit=contract.candidate.turn_limit,
        n_references=prepared.facts.n_references,
        samples=contract.judge.samples,
        max_output_tokens={
            "candidate": contract.candidate.max_output_tokens,
            "judge": contract.judge.max_output_tokens,
        },
    )
    lines = [
        f"{trial.trial_id}  {trial.case_id}  {trial.mode.value} #{trial.repeat}  {trial.n_criteria} criteria"
        for trial in plan.trials
    ]
    lines.append(f"{len(plan.trials)} trials, candidate {prepared.models.candidate}, judge {prepared.models.judge}")
    lines += [
        f"at most {cost[f'{side}_calls']} {side} calls, {cost[f'{side}_output_tokens']} output tokens, retries apart"
        for side in ("candidate", "judge")
    ]
    if prepared.models.second is not None:
        n_calls = cost["judge_calls"] - prepared.facts.n_references
        n_tokens = n_calls * contract.judge.max_output_tokens
        told = f"at most {n_calls} calls, {n_tokens} output tokens, retries apart"
        lines.append(f"second judge {prepared.models.second}: {told}")
    lines += foreseen_texts(prepared)
    numbers = planned_in_lift(plan, prepared.facts.parts)
    lines += [f"{path}: {reach_text(n_cases)}" for path, n_cases in numbers.items()]
    return "\n".join(lines) + "\n"
