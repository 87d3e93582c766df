"""A comparison of two runs as one HTML page: what got worse first, then what got better, and the rates of both."""

from __future__ import annotations

from skillassay.report.base import rate_text
from skillassay.report.comparison import score_words, verdict_lines
from skillassay.report.html import render_page
from skillassay.scoring.comparison import Change, Comparison

MOST_CHANGES = 1_000


def render_comparison_page(comparison: Comparison) -> str:
    """The page; of very many changes the worse ones stand first, and the page says how many are left out."""
    changes = sorted(comparison.changes, key=_order)
    shown = changes[:MOST_CHANGES]
    return render_page(
        "comparison.html.j2",
        title=f"{comparison.old} and {comparison.new}",
        comparison=comparison,
        verdict=verdict_lines(comparison),
        rates=[(mode.value, rate_text(old), rate_text(new)) for mode, (old, new) in comparison.rates.items()],
        changes=[(_word(one), one, *score_words(one)) for one in shown],
        n_left_out=len(changes) - len(shown),
        n_worse=sum(one.is_worse for one in changes),
        n_better=sum(one.is_better for one in changes),
    )


def _word(change: Change) -> str:
    return "worse" if change.is_worse else "better" if change.is_better else "moved"


def _order(change: Change) -> tuple[int, int]:
    return (("worse", "better", "moved").index(_word(change)), 0 if change.is_flip else 1)
