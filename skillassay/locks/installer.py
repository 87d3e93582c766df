"""What installers put into a copy of a skill, and the copy without it. Owns both lists; guesses nothing beyond them.

Files at the top of the folder: ``INSTALLER_FILES``. Lines in SKILL.md: below a line ``metadata:`` of the frontmatter,
as deep as its first key, ``KEY: VALUE`` on one line with a key of ``INSTALLER_KEYS``. Taken back are exactly these
lines, and with them the line ``metadata:`` where nothing else stands below it; every other byte stays, nothing is
parsed and written again. Whether that was right is for a digest to say. An installer that writes the whole frontmatter
anew cannot be taken back like this; where the source is at hand, it can be said that both say the same.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from skillassay.skills.frontmatter import FrontmatterProblem, Yaml, read_frontmatter, split_document

INSTALLER_FILES = ("_meta.json", ".clawhub/", "skill.oms.sig", ".skill-lock", ".skill-lock.json")
INSTALLER_KEYS = ("github-repo", "github-ref", "github-tree-sha", "github-path", "github-pinned", "local-path")

_METADATA = re.compile(r"metadata:[ \t]*")
_ADDED = re.compile(rf" +({'|'.join(INSTALLER_KEYS)}): +\S.*")
_BOM = "\ufeff"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reversal:
    """SKILL.md without what an installer added: its bytes with LF, and the keys taken out, with their values."""

    data: bytes
    keys: Mapping[str, str]


def is_installer_file(path: str) -> bool:
    """Whether a file of a skill is one that installers drop."""
    return any(path.startswith(name) if name.endswith("/") else path == name for name in INSTALLER_FILES)


def reversals(skill_file: bytes) -> Iterator[Reversal]:
    """What SKILL.md may have been before an installer added to it; nothing where none of its keys stands there."""
    try:
        document = split_document(skill_file)
        metadata = read_frontmatter(document).values.get("metadata")
    except FrontmatterProblem:
        return
    lines = document.yaml.split("\n")
    head, children = _block(lines)
    added = _added(lines, children)
    # A line that YAML takes for something else, as for a part of a longer text, is no key.
    if not added or not isinstance(metadata, dict) or not set(added.values()) <= set(metadata):
        return
    keys = {name: str(metadata[name]) for name in added.values()}
    with_head = [{head, *added}] if set(children) == set(added) else []
    for dropped in (*with_head, set(added)):
        yaml = "\n".join(line for index, line in enumerate(lines) if index not in dropped)
        end = document.start + len(document.yaml)
        text = f"{_BOM if document.has_bom else ''}{document.text[: document.start]}{yaml}{document.text[end:]}"
        yield Reversal(data=text.encode(), keys=keys)


def says_the_same(skill_file: bytes, source: bytes) -> bool:
    """Whether two SKILL.md differ in how their frontmatter is written alone: the same values but for an installer's
    keys, the same body. What is written otherwise has other bytes, and no digest vouches for it.
    """
    try:
        mine, its = split_document(skill_file), split_document(source)
        values = [_without_keys(read_frontmatter(document).values) for document in (mine, its)]
    except FrontmatterProblem:
        return False
    return mine.body == its.body and values[0] == values[1]


def _without_keys(values: Mapping[str, Yaml]) -> dict[str, Yaml]:
    metadata = values.get("metadata")
    if not isinstance(metadata, dict):
        return dict(values)
    left = {name: value for name, value in metadata.items() if name not in INSTALLER_KEYS}
    others = {name: value for name, value in values.items() if name != "metadata"}
    return {**others, **({"metadata": left} if left else {})}


def _block(lines: Sequence[str]) -> tuple[int, list[int]]:
    """The line ``metadata:`` and the lines below it that belong to it; none where it does not stand there once."""
    heads = [index for index, line in enumerate(lines) if _METADATA.fullmatch(line)]
    if len(heads) != 1:
        return 0, []
    below = range(heads[0] + 1, len(lines))
    return heads[0], list(itertools.takewhile(lambda index: _depth(lines[index]) > 0, below))


def _added(lines: Sequence[str], children: Sequence[int]) -> dict[int, str]:
    """The keys of installers by their lines: as deep as the first key, the value whole in its line."""
    found = {}
    for index in children:
        match = _ADDED.fullmatch(lines[index])
        depth = _depth(lines[children[0]])
        if match is not None and _depth(lines[index]) == depth >= _depth(lines[index + 1]):
            found[index] = match[1]
    return found


def _depth(line: str) -> int:
    """How far a line is indented; 0 for an empty one."""
    return len(line) - len(line.lstrip(" ")) if line.strip() else 0
