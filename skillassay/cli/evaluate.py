"""``skillassay eval``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from skillassay.attempts import again_of
from skillassay.cli.options import candidate_options, isolation_options, judge_options, pace_options
from skillassay.cli.output import counted, emit, say
from skillassay.cli.progress import Progress
from skillassay.cli.show import FORMATS, append_step_summary, show
from skillassay.errors import Exit
from skillassay.evaluation import evaluate, resumed_request
from skillassay.plan import ALL_MODES, ORDER, Mode, highest_cost
from skillassay.preparation import EvalRequest, Prepared, prepare


@click.command("eval")
@click.option(
    "--skill", "skills", multiple=True, metavar="NAME", help="Only this skill's cases (name or folder). Repeatable."
)
@click.option("--case", "cases", multiple=True, metavar="ID", help="Only this case. Repeatable.")
@click.option(
    "--mode",
    "modes",
    multiple=True,
    type=click.Choice([mode.value for mode in ORDER]),
    help="Only this mode. Repeatable. Default: all but previous.",
)
@click.option("--base", metavar="REF", help="Also run the mode previous: each skill as of this git revision.")
@click.option("--repeats", type=click.IntRange(1, 1000), default=1, show_default=True, help="Times each trial runs.")
@click.option("--subject", metavar="NAME", help="What answers: loop, adk, gemini-cli, … Default: the contract's.")
@candidate_options
@judge_options
@pace_options
@click.option("--quality-min", metavar="X", envvar="QUALITY_MIN", help="Raise gate.quality_min for this run.")
@click.option("--resume", metavar="RUN", help="Go on with a stopped run (id or prefix) as it was begun.")
@click.option(
    "--retry-unscored", "retry", metavar="RUN", help="Try again what judge, provider or machine left unscored in a run."
)
@click.option("--dry-run", is_flag=True, help="Show the plan and its highest cost; call no model.")
@click.option("--cache", is_flag=True, help="Reuse replies of earlier runs to the same requests (one repeat only).")
@isolation_options
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True, help="Output format.")
@click.pass_context
def command(
    ctx: click.Context, /, *, dry_run: bool, resume: str | None, retry: str | None, form: str, **options: Any
) -> int:
    """Run the quality cases in the modes progressive, none and eager, score them, decide, and keep a record.

    Reads skills, evals/ and the contract. Writes .skillassay/runs/ID/ and, where GITHUB_STEP_SUMMARY names a file,
    appends the report to it. The fixture model needs no key and no network; gemini:NAME takes its key from
    GEMINI_API_KEY.

    Exit codes: 0 the gate passed; 1 it failed; 2 wrong usage; 3 it cannot decide (bad input, errors, an incomplete or
    empty run); 130 interrupted, the record can be resumed.
    """
    request = build_request(ctx, dry_run=dry_run, **options)
    if resume is not None and retry is not None:
        raise click.UsageError("--retry-unscored also goes on with a stopped run; leave --resume out")
    run = resume or retry
    if run is not None:
        request = resumed_request(request, run)
    prepared = prepare(request)
    if dry_run:
        emit(plan_text(prepared))
        return int(Exit.PASSED)
    view = evaluate(prepared, Progress(quiet=ctx.obj["quiet"]), resume=run, retry_unscored=retry is not None)
    show(view, form)
    append_step_summary(view)
    if view.assessment.interrupted:
        say(f"interrupted; go on with: skillassay eval --resume {view.header['id']}")
        return int(Exit.INTERRUPTED)
    n_again = sum(again_of(row.record) is not None for row in view.assessment.scores.rows)
    if n_again:
        say(f"{counted(n_again, 'trial')} can be tried again: skillassay eval --retry-unscored {view.header['id']}")
    return int(view.assessment.decision.exit_code)


def build_request(ctx: click.Context, *, modes: tuple[str, ...], base: str | None, **options: Any) -> EvalRequest:
    """The request of an evaluation from its options, which have the names of its fields."""
    chosen = tuple(Mode(mode) for mode in modes) or ALL_MODES
    if base is not None and Mode.PREVIOUS not in chosen:
        chosen = (*chosen, Mode.PREVIOUS)
    options["quality_min"] = options["quality_min"] or None
    return EvalRequest(root=Path(ctx.obj["root"]), modes=chosen, base=base, **options)


def plan_text(prepared: Prepared) -> str:
    """What ``--dry-run`` prints."""
    plan, contract = prepared.plan, prepared.contract
    cost = highest_cost(
        plan,
        turn_limit=contract.candidate.turn_limit,
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
    return "\n".join(lines) + "\n"
