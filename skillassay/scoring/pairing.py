"""From what a judge said of pairs of answers, in both orders, to outcomes and counts. Pure; decides no gate.

A pair has a winner only where both orders name the same answer, and is a tie only where both say tie. Anything else is
*inconsistent*: the order decided, so that nobody won (Zheng et al., "Judging LLM-as-a-judge with MT-Bench and Chatbot
Arena", NeurIPS 2023, section 3.4, who count it as a tie; here it stands apart from ties). An order that has no verdict
leaves the pair UNSCORED, never a tie. Equal answers are a tie that nobody needs to be asked about.

The unit of the win share is the case: the repeats of a case hang together, so that they are averaged inside it first.
Ties and inconsistent pairs count as half a win. Left out, as the sign test does (Dixon & Mood, JASA 41, 1946), they
would let two wins among ninety ties read as certainty; as a half they hold the share at no preference.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

from skillassay.statistics.bounded import bounded_mean
from skillassay.statistics.interval import Interval
from skillassay.statistics.rates import wilson

FIRST, SECOND, TIE = "first", "second", "tie"
EVEN = Fraction(1, 2)


class PairOutcome(StrEnum):
    """What became of a pair."""

    A = "A"
    B = "B"
    TIE = "tie"
    INCONSISTENT = "inconsistent"
    UNSCORED = "unscored"


class Word(StrEnum):
    """What may be said of two sides."""

    A_BETTER = "A better"
    B_BETTER = "B better"
    NONE = "no verdict"


_MIRROR = {PairOutcome.A: PairOutcome.B, PairOutcome.B: PairOutcome.A}
_SHARES = {
    PairOutcome.A: Fraction(1),
    PairOutcome.B: Fraction(0),
    PairOutcome.TIE: EVEN,
    PairOutcome.INCONSISTENT: EVEN,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPair:
    """The two answers of one case and repeat, and which place won in each order.

    ``a_first`` is what was said with A in the first place, ``b_first`` with B; None where nothing was, and then ``why``
    says why. ``same``: the answers are equal, and nobody was asked. Lengths are in characters; None without an answer.
    """

    suite: str
    case_id: str
    skill_path: str
    repeat: int
    n_chars_a: int | None = None
    n_chars_b: int | None = None
    a_first: str | None = None
    b_first: str | None = None
    same: bool = False
    why: str | None = None

    @property
    def case(self) -> tuple[str, str]:
        """The case by suite and id."""
        return (self.suite, self.case_id)

    @property
    def outcome(self) -> PairOutcome:
        """The pair's outcome."""
        if self.same:
            return PairOutcome.TIE
        if self.a_first is None or self.b_first is None:
            return PairOutcome.UNSCORED
        said = {_named(self.a_first, a_is_first=True), _named(self.b_first, a_is_first=False)}
        return said.pop() if len(said) == 1 else PairOutcome.INCONSISTENT

    @property
    def is_judged(self) -> bool:
        """Whether both orders have a verdict."""
        return not self.same and self.a_first is not None and self.b_first is not None

    @property
    def exchanged(self) -> JudgedPair:
        """The same pair with A called B."""
        return replace(
            self, n_chars_a=self.n_chars_b, n_chars_b=self.n_chars_a, a_first=self.b_first, b_first=self.a_first
        )


def _named(place: str, *, a_is_first: bool) -> PairOutcome:
    if place == TIE:
        return PairOutcome.TIE
    return PairOutcome.A if (place == FIRST) is a_is_first else PairOutcome.B


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """``k`` of ``n`` with the Wilson 95 % interval, which is None where n is 0."""

    k: int
    n: int

    @property
    def interval(self) -> Interval | None:
        """Wilson 95 %."""
        return wilson(self.k, self.n)


