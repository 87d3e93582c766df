"""Where the points and intervals of a forest plot stand. Owns its scale; knows no markup.

All effects share one axis from -1 to 1, the whole range of a difference of two shares, so that a wide interval looks
wide and two reports can be held side by side.
"""

from __future__ import annotations

from dataclasses import dataclass

from skillassay.scoring.scores import Lift

WIDTH = 240.0
MARGIN = 8.0
TICKS = (-1.0, -0.5, 0.0, 0.5, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One effect, or a part of the one before: where its mean and both ends stand, None where there is none."""

    name: str
    is_part: bool
    text: str
    word: str
    point: float | None
    low: float | None
    high: float | None


def place(value: float) -> float:
    """The place of a difference on the axis, in units of the drawing."""
    inner = WIDTH - 2 * MARGIN
    return round(MARGIN + inner * (min(max(value, -1.0), 1.0) + 1) / 2, 2)


def bar_of(name: str, lift: Lift, text: str, *, is_part: bool) -> Bar:
    """The bar of a lift, with the words that say the same."""
    found = lift.difference
    interval = found.interval
    return Bar(
        name=name,
        is_part=is_part,
        text=text,
        word=found.word,
        point=None if found.mean is None else place(found.mean),
        low=None if interval is None else place(interval.low),
        high=None if interval is None else place(interval.high),
    )
