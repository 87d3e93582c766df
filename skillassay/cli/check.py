"""``skillassay check``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from skillassay.canonical import Json
from skillassay.cli.output import count_text, counted, emit, emit_commands, emit_json, first_step, print_findings
from skillassay.clock import today
from skillassay.contract.contract import incomplete_findings
from skillassay.contract.stated import stated_findings
from skillassay.errors import Exit, InputError, UsageError
from skillassay.findings import Finding, Severity, sort_findings
from skillassay.holdout.doubts import holdout_findings, inspect_holdout
from skillassay.locks.installed import verify_installed
from skillassay.locks.lockfile import LOCK_PATH
from skillassay.locks.locking import check_lock, read_lock_file
from skillassay.models.prices import prices_findings
from skillassay.people.waiving import check_waivers
from skillassay.project import Project, load_project
from skillassay.report.annotations import finding_annotations, render_annotations
from skillassay.report.installed import InstalledReport, installed_json, render_installed
from skillassay.report.sarif import sarif_json
from skillassay.skills.skill import VERSION_MISSING
from skillassay.suites.controls import control_findings
from skillassay.suites.freshness import freshness_findings
from skillassay.suites.reach import reach_findings, reach_summary

FORMATS = ("table", "json", "sarif", "github")
_FOLDER = click.Path(path_type=Path, file_okay=False, exists=True)
_FILE = click.Path(path_type=Path, dir_okay=False, exists=True)


@click.command("check")
@click.option("--strict", is_flag=True, help="Warnings fail the check too.")
@click.option("--base", metavar="REF", help="Also compare the lock with the one at this git revision.")
@click.option("--notes/--no-notes", default=False, help="Show notes too.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
@click.option("--installed", metavar="DIR", type=_FOLDER, help="Verify this copy, or these copies, and nothing else.")
@click.option("--skill", "skills", multiple=True, metavar="NAME", help="With --installed: only this one. Repeatable.")
@click.option("--lock", "lock", metavar="FILE", type=_FILE, help="With --installed: this lock, not the project's.")
@click.pass_context
def command(ctx: click.Context, /, *, form: str, **options: Any) -> int:
    """Check all that needs no model: skills, suites, samples of checks, contract, fixtures, lock, versions, evidence.

    Shows every problem of every file in one run, with code, file, line and next step; as sarif for code scanning, as
    github with annotations beside the code.

    With --installed it compares copies that an installer placed (DIR is a skill, or a folder of skills) with the lock:
    what was edited, is missing or was added, apart from what installers are known to add.

    Reads the project, with --installed DIR and the lock alone; writes nothing; needs no network and no key.

    Exit codes: 0 no error; 1 at least one error (with --strict: or warning), a copy that differs; 2 wrong usage; 3
    cannot decide (the --base revision does not exist, a copy or the lock cannot be read).
    """
    root = Path(ctx.obj["root"])
    if options["installed"] is not None:
        return _check_installed(root, form, **options)
    if options["skills"] or options["lock"] is not None:
        raise UsageError("--skill and --lock say what --installed is compared with", hint="add --installed DIR")
    return _check(root, form, strict=options["strict"], base=options["base"], notes=options["notes"])


def _check_installed(root: Path, form: str, *, installed: Path, lock: Path | None, **options: Any) -> int:
    if form not in {"table", "json"} or options["base"] is not None or options["strict"]:
        hint = "leave out --strict and --base; --format is table or json"
        raise UsageError("--installed compares bytes with a lock, and says nothing of the project", hint=hint)
    path = root / LOCK_PATH if lock is None else lock
    read, findings = read_lock_file(path, shown_as=path.as_posix())
    if read is None:
        raise InputError("there is no lock to compare with", hint="name one with --lock FILE", findings=findings)
    copies = verify_installed(installed, path, read, skills=options["skills"])
    report = InstalledReport(folder=installed.as_posix(), lock=path.as_posix(), skills=copies)
    if form == "json":
        emit_json(installed_json(report))
    else:
        emit(render_installed(report))
    return int(report.exit_code)


def _check(root: Path, form: str, *, strict: bool, base: str | None, notes: bool) -> int:
    project = load_project(root)
    lock = check_lock(project, base=base)
    stated = incomplete_findings(project.contract) if project.suites or project.contract.path is not None else ()
    more = (
        *check_waivers(project),
        *holdout_findings(project, inspect_holdout(project)),
        *_ages(project),
        *_doubts(project),
    )
    findings = sort_findings([*project.findings, *stated, *_fixture_findings(project), *more, *lock.findings])
    failing = {Severity.ERROR, Severity.WARNING} if strict else {Severity.ERROR}
    failed = any(finding.severity in failing for finding in findings)
    shown = [one for one in findings if notes or one.severity is not Severity.NOTE]
    if form == "json":
        emit_json(_json(project, findings, failed=failed))
    elif form == "sarif":
        emit_json(sarif_json(shown))
    else:
        print_findings(findings, notes=notes)
        emit(_summary(project, findings))
        step = first_step(findings, frozenset({VERSION_MISSING}))
        if step is not None:
            emit(step)
    if form == "github":
        emit_commands(render_annotations(finding_annotations(shown)))
    return int(Exit.FAILED if failed else Exit.PASSED)


def _ages(project: Project) -> tuple[Finding, ...]:
    return freshness_findings(project.suites, on=today(), max_age_days=project.contract.freshness_max_age_days)


def _doubts(project: Project) -> tuple[Finding, ...]:
    """What is sound, and keeps the gate from saying what its reader may think that it says, or a run from its end."""
    contract = project.contract
    judges = filter(None, (contract.models.judge, contract.models.second))
    prices = prices_findings(project.root, contract.budget, judges, on=today())
    return (*stated_findings(contract), *control_findings(project.suites), *reach_findings(project), *prices)


def _fixture_findings(project: Project) -> tuple[Finding, ...]:
    paths = sorted({path for glob in project.contract.fixtures for path in project.root.glob(glob) if path.is_file()})
    if not paths:
        return ()
    # Imported here: only a project with authored answers needs the reader of their rules, which costs 15 ms.
    from skillassay.fixture.rules import load_rules

    return load_rules(paths, root=project.root)[1]


def _summary(project: Project, findings: tuple[Finding, ...]) -> str:
    terms = project.contract.lock
    ignored = f", left out of digests besides the defaults: {', '.join(terms.ignore)}" if terms.ignore else ""
    contract = project.contract.path or "no contract, defaults hold"
    contents = (
        f"{counted(len(project.packages), 'skill')}, {counted(len(project.cases), 'quality case')}, "
        f"{counted(len(project.routing), 'routing case')}{_triggers(project)}; "
        f"{contract}; the lock requires {terms.requires} evidence ({terms.require_evidence}){ignored}"
    )
    return "\n".join(filter(None, (contents, reach_summary(project), f"check: {count_text(findings)}")))


def _triggers(project: Project) -> str:
    return f", {counted(len(project.triggers), 'trigger case')}" if project.triggers else ""


def _json(project: Project, findings: tuple[Finding, ...], *, failed: bool) -> Json:
    return {
        "passed": not failed,
        "skills": len(project.packages),
        "quality_cases": len(project.cases),
        "findings": [{**asdict(finding), "severity": finding.severity.value} for finding in findings],
    }
