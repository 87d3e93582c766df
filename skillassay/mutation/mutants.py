"""The mutants of a skill: copies with one instruction less, or another one. Owns their kinds, their ids, their order.

Made from the skill's texts alone: the same bytes give the same mutants, on every machine and in every run.

description       another text stands in its place (``OTHER_DESCRIPTION``)
script-reference  every line of Markdown that names a script is gone, with the list item that it belongs to
script-file       a script is gone
reference-file    a file that the skill names, or of references/ or assets/, is gone; ``reference-empty``: it is empty
section           a heading is gone with its text, a title with the text before the next heading
list-item         a list item is gone with what it holds; ``table-row``: a row of a table below its head
number            a number is another one (see :mod:`skillassay.mutation.numbers`)

Sections, items, rows and numbers are those of SKILL.md's body and of the skill's Markdown files. Two mutants that are
byte for byte one are the first of them. An id is made from kind, file and text, and of equal texts from which of them
it is, so that it stays when lines above it change.
"""

from __future__ import annotations

import difflib
import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain

from skillassay.canonical import digest_of
from skillassay.errors import InputError
from skillassay.mutation.numbers import find_changes
from skillassay.mutation.structure import Part, Structure, parse_structure

OTHER_DESCRIPTION = "Tide tables of a harbour. Use when somebody asks at what time the water is high."
ID_DIGITS = 12
MAX_DIFF_LINES, MAX_DIFF_COLUMNS = 40, 500
MAX_CHARS = 256 << 20
"""Of all mutants together: a file of half a megabyte may have a thousand numbers."""
MARKDOWN = (".md", ".markdown")
_FOLDERS = ("references/", "assets/")


class Kind(StrEnum):
    """What is done to the skill."""

    DESCRIPTION = "description"
    SCRIPT_REFERENCE = "script-reference"
    SCRIPT_FILE = "script-file"
    REFERENCE_FILE = "reference-file"
    REFERENCE_EMPTY = "reference-empty"
    SECTION = "section"
    LIST_ITEM = "list-item"
    TABLE_ROW = "table-row"
    NUMBER = "number"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A skill's files: its texts by path, LF alone; the others by path; the scripts among them that can run.

    ``file`` is SKILL.md, whose body begins at line ``body`` (from 0); ``description`` are the lines of that key.
    """

    file: str
    body: int
    description: Part
    texts: Mapping[str, str]
    others: frozenset[str] = frozenset()
    scripts: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """Every file, sorted."""
        return tuple(sorted({*self.texts, *self.others}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One mutant. ``edits`` maps a path to its new text, None for a file that is gone; ``text`` is what was changed.

    ``file`` and ``line`` (from 1) say where; ``line`` is None for a file as a whole.
    """

    id: str
    kind: Kind
    file: str
    line: int | None
    text: str
    edits: Mapping[str, str | None]

    @property
    def place(self) -> str:
        """``SKILL.md:12``."""
        return self.file if self.line is None else f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """Every mutant, in the order of kinds and places; ``n_same`` more would have been one of them once more."""

    mutants: tuple[Mutant, ...]
    n_same: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Text:
    """A Markdown file, read: ``first`` is the line with which its Markdown begins, ``shape`` counts from there."""

    path: str
    lines: list[str]
    first: int
    shape: Structure = field(repr=False)

    def without(self, parts: list[Part]) -> str:
        """The file without some parts of its Markdown."""
        gone = {self.first + line for part in parts for line in range(part.start, part.end)}
        return "\n".join(line for number, line in enumerate(self.lines) if number not in gone)

    def shown(self, part: Part) -> str:
        """The lines of a part."""
        return "\n".join(self.lines[self.first + part.start : self.first + part.end])


_Draft = tuple[Kind, str, int | None, str, Mapping[str, str | None]]


def derive_mutants(source: Source) -> Derived:
    """All mutants of a skill. Raises :class:`InputError` where they would be too large to hold."""
    drafts = chain(_of_description(source), _of_scripts(source), _of_references(source), _of_texts(source))
    seen: set[str] = set()
    counts: Counter[tuple[Kind, str, str]] = Counter()
    mutants, n_drafts, n_chars = [], 0, 0
    for kind, file, line, text, edits in drafts:
        n_drafts, n_chars = n_drafts + 1, n_chars + sum(len(new) for new in edits.values() if new is not None)
        if n_chars > MAX_CHARS:
            message = (
                f"the skill is too large: its first {n_drafts} mutants have more than {MAX_CHARS >> 20} Mi characters"
            )
            raise InputError(message, hint="mutants are whole copies of a file; split the largest one")
        changed = {path: new for path, new in edits.items() if new is None or new != source.texts.get(path)}
        result = digest_of(changed)
        counts[kind, file, text] += 1
        if changed and result not in seen:
            seen.add(result)
            named = digest_of([kind.value, file, text, counts[kind, file, text]])[:ID_DIGITS]
            mutants.append(Mutant(id=named, kind=kind, file=file, line=line, text=text, edits=changed))
    return Derived(mutants=tuple(mutants), n_same=n_drafts - len(mutants))


