"""Lines of the gate about whole skills: beats its absence, enough cases, arms alike, files unmoved. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skillassay.contract.contract import GateTerms
from skillassay.gate.lines import Cause, GateLine, Status
from skillassay.runs.plan import Mode, Plan
from skillassay.scoring.arms import check_arms
from skillassay.scoring.effects import exact_lift
from skillassay.scoring.scores import Row, Scores


def beats_none_line(scores: Scores, plan: Plan, terms: GateTerms) -> GateLine:
    """Each skill does better than its absence; one that does not is named."""
    limit = "progressive > none for every skill"
    if not {Mode.PROGRESSIVE, Mode.NONE} <= set(plan.modes):
        name = "beats_none"
        # Not "not applicable": the question stands, and this run has not asked it.
        return GateLine(name=name, status=Status.UNDECIDED, number="not both modes planned", limit=limit)
    below, open_, causes = [], [], []
    for lift in scores.lifts:
        exact = exact_lift(scores.counted, lift.skill_path)
        text = f"{lift.skill_path}: {lift.k_of}/{lift.n_of} against {lift.k_against}/{lift.n_against}"
        if exact is None or lift.n_cases < lift.n_planned:
            scored = f"{lift.n_cases} of {lift.n_planned} cases scored in both modes"
            open_.append(f"{text}, {scored if lift.n_planned else 'no case has a criterion on the answer'}")
        elif exact <= 0:
            below.append(f"{text}: it does not beat its absence and has no place in the catalog")
            causes.append(Cause(skill_path=lift.skill_path))
        elif terms.lift_rule == "bound" and lift.difference.word != "helps":
            open_.append(f"{text}: inconclusive, the interval does not exclude zero")
    n_good = len(scores.lifts) - len(below) - len(open_)
    return GateLine(
        name="beats_none",
        status=Status.FAILED if below else Status.UNDECIDED if open_ else Status.PASSED,
        number=f"{n_good} of {len(scores.lifts)} skills",
        limit=f"{limit} (rule {terms.lift_rule})",
        detail=tuple(below + open_),
        counts={"better": n_good, "not_better": len(below), "open": len(open_), "skills": len(scores.lifts)},
        causes=tuple(causes),
        otherwise=Status.UNDECIDED if open_ else Status.PASSED,
    )


def graded_cases_line(skills: Sequence[str], graded_cases: Mapping[str, int], terms: GateTerms) -> GateLine:
    """Each skill has cases enough in the suites, planned now or not."""
    few = [
        f"{path}: {graded_cases.get(path, 0)} cases" for path in skills if graded_cases.get(path, 0) < terms.min_cases
    ]
    fewest = min((graded_cases.get(path, 0) for path in skills), default=0)
    return GateLine(
        name="graded_cases",
        status=Status.FAILED if few else Status.PASSED,
        number=f"fewest {fewest}",
        limit=f">= {terms.min_cases} for every skill",
        detail=tuple(few),
        counts={"fewest": fewest, "min_cases": terms.min_cases},
        causes=tuple(Cause(skill_path=path) for path in skills if graded_cases.get(path, 0) < terms.min_cases),
    )


def clean_arms_line(rows: Sequence[Row], skill_names: Mapping[str, str]) -> GateLine:
    """Every arm of a case saw the same but for the skill; a lift between arms that did not measures something else."""
    check = check_arms(rows, skill_names)
    untold = (f"{check.n_untold} scored trials do not tell",) if check.n_untold else ()
    status = Status.UNDECIDED if untold or not check.n_told else Status.PASSED
    return GateLine(
        name="clean_arms",
        status=Status.FAILED if check.differences else status,
        number=f"{len(check.differences)} differences in {check.n_told} trials",
        limit="0",
        detail=check.differences + untold,
        counts={"differences": len(check.differences), "told": check.n_told, "untold": check.n_untold},
    )


def unmoved_line(moved: Sequence[str]) -> GateLine:
    """No skill's files changed between the start and the end of the run."""
    return GateLine(
        name="digests_match",
        status=Status.UNDECIDED if moved else Status.PASSED,
        number=f"{len(moved)} skills changed during the run",
        limit="0",
        detail=tuple(f"{path}: its files changed while the run was under way" for path in moved),
        counts={"moved": len(moved)},
    )
