"""What the reader of a run may do next: one hint below the table for each cause, however many trials have it.

Owns which causes have a hint and its words. A command in a trial's own line would be cut where it is needed whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from skillassay.commandline import next_command
from skillassay.errors import REPLAY_MISS, SCRIPT_REFUSED
from skillassay.gate.lines import Status
from skillassay.gate.reading import VERDICTS_READ
from skillassay.report.base import RunView


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """A hint, and the command that it ends in, which is to stand on a line of its own; None where there is none."""

    text: str
    command: str | None = None


def hints_of(view: RunView) -> Iterator[Hint]:
    """The hints of a run; none where nothing is missing."""
    kinds = [row.record.outcome.kind for row in view.assessment.scores.rows]
    if n := kinds.count(REPLAY_MISS):
        yield _record_anew(view, f"{n} trial lacks" if n == 1 else f"{n} trials lack")
    if n := kinds.count(SCRIPT_REFUSED):
        which = f"{n} trial" if n == 1 else f"{n} trials"
        yield Hint(text=f"{which} asked for a script that was not run; --allow-unisolated runs scripts all the same")
    lines = view.assessment.decision.lines
    if any(line.name == VERDICTS_READ and line.status is Status.FAILED for line in lines):
        command = next_command(view.root, "read", view.header["id"], "--by", "NAME")
        yield Hint(text="the rubric is new: read some of the judge's verdicts under it", command=command)


def _record_anew(view: RunView, lacking: str) -> Hint:
    """The command that makes the recording again, where the run's header knows both models that it is of."""
    models: Mapping[str, Any] = view.header["models"]
    sides = (models["candidate"], models["judge"])
    recording = next(side["name"] for side in sides if side.get("is_replay"))
    if models["candidate"]["is_fixture"] or models["candidate"].get("own_model"):
        return Hint(text=f"{lacking} a recorded call: {recording} was recorded with another candidate than this run's")
    candidate, judge = (side["recorded"]["label"] if side.get("is_replay") else side["label"] for side in sides)
    words = ["record", "--model", candidate]
    if judge != candidate:
        words += ["--judge-model", judge]
    if view.facts.plan.repeats > 1:
        words += ["--repeats", str(view.facts.plan.repeats)]
    if (base := view.header["settings"]["given"].get("base")) is not None:
        words += ["--base", base]
    command = next_command(view.root, *words, "--to", recording)
    return Hint(text=f"{lacking} a recorded call; record anew:", command=command)
