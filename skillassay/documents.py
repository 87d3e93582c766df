"""Authored files: JSON or YAML in, plain values out, with the line of every part. Owns how such a file is read.

YAML is read by its JSON-like core: text, true/false, null, integers (decimal only), floats; dates stay text, `yes` and
`no` stay text; tags, aliases, duplicate keys and what JSON cannot say are refused. JSON is read strictly. Nothing here
knows what the values mean.
"""

from __future__ import annotations

import functools
import math
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from skillassay.canonical import MAX_DEPTH, MAX_DIGITS, Json, JsonProblem, parse_json
from skillassay.findings import Finding, Severity, register

UNREADABLE = register("file.unreadable", "An authored file is missing, not UTF-8, or cannot be read.")
NOT_A_DOCUMENT = register("file.syntax", "A file is not valid JSON or YAML, or holds a duplicate key or alias.")

MAX_BYTES = 32 * 1024 * 1024

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _CoreLoader(_Loader):  # type: ignore[misc]  # the base is chosen at run time: libyaml where it is built in
    """YAML's core schema without the surprises of YAML 1.1."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - PyYAML's own extension point


for _tag, _pattern, _first in (
    ("tag:yaml.org,2002:bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("tag:yaml.org,2002:null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("tag:yaml.org,2002:int", r"^[-+]?[0-9]+$", "-+0123456789"),
    ("tag:yaml.org,2002:float", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$", "-+0123456789."),
):
    _CoreLoader.add_implicit_resolver(_tag, re.compile(_pattern), list(_first))


def _integer(_: Any, node: Any) -> int:
    # PyYAML would read a leading zero as octal.
    if len(node.value) > MAX_DIGITS:
        raise JsonProblem(f"integer of {len(node.value)} digits", _line(node))
    return int(node.value)


def _float(_: Any, node: Any) -> float:
    value = float(node.value)
    if not math.isfinite(value):
        raise JsonProblem(f"number {node.value[:40]} is out of range", _line(node))
    return value


_CoreLoader.add_constructor("tag:yaml.org,2002:int", _integer)
_CoreLoader.add_constructor("tag:yaml.org,2002:float", _float)


class _DecimalLoader(_CoreLoader):
    """The same, but a number with a point or an exponent stays the text that was written."""


_DecimalLoader.add_constructor("tag:yaml.org,2002:float", lambda _, node: node.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One authored file: its value, its text, and where its parts stand."""

    path: str
    text: str
    value: Json
    is_json: bool = False

    def line_of(self, where: Sequence[str | int]) -> int | None:
        """The line (from 1) of the value at ``where`` (keys and indexes from the root), or of its nearest parent."""
        node = _composed(self.text, self.is_json)
        line: int | None = None
        for part in [None, *where]:
            if part is not None:
                node = _child(node, part)
            if node is None:
                break
            line = node.start_mark.line + 1
        return line

    def lines_below(self, where: Sequence[str | int]) -> tuple[int, ...]:
        """The lines of the items of the sequence at ``where``; empty where there is none."""
        node = _composed(self.text, self.is_json)
        for part in where:
            node = _child(node, part)
        return tuple(_line(item) for item in node.value) if isinstance(node, yaml.SequenceNode) else ()


_JSON_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")


@functools.lru_cache(maxsize=4)
def _composed(text: str, is_json: bool) -> Any:  # noqa: FBT001 - a key of the cache
    """The tree of a text with its marks; None where YAML cannot read the JSON, whose findings then have no line."""
    if is_json:
        # Valid JSON that YAML refuses: tabs between tokens, escapes of surrogate pairs. Neither moves a line.
        text = _JSON_ESCAPE.sub(lambda match: "x" * len(match[0]), text.replace("\t", " "))
    try:
        return yaml.compose(text, Loader=_Loader)
    except (yaml.YAMLError, RecursionError):
        return None


def _child(node: Any, part: str | int) -> Any:
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == str(part)), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part]
    return None


def load_document(
    path: Path, *, shown_as: str, keep_decimals: bool = False
) -> tuple[Document | None, tuple[Finding, ...]]:
    """Read one JSON (``.json``) or YAML file. Problems come back as findings under the name ``shown_as``.

    ``keep_decimals``: YAML numbers that are no integers come as their text, since money is no binary float.
    """
    try:
        state = path.stat()
        # Asked before opening: a pipe would wait for a writer for ever.
        if not stat.S_ISREG(state.st_mode):
            return None, (_finding(UNREADABLE, shown_as, "is not a regular file"),)
        if state.st_size > MAX_BYTES:
            return None, (_finding(UNREADABLE, shown_as, f"{state.st_size} bytes is over the limit of {MAX_BYTES}"),)
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        return None, (_finding(UNREADABLE, shown_as, f"cannot be read: {why}"),)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}"
        return None, (_finding(UNREADABLE, shown_as, message, hint="save the file as UTF-8"),)
    return parse_document(text, path=shown_as, is_json=path.suffix == ".json", keep_decimals=keep_decimals)


def parse_document(
    text: str, *, path: str, is_json: bool, keep_decimals: bool = False
) -> tuple[Document | None, tuple[Finding, ...]]:
    """Parse the text of an authored file; one finding when it is not a document."""
    try:
        value = parse_json(text) if is_json else _parse_yaml(text, _DecimalLoader if keep_decimals else _CoreLoader)
    except JsonProblem as problem:
        return None, (_finding(NOT_A_DOCUMENT, path, str(problem), line=problem.line),)
    return Document(path=path, text=text, value=value, is_json=is_json), ()


def _parse_yaml(text: str, loader_type: type[_CoreLoader]) -> Json:
    try:
        _refuse_events(text)
        loader = loader_type(text)
        try:
            node = loader.get_single_node()
            if node is None:
                return None
            _refuse_duplicates(node)
            return loader.construct_document(node)
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else None
        raise JsonProblem(f"not YAML: {error.problem or error.context}", line) from error
    except yaml.reader.ReaderError as error:
        # The reader counts bytes here and characters there; what it refuses it refuses at its first occurrence.
        code: Any = error.character
        code = code if isinstance(code, int) else ord(code)
        line = text.count("\n", 0, text.find(chr(code))) + 1
        raise JsonProblem(f"not YAML: character U+{code:04X} is not allowed", line) from error
    except UnicodeEncodeError as error:
        raise JsonProblem("holds a lone surrogate, which is not text") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise JsonProblem(f"not YAML: {error}") from error


def _refuse_events(text: str) -> None:
    """Refuse what could name a foreign type, explode, or overflow the reader, before a tree is built."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise JsonProblem("anchors and aliases are not read: write the value out", _line(event))
        tag = getattr(event, "tag", None)
        if tag is not None:
            raise JsonProblem(f"the tag {tag} is not read: write the value plainly", _line(event))
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            raise JsonProblem(f"nested deeper than {MAX_DEPTH} levels", _line(event))


def _refuse_duplicates(node: Any) -> None:
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag != "tag:yaml.org,2002:str":
                raise JsonProblem("a key is not text: quote it", _line(key))
            if key.value in seen:
                raise JsonProblem(f"duplicate key {key.value!r}", _line(key))
            seen.add(key.value)
            _refuse_duplicates(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _refuse_duplicates(item)


def _line(marked: Any) -> int:
    return int(marked.start_mark.line) + 1


def _finding(code: str, path: str, message: str, *, line: int | None = None, hint: str | None = None) -> Finding:
    return Finding(code=code, severity=Severity.ERROR, path=path, line=line, message=message, hint=hint)
