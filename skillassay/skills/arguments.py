"""What a skill's script is called with, read from its text. Owns which usages are known; runs and imports nothing.

Python: ``argparse``, ``optparse``, ``click``, ``getopt`` and ``sys.argv``, from its syntax tree. Shell: ``getopts``,
options in ``case``, ``$1`` to ``$9``. JavaScript: ``process.argv`` and what stands as ``--option`` in quotes beside it,
commander's ``requiredOption``. Of everything else nothing is known, which is None and not an empty list.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

PYTHON = (".py",)
SHELL = (".sh", ".bash", ".zsh")
JAVASCRIPT = (".js", ".mjs", ".cjs", ".ts", ".mts")
OTHERS = (".rb", ".pl", ".ps1", ".php", ".r", ".lua", ".go", ".bat", ".cmd")

_HASH_COMMENTS = (*SHELL, ".rb", ".pl", ".r")
_ADDERS = frozenset(("add_argument", "add_option", "option", "argument"))

Arguments = Mapping[str, bool]
"""What a script takes, each by its name, and whether it must be given."""


def is_script(path: str, data: bytes) -> bool:
    """Whether a file of a skill is a program: by its folder, its ending or its first bytes."""
    suffix = PurePosixPath(path).suffix.lower()
    return path.startswith("scripts/") or suffix in {*PYTHON, *SHELL, *JAVASCRIPT, *OTHERS} or data.startswith(b"#!")


def read_arguments(path: str, text: str) -> Arguments | None:
    """What a script takes; None where its language or its text cannot be read."""
    suffix = PurePosixPath(path).suffix.lower()
    first = text.split("\n", 1)[0]
    if suffix in PYTHON or (not suffix and "python" in first):
        try:
            return dict(_python(ast.parse(text)))
        except (SyntaxError, ValueError, RecursionError):
            return None
    if suffix in SHELL or (not suffix and first.startswith("#!") and "sh" in first):
        return dict(_shell(text))
    return dict(_javascript(text)) if suffix in JAVASCRIPT else None


def differs_in_comments_alone(path: str, before: str, after: str) -> bool:
    """Whether two texts of a script are one program. False wherever that is not certain."""
    suffix = PurePosixPath(path).suffix.lower()
    if suffix in PYTHON:
        try:
            return ast.dump(ast.parse(before)) == ast.dump(ast.parse(after))
        except (SyntaxError, ValueError, RecursionError):
            return False
    # A line of a here-document or of a template string looks like a comment and is data.
    if suffix in _HASH_COMMENTS and "<<" not in before + after:
        return _without_lines(before, "#") == _without_lines(after, "#")
    if suffix in JAVASCRIPT and "`" not in before + after and "/*" not in before + after:
        return _without_lines(before, "//") == _without_lines(after, "//")
    return False


def _without_lines(text: str, mark: str) -> list[str]:
    first, *lines = text.split("\n")
    kept = (line.rstrip() for line in lines if not line.lstrip().startswith(mark))
    head = [] if first.startswith(mark) and not first.startswith("#!") else [first]
    return [*head, *(line for line in kept if line)]


def _python(tree: ast.AST) -> Iterator[tuple[str, bool]]:
    n_positional = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = _called(node.func)
            if name in _ADDERS:
                names = [word for word in map(_text, node.args) if word is not None]
                options = [word for word in names if word.startswith("-")]
                keywords = {one.arg: one.value for one in node.keywords if one.arg is not None}
                if options:
                    yield from ((word, _is_true(keywords.get("required"))) for word in options)
                elif names and name in {"add_argument", "argument"}:
                    n_positional += 1
                    yield f"argument {n_positional}", not _is_optional(keywords)
                yield from ((f"{' '.join(names[:1])} {word}", False) for word in _choices(keywords.get("choices")))
            elif name in {"getopt", "gnu_getopt"} and len(node.args) > 1:
                yield from _getopt(node.args)
        elif isinstance(node, (ast.Subscript, ast.Compare)) and _reads_argv(node):
            yield ast.unparse(node), True


def _called(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def _text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _is_optional(keywords: Mapping[str, ast.expr]) -> bool:
    nargs, required = keywords.get("nargs"), keywords.get("required")
    is_open = isinstance(nargs, ast.Constant) and nargs.value in {"?", "*"}
    is_many = nargs is not None and ast.unparse(nargs) == "-1"
    return is_open or is_many or (isinstance(required, ast.Constant) and required.value is False)


def _choices(node: ast.expr | None) -> Iterator[str]:
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        yield from (str(item.value) for item in node.elts if isinstance(item, ast.Constant))


def _getopt(arguments: list[ast.expr]) -> Iterator[tuple[str, bool]]:
    yield from ((f"-{letter}", False) for letter in (_text(arguments[1]) or "") if letter != ":")
    if len(arguments) > 2 and isinstance(arguments[2], (ast.List, ast.Tuple)):
        names = filter(None, map(_text, arguments[2].elts))
        yield from ((f"--{name.rstrip('=')}", False) for name in names)


def _reads_argv(node: ast.Subscript | ast.Compare) -> bool:
    parts = [node.value] if isinstance(node, ast.Subscript) else [node.left, *node.comparators]
    if isinstance(node, ast.Compare):
        parts = [arg for part in parts if isinstance(part, ast.Call) for arg in part.args]
    return any(isinstance(part, ast.Attribute) and ast.unparse(part) == "sys.argv" for part in parts)


def _shell(text: str) -> Iterator[tuple[str, bool]]:
    code = "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("#"))
    for letters in re.findall(r"\bgetopts\s+[\"']?:?([A-Za-z0-9:]+)", code):
        yield from ((f"-{letter}", False) for letter in letters if letter != ":")
    for pattern in re.findall(r"^\s*\(?\s*(-[\w|\s=*-]*)\)", code, flags=re.MULTILINE):
        yield from ((word.strip().rstrip("=*"), False) for word in pattern.split("|") if word.strip().startswith("-"))
    unquoted = re.sub(r"'[^']*'", "''", code)  # what awk calls $1 is no argument
    found = re.findall(r"\$(?:\{([1-9])(:?[-+])?|([1-9]))", unquoted)
    needed = {braced or plain for braced, default, plain in found if not default}
    for number in sorted({braced or plain for braced, _, plain in found}):
        yield f"argument {number}", number in needed


def _javascript(text: str) -> Iterator[tuple[str, bool]]:
    code = "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("//"))
    yield from ((read, True) for read in re.findall(r"process\.argv\s*\[[^\]]*\]", code))
    if not re.search(r"process\.argv|parseArgs|commander|yargs|minimist", code):
        return
    needed = set(re.findall(r"requiredOption\(\s*[\"'][^\"']*?(--[\w-]+)", code))
    for option in re.findall(r"[\"'](?:-\w,\s*)?(--[a-zA-Z][\w-]*)", code):
        yield option, option in needed
