"""What lift the cases of a skill can show at all, said before anything is spent. By a closed form, never by simulation.

Owns which cases of a project or a plan count in a lift, and the words. It decides nothing: a skill of few cases may
pass under the rule ``point``, and then its lift is a number that nobody can tell from chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from skillassay.findings import Finding, Severity, register
from skillassay.project import CaseKey, Project
from skillassay.runs.plan import Mode, Plan
from skillassay.statistics.power import fewest_cases, least_alike
from skillassay.suites.case import Case
from skillassay.suites.parts import cases_apart

REACH = register("suite.lift-reach", "What lift of a skill its cases can show by the interval, if any.")


def cases_in_lift(project: Project) -> dict[str, tuple[CaseKey, ...]]:
    """The cases of each usable skill that its lift rests on: of no part that stands apart, decided on the answer."""
    found: dict[str, list[CaseKey]] = {ready.path: [] for ready in project.usable}
    apart = cases_apart({(case.suite, case.id): case.part for case in project.cases})
    for case in project.cases:
        key = (case.suite, case.id)
        path = project.case_skills.get(key, "")
        if path in found and key not in apart and _has_answer(case):
            found[path].append(key)
    return {path: tuple(keys) for path, keys in found.items()}


def _has_answer(case: Case) -> bool:
    return case.n_criteria > sum("file" in check for check in case.checks)


def planned_in_lift(plan: Plan, parts: Mapping[CaseKey, str]) -> dict[str, int]:
    """How many cases the lift of each planned skill would rest on; no skill where the plan has no lift."""
    if not {Mode.PROGRESSIVE, Mode.NONE} <= set(plan.modes):
        return {}
    apart = cases_apart(parts)
    counted = {
        (trial.skill_path, trial.suite, trial.case_id)
        for trial in plan.trials
        if (trial.suite, trial.case_id) not in apart and trial.n_criteria > trial.n_file_checks
    }
    numbers = Counter(path for path, _, _ in counted)
    return {path: numbers[path] for path in plan.skills}


def reach_text(n_cases: int) -> str:
    """What lift this number of cases can show, in words."""
    cases = f"{n_cases} case{'' if n_cases == 1 else 's'}"
    least = least_alike(n_cases)
    if least is None:
        return f"{cases} cannot show a lift by its interval: that takes at least {fewest_cases()}, each gaining all"
    return f"{cases} show a lift by its interval only above {least:+.2f}, and that if every case gains as much"


def reach_findings(project: Project) -> tuple[Finding, ...]:
    """A note for each skill with a case; none where the rule ``bound`` already refuses it as too few."""
    refused = fewest_cases() if project.contract.gate.lift_rule == "bound" else 0
    return tuple(
        Finding(
            code=REACH,
            severity=Severity.NOTE,
            path=path,
            message=reach_text(len(keys)),
            hint="`skillassay plan` says what more cases or repeats would show",
        )
        for path, keys in cases_in_lift(project).items()
        if keys and len(keys) >= refused
    )


def reach_summary(project: Project) -> str | None:
    """One line over all skills with a case; None where each could show a lift, or none has a case."""
    told = [len(keys) for keys in cases_in_lift(project).values() if keys]
    few = sum(n < fewest_cases() for n in told)
    if not few:
        return None
    skills = "1 skill" if len(told) == 1 else f"{few} of {len(told)} skills"
    too_few = f"fewer than {fewest_cases()} cases, too few for an interval to show one"
    return f"lift: {skills} with {too_few}; see `skillassay plan`"
