"""Who is asked in a run: both models, opened, with everything that stands between a trial and the wire.

Owns the order of these layers, seen from the trial: the cache answers what it knows; the budget of the judges refuses
what does not fit; a recorder writes down what comes back; a pace keeps to the quotas that the user named; the
provider's model speaks. Cache and recorder exclude each other: a recording holds what was said on the wire, and a
refusal of the budget was not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from skillassay.calibration.references import references_of, slot_of
from skillassay.contract.terms import LOOP, BudgetTerms
from skillassay.errors import EnvironmentFault, Reason, TrialError
from skillassay.fixture.base import FixtureRules
from skillassay.models.base import Model, ModelIdentity, ModelReply, ModelRequest, Noticed
from skillassay.models.budgeted import Budget
from skillassay.models.caching import CachingModel
from skillassay.models.naming import AGENT, ANSWERS, FIXTURE, MADE_ELSEWHERE, OFFLINE, REPLAY, parse_model
from skillassay.models.opening import Opening, identity_unasked, judge_has_own_variables, open_model
from skillassay.models.pacing import Paces
from skillassay.models.prices import load_prices
from skillassay.models.recording import Kept, Recorder, RecordingModel
from skillassay.models.reply_store import ReplyStore
from skillassay.models.spending import SpendingLedger
from skillassay.runs.preparation import Prepared
from skillassay.runs.store import RUNS, new_run_id

RECORDING_FILE = "recording.jsonl"
"""Where in its run's folder a recording lies that could not be written where it was to be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The models of a run. ``second`` is its second judge, if it has one; ``direct`` is the candidate without layers,
    for a subject that asks it by itself.

    ``stop`` gives up what waits for its turn before anything of its trial was sent. ``spend_for`` names the run that
    the judges spend for from here on; before, a budget refuses them. ``save`` is called once, when the run of this id
    is over and whole: it writes the recording, if one was asked for, and says where it lies.
    """

    candidate: Model
    judge: Model
    second: Model | None
    direct: Model
    stop: Callable[[], None]
    spend_for: Callable[[str], None]
    save: Callable[[str], Kept | None]


@contextmanager
def open_models(prepared: Prepared, *, warn: Callable[[str], None]) -> Iterator[Asked]:
    """Open candidate and judge; a judge that cannot be reached is stood in for by one that answers nothing."""
    how = Opening(rules=prepared.rules, root=prepared.project.root, base_url=prepared.request.base_url)
    with ExitStack() as stack:
        direct = _open_candidate(stack, prepared, how)
        judge = direct if _is_shared(prepared) else _open_judge(stack, prepared, how, warn)
        second = _open_second(stack, prepared, how, warn)
        if isinstance(judge, Noticed) and judge.notice:
            warn(judge.notice)
        layers = _Layers(
            paces=Paces(rpm=prepared.request.rpm, tpm=prepared.request.tpm),
            budget=open_budget(prepared.project.root, prepared.contract.budget, warn=warn),
            recorder=Recorder() if prepared.request.record_to is not None else None,
            cache=_open_cache(
                stack, prepared, [one.identity for one in (direct, judge, second) if one is not None], warn
            ),
            # A request of no known trial is never kept, and nothing of a hidden case may be.
            trials={
                trial.slot: trial.trial_id for trial in prepared.plan.trials if trial.suite != prepared.hidden_suite
            }
            | {slot_of(p): slot_of(p) for p in references_of(prepared.cases) if p[0] != prepared.hidden_suite},
        )
        models = {"candidate": direct.identity, "judge": judge.identity}
        models |= {} if second is None else {"second": second.identity}
        if prepared.subject not in {LOOP, ANSWERS} and (prepared.request.rpm or prepared.request.tpm):
            warn(f"{prepared.subject} asks its model by itself, so --rpm and --tpm hold for the judge alone")
        yield Asked(
            candidate=layers.over(direct, "candidate"),
            judge=layers.over(judge, "judge"),
            second=None if second is None else layers.over(second, "second"),
            direct=direct,
            stop=layers.paces.stop,
            spend_for=layers.budget.begin,
            save=lambda run_id: _save(layers.recorder, prepared, models, run_id),
        )


@contextmanager
def open_judge_alone(
    root: Path, spec: str, *, budget: Budget, rules: FixtureRules | None = None, paces: Paces | None = None
) -> Iterator[Model]:
    """The judge of a command that asks nobody else, at its pace. Here a judge that cannot be reached is an error: there
    is nothing that could go on without one. Raises as :func:`skillassay.models.opening.open_model` does. The command
    is a run of its own to ``budget``.
    """
    budget.begin(f"judge-{new_run_id()}")
    paces = paces or Paces(rpm=None, tpm=None)
    with open_model(spec, Opening(side="judge", root=root, rules=rules)) as judge:
        yield _Layers(paces=paces, budget=budget, recorder=None, cache=None, trials={}).over(judge, "judge")


def open_budget(root: Path, terms: BudgetTerms, *, warn: Callable[[str], None]) -> Budget:
    """What the judges of a project may spend, with its prices and its file of spending."""
    return Budget(terms=terms, prices=load_prices(root, terms), ledger=SpendingLedger(root), warn=warn)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layers:
    """What stands before both models of a run."""

    paces: Paces
    budget: Budget
    recorder: Recorder | None
    cache: ReplyStore | None
    trials: Mapping[str, str]

    def over(self, model: Model, side: str) -> Model:
        """``model`` behind the layers that it needs."""
        if model.identity.is_replay or isinstance(model, _AbsentJudge):
            return model  # there is nothing to wait for, and a recording's errors are another run's
        paced = self.paces.over(model)
        if self.recorder is not None:
            paced = RecordingModel(model=paced, side=side, recorder=self.recorder)
        if side != "candidate":
            paced = self.budget.over(paced)
        if self.recorder is None and self.cache is not None and _may_be_cached(model.identity):
            return CachingModel(model=paced, side=side, store=self.cache, trials=self.trials)
        return paced


def _may_be_cached(identity: ModelIdentity) -> bool:
    """Not an agent: which program answers, and with what settings, no request says."""
    return identity.provider not in OFFLINE and identity.provider != AGENT


def _open_cache(
    stack: ExitStack, prepared: Prepared, models: Sequence[ModelIdentity], warn: Callable[[str], None]
) -> ReplyStore | None:
    if not prepared.request.cache:
        return None
    if not any(map(_may_be_cached, models)):
        warn("the cache is off: authored and recorded answers cost nothing, and an agent's are never kept")
        return None
    store = ReplyStore(prepared.project.root, warn=warn)
    stack.callback(store.close)
    return store


def _save(
    recorder: Recorder | None, prepared: Prepared, models: Mapping[str, ModelIdentity], run_id: str
) -> Kept | None:
    if recorder is None or prepared.request.record_to is None:
        return None
    today, otherwise = datetime.now(UTC).date().isoformat(), f"{RUNS}/{run_id}/{RECORDING_FILE}"
    root, to = prepared.project.root, prepared.request.record_to
    return recorder.keep(root, to, models, recorded_on=today, otherwise=otherwise)


def _open_candidate(stack: ExitStack, prepared: Prepared, how: Opening) -> Model:
    if prepared.subject != ANSWERS:
        return stack.enter_context(open_model(prepared.models.candidate, how))
    identity = ModelIdentity(provider=ANSWERS, name=MADE_ELSEWHERE, endpoint=None, is_fixture=False)
    return _AbsentJudge(identity=identity, why="the answers were made elsewhere, and nobody is asked for one")


def _is_shared(prepared: Prepared) -> bool:
    if prepared.subject == ANSWERS:
        return False
    models, apart = prepared.models, prepared.request.judge_base_url is not None or judge_has_own_variables()
    if parse_model(models.judge)[0] == REPLAY:
        return False  # each side has its own part of a recording
    return models.judge == models.candidate and (models.judge == FIXTURE or not apart)


def _open_judge(stack: ExitStack, prepared: Prepared, how: Opening, warn: Callable[[str], None]) -> Model:
    models, own = prepared.models, prepared.request.judge_base_url
    base_url = own or (how.base_url if models.judge == models.candidate else None)
    how = replace(how, side="judge", base_url=base_url)
    return _open_or_absent(stack, models.judge, how, lambda why: warn(f"{_NO_JUDGE}: {why}"))


def _open_second(stack: ExitStack, prepared: Prepared, how: Opening, warn: Callable[[str], None]) -> Model | None:
    """The second judge. It is opened by itself, whoever else has its name: its words must be its own."""
    models, own = prepared.models, prepared.request.second_judge_base_url
    if models.second is None:
        return None
    base_url = own or (how.base_url if models.second == models.candidate else None)
    how = replace(how, side="second", base_url=base_url)
    return _open_or_absent(stack, models.second, how, lambda why: warn(f"{_NO_SECOND}: {why}"))


_NO_JUDGE = "the judge cannot be asked, so criteria stay unscored"
_NO_SECOND = "the second judge cannot be asked, so what is critical stays unscored"


def _open_or_absent(stack: ExitStack, spec: str, how: Opening, warn: Callable[[str], None]) -> Model:
    try:
        return stack.enter_context(open_model(spec, how))
    except EnvironmentFault as fault:
        warn(fault.message)
        provider, name = parse_model(spec)
        # Where it would be asked, so that the run is the same one when the judge can be.
        return _AbsentJudge(identity=identity_unasked(provider, name, how), why=fault.message)


@dataclass(frozen=True, slots=True, kw_only=True)
class _AbsentJudge:
    """Stands for a judge that this machine cannot reach: checks still decide, criteria stay unscored."""

    identity: ModelIdentity
    why: str

    def generate(self, request: ModelRequest) -> ModelReply:
        raise TrialError(self.why, reason=Reason.MISSING_CAPABILITY, stage=request.stage)

    def close(self) -> None:
        """Nothing to release."""
