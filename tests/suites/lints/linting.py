"""Cases and skills for tests of the lints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from skillassay.checks import build_check
from skillassay.suites.case import Case, Criterion
from skillassay.suites.files import CaseFile
from skillassay.suites.lints.base import Doubt, LintedCase, SkillTexts

SKILL = SkillTexts(path="skills/s", name="s", body="# Refunds\n\nRefunds go to the treasury desk.\n")


def linted(
    case_id: str = "a",
    *,
    checks: Iterable[Mapping[str, Any]] = (),
    rubric: Iterable[str] = (),
    files: Mapping[str, str] | None = None,
    **fields: Any,
) -> LintedCase:
    """A case of the suite ``q`` about the skill ``s``; each check is named by its place unless it has an id."""
    specs = tuple({"id": f"k{index}"} | dict(spec) for index, spec in enumerate(checks))
    plain: dict[str, Any] = {"id": case_id, "skill": "s", "query": "What is due this week?", "suite": "q", "line": 7}
    case = Case(
        **plain | fields,
        checks=specs,
        rubric=tuple(Criterion(id=f"r{index}", text=text) for index, text in enumerate(rubric)),
        files=tuple(
            CaseFile(path=path, sha256=path, source=Path(path), text=text) for path, text in (files or {}).items()
        ),
    )
    built = tuple(build_check(spec, where="test") for spec in specs)
    return LintedCase(case=case, checks=built, suite_path="evals/q.json", skill_path="skills/s")


def told(doubts: Iterable[Doubt]) -> list[tuple[str, str, str | None]]:
    """Kind, severity and item of each doubt."""
    return [(one.code, one.severity.value, one.item) for one in doubts]
