"""``skillassay eval``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from skillassay.cli.output import emit, say
from skillassay.cli.progress import Progress
from skillassay.cli.show import FORMATS, append_step_summary, show
from skillassay.errors import Exit
from skillassay.evaluation import evaluate, resumed_request
from skillassay.plan import ALL_MODES, Mode, highest_cost
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
    type=click.Choice([mode.value for mode in ALL_MODES]),
    help="Only this mode. Repeatable.",
)
@click.option("--repeats", type=click.IntRange(1, 1000), default=1, show_default=True, help="Times each trial runs.")
@click.option("--jobs", type=click.IntRange(1, 256), default=4, show_default=True, help="Trials at the same time.")
@click.option("--model", metavar="MODEL", help="Candidate: fixture or gemini:NAME. Default: the contract's.")
@click.option("--judge-model", metavar="MODEL", help="Judge. Default: --model, else the contract's.")
@click.option("--quality-min", metavar="X", envvar="QUALITY_MIN", help="Raise gate.quality_min for this run.")
@click.option("--resume", metavar="RUN", help="Go on with a stopped run (id or prefix) as it was begun.")
@click.option("--dry-run", is_flag=True, help="Show the plan and its highest cost; call no model.")
@click.option("--allow-unisolated", is_flag=True, help="Run skill scripts without namespaces though a key is set.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True, help="Output format.")
@click.pass_context
def command(ctx: click.Context, /, *, dry_run: bool, resume: str | None, form: str, **options: Any) -> int:
    """Run the quality cases in the modes progressive, none and eager, score them, decide, and keep a record.

    Reads skills, evals/ and the contract. Writes .skillassay/runs/ID/ and, where GITHUB_STEP_SUMMARY names a file,
    appends the report to it. The fixture model needs no key and no network; gemini:NAME takes its key from
    GEMINI_API_KEY.

    Exit codes: 0 the gate passed; 1 it failed; 2 wrong usage; 3 it cannot decide (bad input, errors, an incomplete or
    empty run); 130 interrupted, the record can be resumed.
    """
    request = EvalRequest(
        root=Path(ctx.obj["root"]),
        skills=options["skills"],
        cases=options["cases"],
        modes=tuple(Mode(mode) for mode in options["modes"]) or ALL_MODES,
        repeats=options["repeats"],
        jobs=options["jobs"],
        model=options["model"],
        judge_model=options["judge_model"],
        quality_min=options["quality_min"] or None,
        allow_unisolated=options["allow_unisolated"],
        dry_run=dry_run,
    )
    if resume is not None:
        request = resumed_request(request, resume)
    prepared = prepare(request)
    if dry_run:
        emit(_plan_text(prepared))
        return int(Exit.PASSED)
    view = evaluate(prepared, Progress(quiet=ctx.obj["quiet"]), resume=resume)
    show(view, form)
    append_step_summary(view)
    if view.assessment.interrupted:
        say(f"interrupted; go on with: skillassay eval --resume {view.header['id']}")
        return int(Exit.INTERRUPTED)
    return int(view.assessment.decision.exit_code)


def _plan_text(prepared: Prepared) -> str:
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
