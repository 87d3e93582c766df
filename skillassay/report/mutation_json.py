"""A mutation test as JSON, ``mutation_format: 1``, described in ``docs/reference/mutate.md``. Owns its fields."""

from __future__ import annotations

from fractions import Fraction

from skillassay.canonical import Json
from skillassay.mutation.mutants import Kind, Mutant, diff_lines
from skillassay.mutation.preparing import MutationPlan
from skillassay.mutation.running import MutationView
from skillassay.mutation.verdicts import Score, Unmutated, Verdict, build_score
from skillassay.report.mutation import exit_code, is_reached, n_killed, notices

MUTATION_FORMAT = 1


def mutation_json(view: MutationView, share: Fraction | None) -> dict[str, Json]:
    """Everything, with each mutant's diff."""
    models, plan = view.header["models"], view.plan
    score = build_score(verdict for _, verdict in view.verdicts)
    limit, made = view.calls
    return {
        "mutation_format": MUTATION_FORMAT,
        "id": view.header["id"],
        "record": view.place,
        "skill": {"path": plan.ready.path, "version": plan.ready.skill.version, "digest": plan.ready.digest},
        "candidate": {"id": models["candidate"]["label"], "is_fixture": models["candidate"]["is_fixture"]},
        "judge": {"id": models["judge"]["label"], "is_fixture": models["judge"]["is_fixture"]},
        "independent": models["independent"],
        "notices": list(notices(view)),
        "repeats": plan.request.evaluation.repeats,
        "seed": plan.request.wanted.seed,
        "baseline": plan.request.baseline,
        "counts": {
            "viable": plan.chosen.n_viable,
            "run": len(plan.mutants),
            "not_viable": plan.n_not_viable,
            "same_as_another": plan.n_same,
        },
        "kinds": [_kind_json(kind, view) for kind in plan.chosen.kinds],
        "unmutated": [_case_json(case, view) for case in view.cases],
        "mutants": [_mutant_json(mutant, verdict, view) for mutant, verdict in view.verdicts],
        "score": _score_json(score),
        "min_killed": None if share is None else {"share": float(share), "reached": is_reached(score, share)},
        "trials_left": view.n_left,
        "interrupted": view.interrupted,
        "calls": {"limit": limit, "made_now": made},
        "exit_code": int(exit_code(view, share)),
        "is_evidence": False,
    }


def _score_json(score: Score) -> dict[str, Json]:
    interval = score.interval
    return {
        "killed": score.killed,
        "survived": score.survived,
        "undecided": score.undecided,
        "decided": score.decided,
        "interval": None if interval is None else [round(interval.low, 6), round(interval.high, 6)],
    }


def _kind_json(kind: Kind, view: MutationView) -> dict[str, Json]:
    own = build_score(verdict for mutant, verdict in view.verdicts if mutant.kind is kind)
    n_run, n_viable = view.plan.chosen.kinds[kind]
    return {"kind": kind.value, "viable": n_viable, "run": n_run, **_score_json(own)}


def _case_json(case: Unmutated, view: MutationView) -> dict[str, Json]:
    return {
        "suite": case.suite,
        "case": case.case_id,
        "planned": case.planned,
        "scored": case.scored,
        "passed": case.passed,
        "can_kill": case.can_kill,
        "unscored": list(case.reasons),
        "killed": n_killed(case, view),
    }


def _mutant_json(mutant: Mutant, verdict: Verdict, view: MutationView) -> dict[str, Json]:
    return {
        "id": mutant.id,
        "kind": mutant.kind.value,
        "file": mutant.file,
        "line": mutant.line,
        "text": mutant.text,
        "diff": list(diff_lines(view.plan.source, mutant)),
        "outcome": verdict.fate.value,
        "why": verdict.why,
        "planned": verdict.planned,
        "scored": verdict.scored,
        "unscored": dict(sorted(verdict.reasons.items())),
        "failing": [
            {
                "suite": one.suite,
                "case": one.case_id,
                "criterion": one.mark_id,
                "by": one.by,
                "failed": one.failed,
                "scored": one.scored,
                "planned": one.planned,
                "kills": one.kills,
                "evidence": one.evidence,
            }
            for one in verdict.failing
        ],
    }


def plan_json(plan: MutationPlan, *, n_trials: int, n_calls: int, told: list[str]) -> dict[str, Json]:
    """What ``--dry-run`` prints as JSON: the mutants with their diffs, and the most that there can be to run."""
    return {
        "mutation_format": MUTATION_FORMAT,
        "skill": {"path": plan.ready.path, "digest": plan.ready.digest},
        "counts": {
            "viable": plan.chosen.n_viable,
            "run": len(plan.mutants),
            "not_viable": plan.n_not_viable,
            "same_as_another": plan.n_same,
        },
        "mutants": [
            {
                "id": one.id,
                "kind": one.kind.value,
                "file": one.file,
                "line": one.line,
                "text": one.text,
                "diff": list(diff_lines(plan.source, one)),
            }
            for one in plan.mutants.values()
        ],
        "highest": {"trials": n_trials, "calls": n_calls, "told": told},
    }
