"""``skillassay import``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from skillassay.canonical import JsonProblem, parse_json, write_atomic
from skillassay.cli.output import emit
from skillassay.errors import Exit, InputError, StoreError
from skillassay.exchange import FileCopy, Imported, merge_cases, read_evals
from skillassay.printable import one_line


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
    is never shown to the candidate. What cannot be carried is listed and counted.

    Reads FILE and the files it names. Writes the suite (appended to, laid out with two spaces) and copies the files
    beside it; with --dry-run nothing. Importing twice changes nothing.

    Exit codes: 0 everything was carried; 1 something was not, it is listed; 2 wrong usage; 3 the file or the suite
    cannot be used, nothing was written.
    """
    imported = read_evals(_load(file), source=file, skill=skill)
    target = Path(ctx.obj["root"]) / into
    if target.suffix != ".json":
        raise InputError(f"{into}: only a JSON suite can be appended to", hint="name one with --into")
    document = _load(target) if target.exists() else {"suite": target.stem, "version": "1.0.0", "cases": []}
    if not isinstance(document, list) and not (isinstance(document, dict) and isinstance(document.get("cases"), list)):
        raise InputError(f"{into} is not a suite", hint="see docs/reference/suites.md")
    merged = merge_cases(document, imported.cases, shown_as=into)
    if merged.added and not dry_run:
        _write(target, merged.document, imported.files)
    _show(imported, added=merged.added, present=merged.present, into=into)
    return int(Exit.FAILED if imported.lost else Exit.PASSED)


def _load(path: Path) -> object:
    try:
        return parse_json(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, JsonProblem) as error:
        raise InputError(f"{path} cannot be read: {error}") from error


def _write(target: Path, document: object, files: tuple[FileCopy, ...]) -> None:
    text = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
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
    emit(f"{into}: {len(added)} added, {len(present)} already there, {len(imported.lost)} things not carried")
