"""A judge with a budget, asked by several threads: no order of calls passes the limit, and none waits for ever."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from skillassay.contract.terms import BudgetTerms
from skillassay.errors import TrialError
from skillassay.models.base import Model, ModelReply, ModelRequest
from skillassay.models.budgeted import Budget
from skillassay.models.spending import SpendingLedger
from tests.models.budgets import ASK, LIVE, ONE, PRICES, Judge, Set, bound, used


def test_a_call_waits_for_what_others_leave(tmp_path: Path) -> None:
    """Four at once, with room for one bound and little more: all are made, since each uses a tenth."""
    project = Set(root=tmp_path)
    judge = Judge(usage=used(ONE // 10), on_attempt=lambda: time.sleep(0.05))
    model = project.over(judge, tokens=ONE + 4 * (ONE // 10))
    with ThreadPoolExecutor(4) as threads:
        replies = list(threads.map(lambda _: model.generate(ASK), range(4)))
    assert (len(replies), project.tokens) == (4, 4 * (ONE // 10))


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One call: how often it fails first, and which share of its bound it uses; None where it does not tell."""

    n_failures: int
    share: float | None
    size: int


CALLS = st.lists(
    st.builds(
        Plan,
        n_failures=st.integers(0, 2),
        share=st.none() | st.floats(0, 1),
        size=st.integers(0, 400),
    ),
    min_size=1,
    max_size=10,
)


class Account:
    """An account beside the ledger: the most that all attempts so far may have used."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.held = 0
        self.highest = 0

    def begin(self, most: int) -> None:
        """An attempt is sent."""
        with self.lock:
            self.held += most
            self.highest = max(self.highest, self.held)

    def end(self, most: int, really: int) -> None:
        """It told what it used."""
        with self.lock:
            self.held += really - most


def spend(model_of: Callable[[Model], Model], plan: Plan, account: Account) -> str:
    """Make one call; what came of it."""
    request = replace(ASK, system="s" * plan.size)
    most = bound(request)
    really = None if plan.share is None else int(plan.share * most.tokens)
    judge = Judge(
        n_failures=plan.n_failures,
        usage=None if really is None else used(really),
        on_attempt=lambda: account.begin(most.tokens),
    )

    class Ending:
        identity = LIVE

        def generate(self, request: ModelRequest) -> ModelReply:
            reply = judge.generate(request)
            if really is not None:
                account.end(most.tokens, really)
            return reply

        def close(self) -> None:
            """Nothing."""

    try:
        model_of(Ending()).generate(request)
    except TrialError as error:
        return error.reason.value
    return "answered"


@settings(max_examples=40)
@given(calls=CALLS, limit=st.integers(0, 6 * ONE), n_threads=st.integers(1, 4))
def test_spent_and_reserved_never_pass_the_limit(calls: Sequence[Plan], limit: int, n_threads: int) -> None:
    """Whatever the order, the retries and what the replies tell; and the ledger says the same as a second account."""
    account = Account()
    with TemporaryDirectory() as folder:
        project = Set(root=Path(folder))
        terms, ledger = BudgetTerms(tokens=limit), SpendingLedger(project.root)
        budget = Budget(terms=terms, prices=PRICES, ledger=ledger, warn=project.warned.append)
        budget.begin("r")
        with ThreadPoolExecutor(n_threads) as threads:
            came = list(threads.map(lambda plan: spend(budget.over, plan, account), calls, timeout=60))
        assert account.highest <= limit
        assert project.tokens == account.held
        assert set(came) <= {"answered", "budget_blocked"}
        assert ("budget_blocked" in came) == bool(project.warned)
