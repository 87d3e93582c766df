"""Regular expressions: ``regex`` and ``not_regex``. Owns what a match decides; dialect and limits are ``patterns``'s.

Both look for the same thing, a *find*: ``pattern`` matches somewhere and ``unless``, if given, matches nowhere.
``regex`` passes on a find, ``not_regex`` fails on it. ``normalize`` folds the answer to one line, never the pattern.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from skillassay.checks.base import SpecProblem
from skillassay.folding import fold_text
from skillassay.patterns import Pattern, PatternProblem, span_in_context

Run = Callable[[str], tuple[bool, str]]

_SCHEMA = {
    "properties": {"pattern": {"type": "string"}, "unless": {"type": "string"}, "normalize": {"type": "boolean"}},
    "required": ["pattern"],
}


def build_regex(spec: Mapping[str, Any]) -> Run:
    """Passes on a find. A pattern that matches the empty text is refused: it asks for nothing."""
    find, pattern = _build_find(spec)
    if pattern.search("") is not None:
        raise SpecProblem(
            f"pattern {pattern.text[:80]!r} matches the empty text, so it passes without anything it asks for; "
            "for what must not stand there use not_regex"
        )
    return find


def build_not_regex(spec: Mapping[str, Any]) -> Run:
    """Fails on a find. A pattern that matches the empty text is allowed: ``^$`` says that the answer is not empty."""
    find, _ = _build_find(spec)

    def run(answer: str) -> tuple[bool, str]:
        found, evidence = find(answer)
        return not found, evidence

    return run


def _build_find(spec: Mapping[str, Any]) -> tuple[Run, Pattern]:
    problems: list[str] = []
    pattern = _compile(spec, "pattern", problems)
    unless = _compile(spec, "unless", problems) if "unless" in spec else None
    if unless is not None and unless.search("") is not None:
        problems.append(f"unless: {unless.text[:80]!r} matches the empty text, so it excuses every answer")
    if problems or pattern is None:
        raise SpecProblem("; ".join(problems))

    def find(answer: str) -> tuple[bool, str]:
        text = fold_text(answer) if spec.get("normalize") else answer
        match = pattern.search(text)
        if match is None:
            return False, f"no match of {pattern.text[:80]}"
        shown = span_in_context(text, match.start(), match.end())
        excuse = unless.search(text) if unless is not None else None
        if excuse is not None:
            return False, f"{shown} but for {span_in_context(text, excuse.start(), excuse.end())}"
        return True, shown

    return find, pattern


def _compile(spec: Mapping[str, Any], key: str, problems: list[str]) -> Pattern | None:
    try:
        return Pattern(spec[key])
    except PatternProblem as error:
        problems.append(f"{key}: {error}")
        return None


TYPES = {"regex": (build_regex, _SCHEMA), "not_regex": (build_not_regex, _SCHEMA)}
