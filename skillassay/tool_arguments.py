"""What a call of a tool may say. Owns the JSON Schemas of arguments and their reading; knows no skill and runs nothing.

Arguments are written by a model: any type may come under any name. :class:`Refusal` is the answer to a wrong one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

N_ARGUMENTS = 256
ARGUMENT_BYTES = 64 << 10
INVALID_ARGUMENTS = "INVALID_ARGUMENTS"

_OPTION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*\Z")


class Refusal(Exception):
    """A call that gets an error as its answer. ``code`` is one of ADK's error codes."""

    def __init__(self, message: str, *, code: str = INVALID_ARGUMENTS) -> None:
        super().__init__(message)
        self.message = message
        self.code = code


def build_schema(skill_names: Sequence[str], **more: Mapping[str, Any]) -> dict[str, Any]:
    """An object of ``skill_name`` (one of the names) and the required properties of ``more``."""
    skill = {"type": "string", "enum": list(skill_names), "description": "The name of the skill."}
    return {"type": "object", "properties": {"skill_name": skill, **more}, "required": ["skill_name", *more]}


def build_script_schema(skill_names: Sequence[str]) -> dict[str, Any]:
    """The arguments of a script's call, as ADK declares them."""
    path = {"type": "string", "description": "The relative path to the script (e.g., 'scripts/setup.py')."}
    texts = {"type": "array", "items": {"type": "string"}}
    schema = build_schema(skill_names, file_path=path)
    schema["properties"] |= {
        "args": {
            "anyOf": [{"type": "object"}, texts],
            "description": "Optional arguments: an object of long options (true for a bare flag), or the complete list "
            "of arguments as strings; then 'short_options' and 'positional_args' must not be given.",
        },
        "short_options": {"type": "object", "description": "Optional short options (single hyphen) by name."},
        "positional_args": {**texts, "description": "Optional positional arguments; they follow a '--'."},
    }
    return schema


def read_text(args: Mapping[str, Any], name: str) -> str:
    """A required text argument."""
    value = args.get(name)
    if value is None or value == "":
        raise Refusal(f"Argument '{name}' is required.")
    if not isinstance(value, str):
        raise Refusal(f"Argument '{name}' must be a string, got {type(value).__name__}.")
    return value


def read_command_line(args: Mapping[str, Any]) -> tuple[str, ...]:
    """The argument list of a script, from ``args``, ``short_options`` and ``positional_args``.

    Options: ``true`` gives the bare flag, ``false`` and null give nothing, text and numbers follow as an argument of
    their own. No shell ever sees the result. Refused: NUL, lone surrogates, more than ``N_ARGUMENTS`` arguments or
    ``ARGUMENT_BYTES`` bytes.
    """
    main, short, rest = (args.get(name) for name in ("args", "short_options", "positional_args"))
    if isinstance(main, list):
        if short or rest:
            raise Refusal("Cannot specify 'short_options' or 'positional_args' when 'args' is a list.")
        line = _items("args", main)
    else:
        line = [*_options("args", main, "--"), *_options("short_options", short, "-")]
        positional = _items("positional_args", [] if rest is None else rest)
        line += ["--", *positional] if positional else []
    _check_size(line)
    return tuple(line)


def _items(name: str, value: object) -> list[str]:
    if not isinstance(value, list):
        raise Refusal(f"'{name}' must be a list of strings, got {type(value).__name__}.")
    return [_word(f"{name}[{index}]", item) for index, item in enumerate(value)]


def _options(name: str, value: object, dashes: str) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, Mapping):
        either = " or a list of strings" if name == "args" else ""
        raise Refusal(f"'{name}' must be a JSON object (dict){either}, got {type(value).__name__}.")
    line: list[str] = []
    for option, setting in value.items():
        if not isinstance(option, str) or not _OPTION.match(option):
            raise Refusal(f"{str(option)[:80]!r} in '{name}' is not an option's name; names come without dashes.")
        if setting is None or setting is False:
            continue
        line.append(f"{dashes}{option}")
        if setting is not True:
            line.append(_word(f"{name}.{option[:80]}", setting))
    return line


def _word(name: str, value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise Refusal(f"'{name}' must be a string or a number, got {type(value).__name__}.")
    # int() of text is capped at 4,300 digits and so is str() of an int, by an exception.
    if isinstance(value, int) and value.bit_length() > 512:
        raise Refusal(f"'{name}' is a number of {value.bit_length()} bits.")
    return str(value)


def _check_size(line: Sequence[str]) -> None:
    if len(line) > N_ARGUMENTS:
        raise Refusal(f"{len(line)} arguments are too many; the limit is {N_ARGUMENTS}.")
    try:
        n_bytes = sum(len(word.encode()) for word in line)
    except UnicodeEncodeError as error:
        raise Refusal("An argument holds a lone surrogate, which is not text.") from error
    if n_bytes > ARGUMENT_BYTES:
        raise Refusal(f"Arguments of {n_bytes} bytes are too long; the limit is {ARGUMENT_BYTES}.")
    if any("\0" in word for word in line):
        raise Refusal("An argument holds a NUL character, which no program can be given.")
