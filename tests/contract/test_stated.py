"""What `check` warns about in a sound contract: a suspicion of leakage, and minimum slices that nobody speaks of."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from skillassay.contract.contract import build_contract
from skillassay.contract.stated import LEAKAGE, MINIMUM_SLICES, UNLISTED, UNREASONED, stated_findings
from skillassay.findings import Severity

PAGE = Path(__file__).parents[2] / "docs/reference/slices.md"
EXCUSED: dict[str, Any] = {name: {"not_applicable": "why"} for name in MINIMUM_SLICES}


def told(**contract: Any) -> list[tuple[str, str]]:
    """Code and message of each finding about a contract; all are warnings."""
    findings = stated_findings(build_contract({"contract": 1, **contract}))
    assert {finding.severity for finding in findings} <= {Severity.WARNING}
    return [(finding.code, finding.message) for finding in findings]


def without(name: str, **more: Any) -> dict[str, Any]:
    """All minimum slices but one, and others."""
    return {key: value for key, value in EXCUSED.items() if key != name} | more


def test_the_minimum_is_the_pages() -> None:
    """The block to be copied from the reference page lists exactly these slices, in this order."""
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert list(yaml.safe_load(blocks[-1])["slices"]) == list(MINIMUM_SLICES)


def test_a_contract_without_slices_hears_nothing() -> None:
    """Nor does one that lists none in words."""
    assert told() == told(slices={}) == []


def test_all_seven_are_enough() -> None:
    """Excused with a reason, required, or required with a limit; other slices may stand beside them."""
    required: dict[str, Any] = {name: {} for name in MINIMUM_SLICES}
    assert told(slices=EXCUSED) == told(slices=required) == []
    assert told(slices=EXCUSED | {"tool-action": {"quality_min": 0.9}, "other": {"required": False}}) == []


@pytest.mark.parametrize("name", MINIMUM_SLICES)
def test_one_that_is_not_listed_is_named(name: str) -> None:
    """A contract that lists slices and passes over one of the seven."""
    assert told(slices=without(name)) == [
        (UNLISTED, f"slices: nothing is said of {name}, one of the 7 minimum slices"),
    ]


@pytest.mark.parametrize("name", MINIMUM_SLICES)
def test_one_that_is_not_required_needs_a_reason(name: str) -> None:
    """`required: false` alone says nothing about why."""
    assert told(slices=EXCUSED | {name: {"required": False}}) == [
        (UNREASONED, f"slices.{name}: a minimum slice that is not required, and nothing says why"),
    ]


def test_business_work_may_have_the_name_of_its_locale() -> None:
    """`japanese-business` stands for it, and is held to the same; another slice's name is not bent."""
    assert told(slices=without("business-work", **{"japanese-business": {}})) == []
    lax = told(slices=without("business-work", **{"japanese-business": {"required": False}}))
    assert [code for code, _ in lax] == [UNREASONED]
    bent = told(slices=without("long-context", **{"very-long-context": {}}))
    assert [code for code, _ in bent] == [UNLISTED]


def test_a_suspicion_of_leakage_is_told() -> None:
    """The default, written or not, is not."""
    assert [code for code, _ in told(dataset={"leakage": "suspected"})] == [LEAKAGE]
    assert told(dataset={"leakage": "none_known"}) == []
