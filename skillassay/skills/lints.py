"""What a skill's text says about its files. Owns two lints: paths that lead nowhere, and files a client cannot see.

Looked at in the body: Markdown links and reference definitions, and paths in backticks that begin with
``references/``, ``scripts/`` or ``assets/``. Not looked at: URLs, fragments, code blocks, paths with placeholders
(``<topic>``, ``{id}``, ``$X``, ``*``, ``…``), and link targets that are a bare word. Takes plain values, reads no file.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from skillassay.findings import Finding, Severity, register

DEAD_LINK = register("skill.dead-link", "The body links to a file that the skill does not have.")
DEAD_PATH = register(
    "skill.dead-path", "The body names a file under references/, scripts/ or assets/ that is not there."
)
LINK_LEAVES = register("skill.link-leaves-folder", "The body links to a path outside the skill's folder.")
UNSEEN_FILES = register(
    "skill.unseen-files", "Files outside references/, assets/ and scripts/, which some clients ignore."
)

SEEN_FOLDERS = ("references/", "assets/", "scripts/")
"""The folders that every known client reads; ADK reads nothing else."""

N_SHOWN = 3

_LINK = re.compile(r"\]\(\s*<?([^()\s<>]*(?:\([^()\s]*\)[^()\s<>]*)?)")
_DEFINITION = re.compile(r"^ {0,3}\[[^\]\n]+\]:[ \t]*<?([^\s<>]+)", re.MULTILINE)
_MENTION = re.compile(r"`(?:\./)?((?:references|scripts|assets)/[\w./%+@~-]+)(?::\d+|#[^`\s]*)?`")
_PLACEHOLDER = re.compile(r"[{}<>$*…]|\.\.\.")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|#")
_FENCE = re.compile(r"^[ >]*(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """The body to look at: ``path`` is its file from the project root, ``line`` the file's line where it begins."""

    path: str
    body: str
    line: int


def lint_body(text: Text, *, paths: Collection[str], left_out: Sequence[str] = ()) -> list[Finding]:
    """Findings about the paths in a body, one for each path.

    ``paths`` are the skill's files, ``left_out`` what its ignore list took out.
    """
    body = text.body
    patterns = _patterns_for(body)
    named = {target for _, pattern in patterns for target in pattern.findall(body)}
    suspects = {target for target in named if target and target not in paths and not _SCHEME.match(target)}
    if not suspects:
        return []  # the usual case, which costs no match objects
    places = _Places(body)
    findings: dict[str, Finding] = {}
    for kind, target, start in _occurrences(body, patterns):
        if target not in suspects or target in findings or places.is_code(start, is_mention=kind == DEAD_PATH):
            continue
        verdict = _judge(kind, target, paths, left_out)
        if verdict is not None:
            findings[target] = Finding(
                code=verdict[0],
                severity=Severity.WARNING,
                path=text.path,
                message=verdict[1],
                hint=_HINTS[verdict[0]],
                line=text.line + places.line_of(start),
            )
        else:
            suspects.discard(target)
    return list(findings.values())


_HINTS = {
    DEAD_LINK: "add the file, or correct or remove the link",
    DEAD_PATH: "add the file, or correct the path",
    LINK_LEAVES: "copy what is needed into the skill: an installed skill has nothing around it",
}


def _patterns_for(body: str) -> list[tuple[str, re.Pattern[str]]]:
    patterns = []
    if "](" in body:
        patterns.append((DEAD_LINK, _LINK))
    if "]:" in body:
        patterns.append((DEAD_LINK, _DEFINITION))
    if "references/" in body or "scripts/" in body or "assets/" in body:
        patterns.append((DEAD_PATH, _MENTION))
    return patterns


def _occurrences(body: str, patterns: Sequence[tuple[str, re.Pattern[str]]]) -> Iterator[tuple[str, str, int]]:
    for kind, pattern in patterns:
        for match in pattern.finditer(body):
            yield kind, match[1], match.start(1)


def _judge(code: str, target: str, paths: Collection[str], left_out: Sequence[str]) -> tuple[str, str] | None:
    """(code, message) of a target that is none of the skill's files as written; None when it is fine or no path."""
    if _PLACEHOLDER.search(target):
        return None
    plain = unicodedata.normalize("NFC", unquote(target.partition("#")[0].partition("?")[0]))
    if plain.startswith(("/", "~")):
        return LINK_LEAVES, f"the link to `{target}` is absolute"
    path = posixpath.normpath(plain)
    if path == ".." or path.startswith("../"):
        return LINK_LEAVES, f"the link to `{target}` leaves the skill's folder"
    if path == "." or path in paths or any(one.startswith(f"{path}/") for one in paths):
        return None
    if code == DEAD_LINK and "/" not in path and "." not in path:
        return None  # `[text](url)` in an example: a word, and no path
    for one in left_out:
        if f"{path}/".startswith(one if one.endswith("/") else f"{one}/"):
            return code, f"`{target}` is left out of the skill (`{one}`): no reader can open it"
    folded = path.casefold()
    near = next((one for one in paths if one.casefold() == folded), None)
    return code, f"`{target}` does not exist" + (f"; there is `{near}`" if near is not None else "")


def _code_blocks(body: str) -> list[tuple[int, int]]:
    """Start and end of each fenced code block; one that is never closed runs to the end."""
    blocks: list[tuple[int, int]] = []
    opened: tuple[str, int] | None = None
    for match in _FENCE.finditer(body):
        marks, rest = match[1], match[2]
        if opened is None:
            if "`" not in rest or marks[0] == "~":
                opened = (marks, match.start())
        elif marks.startswith(opened[0]) and not rest.strip():
            blocks.append((opened[1], match.end()))
            opened = None
    return [*blocks, (opened[1], len(body))] if opened is not None else blocks


class _Places:
    """Where lines, code blocks and backticks of a body are: found once, so that no body is read twice per link."""

    __slots__ = ("_block_starts", "_blocks", "_breaks", "_ticks")

    def __init__(self, body: str) -> None:
        self._blocks = _code_blocks(body)
        self._block_starts = [start for start, _ in self._blocks]
        self._breaks = [match.start() for match in re.finditer("\n", body)]
        self._ticks = [match.start() for match in re.finditer("`", body)]

    def line_of(self, start: int) -> int:
        """The line of a character, from 0."""
        return bisect_left(self._breaks, start)

    def is_code(self, start: int, *, is_mention: bool) -> bool:
        """Whether a path stands in a code block, or a link in code within its line."""
        block = bisect_right(self._block_starts, start) - 1
        if block >= 0 and start < self._blocks[block][1]:
            return True
        line = self.line_of(start)
        line_start = self._breaks[line - 1] + 1 if line else 0
        n_ticks = bisect_left(self._ticks, start) - bisect_left(self._ticks, line_start)
        return not is_mention and n_ticks % 2 == 1


def lint_visibility(path: str, *, paths: Sequence[str], skill_file: str) -> Finding | None:
    """One note on the files that clients which read only :data:`SEEN_FOLDERS` do not see; ``path`` is SKILL.md's."""
    unseen = [one for one in paths if not one.startswith(SEEN_FOLDERS) and one != skill_file]
    if not unseen:
        return None
    names = ", ".join(f"`{one}`" for one in unseen[:N_SHOWN]) + (", …" if len(unseen) > N_SHOWN else "")
    return Finding(
        code=UNSEEN_FILES,
        severity=Severity.NOTE,
        path=path,
        message=f"{len(unseen)} of {len(paths)} files are outside references/, assets/ and scripts/: {names}",
        hint="ADK reads only these three folders: move files there that the skill needs",
    )
