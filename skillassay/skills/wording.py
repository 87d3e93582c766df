"""What changed in a skill's body: wording alone, instructions, or the inputs that it asks for. Pure, by structure.

A body is read as blocks: headings, list items, table rows, code, and prose. Code, items, rows and headings are
instructions; so is each number, link, piece of code and word of command in the prose. What is left of prose is wording,
and comments (``<!-- -->``) are nothing. Items, rows and code below a heading that names inputs are inputs
(:data:`INPUT_WORDS`). What a sentence means is not known here: a changed meaning in the same structure is called
wording.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skillassay.versions import Part

INPUT_WORDS = (
    *("input", "inputs", "required", "requirements", "prerequisites", "arguments", "parameters", "what you need"),
    *("eingabe", "eingaben", "voraussetzung", "voraussetzungen", "benötigt", "angaben", "argumente"),
    *("parameter", "entrée", "entrées", "prérequis", "données requises", "paramètres", "entrada", "entradas"),
    *("requisitos", "parámetros", "datos necesarios", "ingresso", "requisiti", "parametri", "入力", "必須"),
)
"""Words of a heading under which stands what a skill must be given, in six languages."""

PROSE, HEADING, ITEM, ROW, CODE = "prose", "heading", "list item", "table row", "code block"
SHOWN_CHARS = 60

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:\s+(.*?))?(?:\s+#+)?\s*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)\s*$")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+")
_INPUT = re.compile(rf"(?:^|\W)(?:{'|'.join(map(re.escape, INPUT_WORDS))})(?:$|\W)|入力|必須", re.IGNORECASE)
_COMMANDS = (
    *("not", "never", "no", "always", "must", "only", "don't", "cannot", "unless", "except", "nicht", "nie", "niemals"),
    *("kein", "keine", "immer", "nur", "muss", "müssen", "außer", "pas", "jamais", "toujours", "seulement", "doit"),
    *("sauf", "nunca", "siempre", "solo", "sólo", "debe", "salvo", "non", "mai", "sempre", "deve"),
)
_FACTS = re.compile(
    r"(?P<link>https?://\S+|\]\([^)\s]+)|(?P<code>`+[^`]+`+)|(?P<number>\d+(?:[.,]\d+)*)"
    rf"|(?P<command>(?<!\w)(?:{'|'.join(_COMMANDS)})(?!\w))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One difference and the part of the version that it asks for. ``line`` counts in the later text where it can."""

    part: Part
    message: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class _Block:
    kind: str
    text: str
    line: int
    is_input: bool

    @property
    def key(self) -> tuple[str, str]:
        return (self.kind, self.text)


def body_changes(before: str, after: str, *, line: int = 1) -> tuple[Change, ...]:
    """What differs between two bodies with LF line ends, the later beginning at ``line`` of its file."""
    old, new = _blocks(before, 1), _blocks(after, line)
    found = list(_structure(old, new))
    found += _facts(old, new)
    if not found and [block.key for block in old] != [block.key for block in new]:
        found.append(Change(part=Part.PATCH, message="wording of the prose"))
    if not found and before != after:
        found.append(Change(part=Part.PATCH, message="comments or white space"))
    return tuple(found)


def _structure(old: Sequence[_Block], new: Sequence[_Block]) -> Iterator[Change]:
    left = [block for block in old if block.kind != PROSE]
    right = [block for block in new if block.kind != PROSE]
    matcher = difflib.SequenceMatcher(None, [b.key for b in left], [b.key for b in right], autojunk=False)
    for operation, i1, i2, j1, j2 in matcher.get_opcodes():
        if operation != "equal":
            yield from _paired(left[i1:i2], right[j1:j2])


def _paired(gone: Sequence[_Block], come: Sequence[_Block]) -> Iterator[Change]:
    for one, other in zip(gone, come, strict=False):
        is_input = (one.is_input or other.is_input) and HEADING not in {one.kind, other.kind}
        is_same = one.kind == other.kind and _folded(one.text) == _folded(other.text)
        what = f"{one.kind} changed: {_shown(one.text)} -> {_shown(other.text)}"
        yield _change(what, is_input=is_input and not is_same, line=other.line)
    for block in gone[len(come) :]:
        yield _change(f"{block.kind} removed: {_shown(block.text)}", is_input=block.is_input, line=None)
    for block in come[len(gone) :]:
        yield _change(f"{block.kind} added: {_shown(block.text)}", is_input=block.is_input, line=block.line)


