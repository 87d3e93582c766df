"""``skillassay lock``."""

from __future__ import annotations

from pathlib import Path

import click

from skillassay.cli.output import count_text, counted, emit, first_step, print_findings, say
from skillassay.errors import Exit
from skillassay.findings import has_errors, sort_findings
from skillassay.locks.lock import NO_VERSION, UNVERIFIABLE
from skillassay.locks.lockfile import LOCK_PATH
from skillassay.locks.locking import blocking_findings, check_lock
from skillassay.locks.relocking import prepare_lock, write_lock
from skillassay.printable import one_line
from skillassay.project import Project, load_project


@click.command("lock")
@click.option("--check", "only_check", is_flag=True, help="Verify and write nothing.")
@click.option("--base", metavar="REF", help="With --check: also compare with the lock at this git revision.")
@click.option(
    "--skill", "skills", multiple=True, metavar="NAME", help="Lock only this skill, keep the other entries. Repeatable."
)
@click.option("--no-evidence", is_flag=True, help="Lock versions that no run proved; the lock says so.")
@click.option(
    "--refresh",
    is_flag=True,
    help="Take the newest run's evidence though the committed one holds; refused if it failed.",
)
@click.option("--rebuild", is_flag=True, help="Start from the lock at HEAD instead of a broken file.")
@click.pass_context
def command(ctx: click.Context, /, *, only_check: bool, base: str | None, skills: tuple[str, ...], **how: bool) -> int:
    """Write skills.lock.json: for every skill its version, the digest of its files, and the evidence of its evaluation.

    Reads skills, suites, contract, evals/evidence and the stored runs. Writes skills.lock.json and evals/evidence/,
    everything or nothing. Refuses a skill that changed without a new version and a version without passing evidence.
    With --check it verifies instead, offline, and writes nothing.

    Exit codes: 0 written, or all as locked; 1 refused, or drifted; 2 wrong usage; 3 cannot decide (an unreadable lock,
    skill or suite, a missing --base revision).
    """
    if base is not None and not only_check:
        raise click.UsageError("--base goes with --check")
    project = load_project(Path(ctx.obj["root"]))
    if only_check:
        return _check(project, base)
    known = {name for ready in project.usable for name in (ready.path, ready.skill.name)}
    for name in skills:
        if name not in known:
            raise click.UsageError(f"there is no skill {name!r}")
    relock = prepare_lock(project, only=skills, **how)
    if relock.refusals:
        print_findings(sort_findings(relock.refusals))
        say(f"refused: nothing was written ({count_text(relock.refusals)})")
        step = first_step(relock.refusals, frozenset({NO_VERSION}))
        if step is not None:
            say(step)
        return int(Exit.FAILED)
    changed = write_lock(project.root, relock)
    for line in relock.lines:
        emit(one_line(line))
    emit(f"{LOCK_PATH} {'written' if changed else 'unchanged'}, {counted(len(relock.lock.skills), 'skill')}")
    return int(Exit.PASSED)


def _check(project: Project, base: str | None) -> int:
    result = check_lock(project, base=base)
    blocking = blocking_findings(project)
    findings = sort_findings([*blocking, *result.findings])
    print_findings(findings)
    emit(f"lock --check: {counted(result.n_skills, 'skill')}, {count_text(findings)}")
    if result.by_dependent_judge:
        skills = ", ".join(map(one_line, result.by_dependent_judge))
        emit(f"evidence by a judge that is NOT known to be independent of the candidate: {skills}")
    if result.readable and has_errors(one for one in result.findings if one.code != UNVERIFIABLE):
        return int(Exit.FAILED)
    return int(Exit.PASSED if result.readable and not blocking else Exit.UNDECIDED)
