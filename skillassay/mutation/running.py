"""Running a mutation test: the skill as it is, then each mutant, through the layers of any run. Owns the order.

The unmutated skill comes first: a case that does not pass there can kill nothing and is not asked about any mutant.
Mutants run one after the other, the trials of each at the same time. All of a mutant's trials fit into the calls that
are left, or none of them begins. Of the user's files only copies are read, taken and verified before the first trial.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillassay.agents.about import agents_of
from skillassay.agents.known import own_model_of
from skillassay.errors import UsageError
from skillassay.mutation.baseline import baseline_records, copy_records
from skillassay.mutation.mutants import Mutant
from skillassay.mutation.placing import Placed
from skillassay.mutation.preparing import MutationPlan, most_calls
from skillassay.mutation.session import MUTATIONS, create_session, read_session, refuse_other_session, session_folder
from skillassay.mutation.verdicts import Unmutated, Verdict, judge_mutant, last_records, read_unmutated
from skillassay.prompts import Offered
from skillassay.runs.asking import Asked, open_models
from skillassay.runs.attempts import again_of, build_todo
from skillassay.runs.header import build_header
from skillassay.runs.hushed import hushed
from skillassay.runs.identities import describe_models
from skillassay.runs.keeping import kept_words
from skillassay.runs.plan import Plan
from skillassay.runs.rebuild import refuse_other_run
from skillassay.runs.record import TrialRecord
from skillassay.runs.retention import HASH, Retention, drop_key
from skillassay.runs.runner import Listener, execute, is_trial_running
from skillassay.runs.snapshot import Snapshot, take_snapshot
from skillassay.runs.store import RunWriter, new_run_id, now_utc, read_records
from skillassay.runs.trial import TrialParts
from skillassay.subjects.offering import Offering
from skillassay.subjects.opening import SubjectParts, open_subject, subject_notice
from skillassay.tools import Catalog


@dataclass(frozen=True, slots=True, kw_only=True)
class MutationView:
    """A mutation test as far as it got: what its header says, the cases unmutated, and what became of each mutant.

    ``n_left`` trials have no record yet; ``calls`` is what this command may call and did.
    """

    plan: MutationPlan
    header: Mapping[str, Any]
    cases: tuple[Unmutated, ...]
    verdicts: tuple[tuple[Mutant, Verdict], ...]
    n_left: int
    interrupted: bool
    calls: tuple[int | None, int]

    @property
    def place(self) -> str:
        """Where the record lies, below the project."""
        return f"{MUTATIONS}/{self.header['id']}"


@dataclass(slots=True)
class _Counted:
    """A listener's view of all trials together, and the calls that were made."""

    inner: Listener
    n_planned: int
    n_done: int = 0
    n_calls: int = 0

    def trial_done(self, record: TrialRecord, n_done: int, n_planned: int) -> None:
        del n_done, n_planned  # of one mutant
        self.n_done += 1
        self.n_calls += sum(side.n_calls for side in (record.candidate, record.judge, record.second) if side)
        self.inner.trial_done(record, min(self.n_done, self.n_planned), self.n_planned)

    def warn(self, text: str) -> None:
        self.inner.warn(text)

    def stopping(self, n_under_way: int) -> None:
        self.inner.stopping(n_under_way)