def _change(message: str, *, is_input: bool, line: int | None) -> Change:
    if is_input:
        return Change(part=Part.MAJOR, message=f"what the skill must be given: {message}", line=line)
    return Change(part=Part.MINOR, message=message, line=line)


def _facts(old: Sequence[_Block], new: Sequence[_Block]) -> Iterator[Change]:
    """Numbers, links, code and words of command that prose lost or got."""
    was, now = _counted(old), _counted(new)
    for kind, word in sorted((was - now).keys() | (now - was).keys()):
        what = "removed from" if was[kind, word] > now[kind, word] else "added to"
        shown = {"command": "a word of command", "link": "a link", "code": "code", "number": "a number"}[kind]
        yield Change(part=Part.MINOR, message=f"{shown} {what} the prose: {_shown(word)}")


def _counted(blocks: Sequence[_Block]) -> Counter[tuple[str, str]]:
    texts = (block.text for block in blocks if block.kind == PROSE)
    return Counter(
        (match.lastgroup or "", match[0].lower() if match.lastgroup == "command" else match[0].lstrip("]("))
        for text in texts
        for match in _FACTS.finditer(text)
    )


def _folded(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text.casefold()).strip()


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= SHOWN_CHARS else line[: SHOWN_CHARS - 1] + "…")


def _blocks(body: str, first_line: int) -> list[_Block]:
    reader = _Reader(first_line)
    for line in _without_comments(body).split("\n"):
        reader.read(line)
    reader.flush()
    return reader.blocks


def _without_comments(body: str) -> str:
    """The body with its comments blanked, every line end kept; comments in code are code."""
    parts = re.split(r"(^ {0,3}(?:`{3,}|~{3,}).*?^ {0,3}(?:`{3,}|~{3,})[^\n]*$)", body, flags=re.MULTILINE | re.DOTALL)
    kept = (part if n % 2 else _COMMENT.sub(lambda m: "\n" * m[0].count("\n"), part) for n, part in enumerate(parts))
    return "".join(kept)


class _Reader:
    """The blocks of a body, line by line."""

    def __init__(self, first_line: int) -> None:
        self.blocks: list[_Block] = []
        self._line = first_line - 1
        self._kind, self._lines, self._start = PROSE, list[str](), first_line
        self._fence = ""
        self._headings: list[tuple[int, bool]] = []

    def read(self, line: str) -> None:
        self._line += 1
        if self._fence:
            self._lines.append(line)
            mark = _FENCE.match(line)
            if mark and mark[1].startswith(self._fence) and not line.strip(" `~"):
                self._fence = ""
                self.flush()
            return
        heading = _HEADING.match(line)
        if fence := _FENCE.match(line):
            self._begin(CODE, line)
            self._fence = fence[1]
        elif heading:
            self._heading(len(heading[1]), heading[2] or "", line)
        elif self._kind == PROSE and self._lines and _UNDERLINE.match(line):
            text, self._lines = " ".join(self._lines), []
            self._heading(1 if "=" in line else 2, text, text)
        elif not line.strip():
            self.flush()
        elif item := _ITEM.match(line):
            self._begin(ITEM, line[item.end() :])
        elif line.lstrip().startswith("|"):
            self._begin(ROW, line)
        elif not self._lines and line.startswith(("    ", "\t")) and not self._follows_item():
            self._begin(CODE, line)
        else:
            self._lines.append(line) if self._lines else self._begin(PROSE, line)

    def flush(self) -> None:
        """End the block that is being read."""
        if self._lines:
            text = "\n".join(self._lines) if self._kind == CODE else " ".join(" ".join(self._lines).split())
            is_input = bool(self._headings) and any(named for _, named in self._headings)
            self.blocks.append(_Block(self._kind, text, self._start, is_input))
        self._kind, self._lines = PROSE, []

    def _begin(self, kind: str, line: str) -> None:
        self.flush()
        self._kind, self._lines, self._start = kind, [line], self._line

    def _heading(self, level: int, text: str, line: str) -> None:
        self._begin(HEADING, line.strip())
        self.flush()
        self._headings = [one for one in self._headings if one[0] < level]
        self._headings.append((level, _INPUT.search(text) is not None))

    def _follows_item(self) -> bool:
        return bool(self.blocks) and self.blocks[-1].kind in {ITEM, CODE}
