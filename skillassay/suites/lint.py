"""A suite as an instrument: all that can be said of it without a run. Owns the order of the lints and their sum.

Reads what the project has in memory and the text files of its skills; asks no model and writes nothing. The hidden
holdout is not opened: of it there is the number of its cases. What stored trials say is
:mod:`skillassay.scoring.discrimination`'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from skillassay.holdout.sealed import load_sealed
from skillassay.project import FEW_CASES, Project, ReadySkill
from skillassay.suites.lints.base import Doubt, LintedCase, SkillTexts, sort_doubts
from skillassay.suites.lints.contrary import contrary_doubts
from skillassay.suites.lints.leaking import IN_FILES, IN_QUERY, IN_SKILL, leaking_doubts
from skillassay.suites.lints.shape import case_doubts, skill_doubts
from skillassay.suites.lints.trivial import QUERY, SKILL, Idle, probe_case, trivial_doubts
from skillassay.suites.lints.twins import query_doubts, twice_doubts

MAX_TEXT_BYTES = 1 << 20
"""The largest file of a skill in which an expected value is looked for."""

_PLACES = {IN_QUERY: QUERY, IN_FILES: "", IN_SKILL: SKILL}
"""The idle answer in which a value stands that can be copied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """What the checks of one case made of the idle answers."""

    linted: LintedCase
    idle: tuple[Idle, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteLint:
    """The lint of all suites of a project. ``n_hidden`` cases of a holdout were not looked at, ``n_routing`` have no
    checks, and no judge was asked about ``n_criteria``."""

    cases: tuple[LintedCase, ...]
    skills: tuple[SkillTexts, ...]
    probed: tuple[Probed, ...]
    doubts: tuple[Doubt, ...]
    n_hidden: int
    n_routing: int

    @property
    def n_checks(self) -> int:
        """Checks that were run on idle answers."""
        return sum(len(linted.checks) for linted in self.cases)

    @property
    def n_criteria(self) -> int:
        """Criteria that only a judge decides, two of each behaviour among them."""
        return sum(len(linted.case.rubric) + 2 * (linted.case.behavior is not None) for linted in self.cases)


def lint_suites(project: Project) -> SuiteLint:
    """Lint the suites of a project without errors."""
    paths = {suite.name: suite.path for suite in project.suites}
    cases = tuple(
        LintedCase(
            case=case,
            checks=project.checks.get((case.suite, case.id), ()),
            suite_path=paths[case.suite],
            skill_path=project.case_skills.get((case.suite, case.id), ""),
        )
        for case in project.cases
    )
    skills = tuple(map(_texts, project.usable))
    by_path = {skill.path: skill for skill in skills}
    probed = tuple(Probed(linted=one, idle=probe_case(one, by_path.get(one.skill_path))) for one in cases)
    found = [*_few_cases(project, cases), *query_doubts(cases), *skill_doubts(cases, skills)]
    for one in probed:
        found += _of_case(one, by_path.get(one.linted.skill_path))
    terms = project.contract.holdout
    sealed = None if terms is None else load_sealed(project.root, terms.digests)[0]
    return SuiteLint(
        cases=cases,
        skills=skills,
        probed=probed,
        doubts=sort_doubts(found),
        n_hidden=0 if sealed is None else len(sealed.cases),
        n_routing=len(project.routing),
    )


def _of_case(one: Probed, skill: SkillTexts | None) -> Iterator[Doubt]:
    leaks = list(leaking_doubts(one.linted, skill))
    yield from leaks
    yield from trivial_doubts(one.linted, one.idle, [(leak.item, _PLACES[leak.code]) for leak in leaks])
    yield from twice_doubts(one.linted)
    yield from contrary_doubts(one.linted)
    yield from case_doubts(one.linted)


def _few_cases(project: Project, cases: Sequence[LintedCase]) -> Iterator[Doubt]:
    """What ``check`` says of skills with few cases; one without any has a line of its own here."""
    with_cases = {linted.skill_path for linted in cases}
    for finding in project.findings:
        if finding.code == FEW_CASES and finding.path in with_cases:
            yield Doubt(
                code=FEW_CASES,
                severity=finding.severity,
                path=finding.path,
                message=finding.message,
                hint=finding.hint or "",
                skill=finding.path,
            )


def _texts(ready: ReadySkill) -> SkillTexts:
    found: dict[str, str] = {}
    for entry in ready.files.entries:
        if entry.path != ready.skill.file and entry.size <= MAX_TEXT_BYTES:
            text = _text_of(Path(entry.source))
            found |= {} if text is None else {entry.path: text}
    return SkillTexts(path=ready.path, name=ready.skill.name, body=ready.skill.body, files=found)


def _text_of(path: Path) -> str | None:
    data = path.read_bytes()
    try:
        return None if b"\0" in data else data.decode("utf-8")
    except UnicodeDecodeError:
        return None
