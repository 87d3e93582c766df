"""``skillassay init``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from skillassay.cli.output import counted, emit
from skillassay.contract.contract import CONTRACT_PATH
from skillassay.errors import Exit
from skillassay.printable import one_line
from skillassay.scaffold.editors import SCHEMA_FOLDER
from skillassay.scaffold.planning import (
    FRAGMENT_PATH,
    INCLUDE_LINE,
    WORKFLOW_PATH,
    Scaffold,
    includes_fragment,
    plan_scaffold,
    write_scaffold,
)
from skillassay.suites.facts import UNFILLED_MARK
from skillassay.versions import is_semver


@click.command("init")
@click.option(
    "--skill", "skills", multiple=True, metavar="NAME", help="Skeletons of cases for this skill alone. Repeatable."
)
@click.option("--ci", type=click.Choice(["github"]), help="Write the workflow though there is no .github folder.")
@click.option("--dry-run", is_flag=True, help="Say what would be written, and write nothing.")
@click.pass_context
def command(ctx: click.Context, *, skills: tuple[str, ...], ci: str | None, dry_run: bool) -> int:
    """Begin in a repository of skills: write what it lacks, and touch nothing that is there.

    A contract whose globs fit the repository's layout; a suite with three skeletons of cases for each skill, made from
    its own text; make targets; a workflow for GitHub where .github exists; a line in .gitignore; schemas for editors.
    Skeletons and the words that begin with TODO are yours to write: check refuses the one, the gate the other.

    Reads the skills and what of these files exists. Writes the files it names, all below the project, and nothing else;
    called again it changes no byte.

    Exit codes: 0 written, or nothing was missing; 2 wrong usage; 3 there is no skill, or a file cannot be read or
    written.
    """
    root = Path(ctx.obj["root"])
    scaffold = plan_scaffold(root, only=skills, with_workflow=ci is not None)
    if not dry_run:
        write_scaffold(root, scaffold)
    done = "would be written" if dry_run else "written"
    emit(f"{counted(len(scaffold.packages), 'skill')}, found by {one_line(', '.join(scaffold.globs))}")
    for line in _told(scaffold, done):
        emit(one_line(line))
    if not scaffold.writes:
        emit("nothing was missing, nothing was changed")
    emit("next:")
    for number, step in enumerate(_steps(root, scaffold), 1):
        emit(f"  {number}. {one_line(step)}")
    return int(Exit.PASSED)


def _told(scaffold: Scaffold, done: str) -> Iterator[str]:
    n_schemas = sum(one.path.startswith(SCHEMA_FOLDER) for one in scaffold.writes)
    for one in scaffold.writes:
        if not one.path.startswith(SCHEMA_FOLDER):
            yield f"{done + (', one line appended' if one.appends else '')}: {one.path}"
    if n_schemas:
        yield f"{done}: {SCHEMA_FOLDER}/ ({counted(n_schemas, 'schema')}, for editors)"
    for path in scaffold.present:
        yield f"there already: {path}"
    for reason in scaffold.left_out:
        yield f"left out: {reason}"


def _steps(root: Path, scaffold: Scaffold) -> Iterator[str]:
    """What to do next, three commands among it."""
    suites = [one.path for one in scaffold.writes if one.path.startswith("evals/quality")]
    if any(one.path == CONTRACT_PATH for one in scaffold.writes):
        yield f"write what {CONTRACT_PATH} calls TODO"
    if any(one.path == WORKFLOW_PATH for one in scaffold.writes):
        yield f"say in {WORKFLOW_PATH} where skillassay is installed from (TODO-YOUR-HOST)"
    included = includes_fragment(root)
    if included is False:
        yield f"add one line to your Makefile for the targets skills-check, skills-eval, …: {INCLUDE_LINE}"
    elif included is None:
        yield f"`make -f {FRAGMENT_PATH} skills-check` runs the targets; a Makefile takes them in with: {INCLUDE_LINE}"
    versions = [package.skill.version for package in scaffold.packages if package.skill is not None]
    if any(version is None or not is_semver(version) for version in versions):
        yield "`skillassay bump --init` gives each skill without a version its first"
    for path in suites:
        yield f"write the cases of {path}: each text that begins with {UNFILLED_MARK}; or remove them"
    yield "`skillassay check` tells all that is wrong, what is still to be written among it"
    yield "`skillassay lock` writes skills.lock.json; commit it"
