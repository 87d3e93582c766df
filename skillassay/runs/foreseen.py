"""What a run can cost, before it is made: the most of each judge, and what can be known of the candidate.

A judge's call can take the bytes of its whole request and all the output that it may have (see
:mod:`skillassay.models.budgeted`). The request is the one that would be sent, asked for with an empty answer; the
answer itself is counted as ``BYTES_PER_TOKEN`` bytes for each token that the candidate may write, which holds for
prose and not for every text. Retries come on top. How much a candidate reads is not known before: each turn reads the
ones before it, and nobody knows what a skill's tools will say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial

from skillassay.calibration.references import references_of
from skillassay.errors import Reason, Stage, TrialError
from skillassay.judging import behavior
from skillassay.judging.judge import ask_judge
from skillassay.models.base import Model, ModelIdentity, ModelReply, ModelRequest
from skillassay.models.budgeted import Most, most_of
from skillassay.models.money import add
from skillassay.models.naming import FIXTURE, REPLAY, parse_model
from skillassay.models.prices import Prices, load_prices
from skillassay.runs.plan import highest_cost
from skillassay.runs.preparation import Prepared
from skillassay.scoring.costs import AUTHORED, OWN_MODEL, RECORDED
from skillassay.suites.case import Case
from skillassay.suites.references import as_answer

BYTES_PER_TOKEN = 4
INPUT_UNKNOWN = "how much it reads is not known before"


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    """The most that one model of a run can cost. ``input_tokens`` and ``money`` are None where no bound is known, and
    ``why`` says why there is no money."""

    side: str
    label: str
    n_calls: int
    input_tokens: int | None
    output_tokens: int
    money: Decimal | None
    why: str | None


@dataclass(slots=True)
class _Measuring:
    """Stands where a judge would: notes the most that each request can use, and answers none."""

    most: list[Most] = field(default_factory=list)

    @property
    def identity(self) -> ModelIdentity:
        return ModelIdentity(provider="nobody", name="nobody", endpoint=None, is_fixture=False)

    def generate(self, request: ModelRequest) -> ModelReply:
        found = most_of(request)
        if found is not None:
            self.most.append(found)
        raise TrialError("only measured", reason=Reason.INTERRUPTED, stage=Stage.JUDGE)

    def close(self) -> None:
        """Nothing."""


def foresee(prepared: Prepared) -> tuple[Prices, tuple[Foreseen, ...]]:
    """The candidate and each judge of a prepared run, with the prices that the amounts rest on."""
    contract, models = prepared.contract, prepared.models
    prices = load_prices(prepared.project.root, contract.budget)
    calls = {(case.suite, case.id): _judge_calls(case, prepared) for case in prepared.cases}
    of_trials = [most for trial in prepared.plan.trials for most in calls[trial.suite, trial.case_id]]
    of_trials *= contract.judge.samples
    sides = [("judge", models.judge, of_trials + _references(prepared))]
    if models.second is not None:
        sides.append(("second judge", models.second, of_trials))
    return prices, (_candidate(prepared, prices), *(_judge(side, label, most, prices) for side, label, most in sides))


def _judge_calls(case: Case, prepared: Prepared) -> list[Most]:
    """The calls about one answer to a case, as large as they can be."""
    terms, found, longest = prepared.contract.judge, [], prepared.contract.candidate.max_output_tokens
    if (demanded := case.behavior) is not None:
        longest = behavior.MAX_OUTPUT_TOKENS
        empty = behavior.BehaviorAnswer(action=demanded.action, response="", refused=demanded.refused)
        found += _measured(partial(behavior.ask_verdict, case=case, answer=empty, timeout_s=terms.timeout_s))
    if case.rubric:
        found += _measured(partial(ask_judge, case=case, answer="", terms=terms))
    more = longest * BYTES_PER_TOKEN
    return [Most(input_tokens=one.input_tokens + more, output_tokens=one.output_tokens) for one in found]


def _references(prepared: Prepared) -> list[Most]:
    """The calls about references, which are known to the byte."""
    if not prepared.facts.n_references:
        return []
    timeout_s = prepared.contract.judge.timeout_s
    return [
        most
        for case, reference in references_of(prepared.cases).values()
        for most in _measured(
            partial(behavior.ask_verdict, case=case, answer=as_answer(reference), timeout_s=timeout_s)
        )
    ]


def _measured(ask: Callable[[Model], ModelReply]) -> list[Most]:
    measuring = _Measuring()
    with suppress(TrialError):
        ask(measuring)
    return measuring.most


def _judge(side: str, label: str, calls: Sequence[Most], prices: Prices) -> Foreseen:
    price = None if parse_model(label)[0] == REPLAY else prices.of(label)
    amounts = [] if price is None else [price.highest(most.input_tokens, most.output_tokens) for most in calls]
    return Foreseen(
        side=side,
        label=label,
        n_calls=len(calls),
        input_tokens=sum(most.input_tokens for most in calls),
        output_tokens=sum(most.output_tokens for most in calls),
        money=None if price is None else add(amounts),
        why=None if price is not None else _why(label, prices),
    )


def _candidate(prepared: Prepared, prices: Prices) -> Foreseen:
    label, terms = prepared.models.candidate, prepared.contract.candidate
    limits = {"candidate": terms.max_output_tokens, "judge": 0}
    cost = highest_cost(prepared.plan, turn_limit=terms.turn_limit, max_output_tokens=limits)
    return Foreseen(
        side="candidate",
        label=label,
        n_calls=cost["candidate_calls"],
        input_tokens=None,
        output_tokens=cost["candidate_output_tokens"],
        money=None,
        why=OWN_MODEL if prepared.facts.own_model else INPUT_UNKNOWN if prices.of(label) else _why(label, prices),
    )


def _why(label: str, prices: Prices) -> str:
    provider = parse_model(label)[0]
    return {FIXTURE: AUTHORED, REPLAY: RECORDED}.get(provider) or prices.why_unknown(label)


def foreseen_texts(prepared: Prepared) -> Iterator[str]:
    """The highest cost in words: a line for each model, and each limit of the budget that it is above."""
    prices, found = foresee(prepared)
    budget = prepared.contract.budget
    for one in found:
        read = "an unknown number of" if one.input_tokens is None else str(one.input_tokens)
        money = f"money not known: {one.why}" if one.money is None else prices.text(one.money)
        yield f"{one.side} {one.label}: at most {read} input and {one.output_tokens} output tokens, {money}"
    judges = [one for one in found if one.side != "candidate"]
    tokens = sum((one.input_tokens or 0) + one.output_tokens for one in judges)
    amounts = [one.money for one in judges if one.money is not None]
    for name, limit in (("tokens", budget.tokens), ("tokens_per_day", budget.tokens_per_day)):
        if limit is not None and tokens > limit:
            yield f"budget.judge.{name} is {limit} tokens, and {tokens} is above it: the run may end incomplete"
    for name, amount in (("money", budget.money), ("money_per_day", budget.money_per_day)):
        if amount is not None and amounts and add(amounts) > amount:
            shown = f"{prices.amount(add(amounts))} is above it: the run may end incomplete"
            yield f"budget.judge.{name} is {prices.amount(amount)}, and {shown}"
