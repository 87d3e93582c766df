"""What a run costs, before and after: in the plan, the reports and the result. Prices are the tests' own."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from tests.acceptance.priced import JUDGE_MONEY, MODELS, PRICES, PricedServer, build_priced, limit, result, spending
from tests.project import BAD, GOOD, Cli, build_small, edit, run_folder, small_case


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[PricedServer]:
    """The live models, with a key in the environment."""
    with PricedServer() as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        monkeypatch.setenv("GEMINI_API_KEY", "k")
        yield server


def words(text: str) -> str:
    """A report without its line breaks."""
    return " ".join(text.split())


def test_a_result_says_what_each_side_cost_in_each_mode(cli: Cli, server: PricedServer) -> None:
    """Nine judge calls of 120 tokens; candidates of 15 a call; (10 * 1 + 5 * 2) / 1,000,000 each."""
    build_priced(cli.root)
    cli("eval", *MODELS)
    cost = result(cli.root)["cost"]
    assert cost["prices"] == {"as_of": "2026-11-01", "currency": "USD", "source": "made up for the tests"}
    judge, candidate = cost["judge"], cost["candidate"]
    assert (judge["calls"], judge["tokens"], judge["money"]) == (9, 1080, "0.000162")
    by_mode = {name: (one["calls"], one["money"]) for name, one in judge["parts"].items()}
    assert by_mode == dict.fromkeys(("progressive", "none", "eager"), (3, "0.000054"))
    n_calls = server.n_asked("candidate")
    assert (candidate["calls"], candidate["tokens"]) == (n_calls, 15 * n_calls)
    assert Decimal(candidate["money"]) == n_calls * Decimal("0.00002")
    assert (judge["why"], candidate["why"], cost["why_no_prices"]) == (None, None, None)


def test_reports_show_every_amount_with_the_day_of_its_price(cli: Cli, server: PricedServer) -> None:
    """In table and Markdown."""
    build_priced(cli.root)
    cli("eval", *MODELS)
    shown = "cost of the judge (gemini:judge): 1080 tokens, 0.000162 USD (prices as of 2026-11-01)"
    assert shown in words(cli("report").out)
    assert shown in words(html.unescape(cli("report", "--format", "markdown").out))


def test_prices_are_those_of_the_run(cli: Cli, server: PricedServer) -> None:
    """Another list later changes no stored amount."""
    build_priced(cli.root)
    cli("eval", *MODELS)
    edit(cli.root / "evals/prices.yaml", "2026-11-01", "2026-12-01")
    edit(cli.root / "evals/prices.yaml", "0.10", "99")
    assert "0.000162 USD (prices as of 2026-11-01)" in words(cli("report").out)


def test_what_is_not_known_is_said_and_no_zero(cli: Cli, server: PricedServer) -> None:
    """Without a list, with a list that lacks the model, and where the provider told no tokens."""
    build_priced(cli.root, prices=None)
    cli("eval", *MODELS)
    judge = result(cli.root)["cost"]["judge"]
    assert (judge["tokens"], judge["money"]) == (1080, None)
    assert judge["why"] == "no list of prices is set up (evals/prices.yaml)"
    (cli.root / "evals/prices.yaml").write_text(PRICES.replace("gemini:judge", "gemini:else"), encoding="utf-8")
    ran = cli("eval", *MODELS)
    assert "money not known: gemini:judge is not in the list of prices as of 2026-11-01" in words(ran.out)
    (cli.root / "evals/prices.yaml").write_text(PRICES, encoding="utf-8")
    server.tells = False
    cli("eval", *MODELS)
    judge = result(cli.root)["cost"]["judge"]
    assert (judge["tokens"], judge["money"], judge["why"]) == (None, None, "a provider did not tell all tokens")


def reference(text: str, **more: str) -> dict[str, Any]:
    """An authored answer that keeps action and flag."""
    return {"action": "refuse", "response": text, "refused": True, **more}


REFERENCES = {
    "positive": [reference("hello, no")],
    "negative": [reference("good day", violates="no hello")],
    "provenance": "written for the tests",
}


def test_calls_about_references_are_in_the_totals(cli: Cli, server: PricedServer) -> None:
    """Two references, two calls more, in a part of their own; asked once, however often the run is resumed."""
    behavior = {"action": "refuse", "refused": True, "required": "Says hello.", "forbidden": "Says no hello."}
    case = {"id": "three", "skill": "greeter", "query": "Greet three.", "behavior": behavior, "references": REFERENCES}
    build_priced(cli.root, cases=[small_case("one"), small_case("two"), case])
    cli("eval", *MODELS)
    cli("eval", *MODELS, "--resume", run_folder(cli.root).name)
    judge = result(cli.root)["cost"]["judge"]
    assert (judge["parts"]["references"]["calls"], judge["parts"]["references"]["tokens"]) == (2, 240)
    assert judge["calls"] == server.n_asked()
    assert Decimal(judge["money"]) == server.n_asked() * Decimal(JUDGE_MONEY)


def test_what_was_tried_again_was_paid_for_too(cli: Cli, server: PricedServer) -> None:
    """Three replies that are no verdict and three that are: six calls of the judge, and the candidate's only once."""
    build_priced(cli.root)
    server.is_broken = True
    assert cli("eval", *MODELS, "--mode", "progressive").code == 3
    server.is_broken = False
    n_candidate = server.n_asked("candidate")
    cli("eval", *MODELS, "--mode", "progressive", "--retry-unscored", run_folder(cli.root).name)
    cost = result(cli.root)["cost"]
    assert cost["candidate"]["calls"] == n_candidate == server.n_asked("candidate")
    assert (cost["judge"]["calls"], cost["judge"]["tokens"], cost["judge"]["money"]) == (6, 720, "0.000108")


