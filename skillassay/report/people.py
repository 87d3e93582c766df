"""What people decided about a run, in words: the queue, adjudications, waivers. Owns this wording, not layout."""

from __future__ import annotations

from collections.abc import Iterator

from skillassay.commandline import next_command
from skillassay.people.effective import Effective
from skillassay.report.base import RunView


def people_texts(view: RunView) -> Iterator[str]:
    """One text a line, below the decision; nothing where the run leaves nothing to people."""
    assessment = view.assessment
    for entry in assessment.queue:
        for criterion, by in entry.wrong:
            yield f"called wrong by {by}: {entry.target}: the verdict on {criterion}"
        for item in entry.said:
            yield f"adjudicated by {item.by}: {entry.target}: {item.verdict}: {item.reason}"
    if assessment.queue:
        n_open = sum(entry.is_open for entry in assessment.queue)
        held = sum(entry.holds for entry in assessment.queue)
        yield (
            f"for people to see: {len(assessment.queue)} ({n_open} open, {held} hold the gate): "
            f"{next_command(view.root, 'review', view.header['id'])}"
        )
    if any(entry.said or entry.wrong for entry in assessment.queue):
        yield f"as recorded, without adjudications: {assessment.recorded.gate} {_word(assessment.recorded.status)}"
    if view.effective is not None:
        yield from _waiver_texts(view.effective)


def _waiver_texts(effective: Effective) -> Iterator[str]:
    for use in effective.uses:
        waiver = use.waiver
        yield (
            f"waived: {use.line} of {waiver.skill}, {waiver.id} by {waiver.approver} until {waiver.expires_on}: "
            f"{waiver.reason}"
        )
    for waiver, why in effective.unused:
        yield f"waiver {waiver.id} does not count: {why}"
    yield (
        f"effective {effective.decision.gate}: {_word(effective.decision.status)} with "
        f"{len(effective.waived)} of {len(effective.recorded.lines)} lines waived; "
        f"without waivers: {_word(effective.recorded.status)}"
    )


def _word(status: str) -> str:
    return str(status).upper()
