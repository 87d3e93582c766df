"""Routing: does a request lead to the right skill and script, or to none? Owns how expectation and run are compared.

Expectations are asserted, never scored. A request that could not be answered (an error) is neither right nor wrong.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from skillassay.case import RoutingCase
from skillassay.errors import InputError, UsageError
from skillassay.expectation import Expectation
from skillassay.models.opening import FIXTURE, api_keys_in_environment, open_model, parse_model
from skillassay.plan import Mode
from skillassay.preparation import EvalRequest, load_fixtures
from skillassay.process import Limits, detect_isolation, remove_tree
from skillassay.project import Project, load_project, require_usable
from skillassay.snapshot import take_snapshot
from skillassay.subjects.base import SubjectRequest
from skillassay.subjects.loop import LoopSubject
from skillassay.tools import script_policy


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingResult:
    """What one request led to. ``status`` is PASS, FAIL or UNSCORED; ``why`` says what differs or went wrong."""

    case: RoutingCase
    status: str
    activated: tuple[str, ...]
    scripts: tuple[str, ...]
    input_tokens: int | None
    estimated: bool
    why: str | None
    duration_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingRun:
    """A project ready for routing: its cases and who answers."""

    project: Project
    model: str
    is_fixture: bool
    request: EvalRequest

    @property
    def cases(self) -> tuple[RoutingCase, ...]:
        """The chosen cases."""
        wanted = self.request.cases
        return tuple(case for case in self.project.routing if not wanted or case.id in wanted)


def prepare_routing(request: EvalRequest) -> RoutingRun:
    """Load and check. Raises :class:`InputError` when something is broken or no case is there."""
    project = load_project(request.root)
    require_usable(project, "routing")
    model = request.model or project.contract.candidate.model
    run = RoutingRun(project=project, model=model, is_fixture=parse_model(model)[0] == FIXTURE, request=request)
    known = [case.id for case in project.routing]
    for name in request.cases:
        if name not in known:
            raise UsageError(f"there is no routing case {name!r}", hint=f"cases: {', '.join(known[:20]) or 'none'}")
    if not run.cases:
        raise InputError("no routing case is planned", hint="write evals/routing.json (docs/reference/suites.md)")
    return run


def run_routing(run: RoutingRun) -> Iterator[RoutingResult]:
    """Send each request through our own loop in progressive mode, one after the other."""
    contract = run.project.contract
    rules = load_fixtures(run.project.root, contract) if run.is_fixture else None
    isolation = detect_isolation()
    with take_snapshot(run.project.usable, ()) as frozen, open_model(run.model, rules=rules) as model:
        subject = LoopSubject(
            model=model,
            terms=contract.candidate,
            catalog=frozen.catalog,
            prompt_skills=frozen.prompt_skills,
            eager_scope=contract.eager_scope,
            isolation=isolation,
            policy=script_policy(isolation, api_keys_in_environment(), allow_unisolated=run.request.allow_unisolated),
            limits=Limits(),
        )
        for case in run.cases:
            yield _route(subject, case)


def _route(subject: LoopSubject, case: RoutingCase) -> RoutingResult:
    started = time.monotonic()
    workspace = Path(tempfile.mkdtemp(prefix="skillassay-"))
    try:
        request = SubjectRequest(query=case.query, files=(), mode=Mode.PROGRESSIVE, skill_path="")
        result = subject.answer(request, workspace)
    finally:
        remove_tree(workspace)
    why: str | None
    if result.error is not None:
        status, why = "UNSCORED", f"{result.error.reason.value} ({result.error.stage.value}): {result.error.message}"
    else:
        expected = Expectation(skills=case.expect_skills, scripts=case.expect_scripts)
        why = expected.difference(activated=result.activated, scripts=result.scripts)
        if result.turn_limit:
            why = "no answer within the turn limit"
        status = "PASS" if why is None else "FAIL"
    return RoutingResult(
        case=case,
        status=status,
        activated=result.activated,
        scripts=result.scripts,
        input_tokens=result.spent.usage.input_tokens,
        estimated=result.spent.usage.estimated,
        why=why,
        duration_s=time.monotonic() - started,
    )
