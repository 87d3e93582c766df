"""A judge with a budget: no attempt is made that could pass a limit. Owns the most that a call can use, and refusals.

The most that a call can use, before it is made. Input: the bytes of the whole request as JSON. A tokenizer over bytes
makes no more tokens of a text than it has bytes, since each token stands for at least one of them, and the names of the
JSON's fields, some hundred bytes, are there for what a provider puts around a text (roles, separators). That is an
assumption: nobody here knows a provider's tokenizer. Output: ``max_output_tokens``, which the providers count thoughts
into. Each HTTP attempt, first or further, is reserved by itself and settled with what the reply says it used; one that
says nothing stays reserved, since nobody knows what it cost. A call uses much less than its bound, so one that does not
fit waits for those of its own process that are under way, and is refused only when none of them can make room any more.

What cannot be known is not spent: a list of prices or a file of spending that cannot be read, a model without a price
where money is limited, a command-line agent, which sends what no request shows. Recorded answers cost nothing and pass
by. Authored ones cost no money unless the list has a price for them, and count the tokens that they report.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from skillassay.contract.terms import BudgetTerms
from skillassay.errors import Reason, SkillassayError, StoreError, TrialError
from skillassay.models.base import Model, ModelIdentity, ModelReply, ModelRequest, request_json
from skillassay.models.naming import AGENT
from skillassay.models.pacing import total_tokens
from skillassay.models.prices import Price, Prices
from skillassay.models.spending import Amount, Charge, Hit, SpendingLedger
from skillassay.transcript import Usage

UNREADABLE = "budget_unreadable"
"""The kind of a refusal that is no limit's: the budget itself cannot be understood."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Most:
    """The most tokens that one attempt can use."""

    input_tokens: int
    output_tokens: int

    @property
    def tokens(self) -> int:
        """Both."""
        return self.input_tokens + self.output_tokens


def most_of(request: ModelRequest) -> Most | None:
    """The bound of one attempt at a request; None where its output has no limit."""
    if request.max_output_tokens is None:
        return None
    text = json.dumps(request_json(request), ensure_ascii=False, default=str)
    return Most(input_tokens=len(text.encode("utf-8", "replace")), output_tokens=request.max_output_tokens)


class Budget:
    """What the judges of one project may spend, and in whose name they do. ``warn`` is told once why one is refused."""

    def __init__(
        self, *, terms: BudgetTerms, prices: Prices, ledger: SpendingLedger, warn: Callable[[str], None]
    ) -> None:
        self.terms = terms
        self.prices = prices
        self.ledger = ledger
        self._warn = warn
        self._told: set[str] = set()
        self._turn = threading.Condition()
        self._n_under_way = 0
        self._n_stuck = 0
        self.run: str | None = None

    def begin(self, run: str) -> None:
        """From here on all is spent by this run. A judge that is asked before is refused."""
        self.run = run

    def over(self, model: Model) -> Model:
        """``model`` within the budget; as it is where nothing is limited or nothing is spent."""
        return model if not self.terms.is_set or model.identity.is_replay else BudgetedModel(model=model, budget=self)

    def reserve(self, charge: Charge, *, further: bool) -> str | Hit:
        """Book an attempt, the first of its call or a further one, when it fits; the limit where it never will."""
        with self._turn:
            while isinstance(found := self.ledger.reserve(charge, self.terms), Hit):
                if self._n_under_way - self._n_stuck - further <= 0:
                    return found
                self._n_stuck += further  # a call that waits for a further attempt makes no room meanwhile
                self._turn.notify_all()
                self._turn.wait()
                self._n_stuck -= further
            self._n_under_way += not further
            return found

    def ended(self) -> None:
        """A call is over, and what it did not use is free again."""
        with self._turn:
            self._n_under_way -= 1
            self._turn.notify_all()

    def tell(self, kind: str, words: str) -> None:
        """Say something once for each kind."""
        with self._turn:
            is_new = kind not in self._told
            self._told.add(kind)
        if is_new:
            self._warn(words)


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetedModel:
    """A model that is asked only as long as the budget lasts."""

    model: Model
    budget: Budget

    @property
    def identity(self) -> ModelIdentity:
        """The model's own."""
        return self.model.identity

    def generate(self, request: ModelRequest) -> ModelReply:
        """Answer ``request``; ``budget_blocked`` where it does not fit. See :class:`skillassay.models.base.Model`."""
        call = _Call(budget=self.budget, identity=self.identity, request=request)
        call.reserve()
        try:
            reply = self.model.generate(replace(request, again=call.again))
            call.made(reply.n_attempts)
            call.settle(reply.usage)
        except TrialError as error:
            call.failed(error)
            raise
        finally:
            self.budget.ended()
        return reply

    def close(self) -> None:
        """Close the model; the file of spending needs no closing."""
        self.model.close()


