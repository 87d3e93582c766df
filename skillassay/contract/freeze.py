"""From what a run is about to do to its frozen contract: the eight groups that are settled before the first trial.

Nothing of it is judged here: an authored field that is not written is null, and the gate says so. Owns how each derived
field is made; :mod:`skillassay.contract.groups` owns which there are.
"""

from __future__ import annotations

import locale
import platform
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import skillassay
from skillassay.canonical import Json, digest_of, short_digest
from skillassay.contract.contract import SCORER_VERSION
from skillassay.contract.limits import GateTerms, gate_to_json, slices_to_json
from skillassay.fixture.base import JudgeRule
from skillassay.locks.binding import FIXED_PROMPTS
from skillassay.models.naming import FIXTURE, parse_model
from skillassay.runs.preparation import Prepared
from skillassay.scoring.code import scorer_digest
from skillassay.suites.case import Case
from skillassay.suites.parts import HOLDOUT

Group = dict[str, Json]

RETRIES = "transport, 408, 429 and 5xx only; an answer is never asked for again"
_LIMITS_WITH_A_FIELD = frozenset(("quality_min", "variance_max", "over_refusal_max", "manual_block"))


def freeze(
    prepared: Prepared, models: Mapping[str, Any], *, created_at: str, packages: Mapping[str, Json]
) -> dict[str, Json]:
    """The groups ``identity`` to ``gate`` as a header keeps them. ``models`` are the two as the header says them."""
    return {
        "identity": dict(asdict(prepared.contract.identity)),
        "candidate": _candidate(prepared, models),
        "dataset": _dataset(prepared, created_at),
        "expected": _expected(prepared),
        "scoring": _scoring(prepared),
        "judgment": _judgment(prepared),
        "environment": _environment(prepared, created_at, packages),
        "gate": _gate(prepared),
    }


def _candidate(prepared: Prepared, models: Mapping[str, Any]) -> Group:
    terms, usable = prepared.contract.candidate, prepared.project.usable
    label = prepared.models.candidate
    surface: Json = {
        "subject": prepared.subject,
        "endpoint": models["candidate"]["endpoint"],
        "eager_scope": prepared.contract.eager_scope,
    }
    configuration: Json = {
        "model": label,
        "surface": surface,
        "terms": {name: value for name, value in asdict(terms).items() if name not in {"model", "subject", "endpoint"}},
        "prompt": FIXED_PROMPTS.candidate,
        "skills": {ready.path: ready.digest for ready in usable},
    }
    return {
        "config_id": f"{prepared.subject}/{models['candidate']['label']}",
        "config_version": {ready.path: ready.skill.version for ready in usable},
        "config_digest": digest_of(configuration),
        "provider": models["candidate"]["provider"],
        "surface": surface,
        "model_revision_evidence": {
            side: {"requested": models[side]["name"], "answered": None}
            for side in ("candidate", "judge", "second")
            if side in models
        },
    }


def _dataset(prepared: Prepared, created_at: str) -> Group:
    terms, planned = prepared.contract.dataset, prepared.cases
    names = {case.suite for case in planned}
    slices: dict[str, Json] = {name: [] for name in sorted(prepared.contract.slices)}
    for case in planned:
        if case.slice is not None:
            members = slices.setdefault(case.slice, [])
            assert isinstance(members, list)
            members.append(f"{case.suite}/{case.id}")
    return {
        "id": sorted(names),
        "version": {suite.name: suite.version for suite in prepared.project.suites if suite.name in names},
        "snapshot_time": terms.snapshot_time or created_at,
        "provenance": terms.provenance,
        "license": terms.license,
        "slice_manifest": slices,
        "leakage_status": terms.leakage,
    }


def _expected(prepared: Prepared) -> Group:
    terms, planned = prepared.contract.expected, prepared.cases
    return {
        "oracle_types": dict(sorted(Counter(case.oracle_type for case in planned).items())),
        "artifact": terms.artifact,
        "acceptable_variants": {
            _name(case): len(case.acceptable_variants) for case in planned if case.acceptable_variants
        },
        "abstention_policy": terms.abstention,
    }


