"""Acceptance of what a decision tells: slices, spread over repeats, and its JSON to the field."""

from __future__ import annotations

import json
from html import unescape
from typing import Any

import pytest

from skillassay.printable import width
from skillassay.schema import load_schema, schema_problems
from tests.acceptance.gated import build_behaving, checked, refused
from tests.endtoend.scripted import MODES
from tests.models.wire_server import Canned, WireServer, reply
from tests.project import (
    REPOSITORY,
    Cli,
    Ran,
    build_small,
    run_folder,
)


def answered(*texts: str) -> list[Canned]:
    """What a model says, one reply a call."""
    return [reply({"text": text}) for text in texts]


def live(cli: Cli, monkeypatch: pytest.MonkeyPatch, replies: list[Canned], *arguments: str, **contract: Any) -> Ran:
    """Three repeats of one case in progressive, answered over the wire in this order."""
    gate = {"min_cases": 1, **contract.pop("gate", {})}
    build_small(cli.root, cases=[checked("one", slice="talk")], rules=[], gate=gate, **contract)
    with WireServer(*replies) as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        monkeypatch.setenv("GEMINI_API_KEY", "k")
        return cli("eval", "--mode", "progressive", "--model", "gemini:m", "--jobs", "1", *arguments)


def test_a_flaky_case_is_named_and_its_spread_has_a_limit(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """1, 0 and 1 of 1: variance 1/3, by the definition ((2 (1/3)^2 + (2/3)^2) / 2); pass^3 0, pass^2 1/3, pass@2 1."""
    ran = live(
        cli,
        monkeypatch,
        answered("hello", "good day", "hello"),
        "--repeats",
        "3",
        gate={"quality_min": 0, "variance_max": 0.33},
    )
    assert ran.code == 1
    _, broken = refused(cli)
    assert broken["variance"]["status"] == "failed"
    assert broken["variance"]["detail"] == ["one: variance 1/3 of 1, 0, 1, limit 0.33"]
    assert "flaky: one [progressive]: 2 of 3 repeats passed" in ran.out
    repeats = cli("gate", "--format", "json").json["repeats"]
    (case,) = repeats["cases"]
    assert (case["flaky"], case["variance"], case["passed"], case["scored"]) == (True, "1/3", 2, 3)
    rates = {rate["k"]: (rate["pass_all"], rate["pass_any"]) for rate in repeats["pass_k"] if rate["skill"] is None}
    assert rates == {1: (0.666667, 0.666667), 2: (0.333333, 1.0), 3: (0.0, 1.0)}


@pytest.mark.parametrize(
    ("repeats", "texts"), [("1", ["hello"]), ("3", ["hello", "hello"])], ids=["asked once", "an error"]
)
def test_a_spread_that_was_not_measured_is_open(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, repeats: str, texts: list[str]
) -> None:
    """A limit on the variance with one repeat, or with one that has no score, leaves the gate open."""
    broken_reply = Canned(status=400, body=b'{"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "x"}}')
    replies = [*answered(*texts), broken_reply]
    ran = live(cli, monkeypatch, replies, "--repeats", repeats, slices={"talk": {"variance_max": 1}})
    assert ran.code == 3
    _, broken = refused(cli)
    assert broken["variance"]["status"] == "undecided"
    assert broken["variance"]["limit"] == "talk <= 1"


def test_the_slice_report_has_every_field(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """N, valid N, attempts, distribution, pass^k, failures, severity, oracle type, judge disagreement, decision."""
    ran = live(
        cli, monkeypatch, answered("hello", "good day"), "--repeats", "2", slices={"talk": {}}, gate={"quality_min": 0}
    )
    (part,) = cli("gate", "--format", "json").json["slices"]
    assert part == {
        "name": "talk",
        "cases": 1,
        "cases_authored": 1,
        "severities": {"unrated": 1},
        "oracle_types": {"code": 1},
        "required": True,
        "not_applicable": None,
        "quality_min": None,
        "variance_max": None,
        "decision": "passed",
        "modes": {
            "progressive": {
                "planned": 2,
                "scored": 2,
                "passed": 1,
                "failed": 1,
                "attempts": 2,
                "distribution": [{"k": 0, "n": 1, "trials": 1}, {"k": 1, "n": 1, "trials": 1}],
                "pass_k": [
                    {"k": 1, "pass_all": 0.5, "pass_any": 0.5, "cases": 1, "cases_planned": 1},
                    {"k": 2, "pass_all": 0.0, "pass_any": 1.0, "cases": 1, "cases_planned": 1},
                ],
                "failures_by_severity": {"unrated": 1},
                "missing_required_capability": 0,
                "judge_disagreement": None,
            }
        },
    }
    flat = " ".join(ran.out.split())
    assert "slice talk: PASSED, required, 1 cases; severity unrated 1; oracle code 1" in flat
    assert "progressive: 2 of 2 scored in 2 attempts; k/n: 0/1 x 1, 1/1 x 1; pass^2 0, pass@2 1; failed 1" in flat
    assert "judge disagreement: not measured" in flat
    assert [text for text in ran.out.splitlines() if width(text) > 80] == []
    assert "slice talk: PASSED" in unescape(cli("report", "--format", "markdown").out)


def field_names(node: Any) -> set[str]:
    """Every field that a schema names."""
    if isinstance(node, dict):
        own = set(node["properties"]) if isinstance(node.get("properties"), dict) else set()
        return own.union(*(field_names(value) for value in node.values()))
    return set().union(*(field_names(item) for item in node)) if isinstance(node, list) else set()


def test_the_decision_as_json_is_documented_to_the_field() -> None:
    """Each field of the shipped schema stands in docs/reference/gate.md, and no object of it may have another."""
    page = (REPOSITORY / "docs/reference/gate.md").read_text(encoding="utf-8").partition("## `gate --format json`")[2]
    assert sorted(name for name in field_names(load_schema("gate")) if f"`{name}`" not in page) == []


@pytest.mark.parametrize("repeats", ["1", "2"])
def test_the_decision_as_json_has_the_shape_of_its_version(cli: Cli, repeats: str) -> None:
    """Format 1, whatever a run has: the output fits the schema, with and without slices, matrices and repeats."""
    build_behaving(cli, slices={"talk": {}, "cells": {"not_applicable": "no cells"}} if repeats == "2" else {})
    cli("eval", *MODES, "--repeats", repeats)
    shown = cli("gate", "--format", "json").json
    assert schema_problems(shown, "gate") == []
    for name in shown:
        cut = {key: value for key, value in shown.items() if key != name}
        assert (schema_problems(cut, "gate") == []) == (name == "review"), name


def test_gate_and_result_say_the_same(cli: Cli) -> None:
    """Decision, slices, matrices and repeats of ``result.json`` are what ``gate --format json`` prints."""
    build_behaving(cli, slices={"safety-over-refusal": {"required": False}})
    cli("eval", *MODES, "--repeats", "2")
    result = json.loads((run_folder(cli.root) / "result.json").read_text("utf-8"))
    shown = cli("gate", "--format", "json").json
    assert shown["gate_format"] == 1
    assert all(shown[name] == result["decision"][name] for name in result["decision"])
    assert all(shown[name] == result[name] for name in ("slices", "behavior", "repeats"))
