"""The plan of a run: every trial there will be, before any of them runs. Pure; denominators come from here.

A trial's id is made from content (suite, case, skill bytes, mode, repeat), so that the same trial has the same id in
every run and a resumed run knows what is done.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from skillassay.canonical import short_digest
from skillassay.suites.case import Case


class Mode(StrEnum):
    """How the candidate meets the skill: offered by tools, not at all, whole in the prompt, as it was before; offered
    once more, byte for byte as in ``progressive``; or with other words in its place, which say nothing of any task."""

    PROGRESSIVE = "progressive"
    NONE = "none"
    EAGER = "eager"
    PREVIOUS = "previous"
    AGAIN = "again"
    PLACEBO = "placebo"


ALL_MODES = (Mode.PROGRESSIVE, Mode.NONE, Mode.EAGER)
"""The modes of every evaluation. The others come on request."""
NOISE_MODES = (Mode.AGAIN, Mode.PLACEBO)
"""The arms that show what a lift is to be held against. They enter no score, no lift and no evidence."""
ORDER = (*ALL_MODES, Mode.PREVIOUS, *NOISE_MODES)
BY_TOOLS = frozenset((Mode.PROGRESSIVE, Mode.PREVIOUS, *NOISE_MODES))
"""The modes in which skills are offered as an agent would: a catalog, and tools to load them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTrial:
    """One trial: a case in a mode, for the n-th time (from 1). ``n_criteria`` is what a complete score counts.

    ``n_judge_calls`` is how often the judge is asked about its answer, ``n_file_checks`` how many criteria read a file
    of the workspace.
    """

    trial_id: str
    suite: str
    case_id: str
    skill_path: str
    mode: Mode
    repeat: int
    n_criteria: int
    n_judge_calls: int = 1
    n_file_checks: int = 0

    @property
    def slot(self) -> str:
        """The name under which the trial's model requests are kept: the same in every run, whatever the bytes."""
        return f"{self.suite}/{self.case_id}/{self.mode.value}/{self.repeat}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All trials of a run in their order, and which skills are covered whole (every case, each of ``ALL_MODES``)."""

    trials: tuple[PlannedTrial, ...]
    modes: tuple[Mode, ...]
    repeats: int
    whole_skills: tuple[str, ...]
    partial_skills: tuple[str, ...]

    @property
    def skills(self) -> tuple[str, ...]:
        """Paths of the skills that have at least one planned trial, sorted."""
        return tuple(sorted({trial.skill_path for trial in self.trials}))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCase:
    """A case with the path and digest of the skill it tests, of what that skill was before, and of its placebo.

    A case whose skill has no earlier version has no trial in ``previous``, one without a placebo none in ``placebo``.
    """

    case: Case
    skill_path: str
    skill_digest: str
    previous_digest: str | None = None
    placebo_digest: str | None = None

    def digest_in(self, mode: Mode) -> str | None:
        """The digest of the skill's bytes in a mode; None where there are none."""
        return {Mode.PREVIOUS: self.previous_digest, Mode.PLACEBO: self.placebo_digest}.get(mode, self.skill_digest)


def build_plan(
    cases: Sequence[PlannedCase],
    *,
    chosen: frozenset[tuple[str, str]],
    modes: Sequence[Mode],
    repeats: int,
    is_sample: bool = False,
) -> Plan:
    """List the trials of the ``chosen`` (suite, case id) pairs among all ``cases``: by case, then mode, then repeat.

    What a sample happens to take whole is a part all the same: chance chose the cases, and nobody the skill.
    """
    modes = tuple(mode for mode in ORDER if mode in modes)
    trials = tuple(
        PlannedTrial(
            trial_id=_trial_id(item, mode, repeat),
            suite=item.case.suite,
            case_id=item.case.id,
            skill_path=item.skill_path,
            mode=mode,
            repeat=repeat,
            n_criteria=item.case.n_criteria,
            n_judge_calls=item.case.n_judge_calls,
            n_file_checks=sum("file" in check for check in item.case.checks),
        )
        for item in cases
        if (item.case.suite, item.case.id) in chosen
        for mode in modes
        if item.digest_in(mode) is not None
        for repeat in range(1, repeats + 1)
    )
    left_out = {item.skill_path for item in cases if (item.case.suite, item.case.id) not in chosen}
    planned = sorted({trial.skill_path for trial in trials})
    is_part = is_sample or not set(ALL_MODES) <= set(modes)
    whole = tuple(path for path in planned if path not in left_out and not is_part)
    partial = tuple(path for path in planned if path not in whole)
    return Plan(trials=trials, modes=modes, repeats=repeats, whole_skills=whole, partial_skills=partial)


def _trial_id(item: PlannedCase, mode: Mode, repeat: int) -> str:
    return short_digest(
        {
            "suite": item.case.suite,
            "case": item.case.id,
            "case_digest": item.case.digest,
            "skill": item.skill_path,
            "skill_digest": item.digest_in(mode),
            "mode": mode.value,
            "repeat": repeat,
        }
    )


def highest_cost(
    plan: Plan, *, turn_limit: int, max_output_tokens: Mapping[str, int], n_references: int = 0, samples: int = 1
) -> dict[str, int]:
    """The most that a plan can spend: model calls and output tokens, by candidate and judge, retries not counted.

    ``max_output_tokens`` has the keys ``candidate`` and ``judge``. Mode ``none`` offers no tools and takes one call.
    The judge is asked ``samples`` times about each answer, and is also shown each of ``n_references`` once.
    """
    candidate = sum(1 if trial.mode is Mode.NONE else turn_limit for trial in plan.trials)
    judge = n_references + samples * sum(trial.n_judge_calls for trial in plan.trials)
    return {
        "candidate_calls": candidate,
        "judge_calls": judge,
        "candidate_output_tokens": candidate * max_output_tokens["candidate"],
        "judge_output_tokens": judge * max_output_tokens["judge"],
    }
