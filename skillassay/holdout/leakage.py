"""Whether texts of hidden cases stand in files that others read. Owns what counts as found; names no text.

Compared are words (letters and digits after NFKC and case folding; punctuation, layout and JSON escapes do not count),
in runs of ``WORDS`` words. Of a text mostly in a script without spaces (Han, kana, Thai, …) single characters are
compared, in runs of ``CHARACTERS``; a shorter text is one run. Texts below ``SHORTEST_WORDS`` ("42", "a PDF") say
nothing about where they come from and are not looked for. How many of a text's runs a file must hold:

    query, files                                 ``OWN_RUNS`` of them
    reference, references, acceptable_variants   half of them, and ``OWN_RUNS``: a right answer quotes the skill
    rubric, behavior, checks                     the same, and not in suites and fixtures: authors demand the same of
                                                 many cases, and judge them by the same patterns

or all, where it has fewer. Of a text other than a file, runs that two hidden cases share do not count while it has
others: that is how their author writes.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import regex

from skillassay.suites.case import Case

WORDS, CHARACTERS = 8, 24
"""The length of a run: of words, and of characters in scripts without spaces."""
SHORTEST_WORDS, SHORTEST_CHARACTERS = 6, 14
OWN_RUNS = 4
"""Eleven words in one piece, or several pieces."""
_HEAD_CHARACTERS = 4
_ASKED = frozenset({"query", "files"})
_DEMANDED = frozenset({"rubric", "behavior", "checks"})
_SHARE_WITHOUT_SPACES = 0.3

_WORD = re.compile(r"[^\W_]+")
_WITHOUT_SPACES = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
_ESCAPED = (".json", ".jsonl", ".yaml", ".yml", ".ipynb", ".har", ".toml", ".py", ".js", ".ts")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([nrtbf\"/\\])|\r?\n\s*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseText:
    """One text of a hidden case; ``field`` says which."""

    case_id: str
    field: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedFile:
    """A file that others read: suites and fixtures apart, since their authors and the holdout's write alike."""

    path: str
    text: str
    is_suite: bool = False

    @property
    def is_escaped(self) -> bool:
        """Whether characters may be written as escapes in it."""
        return self.path.endswith(_ESCAPED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """A hidden case whose text stands in a file: where, which fields of it, and how many runs were found."""

    path: str
    case_id: str
    fields: tuple[str, ...]
    n_found: int


def case_texts(case: Case) -> Iterator[CaseText]:
    """All that a hidden case says: query, files, references, rubric and expected values."""
    texts: list[tuple[str, str | None]] = [("query", case.query), ("reference", case.reference)]
    texts += [("files", file.text) for file in case.files]
    texts += [("rubric", item.text) for item in case.rubric]
    texts += [("acceptable_variants", text) for text in case.acceptable_variants]
    texts += [("checks", text) for check in case.checks for text in _strings(check)]
    if case.behavior is not None:
        texts += [("behavior", case.behavior.required), ("behavior", case.behavior.forbidden)]
    if case.references is not None:
        both = (*case.references.positive, *case.references.negative)
        texts += [("references", text) for one in both for text in (one.response, one.violates)]
    for name, text in texts:
        if text:
            yield CaseText(case_id=case.id, field=name, text=text)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _strings(item)


def words_of(text: str) -> list[str]:
    """The words of a text, folded; of a script without spaces a whole stretch is one word."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


_Run = tuple[str, ...] | str


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The own runs of one text."""

    case_id: str
    field: str
    runs: frozenset[_Run]
    needed: int


class HiddenTexts:
    """The texts of a holdout, ready to be looked for."""

    def __init__(self, cases: Iterable[Case]) -> None:
        texts = [(text, _runs(text.text)) for case in cases for text in case_texts(case)]
        by_case: dict[str, set[_Run]] = {}
        for text, runs in texts:
            by_case.setdefault(text.case_id, set()).update(runs)
        n_cases = Counter(run for runs in by_case.values() for run in runs)
        shared = {run for run, n in n_cases.items() if n > 1}
        self._wanted = [_wanted(text, runs, shared) for text, runs in texts if runs]
        self._by_run: dict[_Run, list[_Wanted]] = {}
        for wanted in self._wanted:
            for run in wanted.runs:
                self._by_run.setdefault(run, []).append(wanted)
        self._heads: dict[tuple[str, str], set[int]] = {}
        self._char_heads: dict[str, set[int]] = {}
        for run in self._by_run:
            if isinstance(run, str):
                self._char_heads.setdefault(run[:_HEAD_CHARACTERS], set()).add(len(run))
            else:
                self._heads.setdefault((run[0], run[1]), set()).add(len(run))
        self._is_ascii_head = any(head.isascii() for head in self._char_heads)

    def find_in(self, file: SearchedFile) -> tuple[Exposure, ...]:
        """The hidden cases of which a text stands in a file."""
        words = words_of(_unescaped(file.text) if file.is_escaped else file.text)
        hits: dict[_Wanted, set[_Run]] = {}
        for run in self._known_runs(words):
            for wanted in self._by_run[run]:
                hits.setdefault(wanted, set()).add(run)
        found: dict[str, tuple[frozenset[str], int]] = {}
        for wanted, runs in hits.items():
            if len(runs) >= wanted.needed and not (file.is_suite and wanted.field in _DEMANDED):
                fields, n_found = found.get(wanted.case_id, (frozenset(), 0))
                found[wanted.case_id] = (fields | {wanted.field}, n_found + len(runs))
        return tuple(
            Exposure(path=file.path, case_id=case_id, fields=tuple(sorted(fields)), n_found=n_found)
            for case_id, (fields, n_found) in sorted(found.items())
        )

    def _known_runs(self, words: Sequence[str]) -> Iterator[_Run]:
        # Two words, or a few characters, tell of almost every place that no run begins there: one look a place.
        for at, head in enumerate(pairwise(words)):
            for length in self._heads.get(head, ()):
                if (run := tuple(words[at : at + length])) in self._by_run:
                    yield run
        letters = "".join(words) if self._char_heads else ""
        if letters.isascii() and not self._is_ascii_head:
            return
        for at in range(len(letters) - _HEAD_CHARACTERS + 1):
            for length in self._char_heads.get(letters[at : at + _HEAD_CHARACTERS], ()):
                if (piece := letters[at : at + length]) in self._by_run:
                    yield piece


def _wanted(text: CaseText, runs: set[_Run], shared: set[_Run]) -> _Wanted:
    own = runs if text.field == "files" else runs - shared or runs
    least = OWN_RUNS if text.field in _ASKED else max(OWN_RUNS, math.ceil(len(own) / 2))
    return _Wanted(text.case_id, text.field, frozenset(own), min(least, len(own)))


def _runs(text: str) -> set[_Run]:
    """The runs of a text: of characters where it is mostly of a script without spaces, else of words."""
    words = words_of(text)
    letters = "".join(words)
    if len(_WITHOUT_SPACES.findall(letters)) > _SHARE_WITHOUT_SPACES * len(letters):
        if len(letters) < SHORTEST_CHARACTERS:
            return set()
        length = min(CHARACTERS, len(letters))
        return {letters[at : at + length] for at in range(len(letters) - length + 1)}
    if len(words) < SHORTEST_WORDS:
        return set()
    length = min(WORDS, len(words))
    return {tuple(words[at : at + length]) for at in range(len(words) - length + 1)}


def _unescaped(text: str) -> str:
    """A text of a JSON or YAML file without its escapes; what only looks like one costs a word, not a finding."""

    def plain(found: re.Match[str]) -> str:
        if found[1]:
            return chr(int(found[1], 16))
        return {'"': '"', "/": "/", "\\": "\\"}.get(found[2], " ") if found[2] else ""

    return _ESCAPE.sub(plain, text)
