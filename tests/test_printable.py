"""Foreign text made safe to show: one line of visible characters, inert in Markdown."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.printable import clip, markdown_cell, one_line, width

CELLS = json.loads((Path(__file__).parent / "data/public/ci/adobe-skills-59/cells.json").read_text(encoding="utf-8"))
TEXTS = st.text(st.characters(exclude_categories=())) | st.text("a\u0301\u200b|\\`@#*日 \n\r\x1b[:<>&w.", max_size=60)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", r"\u{1b}[31mred\u{1b}[0m"),
        ("\x9b31m", r"\u{9b}31m"),
        ("\x1b]8;;http://e.example\x07link", r"\u{1b}]8;;http://e.example\u{7}link"),
        ("a\u202eb", r"a\u{202e}b"),
        ("a\u2066b\u2069", r"a\u{2066}b\u{2069}"),
        ("zero\u200bwidth\u200d\ufeff", r"zero\u{200b}width\u{200d}\u{feff}"),
        ("soft\u00adhyphen", r"soft\u{ad}hyphen"),
        ("\u3164filler\u115f\u2800", r"\u{3164}filler\u{115f}\u{2800}"),
        ("tag\U000e0041", r"tag\u{e0041}"),
        ("hidden\U000e0100", r"hidden\u{e0100}"),
        ("\ue000\ud800\uffff", r"\u{e000}\u{d800}\u{ffff}"),
        ("a\r\n::error::b", "a ::error::b"),
        (" \ta\u00a0\u2028b\u0085c \n", "a b c"),
        ("⚠\ufe0f ok", "⚠\ufe0f ok"),
        ("caf\u00e9 日本", "caf\u00e9 日本"),
        ("e" + "\u0301" * 50, "e" + "\u0301" * 4 + "…"),
        ("\b\bback\x7f", r"\u{8}\u{8}back\u{7f}"),
        ("", ""),
    ],
    ids=ascii,
)
def test_what_cannot_be_seen_is_written_out(text: str, shown: str) -> None:
    """Escapes, direction marks, zero widths, fillers and surrogates become hex; white space becomes one space."""
    assert one_line(text) == shown


@given(TEXTS)
def test_one_line_is_one_visible_line(text: str) -> None:
    """Law: no line break, control, format or private character is left."""
    shown = one_line(text)
    assert shown.splitlines() in ([shown], [])
    hidden = {unicodedata.category(char) for char in shown} & {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    assert hidden == set()


@given(TEXTS)
def test_one_line_twice_is_one_line(text: str) -> None:
    """Law: what is safe stays as it is."""
    assert one_line(one_line(text)) == one_line(text)


@given(TEXTS, st.integers(0, 30))
def test_clip_keeps_the_width(text: str, limit: int) -> None:
    """Law: never wider than the limit; a text that fits is untouched; what is cut ends in an ellipsis."""
    cut = clip(text, limit)
    assert width(cut) <= limit
    if width(text) <= limit:
        assert cut == text
    elif limit > 0:
        assert cut.endswith("…")
        assert text.startswith(cut[:-1])
    else:
        assert cut == ""


@pytest.mark.parametrize(
    ("text", "columns"),
    [("abc", 3), ("日本", 4), ("ｆｕｌｌ", 8), ("e\u0301", 1), ("⚠\ufe0f", 1), ("", 0), ("…", 1), ("👍", 2)],
)
def test_width_in_columns(text: str, columns: int) -> None:
    """Wide characters take two columns, marks none."""
    assert width(text) == columns


@pytest.mark.parametrize(("text", "limit", "cut"), [("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("abcd", 3, "ab…")])
def test_clip_examples(text: str, limit: int, cut: str) -> None:
    """A wide character that would stand half outside is left out whole."""
    assert clip(text, limit) == cut


@pytest.mark.parametrize("cell", CELLS, ids=ascii)
def test_adobe_skills_59_rows_stay_rows(cell: str) -> None:
    """adobe/skills#59: every row has the same number of bars and no line break, HTML, link, image or mention."""
    row = f"| {markdown_cell(cell)} | x |"
    assert row.count("|") == 3
    assert "\n" not in row
    assert re.search(r"[<>`*\[\]!\\]|@\w|(?<!&)#\d|://", row) is None


@given(TEXTS)
def test_a_cell_is_inert(text: str) -> None:
    """Law: no character of Markdown's or its host's markup is left, and a cell is never empty."""
    cell = markdown_cell(text)
    assert cell
    assert re.search(r"[|<>`*_\\\[\](){}!~$@:+-]", cell) is None
    assert re.search(r"&(?!#\d+;)|(?<!&)#", cell) is None
    assert re.search(r"(?i)www\.", cell) is None


@given(TEXTS)
def test_a_cell_shows_the_same_text(text: str) -> None:
    """Law: its entities read back give the line, but for the zero-width spaces that break mentions."""
    shown = html.unescape(markdown_cell(text, limit=10**6)).replace("\u200b", "")
    assert shown == (one_line(text) or " ")


@pytest.mark.parametrize("text", ["@user", "org/repo#1", "see #12", "mail a@b.example"])
def test_mentions_do_not_mention(text: str) -> None:
    """Hosts look for mentions in the rendered text, where an entity is its character: a zero-width space is between."""
    rendered = html.unescape(markdown_cell(text))
    assert re.search(r"@\w|#\w", rendered) is None
