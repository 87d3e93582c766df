"""Reading another tool's evals: from a file to cases here. Owns how a file is read and which skill it is about.

JSON, JSON lines and YAML are told apart by their text. YAML is read without aliases, tags and duplicate keys, and no
file over 32 MiB is read at all. The skill is the one asked for, else the one that the file names, else the one whose
folder the file lies in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from skillassay.canonical import Json, JsonProblem, parse_json
from skillassay.documents import parse_document
from skillassay.errors import InputError
from skillassay.interop.collecting import Collection, enclosing_skill, finish
from skillassay.interop.evals import read_evals
from skillassay.interop.exchange import Imported
from skillassay.interop.queries import read_triggers, read_two_lists
from skillassay.interop.questions import named_skills, read_questions
from skillassay.interop.scenarios import read_patterns, read_rubrics
from skillassay.interop.shapes import SIGNS, Shape, describe_found, detect_shape
from skillassay.interop.stimuli import read_stimuli, stimuli_skill
from skillassay.regular import NotRegular, read_regular

READERS: Mapping[Shape, Callable[[Any, Collection], None]] = {
    Shape.EVALS: read_evals,
    Shape.QUESTIONS: read_questions,
    Shape.PATTERNS: read_patterns,
    Shape.RUBRICS: read_rubrics,
    Shape.STIMULI: read_stimuli,
    Shape.TRIGGERS: read_triggers,
    Shape.TWO_LISTS: read_two_lists,
}
SUFFIXES = frozenset({".json", ".jsonl", ".yaml", ".yml"})
_NAMED_BY_CASES = frozenset({Shape.QUESTIONS, Shape.TRIGGERS})
_SKIPPED = frozenset({".git", "node_modules", ".skillassay", ".venv", "__pycache__"})
MAX_FILES, MAX_DEPTH = 2_000, 8
_HINT = "name another tool's file of evals, such as skills/NAME/evals/evals.json, or a folder that holds some"


def load_source(path: Path) -> Json:
    """The value in a file. Raises :class:`InputError` where it cannot be had."""
    try:
        text = read_regular(path).decode("utf-8-sig")
    except FileNotFoundError as error:
        raise InputError(f"{path} does not exist", hint=_HINT) from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}", hint=_HINT) from error
    except NotRegular as error:
        raise InputError(f"{path} cannot be read: {error}", hint=_HINT) from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8", hint="save the file as UTF-8") from error
    return _parse(text, path)


def _parse(text: str, path: Path) -> Json:
    """JSON where it begins so, with JSON lines where it is not one value; otherwise YAML."""
    if text.lstrip()[:1] not in {"{", "["}:
        document, findings = parse_document(text, path=str(path), is_json=False)
        if document is None:
            raise _broken(path, findings[0].message, findings[0].line)
        return document.value
    try:
        return parse_json(text)
    except JsonProblem as problem:
        lines = _json_lines(text)
        if lines is None:
            raise _broken(path, str(problem), problem.line) from problem
        return lines


def _broken(path: Path, message: str, line: int | None) -> InputError:
    place = f"{path}:{line}" if line is not None else str(path)
    return InputError(f"{place}: {message}", hint="mend the file and import again")


def _json_lines(text: str) -> list[Json] | None:
    """The objects of JSON lines; None where a line is none."""
    try:
        values = [parse_json(line) for line in text.split("\n") if line.strip()]
    except JsonProblem:
        return None
    return values if all(isinstance(value, dict) for value in values) else None


def read_import(value: Json, *, source: Path, skill: str | None = None, with_triggers: bool = False) -> Imported:
    """Map the content of one file, as :func:`collect` does."""
    return finish([collect(value, source=source, skill=skill, with_triggers=with_triggers)[1]])


def collect(
    value: Json, *, source: Path, skill: str | None, label: str | None = None, with_triggers: bool = False
) -> tuple[Shape, Collection]:
    """Map the content of the file at ``source``. ``skill`` overrides the skill that it names;
    ``with_triggers`` asks for trigger cases where they say what the file says.

    Raises :class:`InputError` when it is of no shape that is read, or names no skill and must.
    """
    shape = detect_shape(value)
    if shape is None:
        looked = "; ".join(SIGNS.values())
        message = f"{source}: none of the shapes that are read: found {describe_found(value)}; looked for {looked}"
        raise InputError(message, hint="the shapes are described at docs/reference/import.md")
    named = _named(value, shape)
    enclosing = enclosing_skill(source)
    own = skill or named or (enclosing.name if enclosing is not None else None)
    if own is None and shape not in _NAMED_BY_CASES:
        raise InputError(f"{source}: it names no skill", hint="name it with --skill")
    renamed = {named: skill} if named is not None and skill is not None else {}
    into = Collection(source=source, skill=own, renamed=renamed, label=label)
    into.with_triggers = with_triggers
    READERS[shape](value, into)
    return shape, into


def _named(value: Any, shape: Shape) -> str | None:
    """The skill that a file says it is about."""
    for key in ("skill_name", "skill"):
        name = value.get(key) if isinstance(value, Mapping) else None
        if isinstance(name, str) and name.strip():
            return name
    if shape is Shape.STIMULI:
        return stimuli_skill(value)
    names = named_skills(value) if shape in _NAMED_BY_CASES else set()
    return names.pop() if len(names) == 1 else None


def find_sources(folder: Path) -> list[Path]:
    """The files of a folder that may hold evals, sorted. No link is followed. Raises :class:`InputError`."""
    found = list(islice(_walk(folder, MAX_DEPTH), MAX_FILES + 1))
    if len(found) > MAX_FILES:
        message = f"{folder} holds over {MAX_FILES} files that may be evals"
        raise InputError(message, hint="name the folder of the evals")
    return sorted(found)


def _walk(folder: Path, left: int) -> Iterator[Path]:
    try:
        entries = list(folder.iterdir())
    except OSError as error:
        raise InputError(f"{folder} cannot be read: {error.strerror}", hint=_HINT) from error
    for entry in entries:
        if entry.is_symlink():
            continue
        if entry.is_dir():
            if left and entry.name not in _SKIPPED:
                yield from _walk(entry, left - 1)
        elif entry.suffix in SUFFIXES:
            yield entry
