"""The audit trail of waivers: a line for every use, in ``.skillassay/audit.jsonl``, and the same in evidence.

    {"audit": 1, "at", "by", "command", "run", "gate", "line", "causes", "waiver", "waiver_digest", "skill",
     "skill_digest", "approver", "reason", "approved_on", "expires_on", "recorded", "effective"}

Written before anybody is told the effective decision: a use that cannot be written down does not happen. The file lies
beside the run records and is as private as they are; what a committed lock rests on is in its evidence.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skillassay.canonical import Json
from skillassay.gate.lines import Cause, Decision
from skillassay.inside import refuse_links
from skillassay.isolation.process import git
from skillassay.ledger import append_line
from skillassay.people.effective import Effective, Use
from skillassay.people.waiving import apply_waivers
from skillassay.runs.store import keep_out_of_git, now_utc

AUDIT_VERSION = 1
AUDIT_PATH = ".skillassay/audit.jsonl"


def use_waivers(root: Path, recorded: Decision, header: Mapping[str, Any], *, command: str) -> Effective:
    """Apply the waivers of the project to the decision on a run, as of today, and write every use down first.

    Raises :class:`InputError` while the file of waivers is not sound, :class:`StoreError` without a trail.
    """
    effective = apply_waivers(root, recorded, header)
    record_uses(root, effective, run_id=header["id"], command=command)
    return effective


def record_uses(root: Path, effective: Effective, *, run_id: str, command: str) -> None:
    """Append one line for each use. Raises :class:`StoreError`."""
    if not effective.uses:
        return
    refuse_links(root, root / AUDIT_PATH)
    by, at = user_name(root), now_utc()
    for use in effective.uses:
        append_line(root / AUDIT_PATH, _line(use, effective, {"at": at, "by": by, "command": command, "run": run_id}))
    keep_out_of_git(root)


def _line(use: Use, effective: Effective, about: dict[str, Json]) -> dict[str, Json]:
    return {
        "audit": AUDIT_VERSION,
        **about,
        "gate": effective.recorded.gate,
        **use_json(use),
        "recorded": effective.recorded.status.value,
        "effective": effective.decision.status.value,
    }


def use_json(use: Use) -> dict[str, Json]:
    """One use as audit trail, evidence and results tell it."""
    waiver = use.waiver
    return {
        "line": use.line,
        "causes": [_cause(cause) for cause in use.causes],
        "waiver": waiver.id,
        "waiver_digest": waiver.digest,
        "skill": waiver.skill,
        "skill_digest": waiver.skill_digest,
        "approver": waiver.approver,
        "reason": waiver.reason,
        "approved_on": waiver.approved_on.isoformat(),
        "expires_on": waiver.expires_on.isoformat(),
    }


def _cause(cause: Cause) -> dict[str, Any]:
    return {"skill": cause.skill_path} | ({"case": cause.case} if cause.case is not None else {})


def user_name(root: Path) -> str:
    """Who works here, as far as this machine knows: git's ``user.name``, else the login."""
    told = git(root, "config", "user.name")
    name = told.stdout.decode("utf-8", "replace").strip() if told is not None and told.exit_code == 0 else ""
    if name:
        return name
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a container's user need not be in its table
        return f"uid {os.getuid()}"
