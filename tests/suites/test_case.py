"""Suites and cases: what is read, and every way in which a suite can be wrong."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from skillassay.findings import Finding
from skillassay.schema import SCHEMA
from skillassay.suites.case import (
    BAD_FILE,
    BEHAVIOR_MARKS,
    DUPLICATE_ID,
    NOTHING_TO_SCORE,
    UNKNOWN_CHECK,
    Case,
    load_routing,
    load_suite,
)

CASE: dict[str, Any] = {"id": "a", "skill": "s", "query": "q", "rubric": ["names the total"]}
BEHAVIOR = {"action": "refuse", "refused": True, "required": "declines", "forbidden": "helps"}


def write(folder: Path, *cases: dict[str, Any], name: str = "quality.json") -> Path:
    """A suite of these cases, one case a line from line 4 on."""
    lines = ",\n".join(json.dumps(case) for case in cases)
    path = folder / name
    path.write_text('{"suite": "q",\n"version": "1",\n"cases": [\n' + lines + "\n]}\n", encoding="utf-8")
    return path


def read(folder: Path, *cases: dict[str, Any]) -> tuple[Case, ...]:
    """The cases of a suite that must be sound."""
    reading = load_suite(write(folder, *cases), shown_as="quality.json")
    assert reading.findings == ()
    assert reading.suite is not None
    return reading.suite.cases


def problems(folder: Path, *cases: dict[str, Any]) -> tuple[Finding, ...]:
    """The findings of a suite that must be broken."""
    reading = load_suite(write(folder, *cases), shown_as="quality.json")
    assert reading.suite is None
    return reading.findings


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        ({"rubric": []}, NOTHING_TO_SCORE, "neither check nor rubric"),
        ({"rubric": ["same", "same"]}, DUPLICATE_ID, "duplicate id 'c-"),
        ({"rubric": [{"id": "x", "text": "a"}, {"id": "x", "text": "b"}]}, DUPLICATE_ID, "duplicate id 'x'"),
        ({"checks": [{"id": "x", "type": "contains"}] * 2}, DUPLICATE_ID, "duplicate id 'x'"),
        (
            {"checks": [{"id": "x", "type": "t"}], "rubric": [{"id": "x", "text": "a"}]},
            DUPLICATE_ID,
            "duplicate id 'x'",
        ),
        ({"must_match": ["a", "a"]}, DUPLICATE_ID, "duplicate id 'must_match-"),
        ({"must_match": "a", "checks": [{"id": "must_match", "type": "t"}]}, DUPLICATE_ID, "duplicate id 'must_match'"),
        ({"behavior": BEHAVIOR, "checks": [{"id": "behavior.action", "type": "t"}]}, DUPLICATE_ID, "'behavior.action'"),
        ({"rubric": [{"id": "x", "text": "a", "explains": "no"}]}, UNKNOWN_CHECK, "explains 'no', not a check of it"),
        ({"rubric": [{"id": "x", "text": "a", "explains": "x"}]}, UNKNOWN_CHECK, "explains 'x'"),
        ({"files": ["missing.txt"]}, BAD_FILE, "No such file"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_problem_has_code_line_and_next_step(tmp_path: Path, change: dict[str, Any], code: str, words: str) -> None:
    """Each finding names the case's line (the second case stands in line 5) and says what to do."""
    (finding,) = problems(tmp_path, CASE | {"id": "first"}, CASE | change)
    assert (finding.code, finding.line, finding.path) == (code, 5, "quality.json")
    assert words in finding.message
    assert finding.hint


def test_a_second_case_of_one_id_is_found_at_its_line(tmp_path: Path) -> None:
    """The later one is the duplicate."""
    (finding,) = problems(tmp_path, CASE, CASE | {"id": "b"}, CASE)
    assert (finding.code, finding.line) == (DUPLICATE_ID, 6)


def test_all_problems_of_a_suite_come_at_once(tmp_path: Path) -> None:
    """One broken case hides no other."""
    codes = [f.code for f in problems(tmp_path, CASE | {"rubric": []}, CASE, CASE | {"id": "c", "files": ["no"]})]
    assert sorted(codes) == sorted([NOTHING_TO_SCORE, BAD_FILE, DUPLICATE_ID])


