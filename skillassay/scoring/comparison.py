"""Two runs side by side: what one passed and the other fails, trial by trial. Pure; both are assessed already.

Two runs compare only where their frozen contracts are about the same question: cases, scorer, judge, rubric, machine
and gate are the same, and the same trials were planned. The candidate may differ, since it is what is compared. A trial
got worse when it passed and fails now, or meets fewer of its criteria; one in ``progressive`` is a regression however
the average moved. Left out: intervals of differences, and what of a difference may be noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skillassay.calibration.judged import answered_names
from skillassay.contract.frozen import frozen_differences
from skillassay.contract.groups import FIELDS, RESULT
from skillassay.errors import Exit
from skillassay.gate.lines import Decision, Status
from skillassay.runs.plan import Mode
from skillassay.scoring.assessment import Assessment
from skillassay.scoring.scores import Rate, Row, rate_of

Header = Mapping[str, Any]

MUST_AGREE = frozenset(
    (
        "identity.id",
        *("dataset.id", "dataset.version", "dataset.slice_manifest"),
        *("expected.oracle_types", "expected.artifact", "expected.acceptable_variants", "expected.abstention_policy"),
        *("scoring.scorer_version", "scoring.code_digest", "scoring.metric", "scoring.error_policy"),
        *("judgment.judge_id", "judgment.judge_version", "judgment.judge_prompt_digest", "judgment.rubric_id_version"),
        *("judgment.order_policy", "judgment.abstention"),
        "environment.surface",
        *("gate.slice_thresholds", "gate.critical_zero_tolerance", "gate.variance_limit", "gate.over_refusal_limit"),
        "gate.other_limits",
    )
)
"""Fields of a frozen contract in which two runs must be the same. In all others a difference is told and allowed."""
NEVER_TOLD = frozenset(("environment.time", "environment.id", "dataset.snapshot_time", "candidate.config_digest"))
"""Fields that differ from run to run, or that only repeat what another field says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One trial that two runs decided otherwise. ``now_failed`` and ``now_passed`` are ids of checks and criteria."""

    suite: str
    case_id: str
    mode: Mode
    repeat: int
    old: str
    new: str
    k_old: int | None
    k_new: int | None
    n: int
    now_failed: tuple[str, ...]
    now_passed: tuple[str, ...]

    @property
    def is_worse(self) -> bool:
        """Whether it passed and fails now, or meets fewer criteria."""
        return self.k_old is not None and self.k_new is not None and self.k_new < self.k_old

    @property
    def is_better(self) -> bool:
        """Whether it failed and passes now, or meets more criteria."""
        return self.k_old is not None and self.k_new is not None and self.k_new > self.k_old

    @property
    def is_flip(self) -> bool:
        """Whether PASS became FAIL or FAIL became PASS."""
        return {self.old, self.new} == {"PASS", "FAIL"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What changed from one run to another. ``differences`` are those that the contracts allow; ``independent`` says of
    each run whether its judge is known to be independent of its candidate, ``sample`` of how many cases both are."""

    old: str
    new: str
    differences: tuple[str, ...]
    changes: tuple[Change, ...]
    rates: Mapping[Mode, tuple[Rate, Rate]]
    decisions: tuple[Decision, Decision]
    independent: tuple[bool, bool]
    sample: Mapping[str, Any] | None = None

    @property
    def regressions(self) -> tuple[Change, ...]:
        """The trials with the skill offered that got worse."""
        return tuple(change for change in self.changes if change.is_worse and change.mode is Mode.PROGRESSIVE)

    @property
    def undecided(self) -> tuple[Change, ...]:
        """The trials with the skill offered that have a score in one run alone."""
        return tuple(
            change
            for change in self.changes
            if change.mode is Mode.PROGRESSIVE and (change.k_old is None or change.k_new is None)
        )

    @property
    def exit_code(self) -> Exit:
        """1 for a regression or a new run that its own gate refused, 3 where that is open, else 0."""
        status = self.decisions[1].status
        if self.regressions or status is Status.FAILED:
            return Exit.FAILED
        return Exit.UNDECIDED if self.undecided or status is Status.UNDECIDED else Exit.PASSED


def incompatibilities(old: Header, new: Header) -> tuple[str, ...]:
    """Everything for which two runs do not compare, in words; nothing where they do."""
    a, b = (header["contract"]["groups"] for header in (old, new))
    found = list(frozen_differences(a, b, [field.path for field in FIELDS if field.path in MUST_AGREE]))
    found += _other_places(old, new)
    planned = [_planned(header) for header in (old, new)]
    for only, other, whose in ((0, 1, "the first"), (1, 0, "the second")):
        extra = sorted(planned[only] - planned[other])
        if extra:
            shown = ", ".join(f"{case} [{mode} #{repeat}]" for _, case, mode, repeat in extra[:3])
            more = f" and {len(extra) - 3} more" if len(extra) > 3 else ""
            found.append(f"planned in {whose} alone: {shown}{more}")
    names = sorted({f"{suite}/{case}" for suite, case, _, _ in planned[0] & planned[1]})
    other_cases = [name for name in names if old["cases"].get(name) != new["cases"].get(name)]
    if other_cases:
        found.append(f"cases that were edited in between: {', '.join(other_cases)}")
    return tuple(found)


