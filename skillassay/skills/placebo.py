"""A skill's placebo, for the mode ``placebo``: what it looks like from outside, with words inside that say nothing.

Made from the skill's bytes alone, so that equal bytes have equal placebos:

- SKILL.md keeps its frontmatter byte for byte (CRLF as LF), so name and description too. Each line of its body keeps
  its indentation, the mark it begins with (``##``, ``-``, ``1.`` with a blank behind it, or the ticks of a fence) and
  its number of characters; the rest is text out of ``SENTENCES``, whole words only, filled up with dots. So headings,
  lists and fences stay. No word does, nor what else a line holds: the language of a fence, the bars of a table, a rule.
- Every other text is filled in the same way. A file of a kind that an interpreter runs becomes empty: it keeps its
  name, exits 0 and prints nothing, so that the tools offered are byte for byte those of the skill. What is no text
  becomes as many NUL bytes.

Sentences that share a word of ``LONG_WORD`` letters or more with the skill are left out. Refused is a skill that
leaves too few of them, and one without a word to replace: its placebo would be the skill itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

from skillassay.canonical import sha256_hex
from skillassay.errors import EnvironmentFault, InputError
from skillassay.isolation.script import KINDS, kind_of
from skillassay.project import Project, ReadySkill
from skillassay.skills.digest import FileEntry
from skillassay.skills.discovery import load_package
from skillassay.skills.git_folder import GitFolder
from skillassay.tools import decode_text

LONG_WORD = 5
MIN_SENTENCES = 5
SENTENCES = (
    "A heron is at the edge of the fjord.",
    "The moss on the old wall is damp.",
    "Fog lies low on the heath.",
    "Two gulls sit on the quay.",
    "The tide is out and the sand is grey.",
    "A pebble is flat and dark.",
    "Lichen is on the bark of the birch.",
    "Snow lies on the fells in May.",
    "The brook is thin and cold.",
    "A skein of geese goes by.",
    "The dunes are pale at dusk.",
    "Reeds bend a bit in the wind.",
    "A beetle is on the leaf of a dock.",
    "Rain is soft on the slate.",
    "The clouds are high and thin.",
    "Kelp lies on the shingle.",
    "An otter is in the pool at dawn.",
    "The alder has dark cones.",
    "Frost is on the hedge.",
    "A lapwing is in the fen.",
    "The bog is brown and wide.",
    "Bees are in the clover.",
    "The moon is up and the sea is calm.",
    "Ferns are in the shade of the rock.",
    "A curlew is on the mud.",
    "Thyme and gorse are on the cliff.",
    "The hill is blue from afar.",
    "Driftwood is on the beach.",
    "A newt is in the ditch.",
    "The larch is gold in the fall.",
)
"""Plain words on a landscape. Words of five letters or more in it are names of things that few skills are about."""

_LONG = re.compile(rf"[^\W\d_]{{{LONG_WORD},}}")
_MARK = re.compile(r"\s*(?:(?:#{1,6}|[-*+>]|\d{1,2}[.)])(?=\s)|`{3,}|~{3,})?\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Placebo:
    """The placebo of one skill. Its files are there as long as this is."""

    ready: ReadySkill
    folder: GitFolder


def placebos_of(project: Project, paths: Sequence[str]) -> dict[str, Placebo]:
    """The placebos of the skills at these paths. Raises :class:`InputError` for a skill that can have none."""
    ready = {one.path: one for one in project.usable}
    return {path: _build(ready[path], project.contract.lock.ignore) for path in paths}


def _build(ready: ReadySkill, ignore: Sequence[str]) -> Placebo:
    folder = GitFolder()
    try:
        for path, data, source in _files(ready):
            target = folder.path / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            target.chmod(source.stat().st_mode & 0o755 | 0o600)
        package = load_package(str(folder.path), path=ready.path, ignore=ignore)
    except OSError as error:
        message = f"the placebo of {ready.path} cannot be written: {error.strerror or error}"
        raise EnvironmentFault(message) from error
    if package is None or package.skill is None or package.files is None or package.files.digest is None:
        raise InputError(f"the placebo of {ready.path} is no readable skill", hint="leave out the mode placebo")
    if package.files.digest == ready.digest:
        raise InputError(f"{ready.path} has no placebo: there is no word in it to replace", hint=_HINT)
    made = ReadySkill(path=ready.path, skill=package.skill, files=package.files, digest=package.files.digest)
    return Placebo(ready=made, folder=folder)


_HINT = "leave out --noise and the mode placebo for this skill"


def _files(ready: ReadySkill) -> Iterator[tuple[str, bytes, Path]]:
    """Every file of the placebo: its path, its bytes, and the file whose mode it gets."""
    entries = ready.files.entries
    texts = {entry.path: decode_text(_read(entry, ready.path)) for entry in entries}
    words = _Words(ready.path, [text for text in texts.values() if text is not None])
    for entry in entries:
        text, source = texts[entry.path], Path(entry.source)
        if text is None:
            yield entry.path, b"\0" * entry.size, source
        elif entry.path == ready.skill.file:
            head = len(text) - len(ready.skill.body)
            yield entry.path, (text[:head] + filled(text[head:], words.take)).encode(), source
        elif kind_of(entry.path) in KINDS:
            yield entry.path, b"", source
        else:
            yield entry.path, filled(text, words.take).encode(), source


def _read(entry: FileEntry, skill_path: str) -> bytes:
    try:
        data = Path(entry.source).read_bytes()
    except OSError:
        data = None
    text = None if data is None else decode_text(data)
    if data is None or sha256_hex(data if text is None else text.encode()) != entry.sha256:
        message = f"{skill_path}/{entry.path} changed while the run was being prepared"
        raise InputError(message, hint="no model was called; run again when nobody edits it")
    return data


class _Words:
    """The words of the sentences that share none of their long ones with a skill, in order, without end."""

    def __init__(self, skill_path: str, texts: Iterable[str]) -> None:
        taken = {word.casefold() for text in texts for word in _LONG.findall(text)}
        kept = [one for one in SENTENCES if taken.isdisjoint(word.casefold() for word in _LONG.findall(one))]
        if len(kept) < MIN_SENTENCES:
            message = f"{skill_path} has no placebo: it shares a word with all but {len(kept)} of our neutral sentences"
            raise InputError(message, hint=_HINT)
        self._words = cycle(" ".join(kept).split(" "))
        self._held: str | None = None

    def take(self, n_chars: int) -> str:
        """Whole words, then dots, of exactly this many characters; the word that did not fit is the next one."""
        taken: list[str] = []
        n_left = n_chars
        while True:
            word = self._held or next(self._words)
            n_more = len(word) + (1 if taken else 0)
            if n_more > n_left:
                self._held = word
                return " ".join(taken) + "." * n_left
            taken.append(word)
            self._held, n_left = None, n_left - n_more


def filled(text: str, take: Callable[[int], str]) -> str:
    """The text with other words, so many characters of which ``take`` gives: each line keeps indentation and mark."""
    lines = []
    for line in text.split("\n"):
        mark = _MARK.match(line)
        kept = mark[0] if mark is not None else ""
        lines.append(kept + take(len(line) - len(kept)))
    return "\n".join(lines)
