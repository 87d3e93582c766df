"""``skillassay schema``."""

from __future__ import annotations

from pathlib import Path

import click

from skillassay.cli.output import counted, emit
from skillassay.errors import Exit, StoreError
from skillassay.inside import refuse_links, write_inside
from skillassay.scaffold.editors import SCHEMA_FOLDER, SCHEMAS, schema_bytes, schema_files


@click.command("schema")
@click.argument("name", required=False, type=click.Choice(sorted(SCHEMAS)), metavar="[NAME]")
@click.option("--write", "is_written", is_flag=True, help=f"Write all of them to {SCHEMA_FOLDER}/, older ones anew.")
@click.pass_context
def command(ctx: click.Context, *, name: str | None, is_written: bool) -> int:
    """Print the JSON Schema of a file that people write, list all, or write them beside the files, for editors.

    A file names its own by a relative path: in YAML with a first line `# yaml-language-server:
    $schema=.schemas/contract.schema.json`, in JSON with `"$schema": ".schemas/suite.schema.json"`. The program itself
    reads its own copies, never these.

    Reads nothing; writes evals/.schemas/ with --write, nothing otherwise.

    Exit codes: 0 done; 2 wrong usage; 3 the folder cannot be written.
    """
    if is_written:
        return _write(Path(ctx.obj["root"]), [name] if name is not None else sorted(SCHEMAS))
    if name is not None:
        emit(schema_bytes(name).decode())
        return int(Exit.PASSED)
    for known, file in SCHEMAS.items():
        emit(f"{known:10}{file}")
    return int(Exit.PASSED)


def _write(root: Path, names: list[str]) -> int:
    files = {path: data for path, data in schema_files().items() if any(f"/{name}." in path for name in names)}
    changed = 0
    for path in files:
        refuse_links(root, root / path)
    try:
        for path, data in files.items():
            if not (root / path).is_file() or (root / path).read_bytes() != data:
                write_inside(root, path, data)
                changed += 1
    except OSError as error:
        raise StoreError(f"{SCHEMA_FOLDER} cannot be written: {error}", hint="fix permissions") from error
    emit(f"{SCHEMA_FOLDER}/: {counted(len(files), 'schema')}, {changed} written")
    return int(Exit.PASSED)
