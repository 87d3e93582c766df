"""How a judge agrees with people, as numbers and as a verdict on the judge. Pure; all comparisons are exact.

A pair is one criterion of one answer on which all people who decided say the same and the judge decided too. Passing is
the positive class: sensitivity is the share of what people pass that the judge passes, specificity the share of what
people fail that it fails. Kappa is Cohen's (J. Cohen, "A coefficient of agreement for nominal scales", Educational and
Psychological Measurement 20, 1960); it is undefined where both sides gave one verdict throughout.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median

from skillassay.calibration.labels import Point
from skillassay.contract.terms import CalibrationTerms
from skillassay.statistics.agreement import exact_kappa

MOST_LEFT_OUT = 10
"""One in so many decided points may be no pair."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """What people and the judge say of one criterion of one answer. ``n_chars`` is the length of the answer."""

    point: Point
    human: bool
    judge: bool
    n_chars: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """The four counts: people and judge pass, people alone, judge alone, neither."""

    both_pass: int
    human_alone: int
    judge_alone: int
    both_fail: int

    @property
    def n(self) -> int:
        """All pairs."""
        return self.both_pass + self.human_alone + self.judge_alone + self.both_fail

    @property
    def agreed(self) -> int:
        """Pairs on which both say the same."""
        return self.both_pass + self.both_fail

    @property
    def n_passed(self) -> int:
        """Pairs that people pass: the denominator of the sensitivity."""
        return self.both_pass + self.human_alone

    @property
    def n_failed(self) -> int:
        """Pairs that people fail: the denominator of the specificity."""
        return self.both_fail + self.judge_alone

    @property
    def kappa(self) -> Fraction | None:
        """Cohen's kappa, exactly; None where it is undefined (chance alone would agree on everything)."""
        return exact_kappa(self.table)

    @property
    def table(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Rows people, columns the judge, passing first."""
        return ((self.both_pass, self.human_alone), (self.judge_alone, self.both_fail))


@dataclass(frozen=True, slots=True, kw_only=True)
class Verbosity:
    """Whether the judge is milder than people on long answers than on short ones.

    ``surplus`` of a half is the judge's passes minus people's; ``bias`` is the surplus a pair in the longer half minus
    that in the shorter one, between -2 and 2. Answers of the median
    length count as short, unless none is longer.
    """

    n_short: int
    surplus_short: int
    n_long: int
    surplus_long: int

    @property
    def bias(self) -> Fraction | None:
        """None where one half is empty: all answers are of one length."""
        if not self.n_short or not self.n_long:
            return None
        return Fraction(self.surplus_long, self.n_long) - Fraction(self.surplus_short, self.n_short)


def agreement_of(pairs: Iterable[Pair]) -> Agreement:
    """The four counts of pairs."""
    kinds = [(pair.human, pair.judge) for pair in pairs]
    return Agreement(
        both_pass=kinds.count((True, True)),
        human_alone=kinds.count((True, False)),
        judge_alone=kinds.count((False, True)),
        both_fail=kinds.count((False, False)),
    )


def verbosity_of(pairs: Sequence[Pair]) -> Verbosity:
    """The judge's mildness by length of the answer."""
    lengths = sorted({pair.n_chars for pair in pairs})
    middle = median(pair.n_chars for pair in pairs) if pairs else 0
    if len(lengths) > 1 and middle == lengths[-1]:
        middle = lengths[-2]
    halves = ([p for p in pairs if p.n_chars <= middle], [p for p in pairs if p.n_chars > middle])
    short, long = (sum(pair.judge for pair in half) - sum(pair.human for pair in half) for half in halves)
    return Verbosity(n_short=len(halves[0]), surplus_short=short, n_long=len(halves[1]), surplus_long=long)


def shortfalls(agreement: Agreement, terms: CalibrationTerms, *, n_left_out: int = 0) -> tuple[str, ...]:
    """Why this agreement certifies no judge; nothing where it does.

    ``n_left_out`` are the points that people decided and that are no pair: the judge gave no verdict or contradicted
    itself, or people disagree. More than one in ten could hide whatever the judge cannot do.

    A judge that passes everything agrees well with people who pass nearly everything. So both classes must be there in
    number, and kappa takes out what chance would give.
    """
    found = []
    if n_left_out * MOST_LEFT_OUT > agreement.n + n_left_out:
        share = f"{n_left_out} of {agreement.n + n_left_out}"
        found.append(f"{share} decided points have no verdict to compare or are disputed, at most one in ten may")
    if agreement.n < terms.min_labels:
        found.append(f"{agreement.n} labels with a verdict of the judge, {terms.min_labels} are needed")
    for word, n in (("passed", agreement.n_passed), ("failed", agreement.n_failed)):
        if n < terms.min_each:
            found.append(f"{n} of them {word} by people, {terms.min_each} are needed: a set of one kind proves nothing")
    if agreement.n and Fraction(agreement.agreed, agreement.n) < terms.agreement_min:
        share = f"{agreement.agreed} of {agreement.n}"
        found.append(
            f"the judge agrees on {share} ({agreement.agreed / agreement.n:.3f} < {_text(terms.agreement_min)})"
        )
    kappa = agreement.kappa
    if agreement.n and kappa is None:
        found.append("kappa is undefined: people and judge gave one and the same verdict throughout")
    elif kappa is not None and kappa < terms.kappa_min:
        found.append(f"kappa is {float(kappa):.3f} < {_text(terms.kappa_min)}")
    return tuple(found)


def _text(limit: Fraction) -> str:
    return f"{float(limit):g}"
