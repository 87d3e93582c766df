"""Things said twice: queries, checks, criteria. Owns when two are one; ids given twice are ``check``'s own error.

Two queries are one when nothing but case, width, white space and Markdown's marks differs, and their files are the
same. They are near where they only have other figures, or where their words are nearly the same ones in nearly the
same order: ``difflib``'s ratio over words, at least ``NEAR``, of queries of ``MIN_WORDS`` to ``MAX_WORDS`` words.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from fractions import Fraction

from skillassay.canonical import canonical_bytes
from skillassay.findings import Severity, register
from skillassay.suites.lints.base import Doubt, LintedCase, doubt, folded, quoted

SAME_QUERY = register("suite.same-query", "Two cases ask the same, but for presentation.")
NEAR_QUERY = register("suite.near-query", "Two cases ask nearly the same: other figures only, or few other words.")
SAME_CRITERION = register("suite.same-criterion", "A case has one criterion twice under two ids.")
SAME_CHECK = register("suite.same-check", "A case has one check twice under two ids.")

NEAR = 0.9
MIN_WORDS, MAX_WORDS = 6, 400
"""Comparing takes the square of a query's words: longer ones are only held for the same or another."""
MOST_COMPARED = 20
"""Each query is compared with so many earlier ones, those that share most of its rare words."""

SHARED = Fraction(9, 11)
"""NEAR / (2 - NEAR): of two texts with that ratio the longer one has at least this share of its words in the other."""

_Token = tuple[str, int]

_WORD = re.compile(r"[^\W_]+")
_DIGITS = re.compile(r"\d+")
_FOR_PEOPLE = frozenset({"id", "note", "samples"})


@dataclass(frozen=True, slots=True)
class _Asked:
    linted: LintedCase
    query: str
    words: tuple[str, ...]
    files: tuple[str, ...]

    @property
    def bare(self) -> tuple[str, ...]:
        """The words without their figures."""
        return tuple(_DIGITS.sub("0", word) for word in self.words)


def query_doubts(cases: Sequence[LintedCase]) -> Iterator[Doubt]:
    """Each case whose query stands, or nearly stands, in an earlier one; one of them is named."""
    asked = [_asked(linted) for linted in cases]
    first: dict[tuple[str, tuple[str, ...]], _Asked] = {}
    left = []
    for one in asked:
        other = first.setdefault((one.query, one.files), one)
        if other is one:
            left.append(one)
            continue
        message = f"the query is that of case {_name(other, one)}"
        hint = "drop one of them: a case counted twice weighs twice and shows nothing more"
        yield doubt(SAME_QUERY, Severity.WARNING, one.linted, message, hint=hint)
    yield from _near(left)


def _asked(linted: LintedCase) -> _Asked:
    query = folded(linted.case.query)
    files = tuple(sorted(file.sha256 for file in linted.case.files))
    return _Asked(linted, query, tuple(_WORD.findall(query)), files)


def _name(other: _Asked, one: _Asked) -> str:
    case = other.linted.case
    return repr(case.id) if case.suite == one.linted.case.suite else repr(f"{case.suite}/{case.id}")


def _near(asked: Sequence[_Asked]) -> Iterator[Doubt]:
    tokens = [_tokens(one.bare) for one in asked]
    n_cases = Counter(token for own in tokens for token in own)
    by_token: dict[_Token, list[int]] = {}
    with_figures: dict[tuple[tuple[str, ...], tuple[str, ...]], _Asked] = {}
    for index, one in enumerate(asked):
        if not MIN_WORDS <= len(one.words) <= MAX_WORDS:
            continue
        other = with_figures.setdefault((one.bare, one.files), one)
        if other is not one:
            yield _near_doubt(one, other, 1.0)
            continue
        rare = _rare(tokens[index], n_cases)
        alike = Counter(at for token in rare for at in by_token.get(token, ()))
        ratios = ((_ratio(asked[at], one), at) for at, _ in alike.most_common(MOST_COMPARED))
        found = next(((ratio, at) for ratio, at in ratios if ratio >= NEAR), None)
        for token in rare:
            by_token.setdefault(token, []).append(index)
        if found is not None:
            yield _near_doubt(one, asked[found[1]], found[0])


def _tokens(words: Iterable[str]) -> list[_Token]:
    """The words, each with how often it stood before: so that no two are one."""
    seen: Counter[str] = Counter()
    found = []
    for word in words:
        found.append((word, seen[word]))
        seen[word] += 1
    return found


def _rare(tokens: Sequence[_Token], n_cases: Counter[_Token]) -> list[_Token]:
    """The rarest of a query's ``n`` words: queries that are near share one of theirs, so that no others are compared.

    A near query has at least ``SHARED`` of the n; whatever is left out, one more than the rest holds one of those.
    """
    ordered = sorted(tokens, key=lambda token: (n_cases[token], token))
    return ordered[: len(ordered) - math.ceil(SHARED * len(ordered)) + 1]


def _ratio(first: _Asked, second: _Asked) -> float:
    if first.files != second.files:
        return 0.0
    matcher = SequenceMatcher(None, first.bare, second.bare, autojunk=False)
    return 0.0 if matcher.real_quick_ratio() < NEAR or matcher.quick_ratio() < NEAR else matcher.ratio()


def _near_doubt(one: _Asked, other: _Asked, ratio: float) -> Doubt:
    if one.bare == other.bare:
        message = f"the query is that of case {_name(other, one)} with other figures"
    else:
        message = f"the query is nearly that of case {_name(other, one)}: {ratio:.0%} of its words"
    hint = "fine where each shows something of its own; otherwise ask about another thing"
    return doubt(NEAR_QUERY, Severity.NOTE, one.linted, message, hint=hint)


def twice_doubts(linted: LintedCase) -> Iterator[Doubt]:
    """Criteria and checks of one case that ask for the same thing twice."""
    hint = "drop one: it counts twice in the score"
    texts: dict[str, str] = {}
    for criterion in linted.case.rubric:
        first = texts.setdefault(folded(criterion.text), criterion.id)
        if first != criterion.id:
            message = f"the text {quoted(criterion.text)} is that of criterion {first!r}"
            yield doubt(SAME_CRITERION, Severity.WARNING, linted, message, hint=hint, item=criterion.id)
    specs: dict[bytes, str] = {}
    for check in linted.case.checks:
        spec = {key: value for key, value in check.items() if key not in _FOR_PEOPLE}
        first = specs.setdefault(canonical_bytes(spec), check["id"])
        if first != check["id"]:
            message = f"the check is {first!r} again"
            yield doubt(SAME_CHECK, Severity.WARNING, linted, message, hint=hint, item=check["id"])
