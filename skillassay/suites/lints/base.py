"""What every lint of a suite gets and gives. Owns both shapes and how texts are folded for them; finds nothing itself.

A lint looks at cases that are sound by every rule of ``check``. It reads no file and asks no model: the checks are run
on texts that are made here, by their own runner with its own time limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from skillassay.checks.base import Check
from skillassay.findings import Severity
from skillassay.folding import fold_text
from skillassay.suites.case import Case

SHOWN_CHARS = 60
GRAVEST = tuple(Severity)
FORBIDDING = frozenset({"not_regex", "not_contains"})
"""Check types that pass on nothing by their nature."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LintedCase:
    """A case with its built checks, the path of its suite and that of its skill."""

    case: Case
    checks: tuple[Check, ...]
    suite_path: str
    skill_path: str

    @property
    def key(self) -> tuple[str, str]:
        """Suite and id."""
        return (self.case.suite, self.case.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillTexts:
    """What a candidate can read of a skill: its body, and its further text files by path."""

    path: str
    name: str
    body: str
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """One finding of a lint. ``case_id`` is None for one about a skill; ``item`` is the id of a check or criterion."""

    code: str
    severity: Severity
    path: str
    message: str
    hint: str
    suite: str = ""
    case_id: str | None = None
    item: str | None = None
    skill: str = ""
    line: int | None = None


def doubt(
    code: str, severity: Severity, linted: LintedCase, message: str, *, hint: str, item: str | None = None
) -> Doubt:
    """A doubt about one case."""
    return Doubt(
        code=code,
        severity=severity,
        path=linted.suite_path,
        message=message,
        hint=hint,
        suite=linted.case.suite,
        case_id=linted.case.id,
        item=item,
        skill=linted.skill_path,
        line=linted.case.line,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class KindCount:
    """All doubts of one kind: how many, at their gravest, in ``n_of`` of ``n_all`` cases (or skills)."""

    code: str
    severity: Severity
    n_doubts: int
    n_of: int
    n_all: int
    unit: str


def count_kinds(doubts: Iterable[Doubt], *, n_cases: Mapping[str, int], n_all: int, n_skills: int) -> list[KindCount]:
    """The doubts by kind, the gravest first. ``n_cases`` has the denominator of kinds that could see fewer cases."""
    kinds: dict[str, list[Doubt]] = {}
    for one in doubts:
        kinds.setdefault(one.code, []).append(one)
    counts = [
        KindCount(
            code=code,
            severity=min((one.severity for one in own), key=GRAVEST.index),
            n_doubts=len(own),
            n_of=len({(one.suite, one.case_id, one.case_id or one.path) for one in own}),
            n_all=n_skills if own[0].case_id is None else n_cases.get(code, n_all),
            unit="skill" if own[0].case_id is None else "case",
        )
        for code, own in kinds.items()
    ]
    return sorted(counts, key=lambda one: (GRAVEST.index(one.severity), -one.n_of, one.code))


def sort_doubts(doubts: Iterable[Doubt]) -> tuple[Doubt, ...]:
    """Gravest first, then by kind, file, line and item: the order of a report. Exact duplicates are dropped."""

    def order(one: Doubt) -> tuple[int, str, str, int, str, str, str]:
        place = (one.path, one.line or 0, one.case_id or "", one.item or "")
        return (GRAVEST.index(one.severity), one.code, *place, one.message)

    return tuple(sorted(dict.fromkeys(doubts), key=order))


def folded(text: str) -> str:
    """The text without what is mere presentation, case included: two spellings of one question become one."""
    return fold_text(text).casefold()


def quoted(text: str) -> str:
    """A text in quotation marks on one line, cut where it is long."""
    line = " ".join(text.split())
    return repr(line if len(line) <= SHOWN_CHARS else line[: SHOWN_CHARS - 1] + "…")


def listed(words: list[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
