"""What the intervals and tests of a lift really cover: simulated suites whose truth is known.

    python scripts/bench_statistics.py [--suites N]

For each number of cases, repeats and kind of suite: how often the sign-flip test calls a difference where there is none
(nominal 5 %), how often the 95 % interval of the lift does, and how often it holds the true lift. Seeded; each line has
its Monte-Carlo error. Exit 1 where a promise of docs/design/statistics.md is broken by more than two such errors.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from tabulate import tabulate

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from skillassay.statistics.paired import paired_difference

LEVEL = 0.05
COVERED = 0.94
Draw = Callable[[random.Random], tuple[float, float]]
"""The chances that a criterion of one case passes without the skill and with it."""


def even(draw: random.Random) -> tuple[float, float]:
    """Equal arms, cases of every difficulty."""
    chance = draw.random()
    return chance, chance


def skewed(draw: random.Random) -> tuple[float, float]:  # noqa: ARG001 - one of several
    """Equal arms that pass nearly everything: most differences are 0."""
    return 0.97, 0.97


def rare(draw: random.Random) -> tuple[float, float]:
    """Three cases in twenty gain everything, the others nothing: most differences are 0, and the mean is not."""
    return (0.0, 1.0) if draw.random() < 0.15 else (1.0, 1.0)


def helped(draw: random.Random) -> tuple[float, float]:
    """Half of the cases are helped much, the others not at all."""
    return (0.2, 0.9) if draw.random() < 0.5 else (0.9, 0.9)


KINDS: dict[str, tuple[Draw, float]] = {
    "equal, even": (even, 0.0),
    "equal, skewed": (skewed, 0.0),
    "helped": (helped, 0.35),
    "rare": (rare, 0.15),
}
CRITERIA = 5


@dataclass(slots=True)
class Tally:
    """What came of the suites of one kind."""

    n: int = 0
    alarms: int = 0
    words: int = 0
    held: int = 0


def simulate(kind: str, *, cases: int, repeats: int, suites: int) -> Tally:
    """Many suites of one kind; seeded by what they are."""
    draw_case, truth = KINDS[kind]
    draw, tally = random.Random(f"{kind}/{cases}/{repeats}"), Tally()
    for _ in range(suites):
        differences = [_difference(draw, draw_case(draw), repeats) for _ in range(cases)]
        lift = paired_difference(differences)
        assert lift.p_value is not None
        assert lift.interval is not None
        tally.n += 1
        tally.alarms += lift.p_value <= LEVEL
        tally.words += lift.word != "inconclusive"
        tally.held += lift.interval.low <= truth <= lift.interval.high
    return tally


def _difference(draw: random.Random, chances: tuple[float, float], repeats: int) -> Fraction:
    none, progressive = (sum(draw.random() < chance for _ in range(CRITERIA * repeats)) for chance in chances)
    return Fraction(progressive - none, CRITERIA * repeats)


def main() -> int:
    """Simulate, print, and say whether the promises hold."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--suites", type=int, default=2_000, help="simulated suites of each kind (default 2000)")
    suites = parser.parse_args().suites
    rows, broken = [], 0
    for kind, (_, truth) in KINDS.items():
        for cases in (6, 8, 12):
            for repeats in (1, 3):
                tally = simulate(kind, cases=cases, repeats=repeats, suites=suites)
                slack = 2 * (LEVEL * (1 - LEVEL) / tally.n) ** 0.5
                called, word, held = (count / tally.n for count in (tally.alarms, tally.words, tally.held))
                bad = held < COVERED - slack or (truth == 0 and max(called, word) > LEVEL + slack)
                broken += bad
                figures = (f"{called:.4f}", f"{word:.4f}", f"{held:.4f}")
                rows.append((kind, truth, cases, repeats, *figures, "BROKEN" if bad else ""))
    error = (LEVEL * (1 - LEVEL) / suites) ** 0.5
    headers = ("suites", "lift", "cases", "repeats", "p <= 5 %", "interval without 0", "interval holds the lift", "")
    print(tabulate(rows, headers=headers, disable_numparse=True))
    print(f"{suites} suites a line, {CRITERIA} criteria a case; Monte-Carlo error of a share near 5 %: {error:.4f}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
