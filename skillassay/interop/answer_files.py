"""Reading answers that were made elsewhere: a list of JSON lines, or a folder with one file a case.

    {"case", "suite"?, "mode"?, "repeat"?, "answer" | "answer_file", "model"?, "usage"?}      one line each
    CASE.md | CASE.txt | CASE.json, with_skill/CASE.md, none/CASE.txt, …                      one file each

A mode that is not told is ``progressive``. Owns these two forms; the third is
:mod:`skillassay.interop.skill_creator_runs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skillassay.canonical import JsonProblem, parse_json
from skillassay.errors import InputError
from skillassay.interop.made_answers import MODE_FOLDERS, Found, Heap, answer_text, read_inside
from skillassay.regular import NotRegular, read_regular
from skillassay.runs.plan import Mode
from skillassay.schema import pointer, schema_problems
from skillassay.subjects.answers import MadeAnswer
from skillassay.transcript import Usage

MAX_LIST_BYTES = 256 * 1024 * 1024
SUFFIXES = (".md", ".txt", ".json")
_FORMS = "docs/guides/score-elsewhere.md describes the forms"


def read_list(path: Path, heap: Heap) -> None:
    """Every line of a list. Raises :class:`InputError` where the file itself cannot be read."""
    try:
        data = read_regular(path, max_bytes=MAX_LIST_BYTES)
    except (OSError, NotRegular) as error:
        raise InputError(f"{path} cannot be read: {error}", hint="name a file of JSON lines, or a folder") from error
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            heap.found.append(_entry(path, number, line))
        except ValueError as problem:
            heap.problem(path.name, str(problem), _FORMS, line=number)


def _entry(path: Path, number: int, line: bytes) -> Found:
    try:
        value = parse_json(line.decode("utf-8"))
    except (JsonProblem, UnicodeDecodeError) as error:
        raise ValueError(f"it is no JSON object: {error}") from error
    problems = schema_problems(value, "answers")
    if problems:
        raise ValueError("; ".join(f"{pointer(where)}: {message}" for where, message in problems[:3]))
    if ("answer" in value) == ("answer_file" in value):
        raise ValueError("it must have one of `answer` and `answer_file`")
    return Found(
        place=path.name,
        line=number,
        case=value["case"],
        suite=value.get("suite"),
        mode=Mode(value.get("mode", Mode.PROGRESSIVE)),
        repeat=value.get("repeat", 1),
        made=MadeAnswer(text=_text(path, value), model=value.get("model"), usage=usage_of(value.get("usage"))),
    )


def _text(path: Path, value: Mapping[str, Any]) -> str:
    if "answer" in value:
        return str(value["answer"])
    name = value["answer_file"]
    return answer_text(read_inside(path.parent, name), name)


def usage_of(told: Mapping[str, Any] | None) -> Usage:
    """Tokens as they were told; what was not stays unknown."""
    counts: dict[str, Any] = {
        name: (told or {}).get(name) for name in ("input_tokens", "output_tokens", "total_tokens")
    }
    return Usage(**counts, n_calls=1) if any(count is not None for count in counts.values()) else Usage()


def read_folder(folder: Path, heap: Heap) -> None:
    """Every file of a folder, and of its folders of one mode."""
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith("."):
            continue
        if not entry.is_dir() or entry.is_symlink():
            _add(folder, entry.name, Mode.PROGRESSIVE, heap)
        elif (mode := MODE_FOLDERS.get(entry.name)) is not None:
            for inner in sorted(entry.iterdir()):
                if not inner.name.startswith("."):
                    _add(folder, f"{entry.name}/{inner.name}", mode, heap)
        else:
            heap.problem(f"{folder.name}/{entry.name}", "the folder is of no mode", f"modes: {', '.join(MODE_FOLDERS)}")


def _add(folder: Path, name: str, mode: Mode, heap: Heap) -> None:
    place, path = f"{folder.name}/{name}", Path(name)
    if path.suffix not in SUFFIXES:
        heap.problem(place, "it is no answer", f"name it CASE{', CASE'.join(SUFFIXES)}")
        return
    try:
        text = answer_text(read_inside(folder, name), name)
    except ValueError as problem:
        heap.problem(place, str(problem), _FORMS)
        return
    heap.found.append(Found(place=place, case=path.stem, mode=mode, made=MadeAnswer(text=text)))
