"""``skillassay export``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from skillassay.canonical import Json, sha256_hex, write_atomic
from skillassay.cli.output import counted, emit, print_findings, say
from skillassay.errors import Exit, InputError, UsageError
from skillassay.findings import has_errors
from skillassay.interop.statement import build_statement
from skillassay.locks.locking import build_states, check_lock
from skillassay.project import Project, load_project

FORMATS = ("in-toto",)


@click.command("export")
@click.argument("skills", nargs=-1, metavar="[SKILL]...")
@click.option("--format", type=click.Choice(FORMATS), required=True, expose_value=False, help="What to write.")
@click.option("--output", "-o", "to", type=click.Path(path_type=Path), metavar="FILE", help="Write it to FILE.")
@click.pass_context
def command(ctx: click.Context, *, skills: tuple[str, ...], to: Path | None) -> int:
    """Write what other tools read.

    in-toto: for each skill (all with evidence, or those named by path or name) one unsigned Statement v1 with the
    test-result predicate, one a line, ready to be signed. The subject is the skill's folder by its dirHash. Evidence of
    a fixture, of an uncalibrated judge, or with waivers gives WARNED, never PASSED.

    Reads the project, its lock and evidence; writes FILE with --output, whole or not at all.

    Exit codes: 0 written; 1 the lock does not hold, or a skill has no evidence or no dirHash (named; the others are
    written); 2 wrong usage; 3 the project or the lock cannot be read.
    """
    project = load_project(Path(ctx.obj["root"]))
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
