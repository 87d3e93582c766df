"""Strict JSON in, canonical JSON out."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.canonical import (
    MAX_DEPTH,
    MAX_DIGITS,
    JsonProblem,
    canonical_bytes,
    digest_of,
    parse_json,
    pretty_text,
    sha256_hex,
    short_digest,
)

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**MAX_DIGITS) + 1, 10**MAX_DIGITS - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
)

REFUSED = [
    ("", 1, "not JSON"),
    ("{} x", 1, "Extra data"),
    ("\n\n{'a': 1}", 3, "not JSON"),
    ("[1,]", 1, "not JSON"),
    ("[1] // comment", 1, "Extra data"),
    ("\ufeff{}", 1, "not JSON"),
    ('"a\nb"', 1, "not JSON"),
    ("01", 1, "Extra data"),
    ("+1", 1, "not JSON"),
    ("True", 1, "not JSON"),
    ('{"a": 1,\n "a": 1}', 2, "duplicate key 'a'"),
    ('{"a": {"x": 1},\n "b": {"y": 1,\n  "y": 2}}', 3, "duplicate key 'y'"),
    ('[{"a": 1}, {"a": 1,\n\n"\\u0061": 2}]', 3, "duplicate key 'a'"),
    ("[\nNaN]", 2, "NaN is not a JSON number"),
    ("[1,\n-Infinity]", 2, "-Infinity is not a JSON number"),
    ("Infinity", 1, "Infinity is not a JSON number"),
    ("[\n\n1e999]", 3, "number 1e999 is out of range"),
    ("[-1e999]", 1, "out of range"),
    (f"[\n{'9' * (MAX_DIGITS + 1)}]", 2, f"integer of {MAX_DIGITS + 1} digits"),
    ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), 1, "nested deeper than 64"),
    ('{"a":' * (MAX_DEPTH + 1) + "1" + "}" * (MAX_DEPTH + 1), 1, "nested deeper than 64"),
    ("[" * 1_000_000, 1, "nested deeper than 64"),
    ('"\\ud800"', None, "lone surrogate"),
    ('{"\\udc00": 1}', None, "lone surrogate"),
    ('"\ud800"', None, "lone surrogate"),
]


@pytest.mark.parametrize(("text", "line", "words"), REFUSED, ids=[ascii(text[:24]) for text, _, _ in REFUSED])
def test_what_json_readers_tolerate_is_refused_with_its_line(text: str, line: int | None, words: str) -> None:
    """Text around, duplicates, constants, ranges, depth and surrogates: a problem that says where."""
    with pytest.raises(JsonProblem, match=words) as caught:
        parse_json(text)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (' \n{"a": [1, 2.5, "x", true, false, null]}\r\n', {"a": [1, 2.5, "x", True, False, None]}),
        ('"\\ud83d\\ude00"', "😀"),
        ("[" * MAX_DEPTH + "]" * MAX_DEPTH, json.loads("[" * MAX_DEPTH + "]" * MAX_DEPTH)),
        ("9" * MAX_DIGITS, 10**MAX_DIGITS - 1),
        ('[{"a": 1}, {"a": "a"}, "a", ["a", "a"]]', [{"a": 1}, {"a": "a"}, "a", ["a", "a"]]),
        ('{"a": "NaN, {\\"a\\": 1e999}"}', {"a": 'NaN, {"a": 1e999}'}),
        ("1e-999", 0.0),
    ],
    ids=repr,
)
def test_what_json_says_is_read(text: str, value: Any) -> None:
    """White space around, escaped pairs, one name in several objects, and texts that look like trouble."""
    assert parse_json(text) == value


@given(VALUES)
def test_canonical_bytes_read_back(value: Any) -> None:
    """Law: parse(canonical(x)) == x."""
    assert parse_json(canonical_bytes(value).decode()) == value


@given(VALUES)
def test_pretty_differs_in_white_space_only(value: Any) -> None:
    """Law: parse(pretty(x)) == x, and one LF ends it."""
    text = pretty_text(value)
    assert parse_json(text) == value
    assert text.endswith("\n")
    assert "\r" not in text.replace("\\r", "")


@given(st.dictionaries(st.text(max_size=5), SCALARS, min_size=2, max_size=6), st.randoms())
def test_key_order_does_not_count(value: dict[str, Any], random: Any) -> None:
    """Law: the same members in any order have the same bytes."""
    items = list(value.items())
    random.shuffle(items)
    assert canonical_bytes(dict(items)) == canonical_bytes(value)


def test_the_canonical_form_to_the_byte() -> None:
    """Keys by code point, no white space, text as UTF-8."""
    value = {"é": 1, "b": [True, None, 1.5], "B": "\u2028", "a": {}}
    assert canonical_bytes(value) == '{"B":"\u2028","a":{},"b":[true,null,1.5],"é":1}'.encode()


@pytest.mark.parametrize("write", [canonical_bytes, lambda value: pretty_text(value).encode()], ids=["bytes", "text"])
@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), {1: 2}, {"a": {None: 1}}, [{True: 1}], "\ud800", {"\udfff": 1}], ids=ascii
)
def test_what_json_cannot_say_is_never_written(write: Any, value: Any) -> None:
    """NaN, infinities, keys that are not text and lone surrogates raise ``ValueError``."""
    with pytest.raises(ValueError, match=r"."):
        write(value)


def test_digests_are_sha256_of_the_canonical_form() -> None:
    """The digest of a value is hashlib's over its canonical bytes; the short one is its first sixteen digits."""
    expected = hashlib.sha256(b'{"a":1}').hexdigest()
    assert digest_of({"a": 1}) == sha256_hex(b'{"a":1}') == expected
    assert short_digest({"a": 1}) == expected[:16]