@dataclass(slots=True)
class _Session:
    """What runs trials until nothing is left, the calls are spent, or somebody stops it."""

    plan: MutationPlan
    frozen: Snapshot
    asked: Asked
    writer: RunWriter
    listener: _Counted
    retry: bool
    before: tuple[TrialRecord, ...] = ()
    interrupted: bool = False
    spent: bool = False

    def run(self) -> None:
        """Everything that has no record."""
        self.before = tuple(read_records(self.writer.folder))
        self._run_plan(self.plan.prepared.plan, None)
        cases = read_unmutated(self.plan.trials, last_records(read_records(self.writer.folder)))
        able = [(case.suite, case.case_id) for case in cases if case.can_kill]
        self.listener.n_planned = len(self.plan.trials) + len(self.plan.mutants) * sum(
            case.planned for case in cases if case.can_kill
        )
        copies = next(one for one in self.frozen.catalog.skills if one.path == self.plan.ready.path).files
        placed = Placed(self.plan.ready, {path: file.source for path, file in copies.items()})
        for digest, mutant in self.plan.mutants.items() if able else ():
            if self.interrupted or self.spent:
                break
            ready = placed.build(mutant)
            assert ready.digest == digest
            with take_snapshot([ready], ()) as own:
                self._run_plan(self.plan.trials_of(digest, able), own)
        placed.remove()

    def _run_plan(self, plan: Plan, own: Snapshot | None) -> None:
        todo = build_todo(plan, self.before, retry_unscored=self.retry)
        prepared, limit = self.plan.prepared, self.plan.request.max_calls
        if limit is not None and self.listener.n_calls + most_calls(prepared, todo.trials) > limit:
            self.spent = bool(todo.trials)
        self.listener.n_done += todo.n_planned - len(todo.trials)
        if not todo.trials or self.spent:
            return
        with open_subject(prepared.subject, self._subject_parts(own)) as subject:
            parts = TrialParts(
                subject=subject,
                judge=self.asked.judge,
                second=self.asked.second,
                judge_terms=prepared.contract.judge,
                cases={(case.suite, case.id): case for case in self.frozen.cases},
                checks=prepared.project.checks,
                max_age_days=prepared.contract.freshness_max_age_days,
            )
            jobs, stop = prepared.request.jobs, self.asked.stop
            self.interrupted = execute(todo, parts, self.writer, jobs=jobs, listener=self.listener, on_stop=stop)

    def _subject_parts(self, own: Snapshot | None) -> SubjectParts:
        prepared, offered = self.plan.prepared, _offered(self.frozen, own)
        return SubjectParts(
            model=self.asked.candidate,
            direct=self.asked.direct,
            terms=prepared.contract.candidate,
            offering=Offering(
                catalog=offered.catalog,
                prompt_skills=offered.prompt_skills,
                eager_scope=prepared.contract.eager_scope,
            ),
            isolation=prepared.isolation,
            policy=prepared.policy,
            limits=prepared.limits,
        )


def _offered(frozen: Snapshot, own: Snapshot | None) -> Offered:
    """The whole catalog, with the skill of ``own`` in the place of the one at its path."""
    skills = {skill.path: skill for skill in (() if own is None else own.catalog.skills)}
    texts = {skill.path: skill for skill in (() if own is None else own.prompt_skills)}
    return Offered(
        catalog=Catalog(skills=tuple(skills.get(skill.path, skill) for skill in frozen.catalog.skills)),
        prompt_skills=tuple(texts.get(skill.path, skill) for skill in frozen.prompt_skills),
    )


def run_mutation(
    plan: MutationPlan,
    listener: Listener,
    *,
    resume: str | None = None,
    retry: bool = False,
    began: Callable[[str], None],
) -> MutationView:
    """Run (or go on with) a mutation test. ``began`` hears its id before the first trial.

    Raises :class:`StoreError` when the record cannot be written, :class:`InputError` where another one would go on.
    """
    then = None
    if resume is not None:
        folder = session_folder(plan.prepared.project.root, resume)
        then = read_session(folder)
        refuse_other_session(plan.told, then["mutation"], name=folder.name)
        if not retry and _n_left(plan, folder) == 0:
            return _view(plan, then, folder, _Counted(inner=listener, n_planned=0), interrupted=False)
    else:
        _require_calls(plan)
    return _run(plan, listener, then=then, retry=retry, began=began)


