"""Folding: what is presentation goes, what is text stays."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.folding import fold_text

AWKWARD = st.text(alphabet=st.sampled_from("ab2-*_`>\"'«»‹› \n•—“’½²\u0301\u0338\u200b.\u2028"), max_size=16)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Cites  the\n source\ttable ", "Cites the source table"),
        ("- Cites the source table", "Cites the source table"),
        ("* **Cites** the `source` _table_", "Cites the source table"),
        ("“Cites the source table”", "Cites the source table"),
        ("— Cites the source table", "Cites the source table"),
        ("> > quoted\n> again", "quoted again"),
        ("- one\n- two\n+ three\n• four", "one two three four"),
        ("10–15, 10−15, 10‑15", "10-15, 10-15, 10-15"),
        ("dit « oui » et « non » là", 'dit "oui" et "non" là'),
        ("sagt »ja« und »nein« da", 'sagt "ja" und "nein" da'),
        ("l’été d'un ‘ami’ x", "l'été d'un 'ami' x"),
        ("e\u0301te\u0301", "été"),
        ("１２３　ＡＢＣ ﬁn", "123 ABC fin"),
        ("196,80\u202f€ x\u00a0y", "196,80 € x y"),
        ("zero\u200bwidth so\u00adft \ufeffmark ✔\ufe0f", "zerowidth soft mark ✔"),
    ],
)
def test_presentation_goes(text: str, folded: str) -> None:
    """Bullets, emphasis, quotes, dashes, widths, spaces and invisible characters are presentation."""
    assert fold_text(text) == folded


@pytest.mark.parametrize(
    "text",
    [
        "leave_balance.py and __x",
        "2*3 = 6 and 2 * 3 = 6",
        "1. first 2. second",
        "-5 jours",
        "Straße, ÉTÉ",
        "done.",
        "# Title",
        "a | b",
        "a - b",
        "x > 5",
    ],
)
def test_text_stays(text: str) -> None:
    """Case, accents, figures, final punctuation, operators, headings and tables are text."""
    assert fold_text(text) == text.replace("__x", "x")


@given(st.one_of(AWKWARD, st.text()))
def test_folding_twice_is_folding_once(text: str) -> None:
    """Idempotent on any text."""
    assert fold_text(fold_text(text)) == fold_text(text)


@given(AWKWARD)
def test_no_letter_and_no_digit_is_lost(text: str) -> None:
    """The letters and digits of the compatibility decomposition survive, in order."""
    assert _letters(fold_text(text)) == _letters(text)


@given(
    st.lists(st.from_regex(r"[a-zé]{1,6}", fullmatch=True), min_size=1), st.sampled_from(["**{}**", "« {} »", "- {}"])
)
def test_decoration_makes_no_difference(words: list[str], decoration: str) -> None:
    """A sentence with emphasis, guillemets or a bullet folds like the sentence alone."""
    assert fold_text(decoration.format(" ".join(words))) == " ".join(words)


def _letters(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFKD", text) if char.isalnum())