def _scoring(prepared: Prepared) -> Group:
    terms = prepared.contract.scoring
    checks = [check for case in prepared.cases for check in prepared.project.checks.get((case.suite, case.id), ())]
    return {
        "scorer_id": f"skillassay {skillassay.__version__}",
        "scorer_version": SCORER_VERSION,
        "code_digest": scorer_digest(check.type for check in checks),
        "metric": terms.metric,
        "error_policy": terms.error_policy,
    }


def _judgment(prepared: Prepared) -> Group:
    terms, planned = prepared.contract.judge, prepared.cases
    provider, name = parse_model(prepared.models.judge)
    authored = prepared.rules.judge if provider == FIXTURE and prepared.rules is not None else None
    rubrics: Json = {_name(case): _rubric(case) for case in planned}
    suites = {case.suite for case in planned}
    return {
        "judge_id": _judge_id(prepared),
        # Authored verdicts have no other version than what they say.
        "judge_version": name if authored is None else f"rules {short_digest([_rule(rule) for rule in authored])}",
        "judge_prompt_digest": FIXED_PROMPTS.judge,
        "rubric_id_version": {
            "digest": digest_of(rubrics),
            "suites": {suite.name: suite.version for suite in prepared.project.suites if suite.name in suites},
        },
        "order_policy": terms.order,
        "abstention": [
            f"{_name(case)}#{one.id}"
            for case in planned
            for one in case.rubric
            if one.may_abstain and case.part != HOLDOUT  # the ids are a hidden author's words
        ],
        "human_adjudication": terms.human_adjudication,
    }


def _judge_id(prepared: Prepared) -> str:
    """The judge's label; asked more than once, or beside a second one, it is another judge."""
    samples, second = prepared.contract.judge.samples, prepared.models.second
    more = ([f"{samples} samples"] if samples > 1 else []) + ([f"second {second}"] if second is not None else [])
    return ", ".join([prepared.models.judge, *more])


def _rule(rule: JudgeRule) -> Json:
    patterns = [None if pattern is None else pattern.text for pattern in (rule.passes, rule.unless)]
    return [rule.criterion, list(rule.query), *patterns, rule.missing]


def _rubric(case: Case) -> Json:
    if case.part == HOLDOUT:
        return case.digest  # a keyed one: nobody may try words against the rubric of a hidden case
    behavior = None if case.behavior is None else asdict(case.behavior)
    return {"criteria": [asdict(criterion) for criterion in case.rubric], "behavior": behavior}


def _environment(prepared: Prepared, created_at: str, packages: Mapping[str, Json]) -> Group:
    terms, candidate, request = prepared.contract.environment, prepared.contract.candidate, prepared.request
    surface: Group = {
        "system": platform.system(),
        "machine": platform.machine(),
        "python": ".".join(platform.python_version_tuple()[:2]),
        "isolation": prepared.isolation.name.lower(),
    }
    tools: Group = {
        "program": f"skillassay {skillassay.__version__}",
        "packages": dict(packages),
        "fixture_digest": prepared.rules.digest if prepared.rules is not None else None,
    }
    found = locale.setlocale(locale.LC_CTYPE)
    return {
        "id": terms.id or f"found-{short_digest([surface, tools, found])}",
        "surface": surface,
        "tool_source_snapshot": tools,
        "locale": terms.locale or found,
        "time": created_at,
        "retry_sampling_policy": {
            "temperature": candidate.temperature,
            "seed": candidate.seed,
            "repeats": request.repeats,
            "judge_temperature": 0,
            "retries": RETRIES,
        },
    }


def _gate(prepared: Prepared) -> Group:
    contract = prepared.contract
    terms = gate_to_json(contract.gate)
    return {
        "slice_thresholds": {"quality_min": terms["quality_min"], "slices": slices_to_json(contract.slices)},
        "critical_zero_tolerance": 0,
        "variance_limit": terms["variance_max"],
        "over_refusal_limit": terms["over_refusal_max"],
        "manual_block_rule": terms["manual_block"],
        "other_limits": {
            **{name: terms[name] for name in GateTerms.__dataclass_fields__ if name not in _LIMITS_WITH_A_FIELD},
            "freshness_max_age_days": contract.freshness_max_age_days,
            "holdout": None if contract.holdout is None else contract.holdout.suite,
        },
    }


def _name(case: Case) -> str:
    return f"{case.suite}/{case.id}"
