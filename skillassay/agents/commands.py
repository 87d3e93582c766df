"""Which files a shell command calls. Owns what counts as a call; runs nothing.

A file is called when it is the command word of a simple command, or the program that an interpreter is given. A file
that is printed, listed, searched or spoken of is not. The grammar is a part of the shell's: what cannot be read as such
(an open quotation, the text of a here-document, a command in a variable) calls nothing.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Sequence

_SEPARATORS = set(";|&()\n")
_PUNCTUATION = ";|&()<>\n"
_INTERPRETERS = re.compile(
    r"(?:python|pypy|ruby|perl|php|node|deno|bun|tsx|ts-node|bash|sh|dash|zsh|ksh|pwsh|Rscript)(?:\d+(?:\.\d+)*)?"
)
_SHELLS = re.compile(r"(?:bash|sh|dash|zsh|ksh)")
_PREFIXES = frozenset(
    (
        *("env", "exec", "nohup", "time", "command", "nice", "sudo"),
        *("if", "then", "elif", "else", "while", "until", "do", "!", "{"),
    )
)
_RUNNERS = {"uv": "run", "uvx": "", "poetry": "run", "pipenv": "run", "deno": "run", "bun": "run", "npx": ""}
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)
_WITH_VALUE = frozenset(("-W", "-X", "-r", "--require", "--loader", "--import", "-o"))
_RUNNERS_WITH_VALUE = frozenset(
    ("--with", "--with-requirements", "--python", "-p", "--extra", "--group", "--project", "--directory", "--index")
)
"""Options of interpreters, and of what runs one, that take the next word."""


def called_paths(command: str, *, folder: str = "") -> tuple[str, ...]:
    """The files that ``command`` calls, in order, as normal paths from where it was begun in ``folder``."""
    return tuple(_called(command, folder or "."))


def _called(command: str, folder: str) -> Iterator[str]:
    for word, *rest in filter(None, map(_bare, _simple_commands(command))):
        if word == "cd":
            folder = posixpath.join(folder, rest[0] if rest else "~")
        elif (text := _shell_text(word, rest)) is not None:
            yield from _called(text, folder)
        elif (program := _program(word, rest)) is not None:
            yield posixpath.normpath(posixpath.join(folder, program))


def _simple_commands(command: str) -> Iterator[list[str]]:
    """The words of each simple command, without its redirections, up to a here-document."""
    lexer = shlex.shlex(command.replace("\\\n", " "), posix=True, punctuation_chars=_PUNCTUATION)
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    words: list[str] = []
    skips = False
    is_over = False
    try:
        for token in lexer:
            if set(token) <= set(_PUNCTUATION) and set(token) & {"<", ">"}:
                is_over, skips = is_over or "<<" in token, True
            elif set(token) <= _SEPARATORS:
                yield words
                if is_over and "\n" in token:
                    return
                words, skips = [], False
            elif skips:
                skips = False
            else:
                words.append(token)
    except ValueError:  # a quotation that does not end
        return
    yield words


def _bare(words: Sequence[str]) -> list[str]:
    """A simple command without assignments, keywords and commands that only run another one."""
    rest = list(words)
    while rest and (rest[0] in _PREFIXES or _ASSIGNMENT.fullmatch(rest[0]) or rest[0] == "timeout"):
        is_prefix = rest[0] in _PREFIXES or rest[0] == "timeout"
        takes_time = rest.pop(0) == "timeout"
        while is_prefix and rest and rest[0].startswith("-"):
            rest.pop(0)
        if takes_time and rest:
            rest.pop(0)
    return rest


def _shell_text(word: str, rest: Sequence[str]) -> str | None:
    """The command in ``bash -c TEXT``."""
    if not _SHELLS.fullmatch(posixpath.basename(word)):
        return None
    for at, option in enumerate(rest[:-1]):
        if not option.startswith("-"):
            return None
        if not option.startswith("--") and option.endswith("c"):
            return rest[at + 1]
    return None


def _program(word: str, rest: Sequence[str]) -> str | None:
    """The file that a simple command calls; None for a program of the machine and for program text."""
    name = posixpath.basename(word)
    if name in _RUNNERS:
        return _run(list(rest[1:] if rest[:1] == [_RUNNERS[name]] else rest))
    if not _INTERPRETERS.fullmatch(name):
        return word if "/" in word else None
    ends = "" if _SHELLS.fullmatch(name) else "cme"
    values = iter(rest)
    for value in values:
        if value in _WITH_VALUE:
            next(values, None)
        elif not value.startswith("-"):
            return value
        elif value == "-" or (not value.startswith("--") and value[-1] in ends):
            return None  # its program is a text, a module or its input
    return None


def _run(words: list[str]) -> str | None:
    """What something like ``uv run`` is given: a command, or a script by its name alone."""
    while words and words[0].startswith("-"):
        if words.pop(0) in _RUNNERS_WITH_VALUE and words:
            words.pop(0)
    if not words:
        return None
    return words[0] if words[0].endswith(".py") else _program(words[0], words[1:])
