"""``skillassay suite``: the cases of suites, as they are or as a run had them, and what they are worth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from skillassay.canonical import Json
from skillassay.cli.output import columns, emit, emit_json, say
from skillassay.errors import Exit, UsageError
from skillassay.holdout.doubts import inspect_holdout, join_holdout
from skillassay.printable import one_line
from skillassay.project import Project, load_project, require_usable
from skillassay.report.suite_lint import lint_json, render_lint, render_lint_markdown
from skillassay.report.suites import render_suites
from skillassay.runs.linted import build_lint
from skillassay.runs.pooled import Pool, pool_runs
from skillassay.runs.store import read_header, run_folder
from skillassay.suites.kept import KeptCase, KeptCases, KeptSuite, keep_suites, kept_json, load_kept


@click.group("suite", no_args_is_help=True)
def command() -> None:
    """The suites: their cases now, or exactly as a past run had them.

    Reads the project or a stored run; writes nothing.

    Exit codes: 0 shown; 1 lint found what must be mended; 2 wrong usage, no such suite; 3 it cannot be read.
    """


@command.command("show")
@click.argument("suite", required=False)
@click.option("--at", "run", metavar="RUN", help="As this run (id or prefix) had them.")
@click.option("--format", "form", type=click.Choice(("table", "json")), default="table", show_default=True)
@click.pass_context
def show(ctx: click.Context, /, *, suite: str | None, run: str | None, form: str) -> int:
    """Show the cases of all suites, or of SUITE, whole: what was asked, what was demanded, and every file.

    With --at they come from the run's own folder and are held against its digests. Cases of a hidden holdout, and of a
    run under retention hash, are shown by id and digest. Reads the project or the run; writes nothing.

    Exit codes: 0 shown; 2 wrong usage, no such suite; 3 a suite cannot be read, no such run, or it is damaged.
    """
    root = Path(ctx.obj["root"])
    kept, about = _at(root, run) if run is not None else _now(root)
    if suite is not None:
        chosen = tuple(one for one in kept.suites if one.name == suite)
        if not chosen:
            names = ", ".join(one.name for one in kept.suites) or "none"
            raise UsageError(f"there is no suite {suite!r}", hint=f"suites: {names}")
        kept = KeptCases(suites=chosen, files=kept.files)
    if form == "json":
        emit_json({**kept_json(kept), **about})
    else:
        head = f"as run {about['run']} had them" if run is not None else "as they are now"
        emit(f"{one_line(head)}\n{render_suites(kept)}")
    return int(Exit.PASSED)


@command.command("lint")
@click.option("--run", "run", metavar="RUN", help="Also hold this stored run (id or prefix) against it, and no other.")
@click.option("--no-runs", is_flag=True, help="Look at no stored run.")
@click.option("--strict", is_flag=True, help="Warnings fail the lint too.")
@click.option("--notes/--no-notes", default=False, help="Show notes too.")
@click.option("--format", "form", type=click.Choice(("table", "json", "markdown")), default="table", show_default=True)
@click.pass_context
def lint(ctx: click.Context, /, *, run: str | None, no_runs: bool, strict: bool, notes: bool, form: str) -> int:
    """Say what is wrong with the suites as an instrument: without a model, from the cases and from stored trials.

    From the cases: checks that pass on an answer which says nothing, expected values that can be copied, queries asked
    twice, checks that contradict each other, what no case covers. From the trials (of the newest run and of all that
    compare with it): cases and criteria that tell nothing apart, or come out differently each time. Criteria are not
    run, since only a judge decides them; a hidden holdout is not opened.

    Reads the project and .skillassay/runs/; writes nothing; calls no model.

    Exit codes: 0 no error; 1 at least one error (with --strict: or warning); 2 wrong usage; 3 the project has problems
    that `check` calls errors, no such run, or it is damaged.
    """
    if no_runs and run is not None:
        raise UsageError("--run and --no-runs contradict each other", hint="leave one of them out")
    root = Path(ctx.obj["root"])
    project = load_project(root)
    require_usable(project, "a lint of the suites")
    pool = Pool() if no_runs else pool_runs(root, run)
    for changed in filter(None, (one.changed for one in pool.views)):
        say(f"warning: {changed}")
    view = build_lint(project, pool, is_strict=strict)
    if form == "json":
        emit_json(lint_json(view))
    else:
        emit(render_lint_markdown(view) if form == "markdown" else render_lint(view, columns(), notes=notes))
    return int(Exit.PASSED if view.passed else Exit.FAILED)


def _at(root: Path, run: str) -> tuple[KeptCases, dict[str, Json]]:
    folder = run_folder(root, run)
    header: dict[str, Any] = read_header(folder)
    return load_kept(folder, header), {"run": header["id"], "created_at": header["created_at"]}


def _now(root: Path) -> tuple[KeptCases, dict[str, Json]]:
    project = load_project(root)
    require_usable(project, "the suites")
    joined = join_holdout(project, inspect_holdout(project))
    kept = keep_suites(joined.suites, with_texts=True)
    return KeptCases(suites=(*kept.suites, *_routing(project)), files=kept.files), {"run": None}


def _routing(project: Project) -> list[KeptSuite]:
    suites: dict[tuple[str, str], list[KeptCase]] = {}
    versions: dict[tuple[str, str], str] = {}
    kinds = (("routing", project.routing), ("triggers", project.triggers))
    for kind, case in ((kind, case) for kind, cases in kinds for case in cases):
        kept = KeptCase(id=case.id, digest=case.digest, normal=case.normal)
        suites.setdefault((kind, case.suite), []).append(kept)
        versions[kind, case.suite] = case.suite_version
    return [
        KeptSuite(name=name, version=versions[kind, name], digest="", cases=tuple(cases))
        for (kind, name), cases in suites.items()
    ]
