"""The suites of a project: all problems of a file come in one run, and a suite is used whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillassay import project as parts
from skillassay.checks import CHECK_TYPES
from skillassay.errors import InputError
from skillassay.findings import Severity
from skillassay.locks.locking import check_lock
from skillassay.locks.relocking import prepare_lock, write_lock
from skillassay.project import load_project, require_usable
from skillassay.schema import SCHEMA
from skillassay.suites.case import BAD_FILE, DUPLICATE_ID, NOTHING_TO_SCORE, UNKNOWN_CHECK
from tests.project import write_json
from tests.test_project import SAMPLES, case, codes, errors, put_contract, put_suite, root

__all__ = ["root"]


@pytest.mark.parametrize(
    ("check", "code", "words", "severity"),
    [
        ({"id": "k", "type": "regexx", "pattern": "a"}, parts.BAD_CHECK, "did you mean 'regex'", Severity.ERROR),
        ({"id": "k", "type": "regex", "pattern": "("}, parts.BAD_CHECK, "check 'k'", Severity.ERROR),
        ({"id": "k", "type": "regex"}, parts.BAD_CHECK, "missing key 'pattern'", Severity.ERROR),
        ({"id": "k", "type": "regex", "pattern": "a."}, parts.NO_SAMPLES, "check 'k': no sample", Severity.WARNING),
        (
            {"id": "k", "type": "regex", "pattern": "a.", "samples": {"pass": ["b"], "fail": ["c"]}},
            parts.SAMPLE,
            "pass sample 'b'",
            Severity.ERROR,
        ),
        (
            {"id": "k", "type": "regex", "pattern": ".", "samples": {"pass": ["b"], "fail": ["c"]}},
            parts.SAMPLE,
            "fail sample 'c'",
            Severity.ERROR,
        ),
    ],
)
def test_checks_are_built_and_tried_before_a_run(
    root: Path, check: dict[str, Any], code: str, words: str, severity: Severity
) -> None:
    """Unknown types, bad patterns and samples that come out otherwise, at the case's line."""
    put_suite(root, case("a"), case("b"), case("c", checks=[check]))
    (finding,) = load_project(root).findings
    assert (finding.code, finding.severity, finding.path) == (code, severity, "evals/quality.json")
    assert words in finding.message
    assert finding.line is not None
    assert finding.hint


def test_a_check_with_good_samples_has_no_finding(root: Path) -> None:
    """Both samples come out as stated."""
    check = {"id": "k", "type": "regex", "pattern": "a.", "samples": SAMPLES}
    put_suite(root, case("a"), case("b"), case("c", checks=[check]))
    project = load_project(root)
    assert project.findings == ()
    assert [built.check_id for built in project.checks["quality", "c"]] == ["k"]


UNTRIED: list[dict[str, Any]] = [
    {"type": "exact", "text": "a"},
    {"type": "contains", "text": "a"},
    {"type": "not_contains", "text": "a"},
    {"type": "regex", "pattern": "a"},
    {"type": "not_regex", "pattern": "a"},
    {"type": "json_valid"},
    {"type": "json_equal", "value": 1},
    {"type": "numeric_range", "min": 1, "decimal": "."},
    {"type": "line_count", "max": 1},
]


@pytest.mark.parametrize("samples", [None, {}, {"pass": [], "fail": []}, "pass", "fail"], ids=str)
def test_every_check_without_both_kinds_of_samples_is_a_warning(root: Path, samples: Any) -> None:
    """Of every type, one warning a check, whatever stands beside it in its case."""
    answers = {"pass": {"exact": "a"}, "fail": {"exact": "b"}}
    checks = [check | {"id": f"k{index}"} for index, check in enumerate(UNTRIED)]
    if isinstance(samples, dict):
        checks = [check | {"samples": samples} for check in checks]
    elif samples is not None:
        checks = [{"id": "k0", "type": "exact", "text": "a", "samples": {samples: [answers[samples]["exact"]]}}]
    put_suite(root, case("a"), case("b"), case("c", checks=checks))
    found = load_project(root).findings
    assert {(finding.code, finding.severity) for finding in found} == {(parts.NO_SAMPLES, Severity.WARNING)}
    assert [f"check {check['id']!r}" in finding.message for check, finding in zip(checks, found, strict=True)]


def test_the_table_of_untried_checks_is_complete() -> None:
    """A new type is added to it."""
    assert sorted(check["type"] for check in UNTRIED) == sorted(CHECK_TYPES)


def test_short_forms_without_samples_are_notes(root: Path) -> None:
    """They cannot carry samples; the next step is the form that can."""
    put_suite(root, case("a"), case("b"), case("c", must_match=["a", "b"], must_not_match="c"))
    found = load_project(root).findings
    assert [(finding.code, finding.severity) for finding in found] == [(parts.NO_SAMPLES, Severity.NOTE)] * 3
    assert {finding.hint for finding in found} == {'write it under `checks` with "samples": {"pass": […], "fail": […]}'}


