"""``skillassay pairwise``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from skillassay.cli.options import pace_options
from skillassay.cli.output import columns, emit, emit_json, say
from skillassay.errors import Exit
from skillassay.models.naming import FIXTURE
from skillassay.models.pacing import Paces
from skillassay.project import Project, load_project, require_usable
from skillassay.report.pairwise import markdown_pairwise, pairwise_json, render_pairwise
from skillassay.runs.asking import open_budget, open_judge_alone
from skillassay.runs.pairing import Asking, PairwiseResult, describe_comparison, judge_pairs
from skillassay.runs.pairs import Comparison, PairChoice, load_pairs
from skillassay.runs.plan import ORDER, Mode
from skillassay.runs.preparation import load_fixtures
from skillassay.scoring.pairing import PairOutcome

_MODES = click.Choice([mode.value for mode in ORDER])
_TELL_EVERY = 10


@click.command("pairwise")
@click.argument("run")
@click.argument("other", required=False)
@click.option("--of", default=Mode.PROGRESSIVE.value, show_default=True, type=_MODES, help="Mode of A; of B in OTHER.")
@click.option("--against", type=_MODES, help="Mode of B in the same run. Default: none.")
@click.option("--judge-model", metavar="MODEL", help="Another judge than the contract's.")
@click.option("--case", "cases", multiple=True, metavar="ID", help="Only this case. Repeatable.")
@click.option("--skill", "skills", multiple=True, metavar="NAME", help="Only this skill's cases. Repeatable.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of which order of a pair is asked first.")
@pace_options
@click.option("--format", "form", type=click.Choice(("table", "json", "markdown")), default="table", show_default=True)
@click.pass_context
def command(ctx: click.Context, /, *, run: str, other: str | None, **options: Any) -> int:
    """Let the judge compare two answers to each case: of two modes of RUN, or of one mode of RUN and OTHER.

    Each pair is judged twice with the order exchanged. An answer wins only where both orders name it; a tie is a tie in
    both. Shows wins, ties, pairs in which the order decided, what was not decided and why, how often the judge was
    consistent, whether it likes the first place or the longer answer, and A's share of the wins by case with its
    interval. It changes no gate decision.

    Reads the stored runs (ids or prefixes) and the suites; hidden cases are left out. Calls the judge and spends money.
    Writes .skillassay/pairwise/ID.jsonl; called again, it asks only what is not in there.

    Exit codes: 0 every planned pair has an outcome; 2 wrong usage, or a run that keeps no texts; 3 a planned pair is
    unscored, no pair is left, no such run, or no judge; 130 interrupted, call again to go on.
    """
    root = Path(ctx.obj["root"])
    if other is not None and options["against"] is not None:
        raise click.UsageError("--against names a mode of RUN itself; with OTHER both sides are in the mode of --of")
    choice = PairChoice(
        run=run,
        other=other,
        of=Mode(options["of"]),
        against=Mode(options["against"] or Mode.NONE.value),
        cases=options["cases"],
        skills=options["skills"],
    )
    project = load_project(root)
    require_usable(project, "the judge is asked")
    result = _ask(project, load_pairs(project, choice), quiet=ctx.obj["quiet"], **options)
    _show(result, options["form"])
    n_unscored = sum(pair.outcome is PairOutcome.UNSCORED for pair in result.judged)
    if not ctx.obj["quiet"]:
        say(f"kept in {result.compared.path}: {result.n_asked} requests now, {result.n_kept} from before")
        if any(not one.stands for heard in result.said.values() for one in heard):
            say("the same command again asks what the judge could not be asked")
    return int(Exit.UNDECIDED if n_unscored else Exit.PASSED)


def _ask(project: Project, comparison: Comparison, *, quiet: bool, **options: Any) -> PairwiseResult:
    terms = project.contract.judge
    spec = options["judge_model"] or terms.model
    rules = load_fixtures(project.root, project.contract) if spec == FIXTURE else None
    paces = Paces(rpm=options["rpm"], tpm=options["tpm"])

    def tell(n_done: int, n_all: int) -> None:
        if not quiet and (n_done == n_all or n_done % _TELL_EVERY == 0):
            say(f"asked {n_done} of {n_all}")

    budget = open_budget(project.root, project.contract.budget, warn=say)
    with open_judge_alone(project.root, spec, budget=budget, rules=rules, paces=paces) as judge:
        fixture = rules.digest if rules is not None else None
        compared = describe_comparison(comparison, judge.identity, terms, seed=options["seed"], fixture=fixture)
        asking = Asking(root=project.root, judge=judge, terms=terms, compared=compared, jobs=options["jobs"])
        return judge_pairs(asking, comparison, tell=tell)


def _show(result: PairwiseResult, form: str) -> None:
    if form == "json":
        emit_json(pairwise_json(result))
    elif form == "markdown":
        emit(markdown_pairwise(result))
    else:
        emit(render_pairwise(result, columns=columns()))
