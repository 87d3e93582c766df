"""``skillassay e2e``."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from skillassay.agents.known import own_model_of
from skillassay.cli.options import LIVE_FORMS, candidate_options, isolation_options
from skillassay.cli.output import emit, say
from skillassay.contract.terms import LOOP
from skillassay.errors import Exit
from skillassay.printable import one_line
from skillassay.report.base import FIXTURE_NOTICE, tokens_text
from skillassay.report.layout import reason
from skillassay.runs.preparation import EvalRequest
from skillassay.subjects.opening import subject_notice
from skillassay.suites.routing import PASS, RoutingResult, prepare_routing, run_routing

_WORDS = {"PASS": "ok  ", "FAIL": "FAIL", "UNSCORED": "OPEN"}
_COLUMNS, _LABEL = 80, 9
_LINE = _COLUMNS - len("      ") - _LABEL - len("  ")
"""What is left for text."""
_ANSWER_LINES, _MOST_LINES = 2, 8


@click.command("e2e")
@click.option("--case", "cases", multiple=True, metavar="ID", help="Only this case. Repeatable.")
@click.option(
    "--subject", "subjects", multiple=True, metavar="NAME", help="loop, adk, an agent. Repeatable. Default: contract."
)
@candidate_options("fixture", *LIVE_FORMS)
@isolation_options
@click.pass_context
def command(ctx: click.Context, /, *, subjects: tuple[str, ...], **options: Any) -> int:
    """Send each routing request through an agent and compare: the expected skills and scripts, or none.

    The agents are our own loop (loop), Google's ADK in this process (adk, with the extra of that name), or a
    command-line agent. Reads skills, evals/routing.json and the contract; writes nothing.

    Exit codes: 0 every case as expected; 1 at least one otherwise; 2 wrong usage; 3 a case could not be answered, or
    there is none.
    """
    run = prepare_routing(EvalRequest(root=Path(ctx.obj["root"]), **options), subjects=subjects)
    if run.is_fixture and not all(map(own_model_of, run.subjects)):
        say(FIXTURE_NOTICE)
    for notice in filter(None, map(subject_notice, run.subjects)):
        say(f"warning: {notice}")
    started = time.monotonic()
    results = []
    for result in run_routing(run):
        results.append(result)
        _show(result, names_subject=run.subjects != (LOOP,))
    n_passed = sum(result.status == PASS for result in results)
    emit(f"{n_passed}/{len(results)} passed in {time.monotonic() - started:.1f} s")
    if any(result.status == "FAIL" for result in results):
        return int(Exit.FAILED)
    return int(Exit.PASSED if n_passed == len(results) else Exit.UNDECIDED)


def _show(result: RoutingResult, *, names_subject: bool) -> None:
    through = f"  {one_line(result.subject)}" if names_subject else ""
    emit(f"{_WORDS[result.status]}  {one_line(result.case.id)}{through}")
    for word, text in _told(result):
        for line in reason(text, _COLUMNS, lead=f"      {word:<{_LABEL}}  ", most_lines=_MOST_LINES):
            emit(line)


def _told(result: RoutingResult) -> Iterator[tuple[str, str]]:
    is_loop = result.subject == LOOP
    yield "expected", ", ".join(result.case.expect_skills) or "none"
    yield "activated", ", ".join(result.activated) or "none"
    yield from (("script", script) for script in result.scripts)
    if not is_loop:
        yield from (("call", call) for call in result.calls)
    yield "tokens in", tokens_text(result.input_tokens, estimated=result.estimated)
    if result.answer is not None and (result.case.expect_answer or not is_loop):
        lines = textwrap.wrap(one_line(result.answer), _LINE, max_lines=_ANSWER_LINES, placeholder=" …")
        yield from zip(("answer", ""), lines or ["(empty)"], strict=False)
    if result.why is not None:
        yield "why", result.why