def case_at(root: Path, line: int | None) -> str:
    """The id of the case in whose lines a line lies; it stands below the case's brace."""
    rows = (root / "evals/quality.json").read_text(encoding="utf-8").split("\n")
    assert line is not None
    begin = max(number for number, row in enumerate(rows[:line], start=1) if row == "    {")
    return str(json.loads("{" + rows[begin].rstrip(",") + "}")["id"])


def put_all_problems(root: Path) -> list[tuple[str, str]]:
    """A suite with a problem of every kind, and (code, case) of each: no two in one case."""
    both = {"pass": ["a"], "fail": ["b"]}
    put_suite(
        root,
        {"id": "shape", "skill": "greeter", "rubric": ["r"]},
        case("extra", surprise=1),
        case("empty", rubric=[]),
        case("explains", rubric=[{"id": "c", "text": "t", "explains": "no"}]),
        case("twice", rubric=["same", "same"]),
        case("file", files=["gone.txt"]),
        case("skill", skill="nobody"),
        case("type", checks=[{"id": "k", "type": "regexx"}]),
        case("pattern", checks=[{"id": "k", "type": "regex", "pattern": "(", "samples": both}]),
        case("sample", checks=[{"id": "k", "type": "regex", "pattern": "z", "samples": both}]),
        case("untried", checks=[{"id": "k", "type": "contains", "text": "z"}]),
        case("short", must_match="z"),
        case("same"),
        case("same", query="another"),
    )
    return [
        (SCHEMA, "shape"),
        (SCHEMA, "extra"),
        (NOTHING_TO_SCORE, "empty"),
        (UNKNOWN_CHECK, "explains"),
        (DUPLICATE_ID, "twice"),
        (BAD_FILE, "file"),
        (parts.UNKNOWN_SKILL, "skill"),
        (parts.BAD_CHECK, "type"),
        (parts.BAD_CHECK, "pattern"),
        (parts.SAMPLE, "sample"),
        (parts.NO_SAMPLES, "untried"),
        (parts.NO_SAMPLES, "short"),
        (DUPLICATE_ID, "same"),
    ]


def test_all_problems_of_a_suite_come_in_one_run(root: Path) -> None:
    """A broken case hides nothing of the others, and every finding stands in the lines of its own case."""
    wanted = put_all_problems(root)
    found = [(finding.code, case_at(root, finding.line)) for finding in load_project(root).findings]
    assert sorted(found) == sorted(wanted)


@pytest.mark.parametrize("downgraded", [[], [SCHEMA, DUPLICATE_ID, BAD_FILE, NOTHING_TO_SCORE, UNKNOWN_CHECK]])
def test_a_partly_read_suite_is_not_in_the_project(root: Path, downgraded: list[str]) -> None:
    """Nothing of it is planned, locked or counted, whatever the contract makes of errors."""
    put_all_problems(root)
    put_suite(root, case("w"), name="more")
    suites = {"quality": ["evals/quality.json", "evals/more.json"]}
    put_contract(root, suites=suites, check={"downgrade": downgraded})
    project = load_project(root)
    assert [suite.name for suite in project.suites] == ["more"]
    assert [item.case.id for item in project.planned_cases()] == ["w"]
    assert list(project.checks) == list(project.case_skills) == [("more", "w")]
    assert {SCHEMA, DUPLICATE_ID, BAD_FILE, NOTHING_TO_SCORE, UNKNOWN_CHECK} <= set(codes(errors(project)))
    with pytest.raises(InputError):
        require_usable(project, "an evaluation")


def test_a_broken_suite_blocks_the_lock_with_its_own_findings(root: Path) -> None:
    """None of its cases is told to have vanished."""
    write_lock(root, prepare_lock(load_project(root), no_evidence=True))
    put_suite(root, case("a"), {"id": "b"}, case("c"))
    project = load_project(root)
    assert "lock.suite-edited" not in codes(check_lock(project).findings)
    with pytest.raises(InputError, match="nothing was locked") as caught:
        prepare_lock(project, no_evidence=True)
    assert set(codes(caught.value.findings)) == {SCHEMA}


def test_cases_are_counted_where_all_of_them_could_be_read(root: Path) -> None:
    """A duplicate does not hide that a skill has few cases; a case that cannot be read may be the one it lacks."""
    put_suite(root, case("a"), case("a"))
    assert parts.FEW_CASES in codes(load_project(root).findings)
    put_suite(root, case("a"), {"id": "b"})
    assert parts.FEW_CASES not in codes(load_project(root).findings)


def test_a_broken_routing_suite_hides_no_unknown_skill(root: Path) -> None:
    """Its sound cases are looked at, and none of them is in the project."""
    body = [{"id": "r", "query": "q", "expect": {"skills": ["nobody"]}}, {"id": "s"}]
    write_json(root / "evals/routing.json", {"suite": "routing", "version": "1", "cases": body})
    project = load_project(root)
    assert {SCHEMA, parts.UNKNOWN_SKILL} == set(codes(errors(project)))
    assert project.routing == ()
