"""A decision as annotations: one for each line that is not passed."""

from __future__ import annotations

from skillassay.gate.lines import GateLine, Status
from skillassay.report.annotations import Annotation
from skillassay.report.base import RunView


def decision_annotations(view: RunView) -> list[Annotation]:
    """One for each line of the decision that is not passed: failed as error, open as warning."""
    kinds = {Status.FAILED: "error", Status.UNDECIDED: "warning"}
    return [
        Annotation(
            kind=kinds[line.status],
            title=f"{view.assessment.decision.gate}: {line.name}",
            message=f"{line.number}; limit: {line.limit}{_first(line)}",
            path=_skill_file(line),
        )
        for line in view.assessment.decision.lines
        if line.status in kinds
    ]


def _first(line: GateLine) -> str:
    if not line.detail:
        return ""
    more = f" (and {len(line.detail) - 1} more)" if len(line.detail) > 1 else ""
    return f"; {line.detail[0]}{more}"


def _skill_file(line: GateLine) -> str | None:
    paths = {cause.skill_path for cause in line.causes}
    return f"{min(paths)}/SKILL.md" if len(paths) == 1 else None
