"""What a lift is made of and what it costs, in words. Computes nothing."""

from __future__ import annotations

from collections.abc import Iterator

from skillassay.report.base import RunView, lift_text
from skillassay.scoring.effects import Effects, Price, build_effects, normalized_gain, prices


def effect_texts(view: RunView) -> Iterator[str]:
    """One text for each effect over all skills, the gain, and what a criterion more costs in each mode."""
    scores = view.assessment.scores
    effects = build_effects(scores, view.facts.plan)
    if effects:
        yield from _effects(effects[-1])
    if scores.overall_lift is not None:
        gain = normalized_gain(scores.counted, None)
        yield (
            "normalized gain: undefined, nothing was missing without a skill"
            if gain is None
            else f"normalized gain (share of what was missing that the skills brought): {float(gain):+.2f}"
        )
    for price in prices(scores.totals):
        yield _price(price, is_estimate=view.facts.estimated_tokens)


def _effects(effects: Effects) -> Iterator[str]:
    yield f"body effect (eager - none): {lift_text(effects.body)}"
    yield f"activation effect (progressive - eager): {lift_text(effects.activation)}"


def _price(price: Price, *, is_estimate: bool) -> str:
    if price.tokens is None:
        return f"{price.mode.value} against none: {price.criteria:+d} criteria, tokens not known"
    words = f"{price.mode.value} against none: {price.criteria:+d} criteria for {price.tokens:+,d} tokens"
    if price.each is not None:
        words += f", {float(price.each):,.0f} a criterion"
    return words + (" (estimated)" if is_estimate else "")
