"""``skillassay mutate``."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from skillassay.cli.options import LIVE_FORMS, candidate_options, isolation_options, judge_options, pace_options
from skillassay.cli.output import columns, emit, emit_json, say
from skillassay.cli.progress import Progress
from skillassay.commandline import next_command
from skillassay.errors import Exit
from skillassay.mutation.choosing import Wanted
from skillassay.mutation.mutants import Kind
from skillassay.mutation.preparing import (
    MutateRequest,
    MutationPlan,
    most_calls,
    prepare_mutation,
    resumed_request,
    skill_request,
)
from skillassay.mutation.running import run_mutation
from skillassay.printable import clip, one_line
from skillassay.report.mutation import exit_code, markdown_mutation, render_mutation
from skillassay.report.mutation_json import mutation_json, plan_json
from skillassay.runs.foreseen import foreseen_texts

_KINDS = click.Choice([kind.value for kind in Kind])
_NAMES = ", ".join(_KINDS.choices)


@click.command("mutate")
@click.argument("skill", required=False)
@click.option("--kind", "kinds", multiple=True, type=_KINDS, metavar="KIND", help=f"Only this: {_NAMES}. Repeatable.")
@click.option("--only", multiple=True, metavar="ID", help="Only this mutant (id or prefix of four). Repeatable.")
@click.option(
    "--max", "most", type=click.IntRange(1), metavar="N", help="Only N mutants, drawn over kinds by the seed."
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, help="Of the draw.")
@click.option("--case", "cases", multiple=True, metavar="ID", help="Only this case. Repeatable.")
@click.option("--repeats", type=click.IntRange(1, 1000), default=1, show_default=True, help="Times each trial runs.")
@click.option("--baseline", metavar="RUN", help="Take the unmutated trials out of this run, and its repeats.")
@click.option("--max-calls", type=click.IntRange(1), metavar="N", help="Model calls of this command at most.")
@click.option("--min-killed", type=click.FloatRange(0, 1), metavar="SHARE", help="Exit 1 below this share of mutants.")
@click.option("--subject", metavar="NAME", help="What answers: loop, adk, gemini-cli, … Default: the contract's.")
@candidate_options("fixture", *LIVE_FORMS)
@judge_options
@pace_options
@isolation_options
@click.option("--resume", metavar="ID", help="Go on with a stopped test (id or prefix), or show a finished one.")
@click.option("--retry-unscored", "retry", is_flag=True, help="With --resume: try again what provider or judge lost.")
@click.option("--dry-run", is_flag=True, help="Show the mutants and the highest cost; call no model.")
@click.option("--format", "form", type=click.Choice(("table", "json", "markdown")), default="table", show_default=True)
@click.pass_context
def command(
    ctx: click.Context, /, *, skill: str | None, form: str, resume: str | None, retry: bool, **options: Any
) -> int:
    """Damage a skill on purpose, one instruction at a time, and say which damage its cases notice.

    A mutant lacks a list item, a section, a table row, a script, a reference, or has another number or description. A
    case that passes with the skill as it is and fails with a mutant kills it; what survives is an instruction that no
    case tests. A trial without a score kills nothing: the mutant is undecided. docs/reference/mutate.md has the rules.

    Reads the skills, evals/ and the contract; the skill's folder is never written. Calls candidate and judge, in
    progressive alone, and spends money: --dry-run first. Writes .skillassay/mutations/ID/ (no run, no evidence). On the
    fixture the answers are authored, and every output says so.

    Exit codes: 0 every mutant is decided; 1 --min-killed cannot be reached; 2 wrong usage; 3 a mutant is undecided or
    not run, or bad input; 130 interrupted, go on with --resume.
    """
    dry_run, min_killed = options.pop("dry_run"), options.pop("min_killed")
    request = _request(Path(ctx.obj["root"]), skill, resume, retry=retry, **options)
    plan = prepare_mutation(request)
    if dry_run:
        _show_plan(plan, form)
        return int(Exit.PASSED)

    def began(name: str) -> None:
        if not ctx.obj["quiet"]:
            say(f"mutation test {name}: {len(plan.mutants)} mutants")

    view = run_mutation(plan, Progress(quiet=ctx.obj["quiet"]), resume=resume, retry=retry, began=began)
    share = None if min_killed is None else Fraction(str(min_killed))
    if form == "json":
        emit_json(mutation_json(view, share))
    elif form == "markdown":
        emit(markdown_mutation(view, share))
    else:
        emit(render_mutation(view, share, columns=columns()))
    if view.n_left:
        say(f"go on with: {next_command(request.evaluation.root, 'mutate', '--resume', view.header['id'])}")
    return int(Exit.INTERRUPTED if view.interrupted else exit_code(view, share))


def _request(root: Path, skill: str | None, resume: str | None, *, retry: bool, **options: Any) -> MutateRequest:
    if skill is None and resume is None:
        raise click.UsageError("name the SKILL, by its folder, or --resume a test")
    if skill is not None and resume is not None:
        raise click.UsageError("--resume goes on with the skill and the options of its test; leave SKILL out")
    if retry and resume is None:
        raise click.UsageError("--retry-unscored goes with --resume")
    if options["baseline"] is not None and options["repeats"] != 1:
        raise click.UsageError("--baseline takes the repeats of its run; leave --repeats out")
    wanted = Wanted(
        kinds=tuple(map(Kind, options.pop("kinds"))),
        only=options.pop("only"),
        most=options.pop("most"),
        seed=options.pop("seed"),
    )
    baseline, max_calls = options.pop("baseline"), options.pop("max_calls")
    evaluation = skill_request(root, skill, **options)
    request = MutateRequest(evaluation=evaluation, wanted=wanted, baseline=baseline, max_calls=max_calls)
    return request if resume is None else resumed_request(request, resume)


def _show_plan(plan: MutationPlan, form: str) -> None:
    highest = plan.highest
    n_calls = most_calls(plan.prepared, highest.trials)
    costs = list(foreseen_texts(replace(plan.prepared, facts=replace(plan.prepared.facts, plan=highest))))
    if form == "json":
        emit_json(plan_json(plan, n_trials=len(highest.trials), n_calls=n_calls, told=costs))
        return
    n_wide = max(len(one.kind.value) for one in plan.mutants.values())
    lines = [f"{one.id}  {one.kind.value:<{n_wide}}  {one_line(one.place)}" for one in plan.mutants.values()]
    part = f"{len(plan.mutants)} of {plan.chosen.n_viable} mutants of {plan.ready.path}"
    lines.append(f"{part}, {plan.n_not_viable} not viable, {plan.n_same} the same as another")
    lines.append(f"at most {len(highest.trials)} trials and {n_calls} model calls, retries apart")
    emit("\n".join(clip(line, columns()) for line in lines) + "\n" + "\n".join(costs) + "\n")
