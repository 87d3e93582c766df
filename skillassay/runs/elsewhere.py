"""From a source of answers that were made elsewhere to the request of a run over them. Owns what is planned then.

Planned is every selected case in every mode that an answer is for, as often as the highest repeat: what has no answer
stays in the plan without a score, as what crashed does in any other run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skillassay.errors import InputError, UsageError
from skillassay.interop.answer_files import read_folder, read_list
from skillassay.interop.made_answers import Asked, Heap, build_answers
from skillassay.interop.skill_creator_runs import is_workspace, read_workspace
from skillassay.models.naming import ANSWERS
from skillassay.project import Project, load_project, require_usable
from skillassay.runs.plan import Mode
from skillassay.runs.preparation import EvalRequest
from skillassay.runs.rebuild import resumed_request
from skillassay.runs.selection import is_named, names_of, refuse_unknown
from skillassay.runs.store import read_header, run_folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """Where answers come from and what of the project they are for. ``answer_name`` is a file of ``outputs``."""

    source: Path
    suites: tuple[str, ...] = ()
    modes: tuple[Mode, ...] = ()
    answer_name: str | None = None
    resume: str | None = None


def answers_request(request: EvalRequest, brought: Brought) -> tuple[EvalRequest, tuple[str, ...]]:
    """The request of a run over the answers, and what is to be told before it.

    Raises :class:`InputError` with every problem of the project or of the answers, else :class:`UsageError`.
    """
    modes = brought.modes
    request = replace(request, subject=ANSWERS, holdout=False)
    if brought.resume is not None:
        _refuse_resuming(request.root, brought.resume)
        request = resumed_request(request, brought.resume)
        modes = request.modes
    project = load_project(request.root)
    require_usable(project, "answers are scored")
    request = replace(request, cases=_cases(project, request, brought.suites))
    asked, heap = _asked(project, request), Heap()
    source = _read(brought, asked, heap)
    answers = build_answers(heap, asked, source=source.name, modes=modes)
    return replace(request, answers=answers, modes=answers.modes, repeats=answers.repeats), tuple(heap.told)


def _refuse_resuming(root: Path, run: str) -> None:
    then = read_header(run_folder(root, run)).get("answers")
    if then is None:
        hint = "go on with `skillassay eval --resume`"
        raise UsageError(f"run {run} is none of answers that were made elsewhere", hint=hint)
    if then["digest"] is None:
        message = f"run {run} keeps no texts, so nothing tells whether these are its answers"
        raise InputError(message, hint="score them anew, without --resume")


def _cases(project: Project, request: EvalRequest, suites: Sequence[str]) -> tuple[str, ...]:
    """The cases that are named, by themselves or by their suites; none where neither is."""
    refuse_unknown(suites, {suite.name for suite in project.suites}, "suite")
    refuse_unknown(request.cases, {case.id for case in project.cases}, "case")
    if not suites:
        return request.cases
    found = tuple(
        case.id for case in project.cases if case.suite in suites and (not request.cases or case.id in request.cases)
    )
    if not found:
        raise UsageError("no case is in the suites that are named")
    return found


def _asked(project: Project, request: EvalRequest) -> Asked:
    planned = project.planned_cases()
    refuse_unknown(request.skills, names_of(ready.path for ready in project.usable), "skill")
    return Asked(
        suites={item.case.id: item.case.suite for item in planned},
        skills={item.case.id: item.skill_path.rsplit("/", 1)[-1] for item in planned},
        need_files=frozenset(
            item.case.id for item in planned if any(check.get("file") is not None for check in item.case.checks)
        ),
        selected=frozenset(
            item.case.id
            for item in planned
            if is_named(item.skill_path, request.skills) and (not request.cases or item.case.id in request.cases)
        ),
    )


def _read(brought: Brought, asked: Asked, heap: Heap) -> Path:
    """Read the source by its form; where it lies."""
    source = Path(brought.source).resolve()
    try:
        is_made_by_runs = source.is_dir() and is_workspace(source)
        if brought.answer_name is not None and not is_made_by_runs:
            raise UsageError("--answer names a file of `outputs`, which only a workspace of skill-creator has")
        if is_made_by_runs:
            read_workspace(source, asked, heap, answer_name=brought.answer_name)
        elif source.is_dir():
            read_folder(source, heap)
        else:
            read_list(source, heap)
    except OSError as error:
        raise InputError(
            f"{source.name} cannot be read: {error.strerror or error}", hint="look at its rights"
        ) from error
    return source
