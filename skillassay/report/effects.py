"""The lifts, what they are made of and what they cost, in words. Computes nothing."""

from __future__ import annotations

from collections.abc import Iterator

from skillassay.report.base import RunView, lift_text
from skillassay.scoring.effects import Effects, Price, adjusted_p, build_effects, normalized_gain, prices
from skillassay.scoring.scores import Lift

LEAST_P = 0.001


def lift_rows(view: RunView) -> list[tuple[str, str]]:
    """Each skill and its lift with the p-value, then all of them where there are several."""
    scores = view.assessment.scores
    adjusted = adjusted_p(scores.lifts) if len(scores.lifts) > 1 else {}
    rows = [(lift.skill_path, _with_p(lift, adjusted.get(lift.skill_path))) for lift in scores.lifts]
    if scores.overall_lift is not None and len(scores.lifts) > 1:
        rows.append((f"all {len(scores.lifts)} skills", _with_p(scores.overall_lift, None)))
    return rows


def p_legend(view: RunView) -> str | None:
    """What keeps a small p-value beside an interval that holds zero from reading as a contradiction; None without p."""
    told = [lift for lift in view.assessment.scores.lifts if lift.difference.p_value is not None]
    if not told:
        return None
    holm = f" (Holm: adjusted over the {len(told)} skills)" if len(view.assessment.scores.lifts) > 1 else ""
    return (
        f"p: chance of such a difference if both arms were alike{holm}; the interval assumes nothing but the range of "
        "the scores"
    )


def _with_p(lift: Lift, adjusted: float | None) -> str:
    p = lift.difference.p_value
    if p is None:
        return lift_text(lift)
    holm = "" if adjusted is None else f" (Holm {_p_text(adjusted)})"
    return f"{lift_text(lift)}; p {_p_text(p)}{holm}"


def _p_text(p: float) -> str:
    return f"< {LEAST_P}" if p < LEAST_P else f"{p:.3f}"


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
