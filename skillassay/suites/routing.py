"""Routing: does a request lead to the right skill and script, or to none? Owns how expectation and run are compared.

Expectations are asserted, never scored. A request that could not be answered (an error) is neither right nor wrong.
Each case is sent through every subject that was asked for, so that engines stand side by side.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from skillassay.errors import InputError, TrialError, UsageError
from skillassay.isolation.process import Limits, remove_tree, require_isolation
from skillassay.models.naming import FIXTURE, REPLAY, parse_model
from skillassay.models.opening import Opening, api_keys_in_environment, open_model
from skillassay.patterns import Pattern, PatternTimeout
from skillassay.project import Project, load_project, require_usable
from skillassay.runs.hushed import hushed
from skillassay.runs.keeping import kept_words
from skillassay.runs.plan import Mode
from skillassay.runs.preparation import EvalRequest, chosen_models, load_fixtures
from skillassay.runs.retention import HASH, HIDDEN, Retention, why_words
from skillassay.runs.snapshot import take_snapshot
from skillassay.subjects.base import Subject, SubjectRequest, SubjectResult
from skillassay.subjects.offering import Offering
from skillassay.subjects.opening import SubjectParts, confirmed_subject, open_subject
from skillassay.suites.case import RoutingCase
from skillassay.suites.expectation import Expectation
from skillassay.tools import script_policy
from skillassay.transcript import ModelTurn, ToolCall

PASS, FAIL, UNSCORED = "PASS", "FAIL", "UNSCORED"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingResult:
    """What one request led to through one subject. ``status`` is PASS, FAIL or UNSCORED; ``why`` says what differs or
    went wrong. ``calls`` are all tool calls in order, each as name and skill/file; ``answer`` is None without one.
    Where the contract keeps no texts, none of them holds a word that a model may have made up.
    """

    case: RoutingCase
    subject: str
    status: str
    activated: tuple[str, ...]
    scripts: tuple[str, ...]
    calls: tuple[str, ...]
    answer: str | None
    input_tokens: int | None
    estimated: bool
    why: str | None
    duration_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingRun:
    """A project ready for routing: its cases and who answers."""

    project: Project
    model: str
    subjects: tuple[str, ...]
    request: EvalRequest

    @property
    def is_fixture(self) -> bool:
        """Whether the answers are authored ones."""
        return parse_model(self.model)[0] == FIXTURE

    @property
    def cases(self) -> tuple[RoutingCase, ...]:
        """The chosen cases."""
        wanted = self.request.cases
        return tuple(case for case in self.project.routing if not wanted or case.id in wanted)


def prepare_routing(request: EvalRequest, *, subjects: Sequence[str] = ()) -> RoutingRun:
    """Load and check; without ``subjects`` it is the contract's. Raises :class:`InputError` when something is broken or
    no case is there, :class:`UsageError` for what could never be answered.
    """
    run = choose_engines(request, subjects, what="routing")
    known = [case.id for case in run.project.routing]
    for name in request.cases:
        if name not in known:
            raise UsageError(f"there is no routing case {name!r}", hint=f"cases: {', '.join(known[:20]) or 'none'}")
    if not run.cases:
        raise InputError("no routing case is planned", hint="write evals/routing.json (docs/reference/suites.md)")
    return run


def choose_engines(request: EvalRequest, subjects: Sequence[str], *, what: str) -> RoutingRun:
    """A loaded and checked project with who answers. Raises as :func:`prepare_routing`, but for cases."""
    project = load_project(request.root)
    require_usable(project, what)
    contract = project.contract
    run = RoutingRun(
        project=project,
        model=chosen_models(request, contract).candidate,
        subjects=tuple(dict.fromkeys(subjects)) or (confirmed_subject(None, contract.candidate.subject),),
        request=request,
    )
    if parse_model(run.model)[0] == REPLAY:
        # A recording holds calls of the suites' trials, and these requests are none.
        hint = "name a live model, or leave --model out; `eval` replays"
        raise UsageError(f"no {what} case can be answered from a recording: {run.model}", hint=hint)
    return run


@dataclass(frozen=True, slots=True, kw_only=True)
class Engines:
    """The subjects of a run, each opened, and what is kept of their words."""

    subjects: tuple[tuple[str, Subject], ...]
    retention: Retention

    def asked(self, subject: Subject, query: str) -> SubjectResult:
        """One request in progressive mode, in a folder of its own; what is not kept is hidden from it already."""
        workspace = Path(tempfile.mkdtemp(prefix="skillassay-"))
        try:
            request = SubjectRequest(query=query, files=(), mode=Mode.PROGRESSIVE, skill_path="")
            result = subject.answer(request, workspace)
        finally:
            remove_tree(workspace)
        return _without_texts(result, self.retention) if self.retention.hides else result


def run_routing(run: RoutingRun) -> Iterator[RoutingResult]:
    """Send each request in progressive mode through each subject, one after the other."""
    with open_engines(run) as engines:
        for case in run.cases:
            for kind, subject in engines.subjects:
                yield _route(kind, subject, case, engines)


@contextmanager
def open_engines(run: RoutingRun) -> Iterator[Engines]:
    """All subjects, opened before the first request: one that cannot run here stops the run before a model is called.
    The whole catalog is offered.
    """
    contract, request = run.project.contract, run.request
    rules = load_fixtures(run.project.root, contract) if run.is_fixture else None
    how = Opening(rules=rules, base_url=request.base_url, root=run.project.root)
    with ExitStack() as stack:
        if contract.retention == HASH:
            stack.enter_context(hushed(is_heard=lambda: False))  # one request after the other, in this thread
        frozen = stack.enter_context(take_snapshot(run.project.usable, ()))
        model = stack.enter_context(open_model(run.model, how))
        probe = require_isolation(request.require_isolation)
        keys, allow = api_keys_in_environment(), request.allow_unisolated
        parts = SubjectParts(
            model=model,
            direct=model,
            terms=contract.candidate,
            offering=Offering(
                catalog=frozen.catalog, prompt_skills=frozen.prompt_skills, eager_scope=contract.eager_scope
            ),
            isolation=probe.level,
            policy=script_policy(probe.level, keys, allow_unisolated=allow, unbounded=probe.unbounded),
            limits=Limits(),
        )
        opened = [(kind, stack.enter_context(open_subject(kind, parts))) for kind in run.subjects]
        names = kept_words([frozen.catalog], subjects=run.subjects, models=())
        yield Engines(subjects=tuple(opened), retention=Retention(rule=contract.retention, names=names))


def _route(kind: str, subject: Subject, case: RoutingCase, engines: Engines) -> RoutingResult:
    started = time.monotonic()
    retention = engines.retention
    result = engines.asked(subject, case.query)
    status, why = _compare(case, result)
    turns = [turn for turn in result.transcript.turns if isinstance(turn, ModelTurn)]
    calls = [call for turn in turns for call in turn.calls]
    return RoutingResult(
        case=case,
        subject=kind,
        status=status,
        activated=result.activated,
        scripts=result.scripts,
        calls=retention.known([call.name for call in calls]) if retention.hides else tuple(map(_call_text, calls)),
        answer=HIDDEN if retention.hides and result.answer is not None else result.answer,
        input_tokens=result.spent.usage.input_tokens,
        estimated=result.spent.usage.estimated,
        why=why,
        duration_s=time.monotonic() - started,
    )


def _without_texts(result: SubjectResult, retention: Retention) -> SubjectResult:
    """The result as it is compared: with its answer, which is not told, and without anything else a model wrote."""
    error = result.error
    if error is not None:
        error = TrialError(why_words(error.reason, error.kind), reason=error.reason, stage=error.stage)
    activated, scripts = retention.known(result.activated), retention.known(result.scripts)
    return replace(result, activated=activated, scripts=scripts, error=error)


def _compare(case: RoutingCase, result: SubjectResult) -> tuple[str, str | None]:
    """The status of a request, and why it is not PASS."""
    if result.error is not None:
        return UNSCORED, f"{result.error.reason.value} ({result.error.stage.value}): {result.error.message}"
    if result.answer is None:
        return FAIL, "no answer within the turn limit"
    expected = Expectation(skills=case.expect_skills, scripts=case.expect_scripts)
    why = expected.difference(activated=result.activated, scripts=result.scripts)
    try:
        missing = [text for text in case.expect_answer if Pattern(text).search(result.answer) is None]
    except PatternTimeout as error:
        return UNSCORED, f"check_error (check): {error}"
    if why is None and missing:
        why = f"the answer does not hold {missing[0]}"
    return (PASS, None) if why is None else (FAIL, why)


def _call_text(call: ToolCall) -> str:
    """A call by its name and what it is about: the skill, and a file of it."""
    about = [value for key in ("skill_name", "file_path") if isinstance(value := call.args.get(key), str)]
    return " ".join([call.name, "/".join(about)]).rstrip()
