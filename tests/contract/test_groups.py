"""The table of the nine groups: what is made from it, and what a whole contract is."""

from __future__ import annotations

from typing import Any

import pytest

from skillassay.contract.contract import build_contract
from skillassay.contract.frozen import frozen_differences, require_whole
from skillassay.contract.groups import FIELDS, GROUPS, RESULT, absent, fields_of, unstated
from skillassay.errors import StoreError
from skillassay.schema import load_schema, schema_problems
from tests.contract.frozen import any_groups

NAMED = {
    "identity": "id version owner purpose risk_class",
    "candidate": "config_id config_version config_digest provider surface model_revision_evidence",
    "dataset": "id version snapshot_time provenance license slice_manifest leakage_status",
    "expected": "oracle_types artifact acceptable_variants abstention_policy",
    "scoring": "scorer_id scorer_version code_digest metric error_policy",
    "judgment": "judge_id judge_version judge_prompt_digest rubric_id_version order_policy abstention "
    "human_adjudication",
    "environment": "id surface tool_source_snapshot locale time retry_sampling_policy",
    "gate": "slice_thresholds critical_zero_tolerance variance_limit over_refusal_limit manual_block_rule",
    "result": "run_id start end attempts slice_results failures uncertainties decision approval_id",
}
"""The fields that an evaluation contract must have."""


@pytest.mark.parametrize("group", NAMED)
def test_every_field_that_a_contract_needs_is_in_the_table(group: str) -> None:
    """In its group; a group may have more."""
    assert set(NAMED[group].split()) <= {field.name for field in fields_of(group)}
    assert list(NAMED) == list(GROUPS)


def test_no_field_is_there_twice_or_without_its_consequence() -> None:
    """Each says in words what nobody can tell without it."""
    assert len({field.path for field in FIELDS}) == len(FIELDS)
    assert all(len(field.missing.split()) > 3 for field in FIELDS)


def test_the_schema_is_the_tables() -> None:
    """Each group requires each of its fields and no other; only the result may be missing yet."""
    schema = load_schema("run-contract")
    assert schema["required"] == [group for group in GROUPS if group != RESULT]
    for group in GROUPS:
        body = schema["properties"][group]
        assert body["required"] == list(body["properties"]) == [field.name for field in fields_of(group)]


@pytest.mark.parametrize("field", [f for f in FIELDS if f.key and "…" not in f.key], ids=lambda field: field.path)
def test_what_is_written_has_a_place_in_the_contracts_schema(field: Any) -> None:
    """No page tells anybody to write what the reader would refuse."""
    for key in field.key.split(", "):
        body: Any = load_schema("contract")
        for name in key.split("."):
            body = body["properties"][name]


def test_groups_of_fitting_values_are_whole() -> None:
    """The header of a run that has begun has no result yet, and lacks nothing."""
    groups = any_groups()
    assert schema_problems(groups, "run-contract") == []
    assert list(absent(groups, ended=False)) == []
    assert [path.split(".")[0] for path in absent(groups, ended=True)] == [RESULT] * len(fields_of(RESULT))
    assert require_whole({"id": "r", "contract": {"groups": groups}}, None) == groups


@pytest.mark.parametrize("contract", [None, 3, {}, {"groups": None}, {"groups": []}])
def test_what_is_no_contract_is_refused(contract: Any) -> None:
    """Whatever somebody's file holds there."""
    with pytest.raises(StoreError, match="lacks all groups"):
        require_whole({"id": "r", "contract": contract}, None)


def test_a_group_that_is_no_object_lacks_its_fields() -> None:
    """And is told like one that is not there."""
    groups = any_groups() | {"scoring": "skillassay"}
    with pytest.raises(StoreError, match=r"lacks scoring\.scorer_id: it is unknown which program scored"):
        require_whole({"id": "r", "contract": {"groups": groups}}, None)


def test_an_unknown_field_is_no_contract_of_this_version() -> None:
    """What nobody reads is not passed over."""
    groups = any_groups()
    groups["gate"]["mercy"] = True
    with pytest.raises(StoreError, match="unknown field 'mercy'"):
        require_whole({"id": "r", "contract": {"groups": groups}}, None)


def test_unstated_are_the_fields_that_only_a_contract_can_say() -> None:
    """A contract of one line states none of them, and a run's groups say the same of themselves."""
    contract = build_contract({"contract": 1})
    assert contract.unstated == tuple(field.path for field in FIELDS if field.must_be_written)
    groups = any_groups()
    assert unstated(groups) == ("identity.risk_class",)[: groups["identity"]["risk_class"] is None]
    groups["dataset"]["license"] = None
    assert "dataset.license" in unstated(groups)


def test_differences_are_told_by_leaf_and_type() -> None:
    """A key of an object by its name, and 1 is not true."""
    old, new = any_groups(), any_groups()
    new["environment"]["surface"] = {"x": "x", "more": {"deep": 1}}
    old["gate"]["other_limits"], new["gate"]["other_limits"] = {"a": 1, "b": "c"}, {"a": True, "b": "c"}
    paths = ["environment.surface", "gate.other_limits", "scoring.code_digest"]
    assert frozen_differences(old, new, paths) == (
        "environment.surface.more.deep: nothing and 1",
        "gate.other_limits.a: 1 and true",
    )
