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
from skillassay.assessment import facts_to_json
from skillassay.canonical import Json, digest_of
from skillassay.contract import CONTRACT_PATH
from skillassay.preparation import EvalRequest, Prepared
from skillassay.process import git
from skillassay.snapshot import build_catalog

PACKAGES = ("google-genai", "openai", "google-adk", "jsonschema", "pyyaml", "regex", "semver")


def build_header(prepared: Prepared, *, run_id: str, created_at: str, models: Mapping[str, Any]) -> dict[str, Any]:
    """Everything a record says about a run before it starts. Holds no key and no header of a request."""
    project, request = prepared.project, prepared.request
    return {
        "id": run_id,
        "created_at": created_at,
        "skillassay": skillassay.__version__,
        "contract": {"path": prepared.contract.path or f"defaults (no {CONTRACT_PATH})", "binding": prepared.binding},
        "binding_digest": digest_of(prepared.binding),
        "models": dict(models),
        "subject": prepared.subject,
        "skills": {
            ready.path: {"name": ready.skill.name, "version": ready.skill.version, "digest": ready.digest}
            for ready in project.usable
        },
        "earlier": {
            path: {"version": state.ready.skill.version, "digest": state.ready.digest, "commit": state.commit}
            for path, state in sorted(prepared.earlier.items())
        },
        "suites": {suite.name: {"version": suite.version, "digest": suite.digest} for suite in project.suites},
        "cases": {f"{case.suite}/{case.id}": case.digest for case in project.cases},
        "fixture_digest": prepared.rules.digest if prepared.rules is not None else None,
        "facts": facts_to_json(prepared.facts),
        "isolation": {
            "level": prepared.isolation.name.lower(),
            "scripts": prepared.policy.why,
            "skills": _with_scripts(prepared),
        },
        "settings": _settings(request),
        "git": git_state(project.root),
        "environment": {
            "python": platform.python_version(),
            "platform": platform.platform(),
            "packages": {name: _version(name) for name in PACKAGES},
            "host": socket.gethostname(),
            "cpus": os.cpu_count(),
        },
    }


def _settings(request: EvalRequest) -> dict[str, Json]:
    return {
        "given": {
            "skills": list(request.skills),
            "cases": list(request.cases),
            "modes": [mode.value for mode in request.modes],
            "model": request.model,
            "judge_model": request.judge_model,
            "quality_min": request.quality_min,
            "subject": request.subject,
            "base": request.base,
        },
        "jobs": request.jobs,
        "rpm": request.rpm,
        "tpm": request.tpm,
        "repeats": request.repeats,
        "require_isolation": request.require_isolation,
        "allow_unisolated": request.allow_unisolated,
    }


def _with_scripts(prepared: Prepared) -> list[str]:
    """The planned skills of which a trial may run a script."""
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
