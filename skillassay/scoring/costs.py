"""What a run was billed for: tokens and money by side and mode. Pure: rows and prices in, sums out; decides nothing.

All attempts count, those that were tried again included; what an answer cost counts once, however often the judge was
asked about it. What came from the cache was not billed. The judge's calls about references, which belong to no mode,
stand apart. Money is None where it is not known, with the reason: no price, or a provider that did not tell all tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from skillassay.canonical import Json
from skillassay.models.money import add, amount_text
from skillassay.models.naming import ANSWERS
from skillassay.models.prices import Price, Prices, prices_from_json
from skillassay.runs.record import Spent
from skillassay.scoring.scores import Row, complete_usage
from skillassay.transcript import Usage

SIDES = ("candidate", "judge", "second")
REFERENCES = "references"
NOT_TOLD = "a provider did not tell all tokens"
AUTHORED = "authored answers, nothing is billed"
RECORDED = "recorded answers, nothing was billed"
OWN_MODEL = "an agent asked a model of its own"
ELSEWHERE = "the answers were made elsewhere"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Calls that were made, what they used, and what that costs; None for money that is not known."""

    n_calls: int
    usage: Usage
    money: Decimal | None

    @property
    def tokens(self) -> int | None:
        """All tokens: 0 without a call, None where a provider did not tell them."""
        usage = self.usage
        if not self.n_calls and usage.is_empty:
            return 0
        if usage.input_tokens is None or usage.output_tokens is None:
            return usage.total_tokens
        return max(usage.total_tokens or 0, usage.input_tokens + usage.output_tokens + (usage.thought_tokens or 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class SideCost:
    """What one side cost: ``parts`` by mode, and the references where there are some. ``why`` is why no money is
    known."""

    label: str
    parts: Mapping[str, Cost]
    whole: Cost
    why: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCosts:
    """The sides ``candidate``, ``judge`` and, where there is one, ``second``; and the prices that amounts rest on."""

    prices: Prices
    sides: Mapping[str, SideCost]


def costs_of(rows: Sequence[Row], references: Iterable[Spent], header: Mapping[str, Any]) -> RunCosts:
    """The costs of a stored run by the prices that it keeps in its header."""
    prices = prices_from_json(header.get("prices"))
    spent: dict[str, dict[str, list[Spent]]] = {side: {} for side in SIDES if side in header["models"]}
    for row in rows:
        mode = row.planned.mode.value
        for record in (*row.earlier, row.record):
            told = {
                "candidate": record.candidate if record.answer_attempt is None else None,
                "judge": record.judge,
                "second": record.second,
            }
            for side, parts in spent.items():
                parts.setdefault(mode, []).extend(filter(None, (told[side],)))
    if shown := list(references):
        spent["judge"][REFERENCES] = shown
    return RunCosts(
        prices=prices,
        sides={side: _side(header["models"][side], parts, prices) for side, parts in spent.items()},
    )


def _side(model: Mapping[str, Any], parts: Mapping[str, Sequence[Spent]], prices: Prices) -> SideCost:
    label = model["label"]
    free = _why_free(model)
    price = None if model.get("is_replay") or model.get("own_model") else prices.of(label)
    costs = {name: _cost(spendings, price) for name, spendings in parts.items()}
    whole = _cost([spent for spendings in parts.values() for spent in spendings], price)
    why = None
    if price is None:
        why = free or prices.why_unknown(label)
    elif whole.money is None:
        why = NOT_TOLD
    return SideCost(label=label, parts=costs, whole=whole, why=why)


def _why_free(model: Mapping[str, Any]) -> str | None:
    if model.get("own_model"):
        return ELSEWHERE if model.get("provider") == ANSWERS else OWN_MODEL
    if model.get("is_replay"):
        return RECORDED
    return AUTHORED if model["is_fixture"] else None


def _cost(spendings: Sequence[Spent], price: Price | None) -> Cost:
    used = [_billed(spent) for spent in spendings]
    usage = Usage()
    for one in used:
        usage = usage.plus(one)
    # Call by call: of a sum nobody can tell which of its input was cached where one call did not say.
    amounts = [None if price is None else price.cost(one) for one in used]
    money = None if None in amounts or price is None else add(a for a in amounts if a is not None)
    return Cost(n_calls=sum(spent.n_calls - spent.n_cached for spent in spendings), usage=usage, money=money)


def _billed(spent: Spent) -> Usage:
    """What was used beyond the cache."""
    usage, kept = complete_usage(spent), spent.cached_usage
    if not spent.n_cached:
        return usage
    if spent.n_cached >= spent.n_calls:
        return Usage()
    return Usage(
        input_tokens=_minus(usage.input_tokens, kept.input_tokens),
        output_tokens=_minus(usage.output_tokens, kept.output_tokens),
        thought_tokens=_minus(usage.thought_tokens, kept.thought_tokens),
        cached_tokens=_minus(usage.cached_tokens, kept.cached_tokens),
        total_tokens=_minus(usage.total_tokens, kept.total_tokens),
        estimated=usage.estimated,
        n_calls=usage.n_calls - kept.n_calls,
    )


def _minus(whole: int | None, part: int | None) -> int | None:
    return None if whole is None or part is None else whole - part


def costs_json(costs: RunCosts, header: Mapping[str, Any]) -> dict[str, Json]:
    """The costs as ``result.json`` has them: amounts as decimal text, null with ``why`` where they are not known."""
    prices = costs.prices
    known = {"as_of": prices.as_of, "currency": prices.currency, "source": prices.source}
    return {
        "prices": None if prices.why_none is not None else dict(known),
        "why_no_prices": prices.why_none,
        **{name: _side_json(side) for name, side in costs.sides.items()},
        "judge_budget": dict(header.get("budget", {})),
    }


def _side_json(side: SideCost) -> Json:
    return {
        "model": side.label,
        **_cost_json(side.whole),
        "why": side.why,
        "parts": {name: _cost_json(cost) for name, cost in side.parts.items()},
    }


def _cost_json(cost: Cost) -> dict[str, Json]:
    usage = cost.usage
    return {
        "calls": cost.n_calls,
        "tokens": cost.tokens,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "thought_tokens": usage.thought_tokens,
        "cached_tokens": usage.cached_tokens,
        "estimated": usage.estimated,
        "money": None if cost.money is None else amount_text(cost.money),
    }