def _other_places(old: Header, new: Header) -> list[str]:
    """Where a judge was asked, if not in one place: the same name elsewhere may be another model."""
    found = []
    for side, whose in (("judge", "the judge"), ("second", "the second judge")):
        places = [header["models"][side] for header in (old, new) if side in header["models"]]
        pairs = {(place.get("endpoint"), place.get("address")) for place in places}
        if len(pairs) > 1:  # that one run alone has a second judge is in its contract
            words = [place.get("endpoint") or "no endpoint" for place in places]
            more = " (another address below it)" if words[0] == words[1] else ""
            found.append(f"{whose}'s endpoint: {words[0]} and {words[1]}{more}")
    return found


def other_judges(old: tuple[Header, Assessment], new: tuple[Header, Assessment]) -> tuple[str, ...]:
    """The judges' names as answered, if the two runs know other ones; a name that one alone knows is told instead."""
    found: tuple[str, ...] = ()
    for side in ("judge", "second"):
        names = _as_answered(old, new, side)
        found += () if None in names else _names_differ(names, side)
    return found


def _as_answered(
    old: tuple[Header, Assessment], new: tuple[Header, Assessment], side: str = "judge"
) -> tuple[str | None, ...]:
    """Under which names a judge of each run answered; None for a run that was told none.

    Authored verdicts answer under a digest of all authored answers, and have a version that tells more: no names.
    """
    if all(header["models"].get(side, {"is_fixture": True})["is_fixture"] for header, _ in (old, new)):
        return (None, None)
    records = [[row.record for row in assessment.scores.rows] for _, assessment in (old, new)]
    return tuple(", ".join(sorted(answered_names(of_run, side))) or None for of_run in records)


def _names_differ(names: tuple[str | None, ...], side: str = "judge") -> tuple[str, ...]:
    was, now = (name or "unknown" for name in names)
    whose = "the judge" if side == "judge" else "the second judge"
    return () if was == now else (f"{whose}'s name as answered: {was} and {now}",)


def _planned(header: Header) -> set[tuple[str, str, str, int]]:
    trials = header["facts"]["trials"]
    return {(trial["suite"], trial["case_id"], str(trial["mode"]), trial["repeat"]) for trial in trials}


def build_comparison(old: tuple[Header, Assessment], new: tuple[Header, Assessment]) -> Comparison:
    """Compare two runs of which :func:`incompatibilities` and :func:`other_judges` name nothing."""
    headers, assessments = (old[0], new[0]), (old[1], new[1])
    was, now = (header["contract"]["groups"] for header in headers)
    told = [f.path for f in FIELDS if f.group != RESULT and f.path not in MUST_AGREE | NEVER_TOLD]
    rows = [{_key(row): row for row in assessment.scores.rows} for assessment in assessments]
    changes = [_change(rows[0][key], rows[1][key]) for key in rows[0]]
    modes = dict.fromkeys(row.planned.mode for row in assessments[0].scores.rows)
    return Comparison(
        old=headers[0]["id"],
        new=headers[1]["id"],
        differences=(*frozen_differences(was, now, told), *_names_differ(_as_answered(old, new))),
        changes=tuple(change for change in changes if change is not None),
        rates={mode: (_rate(assessments[0], mode), _rate(assessments[1], mode)) for mode in modes},
        decisions=(assessments[0].decision, assessments[1].decision),
        independent=(headers[0]["models"]["independent"], headers[1]["models"]["independent"]),
        sample=headers[1].get("sample", headers[0].get("sample")),
    )


def _rate(assessment: Assessment, mode: Mode) -> Rate:
    return rate_of([row for row in assessment.scores.rows if row.planned.mode is mode])


def _key(row: Row) -> tuple[str, str, Mode, int]:
    planned = row.planned
    return (planned.suite, planned.case_id, planned.mode, planned.repeat)


def _change(old: Row, new: Row) -> Change | None:
    """What differs in one trial: its status, or the verdict on a check or criterion; None where nothing does."""
    marks = [{mark.id: mark.passed for mark in row.record.marks} for row in (old, new)]
    scored = [row.record.outcome.scored for row in (old, new)]
    moved = [name for name, passed in marks[1].items() if all(scored) and marks[0].get(name, not passed) != passed]
    statuses = [row.record.outcome.status for row in (old, new)]
    if statuses[0] == statuses[1] and not moved:
        return None
    return Change(
        suite=new.planned.suite,
        case_id=new.planned.case_id,
        mode=new.planned.mode,
        repeat=new.planned.repeat,
        old=statuses[0],
        new=statuses[1],
        k_old=old.record.k if scored[0] else None,
        k_new=new.record.k if scored[1] else None,
        n=new.planned.n_criteria,
        now_failed=tuple(name for name in moved if not marks[1][name]),
        now_passed=tuple(name for name in moved if marks[1][name]),
    )
