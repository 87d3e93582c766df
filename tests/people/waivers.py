"""Waivers for tests: an entry that holds for the newest run of a project, and the file with it."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import yaml

DAY = date(2026, 12, 1)
"""The day on which these tests take place."""
APPROVED = DAY - timedelta(days=10)
LAST = DAY + timedelta(days=5)


def entry(**changes: Any) -> dict[str, Any]:
    """A waiver of sound shape; ``scope`` changes its scope field by field, None takes a field away."""
    scope = changes.pop("scope", {})
    body: dict[str, Any] = {
        "id": "W-1",
        "reason": "The greeting of one is reworked by the middle of December.",
        "approver": "Mika Sato",
        "approved_on": APPROVED.isoformat(),
        "expires_on": LAST.isoformat(),
    } | changes
    where: dict[str, Any] = {
        "line": "quality_min",
        "skill": "skills/greeter",
        "skill_digest": "a" * 64,
        "cases": {"quality/one": "b" * 64},
    } | scope
    body["scope"] = {name: value for name, value in where.items() if value is not None}
    return {name: value for name, value in body.items() if value is not None}


def newest_header(root: Path) -> dict[str, Any]:
    """The header of the newest run."""
    folder = max((root / ".skillassay/runs").iterdir())
    header: dict[str, Any] = json.loads((folder / "run.json").read_text("utf-8"))
    return header


def fitting(root: Path, *cases: str, **changes: Any) -> dict[str, Any]:
    """A waiver for these cases of the greeter as the newest run measured them; for the skill where none is named."""
    header = newest_header(root)
    scope = {
        "skill_digest": header["skills"]["skills/greeter"]["digest"],
        "cases": {f"quality/{name}": header["cases"][f"quality/{name}"] for name in cases} or None,
    }
    scope |= changes.pop("scope", {})
    return entry(**changes, scope=scope)


def write_waivers(root: Path, *entries: dict[str, Any]) -> None:
    """Write evals/waivers.yaml."""
    text = yaml.safe_dump({"waivers": 1, "granted": list(entries)}, sort_keys=False, allow_unicode=True)
    (root / "evals/waivers.yaml").write_text(text, "utf-8")


def audit_lines(root: Path) -> list[dict[str, Any]]:
    """The lines of the audit trail."""
    path = root / ".skillassay/audit.jsonl"
    return [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []
