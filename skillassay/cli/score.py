"""``skillassay score``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from skillassay.cli.options import judge_options, pace_options
from skillassay.cli.output import counted, say
from skillassay.cli.progress import Progress
from skillassay.cli.show import FORMATS, append_step_summary, show
from skillassay.commandline import next_command
from skillassay.errors import Exit
from skillassay.printable import one_line
from skillassay.runs.elsewhere import Brought, answers_request
from skillassay.runs.evaluation import Start, evaluate
from skillassay.runs.plan import ALL_MODES, Mode
from skillassay.runs.preparation import EvalRequest, prepare


@click.command("score")
@click.argument("source", metavar="FILE|FOLDER", type=click.Path(path_type=Path, exists=True))
@click.option("--suite", "suites", multiple=True, metavar="NAME", help="Only the cases of this suite. Repeatable.")
@click.option("--skill", "skills", multiple=True, metavar="NAME", help="Only this skill's cases. Repeatable.")
@click.option("--case", "cases", multiple=True, metavar="ID", help="Only this case. Repeatable.")
@click.option(
    "--mode",
    "modes",
    multiple=True,
    type=click.Choice([mode.value for mode in ALL_MODES]),
    help="Plan this mode too, answered or not. Repeatable.",
)
@click.option("--answer", "answer_name", metavar="NAME", help="The file of outputs/ that is the answer.")
@judge_options
@pace_options
@click.option("--resume", metavar="RUN", help="Go on with a stopped run (id or prefix) over the same answers.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True, help="Output format.")
@click.pass_context
def command(ctx: click.Context, /, *, source: Path, resume: str | None, form: str, **options: Any) -> int:
    """Score answers that were made elsewhere: checks first, then the judge, then the gate, as a run of its own.

    FILE has a JSON object a line: case, answer or answer_file, and suite, mode, repeat, model, usage where told. FOLDER
    has one file a case (CASE.md, .txt, .json), or folders of one mode with them, or is a workspace of skill-creator. A
    planned case without an answer stays unscored. Nobody saw what the candidate was shown, so such a run is never
    passed and never evidence.

    Reads the project and FILE or FOLDER, through no link in it. Writes .skillassay/runs/ID/.

    Exit codes: 0 never; 1 the gate failed; 2 wrong usage; 3 it did not: at best undecided, or the answers cannot be
    used (all problems are listed); 130 interrupted, the record can be resumed.
    """
    own: dict[str, Any] = {name: options.pop(name) for name in ("suites", "answer_name")}
    chosen = tuple(Mode(mode) for mode in options.pop("modes"))
    brought = Brought(source=source, modes=chosen, resume=resume, **own)
    request, told = answers_request(EvalRequest(root=Path(ctx.obj["root"]), **options), brought)
    prepared = prepare(request)
    assert request.answers is not None
    for text in told:
        say(one_line(text))
    if n_without := len(prepared.plan.trials) - len(request.answers.by_slot):
        say(f"{counted(n_without, 'planned trial')} of {len(prepared.plan.trials)} without an answer: unscored")
    view = evaluate(prepared, Progress(quiet=ctx.obj["quiet"]), start=Start(resume=resume))
    show(view, form)
    append_step_summary(view)
    if view.assessment.interrupted:
        again = next_command(request.root, "score", str(source), "--resume", view.header["id"])
        say(f"interrupted; go on with: {again}")
        return int(Exit.INTERRUPTED)
    return int(view.exit_code)
