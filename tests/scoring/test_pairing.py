"""Outcomes of pairs, their counts and A's share of the wins, from their definitions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from skillassay.scoring.pairing import (
    JudgedPair,
    PairOutcome,
    Share,
    Word,
    by_skill,
    case_shares,
    pair_totals,
    win_share,
)

A, B, TIE, INCONSISTENT, UNSCORED = PairOutcome
A_WON, B_WON = ("first", "second"), ("second", "first")
FIRST_BOTH, SECOND_BOTH = ("first", "first"), ("second", "second")
NO_WORD = (None, "first")


def pair(
    said: tuple[str | None, str | None],
    case: str = "c",
    *,
    repeat: int = 1,
    chars: tuple[int, int] = (5, 9),
    **more: object,
) -> JudgedPair:
    """A pair about which this was said, with A first and with B first."""
    fields: dict[str, object] = {"suite": "s", "case_id": case, "skill_path": "skills/x", "repeat": repeat}
    fields |= {"n_chars_a": chars[0], "n_chars_b": chars[1], "a_first": said[0], "b_first": said[1]}
    return JudgedPair(**(fields | more))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("a_first", "b_first", "outcome"),
    [
        ("first", "second", A),
        ("second", "first", B),
        ("tie", "tie", TIE),
        ("first", "first", INCONSISTENT),
        ("second", "second", INCONSISTENT),
        ("tie", "first", INCONSISTENT),
        ("tie", "second", INCONSISTENT),
        ("first", "tie", INCONSISTENT),
        ("second", "tie", INCONSISTENT),
        (None, "first", UNSCORED),
        ("tie", None, UNSCORED),
        (None, None, UNSCORED),
    ],
)
def test_an_outcome_is_what_both_orders_say(a_first: str | None, b_first: str | None, outcome: PairOutcome) -> None:
    """All that can be said: one answer in both orders, a tie in both, else the order decided; an error is no tie."""
    assert pair((a_first, b_first)).outcome is outcome


def test_equal_answers_are_a_tie_that_tells_nothing_of_the_judge() -> None:
    """They count as a tie, and not in the judge's consistency."""
    totals = pair_totals([pair((None, None), same=True), pair(FIRST_BOTH)])
    assert (totals.outcomes[TIE], totals.n_same, totals.n_scored) == (1, 1, 2)
    assert totals.consistency == Share(k=0, n=1)


places = st.sampled_from([None, "first", "second", "tie"])
pairs_of_cases = st.lists(
    st.builds(
        lambda said, case, repeat, chars, same: pair(said, case, repeat=repeat, chars=chars, same=same),
        st.tuples(places, places),
        st.sampled_from("abcdefgh"),
        st.integers(1, 3),
        st.tuples(st.integers(0, 3), st.integers(0, 3)),
        st.booleans(),
    ),
    max_size=24,
)


@given(pairs_of_cases)
def test_every_planned_pair_has_one_outcome(pairs: Sequence[JudgedPair]) -> None:
    """Law: A + B + tie + inconsistent + unscored is what was planned, and consistent + inconsistent what was judged."""
    totals = pair_totals(pairs)
    assert sum(totals.outcomes.values()) == totals.n_planned == len(pairs)
    assert totals.consistency.n - totals.consistency.k == totals.outcomes[INCONSISTENT]


@given(pairs_of_cases)
def test_calling_a_b_exchanges_the_wins_and_nothing_else(pairs: Sequence[JudgedPair]) -> None:
    """Law: wins change sides, A's share becomes what is left of one, the word its mirror; all else stays."""
    totals, mirrored = pair_totals(pairs), pair_totals([one.exchanged for one in pairs])
    mirror = {A: B, B: A, TIE: TIE, INCONSISTENT: INCONSISTENT, UNSCORED: UNSCORED}
    assert mirrored.outcomes == {mirror[one]: n for one, n in totals.outcomes.items()}
    same = ("n_same", "consistency", "both_first", "both_second", "longer")
    assert [getattr(mirrored, name) for name in same] == [getattr(totals, name) for name in same]
    words = {Word.A_BETTER: Word.B_BETTER, Word.B_BETTER: Word.A_BETTER, Word.NONE: Word.NONE}
    assert mirrored.win.word is words[totals.win.word]
    if totals.win.mean is not None and totals.win.interval is not None and mirrored.win.interval is not None:
        assert mirrored.win.mean == 1 - totals.win.mean
        assert mirrored.win.interval.low == pytest.approx(1 - totals.win.interval.high, abs=1e-6)


