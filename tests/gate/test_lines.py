"""What lines of the gate compare: shares of trials, limits in words, and what they print."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.gate.lines import Status, count_status, decimal_text
from skillassay.report.breakdown import share_text

SHARES = st.fractions(min_value=0, max_value=1)


@given(SHARES)
def test_a_printed_limit_is_the_limit(number: Fraction) -> None:
    """Read back, a printed number is exactly the one that was compared: 0.7966 never prints as 0.80."""
    assert Fraction(decimal_text(number)) == number


@given(SHARES, SHARES)
def test_what_is_printed_never_contradicts_the_comparison(number: Fraction, limit: Fraction) -> None:
    """Two printed numbers compare as the numbers do."""
    assert (Fraction(decimal_text(number)) < Fraction(decimal_text(limit))) == (number < limit)


@given(SHARES)
def test_a_rate_that_is_not_whole_never_prints_as_whole(share: Fraction) -> None:
    """0 and 1 print as themselves alone, and any other share within one of the last digit."""
    text = share_text(share)
    assert (text in {"0", "1"}) == (share in {0, 1})
    assert (Fraction(text) in {0, 1}) == (share in {0, 1})
    assert abs(Fraction(text) - share) <= Fraction(1, 1000)


@given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 20), SHARES)
def test_a_share_is_decided_when_no_open_trial_can_turn_it(
    n_wrong: int, n_open: int, n_right: int, limit: Fraction
) -> None:
    """Failed when it fails though all open ones turn out well, passed when it holds though none does, else open."""
    of = n_wrong + n_open + n_right
    best, worst = n_wrong <= limit * of, n_wrong + n_open <= limit * of
    expected = Status.FAILED if not best else Status.PASSED if worst else Status.UNDECIDED
    assert count_status(n_wrong, n_open, of=of, limit=limit) is expected


@pytest.mark.parametrize(
    ("share", "text"), [(None, "not measured"), (Fraction(2, 3), "0.667"), (Fraction(1, 9999), "0.001")]
)
def test_a_rate_in_words(share: Fraction | None, text: str) -> None:
    """Three digits, and what was not measured says so."""
    assert share_text(share) == text
