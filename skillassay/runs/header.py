"""The header of a run, ``run.json``: all that is settled before its first trial. Owns its fields.

It holds no key and no header of a request.
"""

from __future__ import annotations

import os
import platform
import socket
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import skillassay
from skillassay.agents.known import is_agent
from skillassay.canonical import Json, digest_of, sha256_hex
from skillassay.contract.contract import CONTRACT_PATH
from skillassay.contract.freeze import freeze
from skillassay.contract.limits import budget_to_json
from skillassay.isolation.levels import walls_with_network
from skillassay.isolation.process import git
from skillassay.models.prices import load_prices, prices_to_json
from skillassay.runs.preparation import EvalRequest, Prepared
from skillassay.runs.retention import HASH
from skillassay.runs.snapshot import build_catalog
from skillassay.scoring.facts import facts_to_json
from skillassay.suites.kept import keep_suites, kept_bytes

PACKAGES = ("google-genai", "openai", "google-adk", "jsonschema", "pyyaml", "regex", "semver")


def build_header(
    prepared: Prepared,
    *,
    run_id: str,
    created_at: str,
    models: Mapping[str, Any],
    agents: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Everything a record says about a run before it starts. Holds no key and no header of a request.

    ``agents`` are the command-line agents of a side (``candidate``, ``judge``), as :mod:`skillassay.agents.about` says.
    """
    project, request = prepared.project, prepared.request
    packages: dict[str, Json] = {name: _version(name) for name in PACKAGES}
    return {
        "id": run_id,
        "created_at": created_at,
        "skillassay": skillassay.__version__,
        "contract": {
            "path": prepared.contract.path or f"defaults (no {CONTRACT_PATH})",
            "binding": prepared.binding,
            "groups": freeze(prepared, models, created_at=created_at, packages=packages),
        },
        "binding_digest": digest_of(prepared.binding),
        "retention": prepared.contract.retention,
        "models": dict(models),
        "subject": prepared.subject,
        **_material(prepared),
        "fixture_digest": prepared.rules.digest if prepared.rules is not None else None,
        "facts": facts_to_json(prepared.facts),
        "agents": dict(agents or {}),
        "isolation": _isolation(prepared),
        "settings": _settings(request),
        **({"sample": prepared.sample.to_json()} if prepared.sample is not None else {}),
        **_answers(prepared),
        **_spending(prepared, models),
        "git": git_state(project.root),
        "environment": _machine(packages),
    }


def _answers(prepared: Prepared) -> dict[str, Json]:
    """Which answers were brought along, where nobody is asked for one."""
    answers, keeps_texts = prepared.request.answers, prepared.contract.retention != HASH
    return {} if answers is None else {"answers": answers.to_json(with_digest=keeps_texts)}


def _spending(prepared: Prepared, models: Mapping[str, Any]) -> dict[str, Json]:
    """What judges may spend, and the prices of the models that are asked, by which the report counts."""
    terms = prepared.contract.budget
    labels = tuple(sorted({model["label"] for model in models.values() if isinstance(model, Mapping)}))
    prices = prices_to_json(load_prices(prepared.project.root, terms), labels)
    return {"prices": prices, **({"budget": budget_to_json(terms)} if terms.is_set else {})}


def _machine(packages: Mapping[str, Json]) -> dict[str, Json]:
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": dict(packages),
        "host": socket.gethostname(),
        "cpus": os.cpu_count(),
    }


def _material(prepared: Prepared) -> dict[str, Json]:
    """What the run is about, by digest: skills now and before, suites and cases, and the file that keeps these."""
    project = prepared.project
    return {
        "skills": {
            ready.path: {"name": ready.skill.name, "version": ready.skill.version, "digest": ready.digest}
            for ready in project.usable
        },
        "earlier": {
            path: {"version": state.ready.skill.version, "digest": state.ready.digest, "commit": state.commit}
            for path, state in sorted(prepared.earlier.items())
        },
        **({"placebo": dict(sorted(_placebos(prepared).items()))} if prepared.placebos else {}),
        "suites": {suite.name: {"version": suite.version, "digest": suite.digest} for suite in project.suites},
        "cases": {f"{case.suite}/{case.id}": case.digest for case in project.cases},
        "cases_file": sha256_hex(kept_cases_bytes(prepared)),
    }


def _placebos(prepared: Prepared) -> dict[str, Json]:
    """The placebos that a run offers, by the path of their skill."""
    return {path: {"digest": placebo.ready.digest} for path, placebo in prepared.placebos.items()}


def kept_cases_bytes(prepared: Prepared) -> bytes:
    """The run's ``cases.json``: of every suite with a planned case what may be kept of it."""
    planned = {trial.suite for trial in prepared.plan.trials}
    suites = [suite for suite in prepared.project.suites if suite.name in planned]
    return kept_bytes(keep_suites(suites, with_texts=prepared.contract.retention != HASH))


def _isolation(prepared: Prepared) -> dict[str, Json]:
    return {
        "level": prepared.isolation.name.lower(),
        "scripts": _walls(prepared),
        "skills": list(_with_scripts(prepared)),
    }


def _walls(prepared: Prepared) -> str:
    """Why scripts may run, or not. An agent runs them with its own tools, and with the network that it has itself."""
    level = prepared.isolation
    if not is_agent(prepared.subject):
        return prepared.policy.why
    return prepared.policy.why.replace(level.value, walls_with_network(level))


def _settings(request: EvalRequest) -> dict[str, Json]:
    return {
        "given": {
            "skills": list(request.skills),
            "cases": list(request.cases),
            "modes": [mode.value for mode in request.modes],
            "model": request.model,
            "judge_model": request.judge_model,
            **_judging(request),
            "quality_min": request.quality_min,
            "subject": request.subject,
            "base": request.base,
        },
        "purpose": request.purpose,
        "holdout": request.holdout,
        "jobs": request.jobs,
        "rpm": request.rpm,
        "tpm": request.tpm,
        "repeats": request.repeats,
        "require_isolation": request.require_isolation,
        "allow_unisolated": request.allow_unisolated,
    }


def _judging(request: EvalRequest) -> dict[str, Json]:
    """What was asked for of the judges besides, and of the draw of cases, where anything was."""
    given = {"judge_samples": request.judge_samples, "second_judge_model": request.second_judge_model}
    given |= {"sample": request.sample, "seed": request.seed}
    return {name: value for name, value in given.items() if value is not None}


def _with_scripts(prepared: Prepared) -> list[str]:
    """The planned skills of which a trial may run a script; none where the answers are there already."""
    if prepared.request.answers is not None:
        return []
    catalog = build_catalog(prepared.project.usable)
    return [skill.path for skill in catalog.skills if skill.scripts and skill.path in prepared.plan.skills]


def git_state(root: Path) -> dict[str, Json]:
    """Revision and dirty flag of the working tree; None for each where git or a repository is missing."""
    head = git(root, "rev-parse", "--verify", "-q", "HEAD")
    status = git(root, "status", "--porcelain", "--untracked-files=normal")
    revision = head.stdout.decode().strip() if head is not None and head.exit_code == 0 else None
    dirty = bool(status.stdout.strip()) if status is not None and status.exit_code == 0 else None
    return {"revision": revision, "dirty": dirty}


def _version(package: str) -> str | None:
    """The installed version; None for an extra that is not there."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
