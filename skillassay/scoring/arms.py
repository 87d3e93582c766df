"""Whether the arms of each case differ in the skill alone. Pure; owns what "alone" means.

Of a case and repeat, all arms must have seen the same prompt (what is said apart from the skills), the same files and
the same tools but for those that exist for the sake of skills. ``none`` must have seen no skill and no such tool, and
each other arm the case's skill. ``again`` and ``placebo`` must have seen the very skills and tools of ``progressive``,
skill tools too. A trial that ended before its arm was known says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skillassay.runs.plan import NOISE_MODES, Mode
from skillassay.runs.record import Arm
from skillassay.scoring.scores import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmCheck:
    """How many trials told what they could see, how many scored ones did not, and every difference in words."""

    n_told: int
    n_untold: int
    differences: tuple[str, ...]


def check_arms(rows: Sequence[Row], names: Mapping[str, str]) -> ArmCheck:
    """Compare the arms of each case and repeat. ``names`` maps a skill's path to its name."""
    groups: dict[tuple[str, str, int], dict[Mode, Arm]] = {}
    differences = []
    for row in rows:
        planned, arm = row.planned, row.record.arm
        if arm is None:
            continue
        groups.setdefault((planned.suite, planned.case_id, planned.repeat), {})[planned.mode] = arm
        differences += [
            f"{planned.case_id}, {planned.mode.value} #{planned.repeat}: {words}"
            for words in _against_mode(arm, planned.mode, names.get(planned.skill_path))
        ]
    for (_, case_id, repeat), arms in groups.items():
        differences += [f"{case_id} #{repeat}: {words}" for words in _against_each_other(arms)]
    untold = sum(row.record.arm is None and row.record.outcome.scored for row in rows)
    n_told = sum(row.record.arm is not None for row in rows)
    return ArmCheck(n_told=n_told, n_untold=untold, differences=tuple(differences))


def _against_mode(arm: Arm, mode: Mode, skill: str | None) -> list[str]:
    """What an arm of this mode may not have seen, or must have."""
    if mode is Mode.NONE:
        seen = [*(f"the skill {name}" for name in arm.skills), *(f"the tool {name}" for name in arm.skill_tools)]
        return [f"it could see {', '.join(seen)}"] if seen else []
    if mode is Mode.PREVIOUS:  # the skill may have had another name then
        return [] if arm.skills else ["it could see no skill"]
    return [f"it could not see the skill {skill}"] if skill is not None and skill not in arm.skills else []


def _against_each_other(arms: Mapping[Mode, Arm]) -> list[str]:
    seen: dict[str, dict[Mode, object]] = {
        "another prompt": {mode: arm.prompt for mode, arm in arms.items()},
        "other files": {mode: arm.files for mode, arm in arms.items()},
        "other tools": {mode: frozenset(arm.tools) - frozenset(arm.skill_tools) for mode, arm in arms.items()},
    }
    first = next(iter(arms))
    return _offered_alike(arms) + [
        f"{mode.value} saw {words} than {first.value}"
        for words, by_mode in seen.items()
        for mode in arms
        if by_mode[mode] != by_mode[first]
    ]


def _offered_alike(arms: Mapping[Mode, Arm]) -> list[str]:
    """What ``again`` and ``placebo`` were offered otherwise than ``progressive``."""
    like = arms.get(Mode.PROGRESSIVE)
    if like is None:
        return []
    return [
        f"{mode.value} saw other {what} than {Mode.PROGRESSIVE.value}"
        for mode, arm in arms.items()
        if mode in NOISE_MODES
        for what, differs in (
            ("skills", arm.skills != like.skills),
            ("skill tools", arm.skill_tools != like.skill_tools),
        )
        if differs
    ]
