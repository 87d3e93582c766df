"""Amounts of money: exact decimals, never binary floats. Owns how they are read, added, multiplied and written.

Nothing is rounded: a sum that would not fit ``DIGITS`` digits raises instead. A price has at most 12 decimals and is
for a million tokens, so an amount has at most 18.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Context, Decimal, DivisionByZero, Inexact, InvalidOperation, Overflow

DIGITS = 60
_EXACT = Context(prec=DIGITS, traps=[Inexact, InvalidOperation, Overflow, DivisionByZero])
_FORM = re.compile(r"(?:0|[1-9][0-9]{0,29})(?:\.[0-9]{1,18})?", re.ASCII)
_ZERO = Decimal(0)


def parse_amount(text: object) -> Decimal:
    """The amount that a plain decimal text says; no exponent, no sign. Raises :class:`ValueError`."""
    if not isinstance(text, str) or not _FORM.fullmatch(text):
        raise ValueError(f"{str(text)[:40]!r} is no plain decimal number")
    return Decimal(text)


def add(amounts: Iterable[Decimal]) -> Decimal:
    """The exact sum."""
    total = _ZERO
    for amount in amounts:
        total = _EXACT.add(total, amount)
    return total


def for_tokens(n_tokens: int, per_million: Decimal) -> Decimal:
    """What so many tokens cost at a price for a million of them."""
    return _EXACT.scaleb(_EXACT.multiply(Decimal(n_tokens), per_million), Decimal(-6))


def amount_text(amount: Decimal) -> str:
    """The shortest plain decimal that says exactly this amount."""
    text = f"{amount:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
