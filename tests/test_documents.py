"""Authored files: what YAML and JSON say, and where their parts stand."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from skillassay.documents import MAX_BYTES, NOT_A_DOCUMENT, UNREADABLE, Document, load_document, parse_document

LISTED = ["- a\n- b:\n    c: 1\n- d\n", '["a",\n {"b":\n   {"c": 1}},\n "d"]']


def read(text: str, *, is_json: bool = False) -> Document:
    """A document that must be readable."""
    document, findings = parse_document(text, path="x", is_json=is_json)
    assert findings == ()
    assert document is not None
    return document


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("true", True),
        ("False", False),
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("y", "y"),
        ("null", None),
        ("~", None),
        ("", None),
        ('""', ""),
        ("'1.10'", "1.10"),
        ("1.10.0", "1.10.0"),
        ("12", 12),
        ("+5", 5),
        ("-5", -5),
        ("010", 10),
        ("08", 8),
        ("0x1F", "0x1F"),
        ("0o17", "0o17"),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("2.5", 2.5),
        (".5", 0.5),
        ("1.", 1.0),
        ("1e3", 1000.0),
        ("-1.5E-3", -0.0015),
        (".nan", ".nan"),
        (".inf", ".inf"),
        ("2026-10-15", "2026-10-15"),
        ("2026-10-15T10:00:00Z", "2026-10-15T10:00:00Z"),
        ("<<", "<<"),
        ("a # comment", "a"),
        ("|\n  two\n  lines\n", "two\nlines\n"),
        (">\n  one\n  line\n", "one line\n"),
    ],
)
def test_yaml_core_scalars(written: str, value: Any) -> None:
    """YAML 1.2's core without its hex and octal; nothing becomes a date, a base-60 number or an octal."""
    result = read(f"key: {written}").value["key"]
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "duplicate key 'a'"),
        ("a:\n  x: 1\n  'x': 2\n", 3, "duplicate key 'x'"),
        ("a: 1\nb: &anchor 2\n", 2, "anchors and aliases"),
        ("a: 1\nb: *nowhere\n", 2, "anchors and aliases"),
        ("a: !!binary aGk=\n", 1, "tag"),
        ("a: 1\nb: !!float .nan\n", 2, "tag"),
        ("a: !!python/object/apply:os.system [id]\n", 1, "tag"),
        ("a: !!timestamp 2020-01-01\n", 1, "tag"),
        ("a: !local x\n", 1, "tag"),
        ("\na: 1e999\n", 2, "out of range"),
        ("a: " + "9" * 401, 1, "401 digits"),
        ("1: x\n", 1, "a key is not text"),
        ("a: 1\nnull: x\n", 2, "a key is not text"),
        ("? [a, b]\n: c\n", 1, "a key is not text"),
        ("a: b: c\n", 1, "mapping values are not allowed"),
        ("a:\n\tb: 1\n", 2, "cannot start any token"),
        ("a: 'open\n", 2, "not YAML"),
        ("--- 1\n--- 2\n", 2, "another document"),
        ("é: 1\né2: 2\nb: \x07\n", 3, "U+0007"),
        ("a: \x00\n", 1, "U+0000"),
        ('a: "\\ud800"\n', 1, "escape code"),
        ("[" * 65 + "]" * 65, 1, "nested deeper than 64"),
        ("- " * 100_000 + "x", 1, "nested deeper than 64"),
        ("[" * 1_000_000, 1, "nest"),
        ("a: \ud800", None, "lone surrogate"),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_yaml_that_is_refused(text: str, line: int | None, words: str) -> None:
    """Duplicates, aliases, tags, other numbers and keys, depth, control characters: one finding with its line."""
    document, (finding,) = parse_document(text, path="x.yaml", is_json=False)
    assert document is None
    assert (finding.code, finding.path, finding.line) == (NOT_A_DOCUMENT, "x.yaml", line)
    assert words in finding.message


def test_billion_laughs_are_refused_at_the_first_anchor() -> None:
    """Nothing is expanded."""
    layers = "\n".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 10))
    document, (finding,) = parse_document(f"l0: &l0 [x]\n{layers}\n", path="x", is_json=False)
    assert document is None
    assert finding.line == 1