BROKEN: list[Any] = [
    {"id": "x", "skill": "s"},
    CASE | {"id": "x", "surprise": 1},
    CASE | {"id": "x", "rubric": [7]},
    CASE | {"id": "x", "checks": [{"type": "regex"}]},
    CASE | {"id": "X"},
    CASE | {"id": ["x"]},
    7,
    None,
    [],
]


@pytest.mark.parametrize("broken", BROKEN, ids=str)
@pytest.mark.parametrize("is_list", [False, True])
def test_a_case_of_broken_shape_hides_no_other(tmp_path: Path, broken: Any, is_list: bool) -> None:
    """All others are read and looked at, by their own lines; the suite cannot be used."""
    cases = [CASE | {"id": "first"}, broken, CASE | {"id": "empty", "rubric": []}]
    path = write(tmp_path, *cases)
    if is_list:
        path.write_text("[\n\n\n" + ",\n".join(map(json.dumps, cases)) + "\n]", encoding="utf-8")
    reading = load_suite(path, shown_as="quality.json")
    assert {(finding.code, finding.line) for finding in reading.findings} == {(SCHEMA, 5), (NOTHING_TO_SCORE, 6)}
    assert [(case.id, case.line) for case in reading.draft.cases] == [("first", 4), ("empty", 6)]
    assert (reading.suite, reading.is_complete) == (None, False)


def test_a_broken_case_has_an_id_all_the_same(tmp_path: Path) -> None:
    """A duplicate is found before the other case is mended."""
    found = problems(tmp_path, {"id": "a"}, CASE)
    assert {(finding.code, finding.line) for finding in found} == {(SCHEMA, 4), (DUPLICATE_ID, 5)}


@pytest.mark.parametrize(
    ("head", "name"), [({}, ""), ({"suite": 7, "version": "1"}, ""), ({"suite": "q", "version": None, "more": 1}, "q")]
)
def test_a_broken_head_hides_no_case(tmp_path: Path, head: dict[str, Any], name: str) -> None:
    """Name, version and unknown fields are one thing and the cases another."""
    path = tmp_path / "quality.json"
    path.write_text(json.dumps(head | {"cases": [CASE | {"rubric": []}]}), encoding="utf-8")
    reading = load_suite(path, shown_as="quality.json")
    assert {SCHEMA, NOTHING_TO_SCORE} == {finding.code for finding in reading.findings}
    assert (reading.suite, reading.is_complete, reading.draft.name) == (None, True, name)


@pytest.mark.parametrize(
    "text", ["7", "null", "{}", "[]", '{"suite": "q", "version": "1", "cases": 7}', '{"cases": []}']
)
def test_a_document_without_cases_is_no_suite(tmp_path: Path, text: str) -> None:
    """Findings, no case and no exception."""
    (tmp_path / "quality.json").write_text(text, encoding="utf-8")
    reading = load_suite(tmp_path / "quality.json", shown_as="quality.json")
    assert {finding.code for finding in reading.findings} == {SCHEMA}
    assert (reading.suite, reading.draft.cases, reading.is_complete) == (None, (), False)


def test_checks_in_short_form_are_counted(tmp_path: Path) -> None:
    """They come first and cannot carry samples; a check that merely has such an id is none of them."""
    written = {"id": "must_match-x", "type": "regex", "pattern": "x"}
    (case,) = read(tmp_path, CASE | {"must_match": ["x", "y"], "must_not_match": "z", "checks": [written]})
    assert (case.n_short_checks, len(case.checks), case.checks[3]["id"]) == (3, 4, "must_match-x")


def test_ids_of_text_criteria_do_not_hang_on_their_order(tmp_path: Path) -> None:
    """An id is ``c-`` and the first eight hex digits of the text's SHA-256, wherever it stands."""
    texts = ["names the total", "nomme le total", "is in French"]
    expected = {text: f"c-{hashlib.sha256(text.encode()).hexdigest()[:8]}" for text in texts}
    for rubric in (texts, texts[::-1]):
        (case,) = read(tmp_path, CASE | {"rubric": rubric})
        assert {item.text: item.id for item in case.rubric} == expected


def test_ids_of_short_patterns_do_not_hang_on_their_order(tmp_path: Path) -> None:
    """A list of patterns has ids by content; a single pattern is called by its field."""
    (one,) = read(tmp_path, CASE | {"must_match": ["x", "y"], "must_not_match": "z"})
    (two,) = read(tmp_path, CASE | {"must_match": ["y", "x"], "must_not_match": "z"})
    by_pattern = [{check["pattern"]: (check["id"], check["type"]) for check in case.checks} for case in (one, two)]
    assert by_pattern[0] == by_pattern[1]
    assert by_pattern[0]["z"] == ("must_not_match", "not_regex")


