"""SKILL.md taken apart: bytes to frontmatter values, body, and the place of each key. Owns how the file is split.

The bytes are UTF-8; one leading byte-order mark is stripped and CRLF is read as LF (a lone CR is text). Blank lines may
stand before the opening fence. A fence is a whole line ``---`` from column one; blanks may follow it. What lies between
the first two fences is YAML, what follows the second is the body; a ``---`` inside a value or a line is text.

The YAML is one mapping with text keys. Scalars stay text as written (``1.10`` is "1.10", ``yes`` is "yes"); a plain
null (nothing, ``~``, ``null``) is a missing key. Refused, with the line: duplicate keys at any level after unescaping,
anchors and aliases, tags, a second document, nesting over ``MAX_DEPTH``. Nothing is repaired and nothing is guessed.
Line numbers are lines of the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import yaml
from yaml.events import MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent
from yaml.resolver import Resolver

from skillassay.findings import register
from skillassay.yaml_causes import explain

NOT_UTF8 = register("skill.not-utf8", "SKILL.md is not UTF-8 text (the first bad byte is named), or is UTF-16.")
NUL = register("skill.nul", "SKILL.md holds a NUL character.")
NO_FRONTMATTER = register("skill.no-frontmatter", "SKILL.md does not begin with a `---` line.")
UNCLOSED = register("skill.frontmatter-unclosed", "The frontmatter is never closed by a `---` line.")
INVALID = register("skill.frontmatter-invalid", "The frontmatter is not YAML that every client reads alike.")
NOT_A_MAPPING = register("skill.frontmatter-not-mapping", "The frontmatter is not a mapping of keys to values.")
DUPLICATE = register("skill.duplicate-key", "A key stands twice in one mapping of the frontmatter.")
ALIAS = register("skill.yaml-alias", "The frontmatter uses an anchor or an alias.")

MAX_DEPTH = 32

Yaml = Any
"""A frontmatter value: text, None (inside a list), a list or a dict with text keys."""

_Loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_OPEN = re.compile(r"(?:[ \t]*\n)*---[ \t]*\n")
_CLOSE = re.compile(r"\n---[ \t]*(?:\n|\Z)")
_ALMOST_CLOSED = re.compile(r"^(?:[ \t]+---.*|---.+|\.\.\.[ \t]*)$", re.MULTILINE)
_CORE_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)[eE][-+]?\d+|0o[0-7]+", re.ASCII)
_IMPLICIT: Mapping[str, Any] = getattr(Resolver, "yaml_implicit_resolvers")  # noqa: B009 - the stubs do not name it
_TYPES = {"bool": "a truth value", "timestamp": "a date", "int": "a number", "float": "a number"}
_KEY = re.compile(r"[A-Za-z_-]+:(?:\s|\Z)")


class FrontmatterProblem(ValueError):
    """SKILL.md cannot be taken apart. Carries a finding's code, file line and hint."""

    def __init__(self, message: str, *, code: str, line: int | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.line = line
        self.hint = hint


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A SKILL.md cut in two. ``text`` is all of it with LF, without byte-order mark; ``yaml`` begins at ``start``."""

    text: str
    start: int
    yaml: str
    yaml_line: int
    body: str
    body_line: int
    has_bom: bool

    def line_at(self, index: int) -> int:
        """The file's line of a character of ``yaml``."""
        return self.yaml_line + self.yaml.count("\n", 0, index)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontmatter:
    """The values, and for keys of the two upper levels the parser's events of key and value (marks, style)."""

    values: Mapping[str, Yaml]
    places: Mapping[tuple[str, ...], tuple[Any, Any]]


def split_document(data: bytes) -> Document:
    """Cut SKILL.md at its fences. Raises :class:`FrontmatterProblem`."""
    text = _decode(data)
    has_bom = text.startswith("\ufeff")
    if has_bom:
        text = text[1:]
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    opening = _OPEN.match(text)
    if opening is None:
        _refuse_opening(text)
    start = opening.end()
    closing = _CLOSE.search(text, start - 1)
    if closing is None:
        _refuse_unclosed(text, start)
    inner, end = closing.start() + 1, closing.end()
    yaml_line = 1 + text.count("\n", 0, start)
    return Document(
        text=text,
        start=start,
        yaml=text[start:inner],
        yaml_line=yaml_line,
        body=text[end:],
        body_line=yaml_line + text.count("\n", start, end),
        has_bom=has_bom,
    )


def _decode(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or _looks_like_utf16(data):
        raise FrontmatterProblem("not UTF-8: the file is UTF-16", code=NOT_UTF8, line=1, hint="save the file as UTF-8")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        at = error.start
        raise FrontmatterProblem(
            f"not UTF-8: byte 0x{data[at]:02x} at offset {at}",
            code=NOT_UTF8,
            line=1 + data.count(b"\n", 0, at),
            hint="save the file as UTF-8",
        ) from error
    if "\0" in text:
        at = data.index(0)
        line = 1 + data.count(b"\n", 0, at)
        raise FrontmatterProblem(f"a NUL character at byte offset {at}", code=NUL, line=line, hint="remove it")
    return text


def _looks_like_utf16(data: bytes) -> bool:
    head = data[:64]
    return b"\0" in head and 2 * max(head[::2].count(0), head[1::2].count(0)) > len(head) // 2


def _refuse_opening(text: str) -> NoReturn:
    stripped = text.strip()
    first = stripped.split("\n", 1)[0].rstrip()
    line = 1 + text[: len(text) - len(text.lstrip())].count("\n")
    if not stripped:
        message, hint = "the file is empty", "begin it with `---`, `name: …`, `description: …`, `---`"
    elif first == "---":
        _refuse_unclosed(text, len(text))
    elif first.startswith("---"):
        message, hint = f"no frontmatter: the first line is {first[:40]!r}", "write `---` alone on the first line"
    elif first.startswith(("```", "~~~")):
        message, hint = (
            "no frontmatter: the file begins with a code fence",
            "remove the fence and the line that closes it",
        )
    elif _KEY.match(first):
        message, hint = (
            f"no frontmatter: keys begin at line {line} without a `---` line before",
            "write `---` above them",
        )
    elif "\n---\n" in text:
        message, hint = "no frontmatter: text stands before the first `---` line", "move it below the frontmatter"
    else:
        message = "no frontmatter: the file does not begin with a `---` line"
        hint = "begin it with `---`, `name: …`, `description: …`, `---`"
    raise FrontmatterProblem(message, code=NO_FRONTMATTER, line=line, hint=hint)


def _refuse_unclosed(text: str, start: int) -> NoReturn:
    near = _ALMOST_CLOSED.search(text, start)
    hint = "write `---` alone on the line after the last key"
    if near is not None:
        line = 1 + text.count("\n", 0, near.start())
        hint = f"line {line}, {near[0].strip()[:40]!r}, is no fence: a fence is `---` alone, from column one"
    opened = max(1, text.count("\n", 0, start))
    raise FrontmatterProblem("no closing fence: the frontmatter never ends", code=UNCLOSED, line=opened, hint=hint)


def read_frontmatter(document: Document) -> Frontmatter:
    """Read the YAML of a document. Raises :class:`FrontmatterProblem` with the cause and the file's line."""
    try:
        return _Reader(document).read()
    except yaml.YAMLError as error:
        cause = explain(document.yaml, error)
        line = document.line_at(cause.index)
        place = f"line {line - document.yaml_line + 1} of the frontmatter, column {cause.column}"
        raise FrontmatterProblem(
            f"not valid YAML: {cause.message} ({place})", code=INVALID, line=line, hint=cause.hint
        ) from error


class _Reader:
    """One pass over the parser's events: no node graph, so that nothing is expanded before it is refused."""

    __slots__ = ("_document", "_escapes", "_loader", "_places")

    def __init__(self, document: Document) -> None:
        self._document = document
        self._escapes = "\\" in document.yaml
        self._places: dict[tuple[str, ...], tuple[Any, Any]] = {}
        self._loader = _Loader(document.yaml)

    def read(self) -> Frontmatter:
        try:
            return self._read()
        finally:
            self._loader.dispose()

    def _read(self) -> Frontmatter:
        get = self._loader.get_event
        get()  # the start of the stream says nothing
        if type(get()) is not yaml.DocumentStartEvent:
            self._refuse(None, "the frontmatter is empty", code=NOT_A_MAPPING, hint="give it `name` and `description`")
        event = get()
        values = self._value(event, (), 0)
        if type(event) is not MappingStartEvent:
            hint = "write `key: value` lines"
            self._refuse(event, "the frontmatter is not `key: value` lines", code=NOT_A_MAPPING, hint=hint)
        get()  # nor does the end of the document
        event = get()
        if type(event) is not yaml.StreamEndEvent:
            self._refuse(event, "a second YAML document begins", code=INVALID, hint="keep one block of keys")
        return Frontmatter(values=values, places=self._places)

    def _value(self, event: Any, where: tuple[str, ...], depth: int) -> Yaml:
        if event.anchor is not None or event.tag is not None:
            self._refuse_sign(event)
        kind = type(event)
        if kind is ScalarEvent:
            text = event.value
            if not event.style and text in _NULLS:
                return None
            if self._escapes:
                self._check_text(event)
            return text
        if depth >= MAX_DEPTH:
            self._refuse(event, f"nested deeper than {MAX_DEPTH} levels", code=INVALID, hint=None)
        if kind is MappingStartEvent:
            return self._mapping(where, depth + 1)
        get, items = self._loader.get_event, []
        while type(event := get()) is not SequenceEndEvent:
            items.append(self._value(event, (), depth + 1))
        return items

    def _mapping(self, where: tuple[str, ...], depth: int) -> dict[str, Yaml]:
        get, result = self._loader.get_event, {}
        seen: set[str] = set()
        while type(key_event := get()) is not MappingEndEvent:
            key = self._value(key_event, (), depth)
            if not isinstance(key, str):
                self._refuse(key_event, "a key is not text", code=INVALID, hint="write `key: value`")
            if key in seen:
                hint = "keep one of the two: clients disagree on which one counts"
                self._refuse(key_event, f"duplicate key `{key}`", code=DUPLICATE, hint=hint)
            seen.add(key)
            event = get()
            inner = (*where, key)
            if depth <= 2 and len(inner) == depth:
                self._places[inner] = (key_event, event)
            value = self._value(event, inner, depth)
            if value is not None:
                result[key] = value
        return result

    def _check_text(self, event: Any) -> None:
        try:
            event.value.encode()
        except UnicodeEncodeError:
            self._refuse(event, "an escape gives half a character", code=INVALID, hint="write the character itself")

    def _refuse_sign(self, event: Any) -> NoReturn:
        """Aliases, anchors and tags: each means something else to another client, or nothing."""
        if event.anchor is not None:
            sign = "alias `*" if type(event) is yaml.AliasEvent else "anchor `&"
            message, hint = f"{sign}{event.anchor}` is not allowed in frontmatter", "write the value out"
            self._refuse(event, message, code=ALIAS, hint=f"{hint}, or quote it if it is text")
        self._refuse(event, f"tag `{event.tag}` is not allowed in frontmatter", code=INVALID, hint="remove the tag")

    def _refuse(self, event: Any, message: str, *, code: str, hint: str | None) -> NoReturn:
        line = self._document.yaml_line if event is None else self._document.line_at(event.start_mark.index)
        raise FrontmatterProblem(message, code=code, line=line, hint=hint)


def other_reading(text: str) -> str | None:
    """What YAML 1.1 or 1.2 makes of plain ``text``, as most clients do; None when it stays text."""
    for tag, pattern in _IMPLICIT.get(text[:1], ()):
        if pattern.match(text):
            return _TYPES.get(tag.rpartition(":")[2])
    return "a number" if _CORE_NUMBER.fullmatch(text) else None
