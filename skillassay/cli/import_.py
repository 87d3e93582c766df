"""``skillassay import``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import click

from skillassay.canonical import Json, JsonProblem, parse_json, write_atomic
from skillassay.cli.output import counted, emit
from skillassay.documents import load_document, parse_document
from skillassay.errors import Exit, InputError, StoreError
from skillassay.interop.exchange import FileCopy, Imported, merge_cases, read_evals
from skillassay.printable import one_line
from skillassay.suites.case import parse_suite
from skillassay.suites.files import CaseFile, CaseFileProblem, read_case_file


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--into", metavar="SUITE", default="evals/quality.json", show_default=True, help="JSON suite to append to."
)
@click.option("--skill", metavar="NAME", help="The skill under test, if not the file's skill_name.")
@click.option("--dry-run", is_flag=True, help="Show what would be carried; write nothing.")
@click.pass_context
def command(ctx: click.Context, *, file: Path, into: str, skill: str | None, dry_run: bool) -> int:
    """Read an evals.json (Agent Skills guide, skill-creator) into a quality suite here.

    Assertions and expectations become rubric criteria, word for word; expected_output becomes the judge's reference and
    is never shown to the candidate. What cannot be carried is listed and counted; a case that lacks a file is not
    carried, and importing again takes it up.

    Reads FILE, the files it names and the suite. Writes the suite (appended to, laid out with two spaces) and copies
    the files beside it; with --dry-run nothing. Importing twice changes nothing.

    Exit codes: 0 everything was carried; 1 something was not, it is listed; 2 wrong usage; 3 the file or the suite
    cannot be used, or the suite could not be read with the new cases; nothing was written.
    """
    imported = read_evals(_load_evals(file), source=file, skill=skill)
    root = Path(ctx.obj["root"])
    target = root / into
    if not target.resolve().is_relative_to(root.resolve()):
        raise InputError(f"{into} lies outside the project", hint="name a suite below the project's root with --into")
    if target.suffix != ".json":
        raise InputError(f"{into}: only a JSON suite can be appended to", hint="name one with --into")
    merged = merge_cases(_load_target(target, into), imported.cases, shown_as=into)
    text = json.dumps(merged.document, ensure_ascii=False, indent=2) + "\n"
    sources = _read_sources(target, imported.files, into)
    if merged.added:
        _refuse_broken(text, target, sources, into)
        if not dry_run:
            _write(target, text, imported.files)
    _show(imported, added=merged.added, present=merged.present, into=into)
    return int(Exit.FAILED if imported.lost else Exit.PASSED)


def _load_evals(path: Path) -> Json:
    hint = "name an evals.json, such as skills/NAME/evals/evals.json"
    try:
        return parse_json(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        raise InputError(f"{path} does not exist", hint=hint) from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}", hint=hint) from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8", hint="save the file as UTF-8") from error
    except JsonProblem as problem:
        place = f"{path}:{problem.line}" if problem.line is not None else str(path)
        raise InputError(f"{place}: {problem}", hint="mend the file and import again") from problem


def _load_target(target: Path, into: str) -> Json:
    """The suite's document; a new one where there is none. It is refused as a whole when a reader would refuse it."""
    if not target.exists():
        return {"suite": target.stem, "version": "1.0.0", "cases": []}
    document, findings = load_document(target, shown_as=into)
    if document is not None:
        findings = parse_suite(document, read_file=lambda name: read_case_file(name, target.parent)).findings
    if document is None or findings:
        message = f"{into} has problems of its own and was left as it is"
        raise InputError(message, hint="mend them and import again", findings=findings)
    return document.value


def _read_sources(target: Path, files: tuple[FileCopy, ...], into: str) -> dict[str, CaseFile]:
    """The files to copy, by target. One that is there with other content belongs to cases that are there."""
    sources = {}
    for copy in files:
        real = copy.source.resolve()
        try:
            file = read_case_file(real.name, real.parent)
            there = target.parent / copy.target
            is_other = there.exists() and read_case_file(copy.target, target.parent).sha256 != file.sha256
        except CaseFileProblem as problem:
            raise InputError(f"{copy.source}, or its copy beside {into}, {problem}", hint="mend the file") from problem
        if is_other:
            message = f"{into}: {copy.target} is there with another content than {copy.source}"
            raise InputError(message, hint="rename one of them, or raise the suite's version and edit it by hand")
        sources[copy.target] = replace(file, path=copy.target)
    return sources


def _refuse_broken(text: str, target: Path, sources: Mapping[str, CaseFile], into: str) -> None:
    """What would be written is read as a suite first, with the files still where they come from."""

    def read_file(name: str) -> CaseFile:
        return sources[name] if name in sources else read_case_file(name, target.parent)

    document, findings = parse_document(text, path=into, is_json=True)
    if document is not None:
        findings = parse_suite(document, read_file=read_file).findings
    if findings:
        # Lines of a text that was never written would mislead.
        shown = tuple(replace(finding, line=None) for finding in findings)
        message = f"{into} could not be read with the imported cases, so nothing was written"
        raise InputError(message, hint="mend these cases in the imported file", findings=shown)


def _write(target: Path, text: str, files: tuple[FileCopy, ...]) -> None:
    try:
        for copy in files:
            write_atomic(target.parent / copy.target, copy.source.read_bytes())
        write_atomic(target, text.encode())
    except OSError as error:
        raise StoreError(f"{target} cannot be written: {error.strerror}") from error


def _show(imported: Imported, *, added: tuple[str, ...], present: tuple[str, ...], into: str) -> None:
    for name in added:
        emit(f"added    {one_line(name)}")
    for name in present:
        emit(f"present  {one_line(name)}")
    for line in imported.lost:
        emit(f"lost     {one_line(line)}")
    n_lost = counted(len(imported.lost), "thing")
    emit(f"{into}: {len(added)} added, {len(present)} already there, {n_lost} not carried")
