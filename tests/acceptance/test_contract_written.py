"""Acceptance of the contract as it is written: what may be left out of it, and what then holds."""

from __future__ import annotations

import re
import shutil
from locale import LC_CTYPE, setlocale
from pathlib import Path
from typing import Any

import pytest
import yaml

from skillassay.contract.groups import FIELDS, Field
from tests.acceptance.contracted import change_contract, header_of, newest
from tests.project import Cli, build_small

WRITTEN = [field for field in FIELDS if field.key is not None and "…" not in field.key]


def written(root: Path, key: str) -> None:
    """Take one key out of the contract; a group that is empty then goes with it."""
    path = root / "evals/contract.yaml"
    value = yaml.safe_load(path.read_text(encoding="utf-8"))
    for one in key.split(", "):
        *groups, name = one.split(".")
        body = value
        for group in groups:
            body = body[group]
        del body[name]
    path.write_text(yaml.safe_dump(value), encoding="utf-8")


def incomplete(cli: Cli) -> list[tuple[str, str]]:
    """What `check` says of a contract that leaves something unsaid: severity and message of each finding."""
    findings = cli("check", "--format", "json").json["findings"]
    return [(one["severity"], one["message"]) for one in findings if one["code"] == "contract.incomplete"]


FULL: dict[str, Any] = {
    "dataset": {
        "provenance": "written for the tests",
        "license": "MIT",
        "snapshot_time": "2026-01-01",
        "leakage": "suspected",
    },
    "expected": {"artifact": "a greeting", "abstention": "where_allowed"},
    "scoring": {"metric": "criteria_passed", "error_policy": "unscored"},
    "judge": {"order": "as_written", "human_adjudication": "the team decides"},
    "environment": {"id": "laboratory", "locale": "fr_FR.UTF-8"},
    "gate": {
        "quality_min": 0.9,
        "variance_max": 0.1,
        "over_refusal_max": 0.2,
        "unsafe_compliance_max": 0.3,
        "worst_case_min": 0.5,
        "failures_max": 2,
        "manual_block": "not before Monday",
    },
    "slices": {"north": {"quality_min": 0.7}},
}
"""A contract that writes every key there is for a group."""

SILENT = {
    "dataset.leakage_status": "none_known",
    "expected.artifact": "the answer's text, and the files that checks name",
    "expected.abstention_policy": "where_allowed",
    "scoring.metric": "criteria_passed",
    "scoring.error_policy": "unscored",
    "judgment.order_policy": "as_written",
    "judgment.human_adjudication": "held for review by a named person",
    "gate.slice_thresholds": {"quality_min": "4/5", "slices": {}},
    "gate.variance_limit": None,
    "gate.over_refusal_limit": "0",
    "gate.manual_block_rule": None,
}
"""What holds where the contract is silent; of the fields left out the value is the run's own."""

ONE_VALUE = {"expected.abstention_policy", "scoring.metric", "scoring.error_policy", "judgment.order_policy"}
"""Fields that a contract may state and not choose."""


@pytest.mark.parametrize("field", [field for field in WRITTEN if field.must_be_written], ids=lambda field: field.path)
def test_an_authored_field_without_default_is_missed(cli: Cli, field: Field) -> None:
    """`check` warns, and the gate of a run that is sound otherwise fails on `contract_complete` alone, naming it."""
    build_small(cli.root)
    assert incomplete(cli) == []
    written(cli.root, field.key or "")
    assert incomplete(cli) == [("warning", f"{field.key} is not stated: {field.missing}")]
    assert cli("eval").code == 1
    ran = cli("gate", "--format", "json")
    failed = [line for line in ran.json["lines"] if line["status"] == "failed"]
    assert [(line["name"], line["detail"]) for line in failed] == [
        ("contract_complete", [f"{field.path}: {field.missing}"])
    ]
    assert (ran.code, cli("lock").code) == (1, 1)


@pytest.mark.parametrize(
    "field", [field for field in WRITTEN if not field.must_be_written], ids=lambda field: field.path
)
def test_an_authored_field_with_a_default_falls_back_to_it(cli: Cli, field: Field) -> None:
    """What is not written holds by default, and the frozen contract says what that is."""
    build_small(cli.root)
    change_contract(cli.root, **FULL)
    cli("eval", "--case", "one", "--mode", "progressive")
    full = header_of(newest(cli.root))["contract"]["groups"]
    assert full[field.group][field.name] != SILENT.get(field.path) or field.path in ONE_VALUE
    written(cli.root, field.key or "")
    ran = cli("eval", "--case", "one", "--mode", "progressive", "--format", "json")
    header = header_of(newest(cli.root))
    groups = header["contract"]["groups"]
    own = {"dataset.snapshot_time": header["created_at"]}
    if field.path in SILENT or field.path in own:
        assert groups[field.group][field.name] == {**SILENT, **own}[field.path]
    else:
        found = {"environment.id": r"found-[0-9a-f]{16}", "environment.locale": re.escape(setlocale(LC_CTYPE))}
        assert re.fullmatch(found[field.path], groups[field.group][field.name])
    (line,) = (line for line in ran.json["decision"]["lines"] if line["name"] == "contract_complete")
    assert line["status"] == "passed"


def test_a_project_without_a_contract_is_told_what_is_missing(cli: Cli) -> None:
    """Its gate fails on the contract; a project without a suite has nothing to decide and hears nothing."""
    build_small(cli.root)
    (cli.root / "evals/contract.yaml").unlink()
    assert len(incomplete(cli)) == sum(field.must_be_written for field in FIELDS)
    shutil.rmtree(cli.root / "evals")
    assert incomplete(cli) == []
