"""SKILL.md taken apart: fences, text scalars, and the cause of each refusal, by both of PyYAML's parsers."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import skillassay.skills.frontmatter
from skillassay.skills.frontmatter import FrontmatterProblem, other_reading, read_frontmatter, split_document


@pytest.fixture(params=["CBaseLoader", "BaseLoader"])
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each test that asks for it runs on libyaml and on the pure parser."""
    monkeypatch.setattr(skillassay.skills.frontmatter, "_Loader", getattr(yaml, request.param))
    return str(request.param)


def values(inner: str) -> Any:
    """The values of a frontmatter."""
    return read_frontmatter(split_document(f"---\n{inner}---\nbody\n".encode())).values


def problem(inner: str) -> FrontmatterProblem:
    """The problem of a frontmatter that must have one."""
    with pytest.raises(FrontmatterProblem) as caught:
        values(inner)
    return caught.value


@pytest.mark.parametrize(
    ("data", "inner", "line", "body", "body_line"),
    [
        (b"---\na: b\n---\nB\n", "a: b\n", 2, "B\n", 4),
        (b"---\na: b\n---", "a: b\n", 2, "", 3),
        (b"\n \n---\na: b\n---\n\nB", "a: b\n", 4, "\nB", 6),
        (b"--- \t\na: b\n---\t \nB", "a: b\n", 2, "B", 4),
        (b"\xef\xbb\xbf---\r\na: b\r\n---\r\nB\r\n", "a: b\n", 2, "B\n", 4),
        (b"---\na: b --- c\n  ---\n---\nB\n---\n", "a: b --- c\n  ---\n", 2, "B\n---\n", 5),
        (b"---\n---\nB", "", 2, "B", 3),
        (b"---\na: b\rc\n---\nB\rC\n", "a: b\rc\n", 2, "B\rC\n", 4),
    ],
)
def test_the_split(data: bytes, inner: str, line: int, body: str, body_line: int) -> None:
    """Whole-line fences, blanks around them, BOM and CRLF; a lone CR is text. Lines are the file's."""
    document = split_document(data)
    assert (document.yaml, document.yaml_line, document.body, document.body_line) == (inner, line, body, body_line)


@pytest.mark.parametrize(
    ("data", "code", "line", "words"),
    [
        (b"", "skill.no-frontmatter", 1, "the file is empty"),
        (b" \n\n", "skill.no-frontmatter", 3, "the file is empty"),
        (b"---foo\na: b\n---\n", "skill.no-frontmatter", 1, "'---foo'"),
        (b"```yaml\n---\na: b\n---\n```\n", "skill.no-frontmatter", 1, "code fence"),
        (b"\nname: x\n---\n", "skill.no-frontmatter", 2, "keys begin at line 2"),
        (b"# T\n---\na: b\n---\n", "skill.no-frontmatter", 1, "text stands before"),
        (b"# T\n", "skill.no-frontmatter", 1, "does not begin"),
        (b"---", "skill.frontmatter-unclosed", 1, "never ends"),
        (b"---\na: b\n", "skill.frontmatter-unclosed", 1, "never ends"),
        (b"\xff\xfe-\0-\0", "skill.not-utf8", 1, "UTF-16"),
        ("---\na: b\n".encode("utf-16-le"), "skill.not-utf8", 1, "UTF-16"),
        ("---\na: b\n".encode("utf-16-be"), "skill.not-utf8", 1, "UTF-16"),
        (b"---\na: \xe9\n---\n", "skill.not-utf8", 2, "byte 0xe9 at offset 7"),
        (b"---\na: b\n---\nx\0\n", "skill.nul", 4, "offset 14"),
    ],
)
def test_what_cannot_be_split(data: bytes, code: str, line: int, words: str) -> None:
    """Each kind of file without readable frontmatter has its own words."""
    with pytest.raises(FrontmatterProblem) as caught:
        split_document(data)
    assert (caught.value.code, caught.value.line) == (code, line)
    assert words in caught.value.message


@pytest.mark.parametrize("near", [" ---", "---#", "---|", "...", "----"])
def test_a_line_that_was_meant_to_close_is_named(near: str) -> None:
    """The hint of an unclosed frontmatter points at the almost-fence."""
    with pytest.raises(FrontmatterProblem) as caught:
        split_document(f"---\na: b\n{near}\ntext\n".encode())
    assert "line 3" in (caught.value.hint or "")


