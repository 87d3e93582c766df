"""What a run cost, in words: tokens and money of each side, the day of the prices beside every amount. No sums here."""

from __future__ import annotations

from collections.abc import Iterator

from skillassay.report.base import tokens_text
from skillassay.scoring.costs import Cost, RunCosts, SideCost

_NAMES = {"second": "second judge"}


def cost_texts(costs: RunCosts | None) -> Iterator[str]:
    """One text for each side that was asked; none for a run of which nothing is known."""
    if costs is None:
        return
    for name, side in costs.sides.items():
        if side.whole.n_calls:
            yield f"cost of the {_NAMES.get(name, name)} ({side.label}): {_side(side, costs)}"


def _side(side: SideCost, costs: RunCosts) -> str:
    parts = "; ".join(f"{name} {_tokens(cost)}{_money(cost, costs)}" for name, cost in side.parts.items())
    whole = side.whole
    if whole.money is not None:
        return f"{_tokens(whole)} tokens, {costs.prices.text(whole.money)}; by mode: {parts}"
    return f"{_tokens(whole)} tokens, money not known: {side.why}; by mode: {parts}"


def _tokens(cost: Cost) -> str:
    return tokens_text(cost.tokens, estimated=cost.usage.estimated)


def _money(cost: Cost, costs: RunCosts) -> str:
    return "" if cost.money is None else f" = {costs.prices.amount(cost.money)}"
