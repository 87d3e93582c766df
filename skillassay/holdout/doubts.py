"""What speaks against a holdout: exposure, tuning, a version that was voided. Owns the doubts; repairs nothing.

Where its texts are looked for is :mod:`skillassay.holdout.searching`'s. A finding says where which case was found, and
never what.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skillassay.errors import InputError, Reason, Stage, UsageError
from skillassay.findings import Finding, Severity, register
from skillassay.holdout.hidden import Holdout, open_holdout
from skillassay.holdout.leakage import Exposure
from skillassay.holdout.sealed import HoldoutAsked, HoldoutUse, LeftOut, Sealed, load_sealed
from skillassay.holdout.searching import BINARY, NO_SEARCH, Search, Skipped, search_project
from skillassay.holdout.voiding import void_outcome
from skillassay.project import CaseKey, Project
from skillassay.runs.plan import Plan
from skillassay.runs.record import Outcome
from skillassay.runs.store import RUNS, list_runs, read_header

UNUSABLE = register("holdout.unusable", "The holdout's committed file is broken, or the suite is not the sealed one.")
UNREACHABLE = register("holdout.unreachable", "This machine has no holdout, so nothing looked for its texts.")
EXPOSED = register("holdout.exposed", "A text of a hidden case stands in a file that others read.")
NOT_SEARCHED = register("holdout.not-searched", "Files that could hold a hidden text were not looked through.")
TUNED = register("holdout.used-for-tuning", "A stored run for tuning planned the holdout's cases.")
VOIDED = register("holdout.voided", "This version of the holdout was voided.")

TUNING, RELEASE = "tuning", "release"
PURPOSES = (RELEASE, TUNING)

_ROTATE = "void it with `skillassay holdout void`, write other cases under a new version, and seal them"
_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldoutState:
    """All that is known about the project's holdout. ``sealed`` is None where its committed ``file`` cannot be read."""

    file: str
    sealed: Sealed | None
    holdout: Holdout | None
    search: Search = NO_SEARCH
    tuning_runs: tuple[str, ...] = ()
    problem: InputError | None = None

    @property
    def exposures(self) -> tuple[Exposure, ...]:
        """Where its texts were found."""
        return self.search.exposures

    @property
    def looked(self) -> bool:
        """Whether its texts could be looked for."""
        return self.holdout is not None and self.holdout.hidden is not None

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why nothing that rests on it counts."""
        words = [exposure_words(one) for one in self.exposures]
        words += [f"run {run_id} used it for tuning" for run_id in self.tuning_runs]
        if self.sealed is not None and self.sealed.void_reason is not None:
            words.append(f"version {self.sealed.version} was voided: {self.sealed.void_reason}")
        return tuple(words)

    @property
    def doubt(self) -> str | None:
        """The doubts in one line."""
        more = f" and {len(self.doubts) - _SHOWN} more" if len(self.doubts) > _SHOWN else ""
        return "; ".join(self.doubts[:_SHOWN]) + more if self.doubts else None


def exposure_words(one: Exposure) -> str:
    """Where which case was found."""
    return f"case {one.case_id}: {', '.join(one.fields)} in {one.path}"


def inspect_holdout(project: Project) -> HoldoutState | None:
    """Look at the holdout that the contract names; None where it names none. What is wrong is told, not raised."""
    terms = project.contract.holdout
    if terms is None:
        return None
    sealed, _ = load_sealed(project.root, terms.digests)
    runs = tuning_runs(project.root, sealed) if sealed is not None else ()
    try:
        holdout = open_holdout(project)
    except InputError as problem:
        return HoldoutState(file=terms.digests, sealed=sealed, holdout=None, tuning_runs=runs, problem=problem)
    hidden = None if holdout is None else holdout.hidden
    search = NO_SEARCH if hidden is None else search_project(project, hidden.suite.cases)
    return HoldoutState(file=terms.digests, sealed=sealed, holdout=holdout, search=search, tuning_runs=runs)


def join_holdout(project: Project, state: HoldoutState | None) -> Project:
    """The project with the holdout's cases beside its own. Raises :class:`InputError` for one that cannot be used."""
    terms = project.contract.holdout
    if state is None or terms is None:
        return project
    if state.problem is not None:
        raise state.problem
    assert state.holdout is not None
    return state.holdout.joined(project, path=terms.digests)


def left_out_suite(state: HoldoutState | None, *, wanted: bool | None, purpose: str) -> str | None:
    """The holdout's suite where a run does not plan it: it was told so, or it is for tuning and was told nothing."""
    is_wanted = purpose != TUNING if wanted is None else wanted
    return None if state is None or state.sealed is None or is_wanted else state.sealed.suite


def use_of(state: HoldoutState | None, plan: Plan, *, purpose: str, is_recorded: bool) -> HoldoutUse | None:
    """What a run says of the holdout that it plans; None where it plans none.

    Raises :class:`UsageError` for a run whose traffic is to be kept.
    """
    if state is None or state.sealed is None or state.sealed.suite not in {trial.suite for trial in plan.trials}:
        return None
    if is_recorded:
        hint = "leave it out with --no-holdout"
        raise UsageError("a recording would keep the texts of the hidden holdout", hint=hint)
    own = ("this run is for tuning",) if purpose == TUNING else ()
    return HoldoutUse(
        suite=state.sealed.suite,
        version=state.sealed.version,
        digest=state.sealed.digest,
        file=state.file,
        looked=state.looked,
        doubts=(*state.doubts, *own),
    )