def _run(
    plan: MutationPlan,
    listener: Listener,
    *,
    then: Mapping[str, Any] | None,
    retry: bool,
    began: Callable[[str], None],
) -> MutationView:
    """Everything that has no record: of a new session, or of the one with the header ``then``."""
    with ExitStack() as stack:
        if plan.prepared.contract.retention == HASH:
            stack.enter_context(hushed(is_heard=is_trial_running))
        frozen = stack.enter_context(take_snapshot(plan.prepared.project.usable, plan.prepared.cases))
        asked = stack.enter_context(open_models(plan.prepared, warn=listener.warn))
        header: Mapping[str, Any] = _header(plan, asked)
        records = baseline_records(plan, header)
        writer = stack.enter_context(_opened(plan, frozen, header, then))
        header = then or header
        asked.spend_for(writer.folder.name)
        for notice in filter(None, (subject_notice(plan.prepared.subject), *plan.prepared.notices)):
            listener.warn(notice)
        began(writer.folder.name)
        writer.event("run_started" if then is None else "run_resumed", n_tried_again=0)
        copy_records(writer, records)
        counted = _Counted(inner=listener, n_planned=len(plan.trials) * (1 + len(plan.mutants)))
        session = _Session(plan=plan, frozen=frozen, asked=asked, writer=writer, listener=counted, retry=retry)
        session.run()
        writer.event("interrupted" if session.interrupted else "run_finished", decision="mutation")
        view = _view(plan, header, writer.folder, counted, interrupted=session.interrupted)
        if not view.n_left:
            _end(writer.folder)
        return view


def _end(folder: Path) -> None:
    """Forget the key of the hashes, if nothing can be tried again either."""
    if not any(map(again_of, last_records(read_records(folder)).values())):
        drop_key(folder)


def _require_calls(plan: MutationPlan) -> None:
    limit, least = plan.request.max_calls, most_calls(plan.prepared, plan.trials)
    if limit is not None and limit < least and plan.request.baseline is None:
        message = f"--max-calls {limit} does not hold the unmutated skill's {len(plan.trials)} trials"
        raise UsageError(message, hint=f"they take at most {least} calls; a mutant takes as many")


def _header(plan: MutationPlan, asked: Asked) -> dict[str, Any]:
    prepared = plan.prepared
    second = None if asked.second is None else asked.second.identity
    own = own_model_of(prepared.subject)
    models = describe_models(asked.candidate.identity, asked.judge.identity, own_model=own, second=second)
    agents = agents_of(prepared.subject, prepared.models.judge, prepared.isolation)
    header = build_header(prepared, run_id=new_run_id(), created_at=now_utc(), models=models, agents=agents)
    return {**header, "mutation": plan.told}


@contextmanager
def _opened(
    plan: MutationPlan, frozen: Snapshot, header: Mapping[str, Any], then: Mapping[str, Any] | None
) -> Iterator[RunWriter]:
    prepared, root = plan.prepared, plan.prepared.project.root
    models = [header["models"][side]["name"] for side in ("candidate", "judge", "second") if side in header["models"]]
    names = kept_words([frozen.catalog], subjects=[prepared.subject], models=filter(None, models))
    retention = Retention(rule=prepared.contract.retention, names=names)
    if then is None:
        writer = create_session(root, header, retention)
    else:
        refuse_other_run(header, then)
        writer = RunWriter.reopen(root / MUTATIONS / str(then["id"]), retention)
    try:
        yield writer
    finally:
        writer.close()


def _n_left(plan: MutationPlan, folder: Path) -> int:
    """How many trials have no record, as far as it is known which cases can kill."""
    last = last_records(read_records(folder))
    able = [(case.suite, case.case_id) for case in read_unmutated(plan.trials, last) if case.can_kill]
    mutants = [plan.trials_of(digest, able).trials for digest in (plan.mutants if able else ())]
    return sum(trial.trial_id not in last for trials in (plan.trials, *mutants) for trial in trials)


def _view(
    plan: MutationPlan, header: Mapping[str, Any], folder: Path, counted: _Counted, *, interrupted: bool
) -> MutationView:
    last = last_records(read_records(folder))
    cases = read_unmutated(plan.trials, last)
    able = [(case.suite, case.case_id) for case in cases if case.can_kill]
    return MutationView(
        plan=plan,
        header=header,
        cases=cases,
        verdicts=tuple(
            (mutant, judge_mutant(mutant.id, plan.trials_of(digest, able).trials, last, cases))
            for digest, mutant in plan.mutants.items()
        ),
        n_left=_n_left(plan, folder),
        interrupted=interrupted,
        calls=(plan.request.max_calls, counted.n_calls),
    )
