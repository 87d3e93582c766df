"""A judge with a budget: what is reserved, what is settled, what is refused."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from skillassay.errors import Reason, Stage, TrialError
from skillassay.models.base import Model, ModelIdentity, ModelRequest
from skillassay.models.budgeted import most_of
from skillassay.models.pacing import Paces
from skillassay.models.spending import SPENDING_FILE
from skillassay.transcript import Usage
from tests.models.budgets import ASK, LIVE, MOST, NONE, ONE, PRICES, Judge, Set, used


@pytest.fixture
def project(tmp_path: Path) -> Set:
    """A project with prices."""
    return Set(root=tmp_path)


def tear(path: Path) -> None:
    """Leave a line that nobody can read."""
    path.write_text("torn\n", encoding="utf-8")


def blocked(model: Model, request: ModelRequest = ASK) -> TrialError:
    """The refusal of a call."""
    with pytest.raises(TrialError) as caught:
        model.generate(request)
    assert (caught.value.reason, caught.value.stage) == (Reason.BUDGET_BLOCKED, Stage.JUDGE)
    return caught.value


def test_the_bound_is_the_bytes_of_the_request_and_all_its_output() -> None:
    """Each character of a text counts at least its UTF-8 bytes; no output limit, no bound."""
    longer = most_of(replace(ASK, system="s" + "é" * 50))
    assert (longer and longer.input_tokens, MOST.output_tokens) == (MOST.input_tokens + 100, 100)
    schema = most_of(replace(ASK, response_schema={"type": "object"}))
    assert schema is not None
    assert schema.input_tokens > MOST.input_tokens
    assert most_of(replace(ASK, max_output_tokens=None)) is None


def test_without_a_budget_the_judge_is_as_it_was(project: Set) -> None:
    """No layer, no file."""
    judge = Judge()
    assert project.over(judge) is judge
    assert not (project.root / SPENDING_FILE).exists()


def test_recorded_answers_are_not_budgeted(project: Set) -> None:
    """They cost nothing."""
    judge = Judge(identity=replace(LIVE, provider="replay", is_replay=True))
    assert project.over(judge, tokens=0) is judge


def test_a_call_is_settled_with_what_it_used(project: Set) -> None:
    """Tokens as told, money by the list: 50 * 0.1 for a million."""
    project.over(Judge(usage=used(50)), tokens=ONE).generate(ASK)
    assert (project.tokens, project.money) == (50, Decimal("0.000005"))


def test_a_call_that_told_no_usage_stays_reserved(project: Set) -> None:
    """All of its bound, in tokens and money."""
    project.over(Judge(usage=None), tokens=ONE).generate(ASK)
    highest = Decimal(MOST.input_tokens) * Decimal("0.0000001") + Decimal("0.00004")
    assert (project.tokens, project.money) == (ONE, highest)


def test_a_total_alone_has_no_price(project: Set) -> None:
    """What of it was input and what output is not told, so the money, and with it the whole, stays reserved."""
    project.over(Judge(usage=Usage(total_tokens=5, n_calls=1)), tokens=ONE).generate(ASK)
    assert project.tokens == ONE
    assert project.money


def test_a_call_that_does_not_fit_is_not_made(project: Set) -> None:
    """One token short of its bound; the run is told once."""
    judge = Judge(usage=used(1))
    model = project.over(judge, tokens=ONE - 1)
    assert [blocked(model).kind, blocked(model).kind] == ["tokens", "tokens"]
    assert judge.n_sent == 0
    assert len(project.warned) == 1
    assert f"budget.judge.tokens is {ONE - 1} tokens; 0 spent or reserved in this run" in project.warned[0]


@pytest.mark.parametrize("limits", [{"money": Decimal("0.00005")}, {"money_per_day": Decimal(0)}])
def test_a_limit_of_money_is_kept(project: Set, limits: dict[str, Any]) -> None:
    """The output alone may cost 0.00004, and the input more than 0.00001: 0.00005 is too little."""
    assert MOST.input_tokens > 100
    assert blocked(project.over(Judge(), **limits)).kind in limits


def test_every_attempt_is_reserved(project: Set) -> None:
    """Two that failed without a usage stay reserved, the third is settled."""
    project.over(Judge(n_failures=2, usage=used(7)), tokens=3 * ONE).generate(ASK)
    assert project.tokens == 2 * ONE + 7


def test_a_further_attempt_that_does_not_fit_ends_the_call(project: Set) -> None:
    """What was made stays reserved and counts as an attempt."""
    judge = Judge(n_failures=2, usage=used(7))
    error = blocked(project.over(judge, tokens=2 * ONE))
    assert (error.n_attempts, judge.n_sent, project.tokens) == (2, 2, 2 * ONE)


def test_the_pace_below_asks_the_budget_too(project: Set) -> None:
    """A further attempt goes through both layers."""
    judge = Judge(n_failures=1, usage=used(7))
    error = blocked(project.over(Paces(rpm=None, tpm=None).over(judge), tokens=ONE))
    assert (error.n_attempts, judge.n_sent) == (1, 1)


def test_attempts_that_did_not_ask_are_booked_after(project: Set) -> None:
    """They cannot be refused any more, so the limit is passed by them and nothing follows."""
    model = project.over(Judge(n_failures=2, usage=used(7), asks=False), tokens=ONE)
    model.generate(ASK)
    assert project.tokens == 2 * ONE + 7
    blocked(model)


def test_what_was_never_sent_costs_nothing(project: Set) -> None:
    """A call that its pace or a broken provider kept back is settled with 0."""
    stopped = TrialError("not sent", reason=Reason.PROVIDER_ERROR, stage=Stage.JUDGE, kind="auth")
    with pytest.raises(TrialError, match="not sent"):
        project.over(Judge(error=stopped), tokens=ONE).generate(ASK)
    assert (project.tokens, project.money) == (0, Decimal(0))


def test_an_error_with_a_usage_is_settled(project: Set) -> None:
    """A blocked or cut reply was billed for what it says."""
    cut = TrialError("cut", reason=Reason.TRUNCATED, stage=Stage.JUDGE, n_attempts=1, usage=used(9))
    with pytest.raises(TrialError, match="cut"):
        project.over(Judge(error=cut), tokens=ONE).generate(ASK)
    assert project.tokens == 9


def test_an_interrupt_leaves_the_reservation(project: Set) -> None:
    """Nobody knows what became of the call."""

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        project.over(Judge(on_attempt=stop), tokens=ONE).generate(ASK)
    assert project.tokens == ONE


def test_more_than_the_bound_is_booked_and_said(project: Set) -> None:
    """A tokenizer that breaks the assumption is not cut down to it."""
    project.over(Judge(usage=used(ONE + 5)), tokens=ONE).generate(ASK)
    assert project.tokens == ONE + 5
    assert f"used {ONE + 5} tokens where at most {ONE} were expected" in project.warned[0]


def test_an_unknown_price_under_a_limit_of_money_refuses(project: Set) -> None:
    """Whatever is left of the limit; without one of money the tokens alone count."""
    project.prices = replace(PRICES, models={})
    error = blocked(project.over(Judge(), money=Decimal(1000)))
    assert error.kind == "budget_unreadable"
    assert "money is limited, and gemini:m is not in the list of prices as of 2026-11-01" in error.message
    project.over(Judge(usage=used(1)), tokens=ONE).generate(ASK)


def test_no_list_of_prices_under_a_limit_of_money_refuses(project: Set) -> None:
    """And the reason is the list's."""
    project.prices = NONE
    assert "no list of prices is set up" in blocked(project.over(Judge(), money_per_day=Decimal(1))).message


