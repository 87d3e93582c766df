"""Reading and changing the contracts of a project and of its runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml


def header_of(folder: Path) -> Any:
    """The header of a run."""
    return json.loads((folder / "run.json").read_text(encoding="utf-8"))


def newest(root: Path) -> Path:
    """The newest run of a project."""
    return max((root / ".skillassay/runs").iterdir())


def change_contract(root: Path, **terms: object) -> None:
    """Write these terms into the contract of a project."""
    path = root / "evals/contract.yaml"
    value = yaml.safe_load(path.read_text(encoding="utf-8"))
    path.write_text(yaml.safe_dump(value | terms), encoding="utf-8")
