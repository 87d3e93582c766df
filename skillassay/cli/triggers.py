"""``skillassay triggers``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from skillassay.agents.known import own_model_of
from skillassay.cli.options import LIVE_FORMS, candidate_options, isolation_options
from skillassay.cli.output import emit, emit_json, say
from skillassay.report.base import FIXTURE_NOTICE
from skillassay.report.triggers import TriggerReport, render_rate, render_skills, triggers_json
from skillassay.runs.preparation import EvalRequest
from skillassay.subjects.opening import subject_notice
from skillassay.suites.looks import Looks
from skillassay.suites.routing import open_engines
from skillassay.suites.trigger_rates import TriggerRate
from skillassay.suites.triggering import TriggerRun, note_looks, prepare_triggers, run_triggers
from skillassay.suites.triggers import Split

_MOST_REPEATS = 100


@click.command("triggers")
@click.option("--skill", "skills", multiple=True, metavar="NAME", help="Only this skill's requests. Repeatable.")
@click.option("--case", "cases", multiple=True, metavar="ID", help="Only this request. Repeatable.")
@click.option("--repeats", type=click.IntRange(1, _MOST_REPEATS), default=3, show_default=True, help="Runs a request.")
@click.option(
    "--split",
    type=click.Choice([split.value for split in Split]),
    default=Split.TRAIN.value,
    show_default=True,
    help="The part to ask. Each run on validation is counted.",
)
@click.option(
    "--subject", "subjects", multiple=True, metavar="NAME", help="loop, adk, an agent. Repeatable. Default: contract."
)
@candidate_options("fixture", *LIVE_FORMS)
@isolation_options
@click.option("--format", "form", type=click.Choice(("table", "json")), default="table", show_default=True)
@click.pass_context
def command(ctx: click.Context, /, *, subjects: tuple[str, ...], split: str, form: str, **options: Any) -> int:
    """Ask each request of a trigger suite several times: is its skill loaded where it should be, and only there?

    The whole catalog is offered; a skill counts as loaded when it was loaded by its exact name anywhere in the
    conversation. A run that ended in an error is unscored, and never "not loaded". Only the training part is asked
    unless --split says otherwise, and the two parts meet in no number.

    Reads skills, evals/triggers.json and the contract. Calls the candidate, no judge. Writes nothing, but with --split
    validation a line to .skillassay/triggers.jsonl before the first request, which counts how often it was looked at.

    Exit codes: 0 every request as it should; 1 at least one otherwise; 2 wrong usage; 3 a run could not be scored, or
    there is no request.
    """
    request = EvalRequest(root=Path(ctx.obj["root"]), **options)
    run = prepare_triggers(request, subjects=subjects, split=Split(split))
    routes = run.routes
    if routes.is_fixture and not all(map(own_model_of, routes.subjects)):
        say(FIXTURE_NOTICE)
    for notice in filter(None, map(subject_notice, routes.subjects)):
        say(f"warning: {notice}")
    rates = []
    with open_engines(routes) as engines:
        looks = note_looks(run)
        for subject, rate in run_triggers(run, engines):
            rates.append((subject, rate))
            if form == "table":
                emit(render_rate(subject, rate, run.threshold))
    report = _report(run, rates, looks)
    if form == "json":
        emit_json(triggers_json(report))
    else:
        emit(render_skills(report))
    return int(report.exit_code)


def _report(run: TriggerRun, rates: list[tuple[str, TriggerRate]], looks: tuple[Looks, ...]) -> TriggerReport:
    return TriggerReport(
        split=run.split.value,
        threshold=run.threshold,
        repeats=run.repeats,
        model=run.routes.model,
        is_fixture=run.routes.is_fixture,
        suites=tuple(dict.fromkeys((case.suite, case.suite_version) for case in run.cases)),
        rates=rates,
        looks=looks,
        n_elsewhere=run.n_elsewhere,
    )
