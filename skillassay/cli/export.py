"""``skillassay export``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from skillassay.canonical import Json, sha256_hex, write_atomic
from skillassay.cli.output import counted, emit, print_findings, say
from skillassay.errors import Exit, InputError, UsageError
from skillassay.findings import has_errors
from skillassay.interop.export_folder import write_folder
from skillassay.interop.statement import build_statement
from skillassay.interop.workspace import build_workspace
from skillassay.locks.locking import build_states, check_lock
from skillassay.project import Project, load_project
from skillassay.runs.evaluation import load_view
from skillassay.runs.retention import FULL
from skillassay.runs.store import run_folder
from skillassay.suites.kept import load_kept

IN_TOTO, SKILL_CREATOR, GUIDE = "in-toto", "skill-creator", "guide"
FORMATS = (IN_TOTO, SKILL_CREATOR, GUIDE)


@click.command("export")
@click.argument("skills", nargs=-1, metavar="[SKILL]...")
@click.option("--format", "form", type=click.Choice(FORMATS), required=True, help="What to write.")
@click.option("--output", "-o", type=click.Path(path_type=Path), metavar="FILE", help="in-toto: write it to FILE.")
@click.option("--run", metavar="RUN", help="Of which run, by id or prefix (skill-creator, guide).")
@click.option("--to", type=click.Path(path_type=Path), metavar="FOLDER", help="The folder (skill-creator, guide).")
@click.pass_context
def command(
    ctx: click.Context,
    *,
    skills: tuple[str, ...],
    form: str,
    output: Path | None,
    run: str | None,
    to: Path | None,
) -> int:
    """Write what other tools read.

    in-toto: for each skill (all with evidence, or those named by path or name) one unsigned Statement v1 with the
    test-result predicate, one a line, ready to be signed. The subject is the skill's folder by its dirHash. Evidence of
    a fixture, of an uncalibrated judge, or with waivers gives WARNED, never PASSED.

    skill-creator, guide: a run as the workspace of skill-creator, or in the layout of the Agent Skills guide: a grading
    and timing for each scored trial in progressive (with_skill) and none (without_skill), the benchmark with with_skill
    minus without_skill, and the cases as evals.json. A trial without a score has no grading; it is noted and counted.

    Reads the project, its lock and evidence; or .skillassay/runs/. Writes FILE with --output, whole or not at all; or
    FOLDER, which must be new, empty, or an earlier export's.

    Exit codes: 0 written; 1 the lock does not hold, or a skill has no evidence or no dirHash (named; the others are
    written); 2 wrong usage; 3 the project, the lock or the run cannot be read, the run keeps no texts, or FOLDER is
    somebody else's.
    """
    root = Path(ctx.obj["root"])
    if form == IN_TOTO:
        if run is not None or to is not None:
            raise UsageError(f"--run and --to do not go with {IN_TOTO}", hint="write it to a file with --output")
        return _export_statements(root, skills, output)
    if run is None or to is None or output is not None:
        hint = f"skillassay export --format {form} --run RUN --to FOLDER"
        raise UsageError(f"{form} takes --run and --to, and no --output", hint=hint)
    return _export_workspace(root, skills, run=run, to=to, form=form)


def _export_workspace(root: Path, wanted: tuple[str, ...], *, run: str, to: Path, form: str) -> int:
    view = load_view(root, run)
    if view.header.get("retention", FULL) != FULL:
        message = f"run {view.header['id']} keeps no answers and no evidence, so there is nothing to grade from"
        raise InputError(message, hint="export a run that was made with retention full")
    planned = view.facts.plan.skills
    chosen = {name.rstrip("/") for name in wanted}
    if unknown := sorted(chosen - {name for path in planned for name in (path, Path(path).name)}):
        raise UsageError(f"no skill {unknown[0]!r} in this run", hint=f"its skills: {', '.join(planned)}")
    skills = [path for path in planned if not chosen or {path, Path(path).name} & chosen]
    kept = load_kept(run_folder(root, run), view.header)
    built = build_workspace(view, kept, skills=skills, is_guide=form == GUIDE)
    write_folder(to, built.files, form=form, run=view.header["id"], notes=built.notes)
    for note in built.notes:
        say(f"note: {note}")
    n_all = built.n_graded + built.n_ungraded
    say(f"{built.n_graded} of {counted(n_all, 'trial')} graded, {built.n_ungraded} without a score: {to}")
    return int(Exit.PASSED)


def _export_statements(root: Path, skills: tuple[str, ...], to: Path | None) -> int:
    project = load_project(root)
    check = check_lock(project)
    if has_errors(check.findings) or not check.readable:
        print_findings(check.findings, notes=False)
        say("nothing was exported: a statement is about what the lock holds")
        return int(Exit.FAILED)
    statements, without = _statements(project, skills)
    text = "".join(f"{json.dumps(one, ensure_ascii=False, sort_keys=True)}\n" for one in statements)
    if to is None:
        emit(text)
    else:
        _write(to, text)
        say(f"{counted(len(statements), 'statement')} written: {to}")
    for path, why in without.items():
        say(f"no statement for {path}: {why}")
    return int(Exit.FAILED if without else Exit.PASSED)


def _statements(project: Project, wanted: tuple[str, ...]) -> tuple[list[dict[str, Json]], dict[str, str]]:
    ready = {one.path: one for one in project.usable}
    states = {state.path: state for state in build_states(project)}
    known = {name for state in states.values() for name in (state.path, state.name)}
    if unknown := [name for name in wanted if name.rstrip("/") not in known]:
        raise UsageError(f"no skill {unknown[0]!r} here", hint="name a skill by its path or its name")
    chosen = {name.rstrip("/") for name in wanted}
    suites = {suite.path: sha256_hex((project.root / suite.path).read_bytes()) for suite in project.suites}
    statements: list[dict[str, Json]] = []
    without: dict[str, str] = {}
    for path, state in states.items():
        if chosen and not {path, state.name} & chosen:
            continue
        if state.evidence is None:
            if chosen:
                without[path] = "it has no evidence"
            continue
        statement = build_statement(state.evidence, ready[path].files, suites=suites)
        if statement is None:
            without[path] = "line ends, names or links were folded, so its files as stored have another dirHash"
        else:
            statements.append(statement)
    return statements, without


def _write(to: Path, text: str) -> None:
    try:
        write_atomic(to, text.encode())
    except OSError as error:
        raise InputError(f"{to} cannot be written: {error.strerror or error}", hint="name another file") from error