@pytest.mark.usefixtures("loader")
def test_scalars_stay_text() -> None:
    """Numbers, dates, truth values and quoted nulls are as written; plain nulls are missing."""
    read = values(
        "a: 1.10\nb: yes\nc: 2026-01-02\nd: 'null'\ne: ~\nf:\ng: Null\nh: [1, {i: 0o7, j: }]\n\"k\\u0041\": x\n"
    )
    assert read == {
        "a": "1.10",
        "b": "yes",
        "c": "2026-01-02",
        "d": "null",
        "h": ["1", {"i": "0o7"}],
        "kA": "x",
    }


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize(
    ("inner", "line", "words"),
    [
        ("a: x\nd: Quick. Usage: do\n", 3, "an unquoted `: ` inside a value"),
        ("d: first\n  then: second\n", 3, "an unquoted `: ` inside a value"),
        ('d: "x" and "y"\n', 2, "text after the closing quote in the value of `d`"),
        ("d: 'Don't do it'\n", 2, "text after the closing quote in the value of `d`"),
        ("d: @scope/pkg\n", 2, "cannot begin with `@`"),
        ("d: [react, @types/react]\n", 2, "cannot begin with `@`"),
        ("d: `cmd` runs\n", 2, "cannot begin with a backtick"),
        ("d: %x\n", 2, "cannot begin with `%`"),
        ("d: *\n", 2, "begins with `*` is an alias"),
        ("d: [ray[data], x]\n", 2, "is broken"),
        ("d: [a] [b]\n", 2, "is broken"),
        ("d: {a: b\ne: c\n", 2, "is broken"),
        ("d:\n\te: c\n", 3, "a tab indents the line"),
        ('a: x\nd: "open\ne: f\n', 3, "opened and never closed"),
        ("a: x\nDo A then B.\nc: d\n", 3, "neither `key: value` nor part of a value"),
        ("d: > text\n  more\n", 2, "on the line of `>` or `|`"),
        ('d: "C:\\dir"\n', 2, "escape inside double quotes"),
        ("é: x\nd: a\x07b\n", 3, "control character U+0007"),
    ],
)
def test_the_cause_of_bad_yaml(inner: str, line: int, words: str) -> None:
    """The file's line, the cause in an author's words, and a hint."""
    found = problem(inner)
    assert (found.code, found.line) == ("skill.frontmatter-invalid", line)
    assert words in found.message
    assert found.hint


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize(
    ("inner", "code", "line"),
    [
        ("a: x\n'a': y\n", "skill.duplicate-key", 3),
        ('m:\n  v: 1\n  "\\x76": 2\n', "skill.duplicate-key", 4),
        ("m: [{a: 1, a: 2}]\n", "skill.duplicate-key", 2),
        ("a:\nb: x\na: y\n", "skill.duplicate-key", 4),
        ("a: &x b\n", "skill.yaml-alias", 2),
        ("a: b\nc: *x\n", "skill.yaml-alias", 3),
        ("a: !!int 3\n", "skill.frontmatter-invalid", 2),
        ("? [a]\n: b\n", "skill.frontmatter-invalid", 2),
        ("~: b\n", "skill.frontmatter-invalid", 2),
        ("a: b\n--- c\n", "skill.frontmatter-invalid", 3),
        ("- a\n", "skill.frontmatter-not-mapping", 2),
        ("just text\n", "skill.frontmatter-not-mapping", 2),
        ("", "skill.frontmatter-not-mapping", 2),
        ("# comment\n", "skill.frontmatter-not-mapping", 2),
        ('a: "\\ud83c"\n', "skill.frontmatter-invalid", 2),
        ("a: " + "[" * 40 + "]" * 40 + "\n", "skill.frontmatter-invalid", 2),
    ],
)
def test_what_clients_would_read_differently_is_refused(inner: str, code: str, line: int) -> None:
    """Duplicates, aliases, tags, odd keys, a second document, half characters and depth; with the line."""
    found = problem(inner)
    assert (found.code, found.line) == (code, line)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4100", "a number"),
        ("1e3", "a number"),
        ("0o17", "a number"),
        ("1.10", "a number"),
        ("on", "a truth value"),
        ("2026-01-02", "a date"),
        ("1.2.3", None),
        ("pdf-tools", None),
        ("", None),
    ],
)
def test_other_readings(text: str, expected: str | None) -> None:
    """What YAML 1.1 or 1.2 readers make of plain text."""
    assert other_reading(text) == expected


@given(
    st.dictionaries(
        st.from_regex(r"[a-z]{1,8}", fullmatch=True),
        st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=40),
        min_size=1,
    ),
    st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=80),
    st.booleans(),
)
def test_fields_and_body_come_back(fields: dict[str, str], body: str, crlf: bool) -> None:
    """Law: what PyYAML dumps is read back as text, and the body is what stood below the fence."""
    dumped = yaml.safe_dump(fields, allow_unicode=True, default_style='"', width=10**6)
    text = f"---\n{dumped}---\n{body}"
    data = (text.replace("\n", "\r\n") if crlf else text).encode()
    document = split_document(data)
    assert read_frontmatter(document).values == fields
    assert document.body == body
    assert document.text.split("\n")[document.body_line - 1 :] == body.split("\n")


def line_of_refusal(data: bytes) -> int | None:
    """The line at which SKILL.md is refused; None when it is read. Anything else that is raised is a bug."""
    try:
        read_frontmatter(split_document(data))
    except FrontmatterProblem as caught:
        return caught.line or -1
    return None


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    """Law: nothing but FrontmatterProblem ever comes out, with a line inside the file."""
    for candidate in (data, b"---\n" + data + b"\n---\n"):
        line = line_of_refusal(candidate)
        assert line is None or 1 <= line <= candidate.count(b"\n") + 1


@given(st.text(st.sampled_from("ab:- \n\"'[]{}#&*!|>%@`,?\t~\\"), max_size=60))
def test_any_yaml_like_text_is_read_or_refused(inner: str) -> None:
    """Law: also for text made of YAML's signs."""
    line = line_of_refusal(f"---\n{inner}\n---\n".encode())
    assert line is None or 1 <= line <= inner.count("\n") + 4