def asked_of(state: HoldoutState | None, plan: Plan, *, wanted: bool | None, purpose: str) -> HoldoutAsked | None:
    """How much of the holdout a run plans; None where the contract names none."""
    if state is None or state.sealed is None:
        return None
    sealed = state.sealed
    left_out = left_out_suite(state, wanted=wanted, purpose=purpose) is not None
    why = LeftOut.SELECTION if not left_out else LeftOut.TUNING if purpose == TUNING else LeftOut.OPTION
    return HoldoutAsked(
        suite=sealed.suite,
        n_cases=sum(case.skill in plan.skills for case in sealed.cases.values()),
        n_planned=len({trial.case_id for trial in plan.trials if trial.suite == sealed.suite}),
        why=why,
    )


def barred_cases(state: HoldoutState | None) -> dict[CaseKey, Outcome]:
    """The hidden cases about which nobody is asked: those that cannot be reached, and all of a holdout in doubt."""
    if state is None or state.holdout is None:
        return {}
    if state.doubt is not None:
        outcome = void_outcome(state.doubt)
    elif state.holdout.missing is not None:
        why = state.holdout.missing
        outcome = Outcome(status="UNSCORED", reason=Reason.MISSING_CAPABILITY, stage=Stage.HARNESS, detail=why)
    else:
        return {}
    return {(case.suite, case.id): outcome for case in state.holdout.cases}


def moved_holdout(project: Project, state: HoldoutState | None) -> tuple[str, ...]:
    """The committed file, where the holdout is no longer what a run began with. ``project`` has its cases already."""
    terms = project.contract.holdout
    if state is None or state.holdout is None or terms is None:
        return ()
    own = replace(project, suites=tuple(suite for suite in project.suites if suite.path != terms.digests))
    try:
        now = open_holdout(own)
    except InputError:
        return (terms.digests,)
    same = now is not None and now.sealed.digest == state.holdout.sealed.digest and now.missing == state.holdout.missing
    return () if same else (terms.digests,)


def standing_doubt(root: Path, use: HoldoutUse | None) -> str | None:
    """Why a holdout that a stored run used counts no more: its version was voided, or a run for tuning used it."""
    sealed = load_sealed(root, use.file)[0] if use is not None else None
    if use is None or sealed is None or sealed.suite != use.suite:
        return None
    if (reason := sealed.voided.get(use.version)) is not None:
        return f"version {use.version} was voided: {reason}"
    runs = tuning_runs(root, replace(sealed, version=use.version))
    return f"run {runs[0]} used it for tuning" if runs else None


def tuning_runs(root: Path, sealed: Sealed) -> tuple[str, ...]:
    """The stored runs for tuning that planned cases of this version."""
    return tuple(run_id for run_id in list_runs(root) if _tuned_on(read_header(root / RUNS / run_id), sealed))


def _tuned_on(header: Mapping[str, Any], sealed: Sealed) -> bool:
    used = header["facts"].get("holdout")
    if header["settings"].get("purpose") != TUNING or used is None:
        return False
    return bool((used["suite"], used["version"]) == (sealed.suite, sealed.version))


def holdout_findings(project: Project, state: HoldoutState | None) -> tuple[Finding, ...]:
    """What ``check`` says of the holdout, of which ``state`` is known."""
    terms = project.contract.holdout
    if terms is None or state is None:
        return ()
    if state.problem is not None:
        first = _finding(UNUSABLE, terms.digests, state.problem.message, hint=state.problem.hint)
        return (first, *state.problem.findings)
    found = [_finding(EXPOSED, one.path, f"{exposure_words(one)}: void", hint=_ROTATE) for one in state.exposures]
    found += [
        _finding(TUNED, f"{RUNS}/{run_id}", f"run {run_id} used it", hint=_ROTATE) for run_id in state.tuning_runs
    ]
    if state.sealed is not None and state.sealed.void_reason is not None:
        found.append(_finding(VOIDED, terms.digests, state.sealed.void_reason, hint=_ROTATE))
    if state.holdout is not None and state.holdout.missing is not None:
        message = f"{state.holdout.missing}, so nothing looked for its texts, and a run stays incomplete"
        found.append(_finding(UNREACHABLE, terms.digests, message, severity=Severity.NOTE))
    return (*found, *_not_searched(state.search.skipped))


def _not_searched(skipped: Iterable[Skipped]) -> list[Finding]:
    """Of what is no text a note with the count; a warning for each of the rest, which somebody could read."""
    no_text = [one.path for one in skipped if one.why == BINARY]
    hint = "look at it yourself, or make it smaller, readable, or a part of the project"
    found = [
        _finding(NOT_SEARCHED, one.path, f"not looked through: {one.why}", hint=hint, severity=Severity.WARNING)
        for one in skipped
        if one.why != BINARY
    ]
    if no_text:
        more = ", …" if len(no_text) > _SHOWN else ""
        message = f"{len(no_text)} files that are no text were not looked through: {', '.join(no_text[:_SHOWN])}{more}"
        found.append(_finding(NOT_SEARCHED, no_text[0], message, severity=Severity.NOTE))
    return found


def _finding(
    code: str, path: str, message: str, *, hint: str | None = None, severity: Severity = Severity.ERROR
) -> Finding:
    return Finding(code=code, severity=severity, path=path, message=message, hint=hint)
