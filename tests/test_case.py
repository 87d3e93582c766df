"""Suites and cases: what is read, and every way in which a suite can be wrong."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from skillassay.case import (
    BAD_FILE,
    BEHAVIOR_MARKS,
    DUPLICATE_ID,
    NOTHING_TO_SCORE,
    UNKNOWN_CHECK,
    Case,
    load_routing,
    load_suite,
)
from skillassay.findings import Finding

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
    suite, findings = load_suite(write(folder, *cases), shown_as="quality.json")
    assert findings == ()
    assert suite is not None
    return suite.cases


def problems(folder: Path, *cases: dict[str, Any]) -> tuple[Finding, ...]:
    """The findings of a suite that must be broken."""
    suite, findings = load_suite(write(folder, *cases), shown_as="quality.json")
    assert suite is None
    return findings


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
    assert codes == [NOTHING_TO_SCORE, BAD_FILE, DUPLICATE_ID]


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
    suite, findings = load_suite(path, shown_as="evals/seed.json")
    assert findings == ()
    assert suite is not None
    assert (suite.name, suite.version, [case.line for case in suite.cases]) == ("seed", "0", [2, 3])


def test_yaml_and_json_suites_are_one(tmp_path: Path) -> None:
    """The format changes no digest."""
    (case,) = read(tmp_path, CASE)
    text = "suite: q\nversion: '1'\ncases:\n- {id: a, skill: s, query: q, rubric: [names the total]}\n"
    (tmp_path / "q.yaml").write_text(text, encoding="utf-8")
    suite, _ = load_suite(tmp_path / "q.yaml", shown_as="q.yaml")
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
    assert cases == ()
    assert (finding.code, finding.line) == (DUPLICATE_ID, 5)


def test_a_broken_file_is_one_finding(tmp_path: Path) -> None:
    """No suite and no exception."""
    (tmp_path / "quality.json").write_text("{", encoding="utf-8")
    for load in (load_suite, load_routing):
        nothing, findings = load(tmp_path / "quality.json", shown_as="quality.json")
        assert not nothing
        assert len(findings) == 1