def test_a_judge_that_always_says_first_gives_nobody_a_win() -> None:
    """Ten pairs, ten times the first place: consistency 0 of 10, share one half, no verdict."""
    totals = pair_totals([pair(FIRST_BOTH, f"c{i}") for i in range(10)])
    assert (totals.outcomes[A], totals.outcomes[B], totals.outcomes[INCONSISTENT]) == (0, 0, 10)
    assert totals.consistency == Share(k=0, n=10)
    assert totals.consistency.interval is not None
    z = 1.959964  # Wilson at 0 of n: from 0 to z² / (n + z²)
    assert totals.consistency.interval.low == 0.0
    assert totals.consistency.interval.high == pytest.approx(z * z / (10 + z * z), abs=1e-6)
    assert (totals.both_first, totals.both_second) == (Share(k=10, n=10), Share(k=0, n=10))
    assert (totals.win.mean, totals.win.word) == (Fraction(1, 2), Word.NONE)


def test_what_the_order_decided_is_told_by_place() -> None:
    """Of four inconsistent pairs one is first twice, two are second twice, one is a tie in one order."""
    totals = pair_totals([pair(FIRST_BOTH), pair(SECOND_BOTH), pair(SECOND_BOTH), pair(("tie", "first")), pair(A_WON)])
    assert (totals.both_first, totals.both_second) == (Share(k=1, n=4), Share(k=2, n=4))


def test_the_longer_answer_counts_where_one_won() -> None:
    """A 9 and B 5 characters: A's win is the longer's, B's is not; ties, equal lengths and no winner are left out."""
    totals = pair_totals(
        [
            pair(A_WON, chars=(9, 5)),
            pair(B_WON, chars=(9, 5)),
            pair(B_WON, chars=(5, 9)),
            pair(A_WON, chars=(5, 5)),
            pair(("tie", "tie")),
            pair(FIRST_BOTH),
            pair(NO_WORD),
        ]
    )
    assert totals.longer == Share(k=2, n=3)


def test_a_half_for_ties_and_for_what_the_order_decided() -> None:
    """One win, one tie, one inconsistent pair in three cases: (1 + 1/2 + 1/2) / 3."""
    pairs = [pair(A_WON, "a"), pair(("tie", "tie"), "b"), pair(FIRST_BOTH, "c")]
    assert win_share(pairs).mean == Fraction(2, 3)


def test_repeats_are_averaged_inside_their_case() -> None:
    """Nine wins of A in one case and one of B in another are one case each: one half."""
    pairs = [*(pair(A_WON, "a", repeat=i) for i in range(9)), pair(B_WON, "b")]
    assert case_shares(pairs) == (Fraction(1), Fraction(0))
    assert win_share(pairs).mean == Fraction(1, 2)


@pytest.mark.parametrize(
    ("n_a", "n_b", "word"),
    [(5, 0, Word.NONE), (6, 0, Word.A_BETTER), (0, 6, Word.B_BETTER), (9, 1, Word.A_BETTER), (8, 2, Word.NONE)],
)
def test_cases_won_or_lost_have_clopper_and_pearsons_interval(n_a: int, n_b: int, word: Word) -> None:
    """Without ties the interval is the exact binomial one, from the quantiles of the beta distribution."""
    n = n_a + n_b
    pairs = [pair(A_WON if i < n_a else B_WON, f"c{i}") for i in range(n)]
    found = win_share(pairs)
    low = 0.0 if n_a == 0 else beta.ppf(0.025, n_a, n_b + 1)
    high = 1.0 if n_b == 0 else beta.ppf(0.975, n_a + 1, n_b)
    assert found.interval is not None
    assert found.interval.low == pytest.approx(low, abs=1e-6)
    assert found.interval.high == pytest.approx(high, abs=1e-6)
    assert found.word is word


def test_an_unscored_pair_counts_against_the_side_that_would_win() -> None:
    """Six of six would do; with two unscored it is six of eight at worst, and no word. Its share is left out."""
    six = [pair(A_WON, f"c{i}") for i in range(6)]
    found = win_share([*six, pair(NO_WORD, "x"), pair(NO_WORD, "y")])
    assert (found.n_cases, found.n_planned, found.mean, found.word) == (6, 8, Fraction(1), Word.NONE)
    assert win_share([pair(A_WON, f"c{i}") for i in range(20)] + [pair(NO_WORD, "x")]).word is Word.A_BETTER


def test_without_a_scored_pair_there_is_no_share() -> None:
    """Nothing is None, not zero and not a half."""
    found = win_share([pair(NO_WORD)])
    assert (found.mean, found.interval, found.word, found.n_cases) == (None, None, Word.NONE, 0)


def test_each_skill_has_its_own_totals() -> None:
    """By path, sorted."""
    found = by_skill([pair(B_WON, skill_path="skills/y"), pair(A_WON), pair(A_WON, "d")])
    assert [(path, totals.outcomes[A], totals.outcomes[B]) for path, totals in found.items()] == [
        ("skills/x", 2, 0),
        ("skills/y", 0, 1),
    ]