@dataclass(slots=True, kw_only=True)
class _Call:
    """One call with the reservations of its attempts."""

    budget: Budget
    identity: ModelIdentity
    request: ModelRequest
    reserved: list[str] = field(default_factory=list)
    _most: Most | None = None

    @property
    def _price(self) -> Price | None:
        return self.budget.prices.of(self.identity.label)

    def reserve(self) -> None:
        """Book the most that an attempt can use. Raises ``budget_blocked`` where that does not fit."""
        try:
            found = self.budget.reserve(self._charge(), further=bool(self.reserved))
        except SkillassayError as error:
            words = f"the budget of the judge cannot be read, so nothing is spent: {error.message}"
            raise self._blocked(UNREADABLE, words) from error
        if isinstance(found, Hit):
            raise self._blocked(found.limit, found.words)
        self.reserved.append(found)

    def again(self, delay_s: float) -> None:
        """Book a further attempt."""
        self.reserve()
        if self.request.again is not None:
            self.request.again(delay_s)

    def failed(self, error: TrialError) -> None:
        """Book a call that brought no reply."""
        if error.reason is Reason.BUDGET_BLOCKED:
            error.n_attempts = len(self.reserved)  # those that were made before the one that did not fit
        elif error.n_attempts == 0:
            self.settle(Usage(input_tokens=0, output_tokens=0, total_tokens=0))  # nothing was sent
        else:
            self.made(error.n_attempts)
            self.settle(error.usage)

    def made(self, n_attempts: int) -> None:
        """Book the attempts that were made without asking: they cannot be refused any more."""
        for _ in range(n_attempts - len(self.reserved)):
            self._keep(lambda: self.reserved.append(str(self._book_anyhow())))

    def settle(self, usage: Usage | None) -> None:
        """Put what the last attempt used in the place of its reservation, where all of it is told."""
        tokens = None if usage is None else total_tokens(usage)
        if usage is None or tokens is None:
            return
        price = self._price
        money = None if price is None else price.cost(usage)
        if price is not None and money is None:
            return
        if self._most is not None and tokens > self._most.tokens:
            most = self._most.tokens
            words = f"{self.identity.label} says that it used {tokens} tokens where at most {most} were expected"
            self.budget.tell("more", f"{words}; the budget may be passed by as much")
        self._keep(lambda: self.budget.ledger.settle(self.reserved[-1], Amount(tokens=tokens, money=money)))

    def _book_anyhow(self) -> str | Hit:
        return self.budget.ledger.reserve(self._charge(), self.budget.terms, anyhow=True)

    def _keep(self, write: Callable[[], None]) -> None:
        try:
            write()
        except StoreError as error:
            # The answer is paid for and stays; what cannot be written stays reserved, and the next call is refused.
            self.budget.tell("unkept", f"what the judge spent could not be written: {error.message}")

    def _charge(self) -> Charge:
        budget, label = self.budget, self.identity.label
        self._most = most = most_of(self.request)
        if budget.run is None:
            raise StoreError("no run has begun")
        if self.identity.provider == AGENT:
            raise StoreError(f"what {label} sends to its model is not known, so it has no highest cost")
        if most is None:
            raise StoreError("the output of a call has no limit, so it has no highest cost")
        price = self._price
        if price is None and budget.terms.limits_money and not self.identity.is_fixture:
            raise StoreError(f"money is limited, and {budget.prices.why_unknown(label)}")
        highest = None if price is None else price.highest(most.input_tokens, most.output_tokens)
        return Charge(
            run=budget.run,
            model=label,
            amount=Amount(tokens=most.tokens, money=highest),
            currency=None if price is None else budget.prices.currency,
            free=price is None and self.identity.is_fixture,
        )

    def _blocked(self, kind: str, words: str) -> TrialError:
        self.budget.tell("blocked", f"the judge is not asked any more for some trials, which stay unscored: {words}")
        return TrialError(words, reason=Reason.BUDGET_BLOCKED, stage=self.request.stage, kind=kind)