def test_authored_and_recorded_answers_cost_nothing(cli: Cli) -> None:
    """And say why there is no amount, unless the list prices them."""
    build_small(cli.root)
    ran = cli("eval")
    assert "money not known: authored answers, nothing is billed" in words(ran.out)
    cost = result(cli.root)["cost"]
    assert (cost["judge"]["money"], cost["judge"]["estimated"]) == (None, True)
    assert spending(cli.root) == []


def test_the_plan_shows_the_highest_cost_of_the_judge(cli: Cli) -> None:
    """Nine calls: each takes the bytes that its request has without the answer, 4 bytes for each of the 4096 tokens
    that the answer may have, and 4096 tokens of output. What the run reserved says the bytes, by another way."""
    build_priced(cli.root, prices=PRICES.replace("gemini:judge", "fixture"))
    limit(cli.root, tokens=10**6)
    planned = cli("eval", "--dry-run").out
    cli("eval")
    reserved = [line["tokens"] for line in spending(cli.root) if line["event"] == "reserved"]
    answers = 6 * len(GOOD) + 3 * len(BAD)
    n_input = sum(reserved) - 9 * 4096 - answers + 9 * 4 * 4096
    money = (n_input * Decimal("0.10") + 9 * 4096 * Decimal("0.40")) / 10**6
    line = f"judge fixture: at most {n_input} input and 36864 output tokens, {money.normalize():f} USD"
    assert line in planned
    assert "(prices as of 2026-11-01)" in planned


def test_the_plan_says_where_a_budget_may_be_too_small(cli: Cli) -> None:
    """And what of a cost is not known before."""
    build_priced(cli.root)
    limit(cli.root, tokens=1000, money_per_day="0.01")
    planned = cli("eval", *MODELS, "--dry-run").out
    assert "budget.judge.tokens is 1000 tokens, and " in planned
    assert "budget.judge.money_per_day is 0.01 USD, and " in planned
    assert "candidate gemini:candidate: at most an unknown number of input and " in planned
    assert "money not known: how much it reads is not known before" in planned
    assert not (cli.root / ".skillassay/spending.jsonl").exists()


def test_a_result_is_json_without_floats_of_money(cli: Cli, server: PricedServer) -> None:
    """Every amount is decimal text."""
    build_priced(cli.root)
    cli("eval", *MODELS)
    numbers: list[str] = []
    json.loads(json.dumps(result(cli.root)["cost"]), parse_float=numbers.append)
    assert numbers == []


def codes(cli: Cli) -> dict[str, str]:
    """What `check` says of prices, by code."""
    found = cli("check", "--format", "json").json["findings"]
    told = [one for one in found if one["code"].startswith("prices.")]
    assert {one["severity"] for one in told} <= {"warning"}
    return {one["code"]: one["message"] for one in told}


def test_check_says_that_a_budget_would_refuse_its_judge(cli: Cli) -> None:
    """Before a run does; as warnings, since a run without that judge may be what is wanted."""
    build_priced(cli.root, judge_model="gemini:judge")
    limit(cli.root, money="1")
    assert codes(cli) == {}
    edit(cli.root / "evals/prices.yaml", "gemini:judge", "gemini:other")
    assert codes(cli) == {
        "prices.unknown": "money is limited, and gemini:judge is not in the list of prices as of 2026-11-01"
    }
    edit(cli.root / "evals/prices.yaml", "2026-11-01", "2026-11-31")
    assert codes(cli).keys() == {"prices.unreadable", "prices.unknown"}
