"""What the tests of the budget share: a judge that fails and uses as told, and a project with a budget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from skillassay.contract.terms import BudgetTerms
from skillassay.errors import Stage, TrialError
from skillassay.models.base import Model, ModelIdentity, ModelReply, ModelRequest
from skillassay.models.budgeted import Budget, Most, most_of
from skillassay.models.prices import Price, Prices
from skillassay.models.retry import RetryPolicy, call_with_retries
from skillassay.models.spending import SpendingLedger
from skillassay.transcript import ModelTurn, Usage, UserTurn
from tests.models.paced import failed

LIVE = ModelIdentity(provider="gemini", name="m", endpoint="e", is_fixture=False)
ASK = ModelRequest(system="s", turns=(UserTurn(text="q"),), max_output_tokens=100, stage=Stage.JUDGE)


def bound(request: ModelRequest) -> Most:
    """The most that an attempt at a request can use, which has a limit of output."""
    found = most_of(request)
    assert found is not None
    return found


MOST = bound(ASK)
ONE = MOST.tokens
PRICES = Prices(
    as_of="2026-11-01",
    currency="USD",
    source="made up",
    models={"gemini:m": Price(input_per_million=Decimal("0.1"), output_per_million=Decimal("0.4"))},
)
NONE = Prices(models={}, why_none="no list of prices is set up")


def used(n_tokens: int) -> Usage:
    """A usage of so many tokens, all input."""
    return Usage(input_tokens=n_tokens, output_tokens=0, total_tokens=n_tokens, n_calls=1)


@dataclass(kw_only=True)
class Judge:
    """A model that fails so often before it answers, with this usage; through the real retry loop."""

    usage: Usage | None = None
    n_failures: int = 0
    identity: ModelIdentity = LIVE
    on_attempt: Callable[[], None] = lambda: None
    asks: bool = True
    n_sent: int = 0
    error: TrialError | None = None

    def generate(self, request: ModelRequest) -> ModelReply:
        """Answer after the failures."""
        left = [failed()] * self.n_failures

        def attempt(_: float | None) -> ModelReply:
            self.n_sent += 1
            self.on_attempt()
            if left:
                raise left.pop()
            if self.error is not None:
                raise self.error
            return ModelReply(turn=ModelTurn(text="a"), usage=self.usage or Usage(n_calls=1))

        policy = RetryPolicy(sleep=lambda _: None, seed=1)
        reply, n_attempts = call_with_retries(policy, attempt, again=request.again if self.asks else None)
        return replace(reply, n_attempts=n_attempts)

    def close(self) -> None:
        """Nothing."""


@dataclass(kw_only=True)
class Set:
    """A budget at a folder, with what it warned."""

    root: Path
    prices: Prices = PRICES
    warned: list[str] = field(default_factory=list)

    def over(self, judge: Model, run: str | None = "r", **limits: Any) -> Model:
        """The judge within these limits."""
        terms, ledger = BudgetTerms(**limits), SpendingLedger(self.root)
        budget = Budget(terms=terms, prices=self.prices, ledger=ledger, warn=self.warned.append)
        if run is not None:
            budget.begin(run)
        return budget.over(judge)

    @property
    def tokens(self) -> int:
        """What is spent or reserved of the run."""
        return SpendingLedger(self.root).spent(run="r").tokens

    @property
    def money(self) -> Decimal | None:
        """As above."""
        return SpendingLedger(self.root).spent(run="r").money