def test_criteria_keep_their_flags(tmp_path: Path) -> None:
    """What the author wrote is what judge and gate see; notes are dropped."""
    item = {
        "id": "x",
        "text": "t",
        "critical": True,
        "explains": "k",
        "may_abstain": True,
        "absence": True,
        "note": "n",
    }
    (case,) = read(tmp_path, CASE | {"checks": [{"id": "k", "type": "contains", "text": "a"}], "rubric": [item]})
    (criterion,) = case.rubric
    assert (criterion.critical, criterion.explains, criterion.may_abstain, criterion.absence) == (True, "k", True, True)


@pytest.mark.parametrize(
    ("change", "n"),
    [
        ({}, 1),
        ({"must_match": ["a", "b"], "rubric": ["x", "y"]}, 4),
        ({"behavior": BEHAVIOR, "rubric": []}, 4),
        ({"behavior": BEHAVIOR, "must_match": "a"}, 6),
    ],
)
def test_the_denominator_counts_every_verdict(tmp_path: Path, change: dict[str, Any], n: int) -> None:
    """Checks, criteria, and four for a behaviour."""
    (case,) = read(tmp_path, CASE | change)
    assert case.n_criteria == n
    assert len(BEHAVIOR_MARKS) == 4


def test_a_plain_list_is_named_after_its_file(tmp_path: Path) -> None:
    """It has version 0, and its cases have their lines."""
    path = tmp_path / "seed.json"
    path.write_text("[\n" + json.dumps(CASE) + ",\n" + json.dumps(CASE | {"id": "b"}) + "]", encoding="utf-8")
    suite = load_suite(path, shown_as="evals/seed.json").suite
    assert suite is not None
    assert (suite.name, suite.version, [case.line for case in suite.cases]) == ("seed", "0", [2, 3])


def test_yaml_and_json_suites_are_one(tmp_path: Path) -> None:
    """The format changes no digest."""
    (case,) = read(tmp_path, CASE)
    text = "suite: q\nversion: '1'\ncases:\n- {id: a, skill: s, query: q, rubric: [names the total]}\n"
    (tmp_path / "q.yaml").write_text(text, encoding="utf-8")
    suite = load_suite(tmp_path / "q.yaml", shown_as="q.yaml").suite
    assert suite is not None
    assert suite.cases[0].digest == case.digest


def test_routing_cases_are_read_with_their_lines(tmp_path: Path) -> None:
    """An empty list of skills says that none is expected; no list of scripts says nothing about scripts."""
    path = write(tmp_path, {"id": "a", "query": "q", "expect": {"skills": []}}, name="routing.json")
    (case,), findings = load_routing(path, shown_as="routing.json")
    assert findings == ()
    assert (case.expect_skills, case.expect_scripts, case.line, case.suite) == ((), None, 4, "q")


def test_duplicate_routing_ids_are_found(tmp_path: Path) -> None:
    """Routing cases have ids of their own."""
    body = {"id": "a", "query": "q", "expect": {"skills": ["s"]}}
    cases, (finding,) = load_routing(write(tmp_path, body, body), shown_as="routing.json")
    assert len(cases) == 2
    assert (finding.code, finding.line) == (DUPLICATE_ID, 5)


def test_a_broken_routing_case_hides_no_other(tmp_path: Path) -> None:
    """The sound ones are read, duplicates are found."""
    body = {"id": "a", "query": "q", "expect": {"skills": ["s"]}}
    cases, findings = load_routing(write(tmp_path, body, {"id": "b"}, body), shown_as="routing.json")
    assert [case.line for case in cases] == [4, 6]
    assert {(finding.code, finding.line) for finding in findings} == {(SCHEMA, 5), (DUPLICATE_ID, 6)}


def test_a_broken_file_is_one_finding(tmp_path: Path) -> None:
    """No suite and no exception."""
    (tmp_path / "quality.json").write_text("{", encoding="utf-8")
    reading = load_suite(tmp_path / "quality.json", shown_as="quality.json")
    assert (reading.suite, reading.is_complete, len(reading.findings)) == (None, False, 1)
    cases, findings = load_routing(tmp_path / "quality.json", shown_as="quality.json")
    assert (cases, len(findings)) == ((), 1)
