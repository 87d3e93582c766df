"""``skillassay holdout``: seal, check, void."""

from __future__ import annotations

from pathlib import Path

import click

from skillassay.cli.output import emit, emit_json, print_findings
from skillassay.errors import Exit, InputError, UsageError
from skillassay.findings import Severity, has_errors
from skillassay.holdout.doubts import UNUSABLE, HoldoutState, holdout_findings, inspect_holdout
from skillassay.holdout.sealing import seal_holdout
from skillassay.holdout.voiding import void_holdout
from skillassay.project import Project, load_project, require_usable

_FORMAT = 1


@click.group("holdout", no_args_is_help=True)
def command() -> None:
    """The hidden holdout: a suite outside the repository, which the contract names and nobody may see.

    SKILLASSAY_HOLDOUT names its file, SKILLASSAY_HOLDOUT_KEY holds its key (or <file>.key beside it does). Reads both
    and the project; writes evals/holdout.json alone, with ids and keyed digests, and what a voided one marks.

    Exit codes: 0 done, or nothing found; 1 exposed, tuned on or voided; 2 wrong usage; 3 it cannot be sealed or read.
    """


@command.command("seal")
@click.option("--new-key", is_flag=True, help="Make a key where there is none, in <file>.key beside the suite.")
@click.pass_context
def seal(ctx: click.Context, /, *, new_key: bool) -> int:
    """Write evals/holdout.json from the suite that SKILLASSAY_HOLDOUT names: ids and keyed digests, nothing of a text.

    A case may change only under a new version of the suite, and a version that was voided is never sealed again.

    Exit codes: 0 written, or already so; 2 wrong usage; 3 it cannot be sealed.
    """
    project = _project(ctx)
    done = seal_holdout(project, new_key=new_key)
    if done.new_key:
        emit("a new key was made; whoever has the suite needs it, and it may not lie in the repository")
    what = "written" if done.written else "unchanged"
    emit(f"{done.file} {what}: {done.sealed.suite} {done.sealed.version}, {len(done.sealed.cases)} cases")
    return int(Exit.PASSED)


@command.command("check")
@click.option("--format", "form", type=click.Choice(("table", "json")), default="table", show_default=True)
@click.pass_context
def check(ctx: click.Context, /, *, form: str) -> int:
    """Look for the holdout's texts in every text file of the project, ignored ones too, and for runs for tuning.

    Says where which case was found, and never its text; and which files could not be looked through. Reads the project
    and its stored runs; writes nothing.

    Exit codes: 0 nothing found; 1 exposed, tuned on or voided; 2 wrong usage; 3 it cannot be looked for.
    """
    project = _project(ctx)
    state = inspect_holdout(project)
    assert state is not None
    findings = holdout_findings(project, state)
    exposed = any(one.severity is Severity.ERROR and one.code != UNUSABLE for one in findings)
    if form == "json":
        emit_json(_json(state))
    else:
        print_findings(findings)
        emit(_summary(state))
    if exposed and state.problem is None:
        return int(Exit.FAILED)
    return int(Exit.PASSED if state.looked and not has_errors(findings) else Exit.UNDECIDED)


@command.command("void")
@click.option("--reason", required=True, metavar="TEXT", help="Why nothing that rests on it may count.")
@click.pass_context
def void(ctx: click.Context, /, *, reason: str) -> int:
    """Void the sealed version: stored runs lose its trials and fail their gate, committed evidence counts no more.

    Writes evals/holdout.json and the evidence that used the version; no run is changed. It cannot be undone: seal
    other cases under a new version.

    Exit codes: 0 voided; 2 wrong usage; 3 there is nothing to void, or it cannot be written.
    """
    if not reason.strip():
        raise UsageError("a reason says something", hint="write why it counts no more")
    project = _project(ctx)
    state = inspect_holdout(project)
    if state is None or state.sealed is None:
        raise InputError("there is no sealed holdout to void", hint="see docs/guides/holdout.md")
    done = void_holdout(project.root, state.file, state.sealed, reason=reason.strip())
    emit(f"{state.sealed.suite} {state.sealed.version} is void: {state.sealed.void_reason or reason.strip()}")
    for file in done.evidence:
        emit(f"voided {file}")
    return int(Exit.PASSED)


def _project(ctx: click.Context) -> Project:
    project = load_project(Path(ctx.obj["root"]))
    require_usable(project, "the holdout")
    if project.contract.holdout is None:
        hint = "write `holdout: {suite: NAME}` in evals/contract.yaml (docs/guides/holdout.md)"
        raise InputError("the contract names no holdout", hint=hint)
    return project


def _summary(state: HoldoutState) -> str:
    if state.problem is not None:
        return "holdout: it cannot be used"
    assert state.sealed is not None
    what = f"{state.sealed.suite} {state.sealed.version}, {len(state.sealed.cases)} cases"
    looked = "looked for" if state.looked else "not looked for"
    n_cases = len({one.case_id for one in state.exposures})
    where = f" in {state.search.n_files} files ({len(state.search.skipped)} not looked through)" if state.looked else ""
    return f"holdout {what}: {looked}{where}, {n_cases} exposed, {len(state.tuning_runs)} runs for tuning"


def _json(state: HoldoutState) -> dict[str, object]:
    sealed = state.sealed
    return {
        "holdout_format": _FORMAT,
        "suite": None if sealed is None else sealed.suite,
        "version": None if sealed is None else sealed.version,
        "looked": state.looked,
        "problem": None if state.problem is None else state.problem.message,
        "exposed": [
            {"case": one.case_id, "path": one.path, "fields": list(one.fields), "runs": one.n_found}
            for one in state.exposures
        ],
        "files_looked_through": state.search.n_files,
        "files_skipped": [{"path": one.path, "why": one.why} for one in state.search.skipped],
        "tuning_runs": list(state.tuning_runs),
        "voided": None if sealed is None else sealed.void_reason,
    }