def _of_description(source: Source) -> Iterator[_Draft]:
    lines, part = source.texts[source.file].split("\n"), source.description
    new = [*lines[: part.start], f"description: {OTHER_DESCRIPTION}", *lines[part.end :]]
    text = "\n".join(lines[part.start : part.end])
    yield Kind.DESCRIPTION, source.file, part.start + 1, text, {source.file: "\n".join(new)}


def _markdown(source: Source) -> list[_Text]:
    """SKILL.md from its body on, then the other Markdown files."""
    texts = []
    for path in (source.file, *(path for path in sorted(source.texts) if path != source.file)):
        if path == source.file or path.lower().endswith(MARKDOWN):
            lines, first = source.texts[path].split("\n"), source.body if path == source.file else 0
            texts.append(_Text(path=path, lines=lines, first=first, shape=parse_structure(lines[first:])))
    return texts


def _of_scripts(source: Source) -> Iterator[_Draft]:
    texts = _markdown(source)
    for script in source.scripts:
        edits, place = {}, None
        for text in texts:
            parts = list(_naming(text, script))
            if parts:
                edits[text.path] = text.without(parts)
                place = place or (text.path, text.first + parts[0].start + 1)
        if place is not None:
            yield Kind.SCRIPT_REFERENCE, *place, script, edits
    for script in source.scripts:
        yield Kind.SCRIPT_FILE, script, None, script, {script: None}


def _naming(text: _Text, path: str) -> Iterator[Part]:
    """What must go for a file not to be named: the innermost list item, else the line."""
    name = re.compile(rf"(?<![\w-])(?:{re.escape(path)}|{re.escape(posixpath.basename(path))})(?!\w)")
    for number, line in enumerate(text.lines[text.first :]):
        if name.search(line):
            yield text.shape.item_at(number) or Part(start=number, end=number + 1)


def _of_references(source: Source) -> Iterator[_Draft]:
    named = "\n".join("\n".join(text.lines[text.first :]) for text in _markdown(source))
    for path in source.paths:
        if path == source.file or path in source.scripts:
            continue
        if path.startswith(_FOLDERS) or path in named:
            yield Kind.REFERENCE_FILE, path, None, path, {path: None}
            yield Kind.REFERENCE_EMPTY, path, None, path, {path: ""}


def _of_texts(source: Source) -> Iterator[_Draft]:
    texts = _markdown(source)
    for kind in (Kind.SECTION, Kind.LIST_ITEM, Kind.TABLE_ROW):
        for text in texts:
            shape = text.shape
            parts = {Kind.SECTION: shape.sections, Kind.LIST_ITEM: shape.items, Kind.TABLE_ROW: shape.rows}[kind]
            for part in parts:
                line = text.first + part.start + 1
                yield kind, text.path, line, text.shown(part), {text.path: text.without([part])}
    for text in texts:
        yield from _of_numbers(text)


def _of_numbers(text: _Text) -> Iterator[_Draft]:
    for number, is_code in enumerate(text.shape.is_code):
        at = text.first + number
        line = text.lines[at]
        for order, change in enumerate(() if is_code else find_changes(line), start=1):
            new = [*text.lines[:at], change.apply(line), *text.lines[at + 1 :]]
            told = f"{change.old} -> {change.new} ({order}) in: {line.strip()}"
            yield Kind.NUMBER, text.path, at + 1, told, {text.path: "\n".join(new)}


def diff_lines(source: Source, mutant: Mutant) -> tuple[str, ...]:
    """What a mutant changes, as a unified diff of at most ``MAX_DIFF_LINES`` lines, each cut to its first columns."""
    lines: list[str] = []
    for path, new in mutant.edits.items():
        old = source.texts.get(path)
        if old is None:
            lines.append(f"binary file {path} {'is gone' if new is None else 'is empty'}")
            continue
        names = (f"a/{path}", "/dev/null" if new is None else f"b/{path}")
        lines += difflib.unified_diff(_lines(old), _lines(new or ""), *names, lineterm="", n=1)
    n_more = len(lines) - MAX_DIFF_LINES
    shown = [
        line if len(line) <= MAX_DIFF_COLUMNS else line[:MAX_DIFF_COLUMNS] + "…" for line in lines[:MAX_DIFF_LINES]
    ]
    return (*shown, *((f"… {n_more} more lines",) if n_more > 0 else ()))


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []
