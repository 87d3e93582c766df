"""The model gate's line on reading: a person has read verdicts under the rubric of each skill as it is now. Pure.

A verdict that is called wrong fails nothing here. It is in the queue of its run, where ``nothing_held`` waits for what
people say about it; a line that failed for it as well would reward who looks away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from skillassay.calibration.sampling import judged_verdicts
from skillassay.calibration.verdicts_read import UNSURE, WRONG, VerdictPoint, VerdictRead, standing_words
from skillassay.contract.terms import READ_MIN
from skillassay.gate.lines import GateLine, Status
from skillassay.scoring.scores import Row

VERDICTS_READ = "verdicts_read"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFacts:
    """What is known of the reading of a run's verdicts.

    ``rubrics`` has the digest of each skill's rubric by path (none in a run from before there was one), ``reads`` what
    people said of verdicts in any run, ``read_min`` how many of them each rubric needs. Nobody may read one of the
    suite ``hidden``.
    """

    rubrics: Mapping[str, str] = field(default_factory=dict)
    reads: tuple[VerdictRead, ...] = ()
    read_min: int = READ_MIN
    hidden: str | None = None


UNASKED = ReadFacts()


def verdicts_read_line(facts: ReadFacts, rows: Sequence[Row]) -> list[GateLine]:
    """Enough verdicts are read of each skill that has judged ones; no line where none has."""
    verdicts = judged_verdicts(rows, {}, hidden=facts.hidden)
    said = standing_words(facts.reads)
    counts = dict.fromkeys(("read", "wrong", "unsure", "needed"), 0)
    detail, n_skills = [], 0
    for path, rubric in facts.rubrics.items():
        needed = min(facts.read_min, sum(one.skill_path == path for one in verdicts))
        if not needed:
            continue
        n_skills += 1
        read, wrong, unsure = _points_of([one for one in said if one.rubric == rubric])
        for name, number in (("read", read), ("wrong", wrong), ("unsure", unsure), ("needed", needed)):
            counts[name] += number
        if read < needed:
            detail.append(
                f"{path}: {read} of {needed} verdicts read under the rubric {rubric[:12]}; "
                "read them: skillassay read RUN --by NAME"
            )
    return [_line(facts, counts, detail, n_skills=n_skills)] if n_skills else []


def _line(facts: ReadFacts, counts: Mapping[str, int], detail: Sequence[str], *, n_skills: int) -> GateLine:
    wrong = f", {counts['wrong']} called wrong" if counts["wrong"] else ""
    return GateLine(
        name=VERDICTS_READ,
        status=Status.FAILED if detail else Status.PASSED,
        # Not how many were read: what is read in another run may not make an approval of this one one of another state.
        number=f"read of {n_skills - len(detail)} of {n_skills} skills{wrong}",
        limit=f"{facts.read_min} verdicts of each skill, or all",
        detail=tuple(detail),
        counts=counts,
        live_only=True,
    )


def _points_of(said: Sequence[VerdictRead]) -> tuple[int, int, int]:
    """How many verdicts were read, how many of them somebody calls wrong, and on how many nobody decided."""
    by_point: dict[VerdictPoint, set[str]] = {}
    for one in said:
        by_point.setdefault(one.point, set()).add(one.said)
    n_wrong = sum(WRONG in words for words in by_point.values())
    return len(by_point), n_wrong, sum(words == {UNSURE} for words in by_point.values())
