"""Regular expressions that cannot hang a run. Owns the dialect, the length cap and the time limit.

The dialect is the ``regex`` package's (a superset of ``re``: possessive quantifiers, ``\\p{…}``, look-behind of any
length). Patterns are authored and may be careless; the text they search is written by a model and may be hostile.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import regex

MAX_PATTERN_CHARS = 2_000
MAX_TEXT_CHARS = 1_000_000
TIME_LIMIT_S = 1.0
CONTEXT_CHARS = 30

Match = Any
"""A ``regex.Match``; the package's stubs name it only generically."""


class PatternProblem(ValueError):
    """A pattern that cannot be used: too long, or not of the dialect (with the position)."""


class PatternTimeout(Exception):
    """A search that was stopped: the pattern backtracks too much on this text, or the text is over the limit."""


class Pattern:
    """A compiled pattern whose searches are bounded in time (seconds of wall clock)."""

    __slots__ = ("_compiled", "time_limit_s")

    def __init__(self, text: str, *, time_limit_s: float = TIME_LIMIT_S) -> None:
        if len(text) > MAX_PATTERN_CHARS:
            raise PatternProblem(f"pattern of {len(text)} characters is over the limit of {MAX_PATTERN_CHARS}")
        try:
            self._compiled = regex.compile(text)
        except (regex.error, OverflowError, RecursionError, MemoryError) as error:
            raise PatternProblem(f"pattern {text[:80]!r} cannot be compiled: {error}") from error
        self.time_limit_s = time_limit_s

    @property
    def text(self) -> str:
        """The pattern as written."""
        return str(self._compiled.pattern)

    @property
    def n_groups(self) -> int:
        """How many capturing groups the pattern has."""
        return int(self._compiled.groups)

    def search(self, text: str) -> Match | None:
        """The first match anywhere in ``text``, or None. Raises :class:`PatternTimeout`."""
        if len(text) > MAX_TEXT_CHARS:
            raise PatternTimeout(f"text of {len(text)} characters is over the limit of {MAX_TEXT_CHARS}")
        try:
            return self._compiled.search(text, timeout=self.time_limit_s)
        except TimeoutError as error:
            raise PatternTimeout(f"pattern {self.text[:80]!r} ran over {self.time_limit_s:g} s") from error


def pattern_problems(texts: Iterable[str]) -> tuple[str, ...]:
    """Why each of these patterns cannot be used; nothing for one that can."""
    problems = []
    for text in texts:
        try:
            Pattern(text)
        except PatternProblem as problem:
            problems.append(str(problem))
    return tuple(problems)


def span_in_context(text: str, start: int, end: int, *, around: int = CONTEXT_CHARS) -> str:
    """The span with up to ``around`` characters on each side on one line, the span itself between ``[`` and ``]``."""
    before = ("…" if start > around else "") + text[max(0, start - around) : start]
    after = text[end : end + around] + ("…" if end + around < len(text) else "")
    return " ".join(f"{before}[{text[start:end]}]{after}".split())