@dataclass(frozen=True, slots=True, kw_only=True)
class WinShare:
    """How much of the wins is A's, over ``n_cases`` with a scored pair of ``n_planned`` cases.

    ``mean`` and ``interval`` are over what was scored. ``word`` is what holds whatever the unscored pairs would have
    said: each of them is counted against the side that the word is about.
    """

    n_cases: int
    n_planned: int
    mean: Fraction | None
    interval: Interval | None
    word: Word


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTotals:
    """The counts of some pairs. ``n_same`` of the ties are equal answers, about which nobody was asked.

    Of the inconsistent pairs ``both_first`` named the first place in both orders and ``both_second`` the second; in the
    others one order was a tie. ``longer`` counts, among pairs won by one of two answers of unlike length, the longer.
    """

    outcomes: Mapping[PairOutcome, int]
    n_same: int
    consistency: Share
    both_first: Share
    both_second: Share
    longer: Share
    win: WinShare

    @property
    def n_planned(self) -> int:
        """All planned pairs."""
        return sum(self.outcomes.values())

    @property
    def n_scored(self) -> int:
        """Pairs with an outcome."""
        return self.n_planned - self.outcomes[PairOutcome.UNSCORED]


def pair_totals(pairs: Sequence[JudgedPair]) -> PairTotals:
    """Count the pairs; ``A + B + tie + inconsistent + unscored == planned`` always."""
    outcomes = dict.fromkeys(PairOutcome, 0)
    for pair in pairs:
        outcomes[pair.outcome] += 1
    judged = [pair for pair in pairs if pair.is_judged]
    split = [pair for pair in judged if pair.outcome is PairOutcome.INCONSISTENT]
    places = [{pair.a_first, pair.b_first} for pair in split]
    return PairTotals(
        outcomes=outcomes,
        n_same=sum(pair.same for pair in pairs),
        consistency=Share(k=len(judged) - len(split), n=len(judged)),
        both_first=Share(k=places.count({FIRST}), n=len(split)),
        both_second=Share(k=places.count({SECOND}), n=len(split)),
        longer=_longer(judged),
        win=win_share(pairs),
    )


def _longer(judged: Iterable[JudgedPair]) -> Share:
    won = [
        (pair.outcome is PairOutcome.A) is ((pair.n_chars_a or 0) > (pair.n_chars_b or 0))
        for pair in judged
        if pair.outcome in _MIRROR and pair.n_chars_a != pair.n_chars_b
    ]
    return Share(k=sum(won), n=len(won))


def case_shares(pairs: Iterable[JudgedPair], *, unscored: Fraction | None = None) -> tuple[Fraction, ...]:
    """A's mean share of each case, in order; an unscored pair counts as ``unscored``, and not at all for None."""
    cases: dict[tuple[str, str], list[Fraction]] = {}
    for pair in pairs:
        share = _SHARES.get(pair.outcome, unscored)
        if share is not None:
            cases.setdefault(pair.case, []).append(share)
    return tuple(sum(shares, Fraction(0)) / len(shares) for shares in cases.values())


def win_share(pairs: Sequence[JudgedPair]) -> WinShare:
    """A's share of the wins by case, with Gaffke's interval (see :func:`bounded_mean`), and what it allows to say."""
    shares = case_shares(pairs)
    interval = _interval(shares)
    against_a = against_b = interval
    if any(pair.outcome is PairOutcome.UNSCORED for pair in pairs):
        against_a, against_b = (_interval(case_shares(pairs, unscored=Fraction(worst))) for worst in (0, 1))
    return WinShare(
        n_cases=len(shares),
        n_planned=len({pair.case for pair in pairs}),
        mean=sum(shares, Fraction(0)) / len(shares) if shares else None,
        interval=interval,
        word=_word(against_a, against_b),
    )


def _interval(shares: Sequence[Fraction]) -> Interval | None:
    return bounded_mean([float(share) for share in shares], low=0.0, high=1.0)


def _word(against_a: Interval | None, against_b: Interval | None) -> Word:
    if against_a is not None and against_a.low > EVEN:
        return Word.A_BETTER
    if against_b is not None and against_b.high < EVEN:
        return Word.B_BETTER
    return Word.NONE


def by_skill(pairs: Iterable[JudgedPair]) -> Mapping[str, PairTotals]:
    """The totals of each skill, by path."""
    skills: dict[str, list[JudgedPair]] = {}
    for pair in pairs:
        skills.setdefault(pair.skill_path, []).append(pair)
    return {path: pair_totals(skills[path]) for path in sorted(skills)}
