"""``skillassay e2e``."""

from __future__ import annotations

import time
from pathlib import Path

import click

from skillassay.cli.output import emit, say
from skillassay.errors import Exit
from skillassay.preparation import EvalRequest
from skillassay.printable import one_line
from skillassay.report.base import FIXTURE_NOTICE, tokens_text
from skillassay.routing import RoutingResult, prepare_routing, run_routing

_WORDS = {"PASS": "ok  ", "FAIL": "FAIL", "UNSCORED": "OPEN"}


@click.command("e2e")
@click.option("--case", "cases", multiple=True, metavar="ID", help="Only this case. Repeatable.")
@click.option("--model", metavar="MODEL", help="fixture or gemini:NAME. Default: the contract's candidate.")
@click.option("--allow-unisolated", is_flag=True, help="Run skill scripts without namespaces though a key is set.")
@click.pass_context
def command(ctx: click.Context, *, cases: tuple[str, ...], model: str | None, allow_unisolated: bool) -> int:
    """Send each routing request through our own agent loop and compare: the expected skills and scripts, or none.

    Reads skills, evals/routing.json and the contract; writes nothing.

    Exit codes: 0 every case as expected; 1 at least one otherwise; 2 wrong usage; 3 a case could not be answered, or
    there is none.
    """
    request = EvalRequest(root=Path(ctx.obj["root"]), cases=cases, model=model, allow_unisolated=allow_unisolated)
    run = prepare_routing(request)
    if run.is_fixture:
        say(FIXTURE_NOTICE)
    started = time.monotonic()
    results = []
    for result in run_routing(run):
        results.append(result)
        _show(result)
    n_passed = sum(result.status == "PASS" for result in results)
    emit(f"{n_passed}/{len(results)} passed in {time.monotonic() - started:.1f} s")
    if any(result.status == "FAIL" for result in results):
        return int(Exit.FAILED)
    return int(Exit.PASSED if n_passed == len(results) else Exit.UNDECIDED)


def _show(result: RoutingResult) -> None:
    told = [
        ("expected", ", ".join(result.case.expect_skills) or "none"),
        ("activated", ", ".join(result.activated) or "none"),
        *(("script", script) for script in result.scripts),
        ("tokens in", tokens_text(result.input_tokens, estimated=result.estimated)),
    ]
    if result.why is not None:
        told.append(("why", result.why))
    emit(f"{_WORDS[result.status]}  {one_line(result.case.id)}")
    for word, text in told:
        emit(f"      {word:<9}  {one_line(text)}")
