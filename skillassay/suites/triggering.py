"""Trigger evals: each request several times, the whole catalog offered, and whether its skill was loaded. No judge.

One run asks one split, the training part unless told: its results guide a description, and those of validation say
whether that worked. What of a skill counts as loaded is the subject's to tell, by exact name and anywhere in the
conversation; a subject that cannot tell it is refused, since nothing of it would read as "not loaded".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from skillassay.agents.known import is_agent, load_agent
from skillassay.errors import InputError, UsageError
from skillassay.runs.preparation import EvalRequest
from skillassay.runs.selection import is_named, names_of, refuse_unknown
from skillassay.subjects.base import Subject
from skillassay.suites.looks import Looks, record_looks
from skillassay.suites.routing import Engines, RoutingRun, choose_engines
from skillassay.suites.trigger_rates import Ran, TriggerRate, build_rate
from skillassay.suites.triggers import Split, TriggerCase


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerRun:
    """A project ready for trigger evals: who answers, and the cases of one split."""

    routes: RoutingRun
    split: Split
    repeats: int
    cases: tuple[TriggerCase, ...]
    n_elsewhere: int

    @property
    def threshold(self) -> Fraction:
        """From which share of its runs on a request loads a skill."""
        return self.routes.project.contract.triggers.threshold

    @property
    def names(self) -> dict[str, str]:
        """The skills' names by folder."""
        return {ready.path: ready.skill.name for ready in self.routes.project.usable}


def prepare_triggers(request: EvalRequest, *, subjects: tuple[str, ...], split: Split) -> TriggerRun:
    """Load, check and choose; ``n_elsewhere`` cases are in the other split. Raises :class:`InputError` when something
    is broken or no case is there, :class:`UsageError` for what could never be answered.
    """
    routes = choose_engines(request, subjects, what="trigger")
    for kind in routes.subjects:
        if is_agent(kind) and load_agent(kind).skill_tool is None:
            message = f"{kind} does not tell which skills it loaded, so that nothing could be said of a request"
            raise UsageError(message, hint="take another subject")
    cases = routes.project.triggers
    refuse_unknown(request.cases, {case.id for case in cases}, "trigger case")
    refuse_unknown(request.skills, names_of(ready.path for ready in routes.project.usable), "skill")
    wanted = [
        case
        for case in cases
        if (not request.cases or case.id in request.cases) and is_named(str(case.skill_path), request.skills)
    ]
    chosen = tuple(case for case in wanted if case.split is split)
    other = next(one for one in Split if one is not split)
    if not chosen:
        hint = "write evals/triggers.json (docs/reference/triggers.md)"
        hint = f"the {len(wanted)} that fit are in {other.value}: --split {other.value}" if wanted else hint
        raise InputError(f"no trigger case of the split {split.value} is planned", hint=hint)
    return TriggerRun(
        routes=routes, split=split, repeats=request.repeats, cases=chosen, n_elsewhere=len(wanted) - len(chosen)
    )


def note_looks(run: TriggerRun) -> tuple[Looks, ...]:
    """Write down that validation is looked at, before it is; nothing for the training part."""
    if run.split is Split.TRAIN:
        return ()
    project = run.routes.project
    digests = {ready.path: ready.digest for ready in project.usable}
    return record_looks(project.root, run.cases, digests=digests, model=run.routes.model, subjects=run.routes.subjects)


def run_triggers(run: TriggerRun, engines: Engines) -> Iterator[tuple[str, TriggerRate]]:
    """The rate of each request, with the subject that it was sent through."""
    names = run.names
    for case in run.cases:
        name = names[str(case.skill_path)]
        for kind, subject in engines.subjects:
            runs = [_once(engines, subject, case.query) for _ in range(run.repeats)]
            yield kind, build_rate(case.id, skill=name, should_trigger=case.should_trigger, runs=runs)


def _once(engines: Engines, subject: Subject, query: str) -> Ran:
    result = engines.asked(subject, query)
    if result.error is None:
        return Ran(loaded=result.activated)
    error = result.error
    why = f"{error.reason.value} ({error.stage.value}): {error.message}"
    return Ran(unscored=error.reason.value, why=why)
