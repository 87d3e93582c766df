"""Stored files against the schemas that ship: each file of a project with the schema of its kind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from skillassay.schema import schema_problems

LINES = {
    "evals/labels*.jsonl": "label",
    "evals/verdicts-read.jsonl": "verdict-read",
    "evals/recordings/*.jsonl": "recording",
    ".skillassay/audit.jsonl": "audit",
    ".skillassay/spending.jsonl": "spending",
    ".skillassay/triggers.jsonl": "look",
    ".skillassay/pairwise/*.jsonl": "pairwise",
    ".skillassay/runs/*/trials.jsonl": "record",
    ".skillassay/runs/*/events.jsonl": "event",
    ".skillassay/runs/*/references.jsonl": "reference",
    ".skillassay/runs/*/adjudications.jsonl": "adjudication",
    ".skillassay/runs/*/approvals.jsonl": "approval",
}
"""Files of one object a line."""
WHOLE = {
    "skills.lock.json": "lock",
    "evals/evidence/**/*.json": "evidence",
    "evals/calibration/*.json": "calibration",
    "evals/baseline.json": "baseline",
    "evals/holdout.json": "holdout",
    "evals/triggers.json": "triggers",
    "evals/routing.json": "routing",
    "evals/quality.json": "suite",
    ".skillassay/runs/*/run.json": "run",
    ".skillassay/runs/*/result.json": "result",
    ".skillassay/runs/*/cases.json": "cases",
}
"""Files that are one object."""


def stored(root: Path) -> Iterator[tuple[str, str, Any]]:
    """Path, schema and value of each stored object of a project."""
    for glob, schema in LINES.items():
        for path in root.glob(glob):
            for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
                if line:
                    yield f"{path.relative_to(root)}:{number}", schema, json.loads(line)
    for glob, schema in WHOLE.items():
        for path in root.glob(glob):
            yield str(path.relative_to(root)), schema, json.loads(path.read_bytes())


def met_schemas(root: Path) -> set[str]:
    """The schemas under which something of a project is stored; everything must fit its own, and is not trivial."""
    met = set()
    for place, schema, value in stored(root):
        assert schema_problems(value, schema) == [], place
        # What is left of a value without its fields must be refused, or the schema would say nothing.
        assert schema_problems({}, schema) != [], schema
        met.add(schema)
    return met