def test_a_ledger_that_cannot_be_read_refuses(project: Set) -> None:
    """Every call, before it is made."""
    (project.root / ".skillassay").mkdir()
    (project.root / SPENDING_FILE).write_text("torn\n", encoding="utf-8")
    judge = Judge()
    model = project.over(judge, tokens=10**9)
    assert [blocked(model).kind for _ in range(2)] == ["budget_unreadable"] * 2
    assert (judge.n_sent, len(project.warned)) == (0, 1)


def test_an_answer_is_not_lost_with_the_ledger(project: Set) -> None:
    """It is paid for; the reservation stays, and the next call is refused."""
    path = project.root / SPENDING_FILE
    judge = Judge(usage=used(1), on_attempt=lambda: tear(path))
    model = project.over(judge, tokens=10**9)
    assert model.generate(ASK).turn.text == "a"
    blocked(model)


@pytest.mark.parametrize("limits", [{"tokens": 10**9}, {"money": Decimal(1000)}])
def test_an_agent_has_no_highest_cost(project: Set, limits: dict[str, Any]) -> None:
    """What it sends to its model no request shows."""
    judge = Judge(identity=replace(LIVE, provider="agent", name="claude-code"))
    assert "no highest cost" in blocked(project.over(judge, **limits)).message


def test_a_call_without_a_limit_of_output_is_refused(project: Set) -> None:
    """Nobody knows what it may cost."""
    assert "no highest cost" in blocked(project.over(Judge(), tokens=9), replace(ASK, max_output_tokens=None)).message


def test_nothing_is_spent_before_a_run_has_begun(project: Set) -> None:
    """Nobody could count it later."""
    assert blocked(project.over(Judge(), run=None, tokens=10**9)).kind == "budget_unreadable"


FIXTURE = ModelIdentity(provider="fixture", name="fixture", endpoint="e", is_fixture=True)


def test_authored_answers_count_their_tokens_and_no_money(project: Set) -> None:
    """A limit of money, with no price for them, does not hold for them; one of tokens does."""
    model = project.over(Judge(identity=FIXTURE, usage=used(50)), money=Decimal(0), tokens=ONE)
    model.generate(ASK)
    assert (project.tokens, project.money) == (50, Decimal(0))
    assert blocked(model).kind == "tokens"


def test_authored_answers_cost_what_the_list_says(project: Set) -> None:
    """Where it has a price for them, so that the rule can be shown offline."""
    project.prices = replace(PRICES, models={"fixture": PRICES.models["gemini:m"]})
    assert blocked(project.over(Judge(identity=FIXTURE), money=Decimal(0))).kind == "money"
