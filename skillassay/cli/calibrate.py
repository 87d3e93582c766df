"""``skillassay calibrate``."""

from __future__ import annotations

from pathlib import Path

import click

from skillassay.calibration.calibrating import NO_LABELS_HINT, Calibration, calibrate_by_asking, calibrate_run
from skillassay.calibration.certificate import certificate_name, write_certificate
from skillassay.calibration.labels import HUMAN, LABELS_PATH, ORIGINS, read_labels
from skillassay.cli.output import columns, emit, emit_json, say
from skillassay.errors import Exit, InputError
from skillassay.models.naming import FIXTURE
from skillassay.project import Project, load_project, require_usable
from skillassay.report.calibration import calibration_json, render_calibration
from skillassay.runs.asking import open_budget, open_judge_alone
from skillassay.runs.preparation import load_fixtures


@click.command("calibrate")
@click.argument("run", required=False)
@click.option("--ask", is_flag=True, help="Ask the judge about every labelled answer, instead of reading a run.")
@click.option("--judge-model", metavar="MODEL", help="With --ask: another judge than the contract's.")
@click.option(
    "--origin", type=click.Choice(ORIGINS), default=HUMAN, show_default=True, help="Of the labels that count."
)
@click.option("--format", "form", type=click.Choice(("table", "json")), default="table", show_default=True)
@click.pass_context
def command(ctx: click.Context, *, run: str | None, ask: bool, judge_model: str | None, origin: str, form: str) -> int:
    """Compare the judge's verdicts with people's, on the answers that people have labelled.

    Shows agreement, sensitivity and specificity with their counts and 95 % Wilson intervals, Cohen's kappa, whether the
    judge is milder on long answers, how people agree among themselves, and each point that differs. The targets stand
    in the contract (judge.calibration) and can only be raised. A judge is calibrated for exactly what it was: model as
    asked and as answered, endpoint, instructions, parameters, and the cases as they were.

    Reads evals/labels.jsonl and the stored run (the newest, or RUN by id or prefix); with --ask it calls the judge and
    spends money. With labels of people it writes evals/calibration/PIN.json, calibrated or not.

    Exit codes: 0 calibrated; 1 not calibrated; 2 wrong usage; 3 no labels on answers to the cases as they are, no such
    run, or no judge.
    """
    root = Path(ctx.obj["root"])
    if run is not None and ask:
        raise click.UsageError("RUN is read and --ask asks: one of the two")
    if judge_model is not None and not ask:
        raise click.UsageError("--judge-model goes with --ask")
    labels = read_labels(root)
    if not labels.labels:
        raise InputError(f"{LABELS_PATH} has no label", hint=NO_LABELS_HINT)
    project = load_project(root)
    if ask:
        found = _ask(project, judge_model, origin)
    else:
        found = calibrate_run(root, run, labels, project.contract.judge.calibration, origin=origin)
    if form == "json":
        emit_json(calibration_json(found))
    else:
        emit(render_calibration(found, columns=columns()))
    if origin == HUMAN:
        say(f"written: {write_certificate(root, found.certificate)}")
    else:
        say(f"not written: {certificate_name(found.certificate.pin)} is for labels of people")
    return int(Exit.FAILED if found.why_not else Exit.PASSED)


def _ask(project: Project, judge_model: str | None, origin: str) -> Calibration:
    require_usable(project, "the judge is asked")
    terms = project.contract.judge
    if terms.second is not None:
        message = f"--ask asks one judge, and the contract names a second one, {terms.second}"
        raise InputError(message, hint="calibrate on the verdicts of a run: skillassay calibrate RUN")
    spec = judge_model or terms.model
    cases = {f"{case.suite}/{case.id}": case for case in project.cases}

    def tell(done: int, of: int) -> None:
        if done == of or done % 10 == 0:
            say(f"asked {done} of {of}")

    rules = load_fixtures(project.root, project.contract) if spec == FIXTURE else None
    budget = open_budget(project.root, project.contract.budget, warn=say)
    with open_judge_alone(project.root, spec, budget=budget, rules=rules) as judge:
        return calibrate_by_asking(project.root, judge, cases, terms, origin=origin, tell=tell)
