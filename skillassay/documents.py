"""Authored files: JSON or YAML in, plain values out, with the line of every part. Owns how such a file is read.

YAML is read by its JSON-like core: text, true/false, null, integers, floats; dates stay text, `yes` and `no` stay text,
aliases and duplicate keys are refused. JSON is read strictly. Nothing here knows what the values mean.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from skillassay.canonical import Json, JsonProblem, parse_json
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
    ("tag:yaml.org,2002:float", r"^[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?$", "-+0123456789."),
):
    _CoreLoader.add_implicit_resolver(_tag, re.compile(_pattern), list(_first))


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One authored file: its value, its text, and where its parts stand."""

    path: str
    text: str
    value: Json

    def line_of(self, where: Sequence[str | int]) -> int | None:
        """The line (from 1) of the value at ``where`` (keys and indexes from the root), or of its nearest parent."""
        try:
            node = yaml.compose(self.text, Loader=_Loader)
        except yaml.YAMLError:
            return None  # JSON that YAML cannot read (tabs): the finding goes without a line
        line: int | None = None
        for part in [None, *where]:
            if part is not None:
                node = _child(node, part)
            if node is None:
                break
            line = node.start_mark.line + 1
        return line

    def lines_below(self, where: Sequence[str | int]) -> tuple[int, ...]:
        """The lines of the items of the sequence at ``where``; empty where YAML cannot read the JSON."""
        try:
            node = yaml.compose(self.text, Loader=_Loader)
        except yaml.YAMLError:
            return ()
        for part in where:
            node = _child(node, part)
        return tuple(_line(item) for item in node.value) if isinstance(node, yaml.SequenceNode) else ()


def _child(node: Any, part: str | int) -> Any:
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == str(part)), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part]
    return None


def load_document(path: Path, *, shown_as: str) -> tuple[Document | None, tuple[Finding, ...]]:
    """Read one JSON (``.json``) or YAML file. Problems come back as findings under the name ``shown_as``."""
    try:
        data = path.read_bytes()
    except OSError as error:
        return None, (_finding(UNREADABLE, shown_as, f"cannot be read: {error.strerror}"),)
    if len(data) > MAX_BYTES:
        return None, (_finding(UNREADABLE, shown_as, f"{len(data)} bytes is over the limit of {MAX_BYTES}"),)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}"
        return None, (_finding(UNREADABLE, shown_as, message, hint="save the file as UTF-8"),)
    return parse_document(text, path=shown_as, is_json=path.suffix == ".json")


def parse_document(text: str, *, path: str, is_json: bool) -> tuple[Document | None, tuple[Finding, ...]]:
    """Parse the text of an authored file; one finding when it is not a document."""
    try:
        value = parse_json(text) if is_json else _parse_yaml(text)
    except JsonProblem as problem:
        return None, (_finding(NOT_A_DOCUMENT, path, str(problem), line=problem.line),)
    return Document(path=path, text=text, value=value), ()


def _parse_yaml(text: str) -> Json:
    try:
        for event in yaml.parse(text, Loader=_Loader):
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                raise JsonProblem("anchors and aliases are not read: write the value out", _line(event))
        loader = _CoreLoader(text)
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
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        if isinstance(error, JsonProblem):
            raise
        raise JsonProblem(f"not YAML: {error}") from error


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