# PyYAML follows YAML 1.1 and leaves `1e5` unquoted as a text; in the core schema, which we read, it is a number.
TEXTS = st.text(max_size=6).filter(lambda text: re.fullmatch(r"[-+]?[0-9.]+[eE][-+]?[0-9]+", text) is None)


@given(st.recursive(st.none() | st.booleans() | TEXTS, lambda i: st.lists(i, max_size=3), max_leaves=8))
def test_what_pyyaml_writes_is_read_back(value: Any) -> None:
    """Law: a safe dump of plain values reads back as the same values, whatever the texts look like."""
    assert read(yaml.safe_dump({"v": value}, allow_unicode=False)).value == {"v": value}


@given(st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=40))
def test_any_text_is_a_document_or_a_finding(text: str) -> None:
    """Law: no text raises."""
    for is_json in (True, False):
        document, findings = parse_document(text, path="x", is_json=is_json)
        assert (document is None) == bool(findings)


@pytest.mark.parametrize(("text", "is_json"), [(LISTED[0], False), (LISTED[1], True)], ids=["yaml", "json"])
def test_lines(text: str, is_json: bool) -> None:
    """Keys and indexes lead to the line of a value; what is missing leads to its nearest parent."""
    document = read(text, is_json=is_json)
    assert document.line_of(()) == 1
    assert document.line_of((2,)) == 4
    assert document.line_of((1, "b", "c")) == 3
    assert document.line_of((1, "nowhere", "c")) == 2
    assert document.line_of((9,)) == 1
    assert document.lines_below(()) == (1, 2, 4)
    assert document.lines_below((1,)) == ()


@pytest.mark.parametrize(
    "text",
    [
        '{\n\t"a": 1,\n\t"b": [\n\t\t2\n\t]\n}',
        '{"smile": "\\ud83d\\ude00", "path": "C:\\\\u0041\\/",\n"x": "\\n", "b":\n[2]}',
    ],
    ids=["tabs", "escapes"],
)
def test_json_that_yaml_cannot_read_has_lines_too(text: str) -> None:
    """Tabs between tokens and escaped surrogate pairs do not lose the places."""
    assert read(text, is_json=True).line_of(("b",)) == 3


def test_json_is_read_strictly() -> None:
    """A .json file is JSON: a comment or a trailing comma is an error, which YAML would let pass."""
    for text in ('{"a": 1,}', '{"a": 1} # note', "a: 1"):
        assert parse_document(text, path="x.json", is_json=True)[0] is None


@pytest.mark.parametrize("name", ["big.json", "big.yaml"])
def test_skill_up_172_a_long_line_is_read_whole(tmp_path: Path, name: str) -> None:
    """alibaba/skill-up#172: a line of more than 1 MiB is no end of the file; what follows it counts."""
    (tmp_path / name).write_text(json.dumps({"a": "x" * 1_200_000, "last": True}), encoding="utf-8")
    document, findings = load_document(tmp_path / name, shown_as=name)
    assert findings == ()
    assert document is not None
    assert document.value["last"] is True


def test_a_file_over_the_limit_is_an_error(tmp_path: Path) -> None:
    """Never a silent cut: the size and the limit are named."""
    with (tmp_path / "x.json").open("wb") as stream:
        stream.truncate(MAX_BYTES + 1)
    document, (finding,) = load_document(tmp_path / "x.json", shown_as="x.json")
    assert document is None
    assert finding.code == UNREADABLE
    assert str(MAX_BYTES + 1) in finding.message


def test_unreadable_files_are_findings(tmp_path: Path) -> None:
    """Missing, a folder, a pipe, a loop of links, not UTF-8, a NUL in the name: one finding under the shown name."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "latin").write_bytes("name: caf\xe9\n".encode("latin-1"))
    os.mkfifo(tmp_path / "pipe")
    for name in ("missing", "folder", "loop", "latin", "pipe", "nul\0"):
        document, (finding,) = load_document(tmp_path / name, shown_as="shown")
        assert document is None
        assert (finding.code, finding.path) == (UNREADABLE, "shown")


def test_bom_and_crlf_are_signatures_of_editors(tmp_path: Path) -> None:
    """Neither changes a value."""
    for name, text in (("x.json", '{"a":\r\n 1}\r\n'), ("x.yaml", "a:\r\n  1\r\n")):
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + text.encode())
        document, findings = load_document(tmp_path / name, shown_as=name)
        assert findings == ()
        assert document is not None
        assert document.value == {"a": 1}
