"""Amounts of money: exact, whatever is added, and written as short as they can be."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.models.money import add, amount_text, for_tokens, parse_amount

AMOUNTS = st.decimals(min_value=0, max_value=10**9, allow_nan=False, allow_infinity=False, places=12)


def test_a_tenth_and_two_tenths_are_three_tenths() -> None:
    """Which they are not in binary floats."""
    assert add([Decimal("0.1"), Decimal("0.2")]) == Decimal("0.3")
    assert amount_text(add([Decimal("0.1"), Decimal("0.2")])) == "0.3"


@given(st.lists(AMOUNTS, max_size=20))
def test_a_sum_is_that_of_the_fractions(amounts: list[Decimal]) -> None:
    """No digit is rounded away, and the text reads back as the same amount."""
    total = add(amounts)
    assert Fraction(total) == sum(map(Fraction, amounts), Fraction(0))
    assert parse_amount(amount_text(total)) == total


@given(st.integers(0, 10**12), AMOUNTS)
def test_tokens_times_a_price_is_exact(n_tokens: int, price: Decimal) -> None:
    """As a fraction of a million."""
    assert Fraction(for_tokens(n_tokens, price)) == n_tokens * Fraction(price) / 10**6


@pytest.mark.parametrize(("amount", "text"), [("0.10", "0.1"), ("100", "100"), ("0.000", "0"), ("1E+2", "100")])
def test_an_amount_is_written_plainly(amount: str, text: str) -> None:
    """No exponent, no trailing zero behind the point, and none lost before it."""
    assert amount_text(Decimal(amount)) == text


@pytest.mark.parametrize("text", ["", "1e3", "-1", "+1", ".5", "1.", "01", "NaN", "Infinity", "1 000", "١", 0.1, None])
def test_what_is_no_plain_decimal_is_refused(text: object) -> None:
    """Binary floats among it."""
    with pytest.raises(ValueError, match="no plain decimal"):
        parse_amount(text)
