"""Approving a stored run: what there is to see, and how a person's name gets under it.

Refuses what nobody can approve: a run that failed, one that is undecided, one of authored answers; a name that is
nobody's or the owner's; a state that is not there any more. Changes no record and no result.
"""

from __future__ import annotations

from pathlib import Path

from skillassay.errors import InputError, UsageError
from skillassay.gate.lines import Status
from skillassay.people.approval import MIN_NOTE_CHARS, Approval, append_approval
from skillassay.people.names import name_problem, same_person
from skillassay.report.base import RunView
from skillassay.runs.store import now_utc, run_folder

MIN_SEEN_CHARS = 8


def failed_lines(view: RunView) -> tuple[str, ...]:
    """What a run failed by that no approval can mend, by the names of lines. Raises where nothing could be approved."""
    decision, run_id = view.assessment.decision, view.header["id"]
    if view.facts.is_fixture:
        message = f"run {run_id} is on authored or recorded answers, and its gate asks for no approver"
        raise UsageError(message, hint="approve a run on live models")
    if view.assessment.interrupted:
        raise InputError(f"run {run_id} did not end", hint=f"go on with it: skillassay eval --resume {run_id}")
    measured = [line for line in decision.lines if not line.live_only]
    failed = tuple(line.name for line in measured if line.status is Status.FAILED)
    open_ = [line.name for line in measured if line.status is Status.UNDECIDED]
    if open_ and not failed:
        raise InputError(f"run {run_id} is undecided: {', '.join(open_)}", hint="decide what is open, then approve")
    return failed


def approve(root: Path, view: RunView, *, by: str, note: str, seen: str) -> Approval:
    """Append one approval of what ``seen`` names, of a run without :func:`failed_lines`. Raises for what is refused."""
    nobody = name_problem(by)
    if nobody is not None:
        raise UsageError(f"--by {nobody}", hint="a person approves, under a name of their own")
    owner = view.header["contract"]["groups"]["identity"]["owner"]
    if owner is not None and same_person(by, owner):
        raise UsageError(f"--by {by!r} is the contract's owner", hint="somebody else approves")
    if len(" ".join(note.split())) < MIN_NOTE_CHARS:
        raise UsageError(f"--note {note.strip()!r} is too short", hint="say what you saw and why it is enough")
    now = view.assessment.seen
    if len(seen) < MIN_SEEN_CHARS or not now.startswith(seen):
        message = f"there is {now[:12]} to see now, not {seen[:12]!r}"
        raise InputError(message, hint="look at it (`skillassay approve RUN`), and give the digest that is shown")
    approval = Approval(at=now_utc(), by=" ".join(by.split()), note=" ".join(note.split()), seen=now)
    append_approval(run_folder(root, view.header["id"]), approval)
    return approval
