"""The rubric of a skill as one digest: whatever a judge is asked to decide about its answers. Pure; owns the format.

SHA-256 of the canonical form (sorted keys, no spaces, UTF-8) of

    {"rubric": 1, "cases": [{"suite", "case", "criteria": [{"id", "text", "critical", "explains", "may_abstain",
     "absence"}]}]}

over the skill's planned cases that have something judged, sorted by suite and case, each with its criteria in the order
in which they are shown and with every field written out. What a behaviour requires and forbids comes first, as the two
statements that people are shown. Hidden cases are left out: nobody could read their verdicts, and a digest of theirs
would change for what nobody may see. Query, files, checks and notes are no part of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict

from skillassay.calibration.items import judged_criteria
from skillassay.canonical import Json, digest_of
from skillassay.suites.case import Case

RUBRIC_VERSION = 1


def rubric_digest(cases: Iterable[Case]) -> str | None:
    """The digest of what is judged of these cases; None where nothing is."""
    listed: list[Json] = []
    for case in sorted(cases, key=lambda one: (one.suite, one.id)):
        criteria: list[Json] = [asdict(criterion) for criterion in judged_criteria(case)]
        if criteria:
            listed.append({"suite": case.suite, "case": case.id, "criteria": criteria})
    return digest_of({"rubric": RUBRIC_VERSION, "cases": listed}) if listed else None


def skill_rubrics(
    cases: Iterable[Case], skills: Mapping[tuple[str, str], str], *, hidden: str | None
) -> dict[str, str]:
    """The digest of each skill by path that has something judged. ``skills`` says whose case each is."""
    grouped: dict[str, list[Case]] = {}
    for case in cases:
        if case.suite != hidden:
            grouped.setdefault(skills[case.suite, case.id], []).append(case)
    digests = {path: rubric_digest(own) for path, own in sorted(grouped.items())}
    return {path: digest for path, digest in digests.items() if digest is not None}
