"""Routing suites are append-only per version, like all suites: the lock keeps the digest of each of their cases."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.project import Cli, build_small, write_json

CASE = {"id": "r1", "query": "Greet me.", "expect": {"skills": ["greeter"]}}


def write(cli: Cli, *cases: dict[str, Any], version: str = "1.0.0") -> None:
    """Write the routing suite."""
    write_json(cli.root / "evals/routing.json", {"suite": "quality", "version": version, "cases": list(cases)})


@pytest.fixture
def locked(cli: Cli) -> Cli:
    """A locked project whose routing suite has the name of its quality suite."""
    build_small(cli.root)
    write(cli, CASE)
    assert cli("lock", "--no-evidence").code == 0
    return cli


def codes(cli: Cli) -> set[str]:
    """The findings about suites."""
    findings = cli("check", "--format", "json").json["findings"]
    return {one["code"] for one in findings if one["code"].startswith(("lock.suite", "lock.case"))}


def test_both_kinds_of_suites_are_in_the_lock(locked: Cli) -> None:
    """Under names of their own, so that a routing suite may be called like a quality suite."""
    suites = json.loads((locked.root / "skills.lock.json").read_text("utf-8"))["suites"]
    assert (sorted(suites), list(suites["routing:quality"]["cases"])) == (["quality", "routing:quality"], ["r1"])


@pytest.mark.parametrize(
    ("changed", "version", "found"),
    [
        ([CASE], "1.0.0", set()),
        ([CASE | {"note": "for people"}], "1.0.0", set()),
        ([CASE, CASE | {"id": "r2"}], "1.0.0", set()),
        ([CASE | {"query": "Greet us."}], "1.0.0", {"lock.suite-edited"}),
        ([CASE | {"expect": {"skills": []}}], "1.0.0", {"lock.suite-edited"}),
        ([CASE | {"id": "r2"}], "1.0.0", {"lock.suite-edited"}),
        ([CASE | {"query": "Greet us."}], "1.1.0", set()),
        ([CASE], "0.9.0", {"lock.suite-went-back"}),
    ],
    ids=["same", "note", "appended", "query", "expectation", "gone", "new-version", "backwards"],
)
def test_a_routing_case_changes_under_a_new_version_only(
    locked: Cli, changed: list[dict[str, Any]], version: str, found: set[str]
) -> None:
    """What a case asks and expects is kept; notes and further cases are free."""
    write(locked, *changed, version=version)
    assert codes(locked) == found
