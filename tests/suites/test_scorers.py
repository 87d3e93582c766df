"""A suite's default scorer: an expected value is the check that an author would have written."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.checks import build_check, evaluate
from skillassay.checks.base import Verdict
from skillassay.suites.case import NOTHING_TO_SCORE, SuiteReading, load_suite
from skillassay.suites.facts import CaseFacts
from skillassay.suites.lints.expected import expected_values
from skillassay.suites.scorers import BAD_EXPECTED, CHECK_ID, with_expected

BARE: dict[str, Any] = {"id": "a", "skill": "s", "query": "q"}
FIGURE = {"type": "numeric_range", "decimal": "."}


def reading(folder: Path, scorer: Any, *cases: dict[str, Any]) -> SuiteReading:
    """What a suite with this scorer gives; None writes no scorer."""
    path = folder / "quality.json"
    head = {} if scorer is None else {"default_scorer": scorer}
    path.write_text(json.dumps({"suite": "q", "version": "1", **head, "cases": list(cases)}), encoding="utf-8")
    return load_suite(path, shown_as="quality.json")


def check_of(scorer: dict[str, Any], expected: Any) -> dict[str, Any]:
    """The one check of a case with this expected value."""
    body, problem = with_expected(BARE | {"expected": expected}, scorer)
    assert problem is None
    (check,) = body["checks"]
    return dict(check)


@pytest.mark.parametrize(
    ("scorer", "expected", "own"),
    [
        ({"type": "exact", "normalize": True}, "yes", {"type": "exact", "normalize": True, "text": "yes"}),
        ({"type": "contains"}, "yes", {"type": "contains", "text": "yes"}),
        ({"type": "json_equal", "fence": "allow"}, None, {"type": "json_equal", "fence": "allow", "value": None}),
        ({"type": "json_equal"}, {"n": [1, 2]}, {"type": "json_equal", "value": {"n": [1, 2]}}),
        (FIGURE, 42, FIGURE | {"min": 42, "max": 42}),
        (FIGURE | {"tolerance": 0.1}, 0.2, FIGURE | {"min": 0.1, "max": 0.3}),
        (FIGURE | {"tolerance": 0.5}, 1, FIGURE | {"min": 0.5, "max": 1.5}),
        ({"type": "exact", "file": "out.txt"}, "yes", {"type": "exact", "file": "out.txt", "text": "yes"}),
    ],
)
def test_a_case_is_one_with_the_check_written_out(
    tmp_path: Path, scorer: dict[str, Any], expected: Any, own: dict[str, Any]
) -> None:
    """The same case to the last field, digest too, and the same suite: only how it was written differs."""
    short = reading(tmp_path, scorer, BARE | {"expected": expected}).suite
    written = reading(tmp_path, None, BARE | {"checks": [{"id": CHECK_ID, **own}]}).suite
    assert short is not None
    assert written is not None
    (one,), (other,) = short.cases, written.cases
    assert (one.checks, one.digest, one.normal) == (other.checks, other.digest, other.normal)
    assert all(getattr(one, name) == getattr(other, name) for name in CaseFacts.__dataclass_fields__)
    assert short.digest == written.digest
    assert (one.n_criteria, one.n_judge_calls) == (1, 0)


def test_another_scorer_changes_the_cases_that_use_it_and_no_other(tmp_path: Path) -> None:
    """Their digests are over the check."""
    cases = (BARE | {"expected": "x"}, BARE | {"id": "b", "rubric": ["says x"]}, BARE | {"id": "c", "must_match": "x"})
    digests = []
    for scorer in ({"type": "exact"}, {"type": "contains"}, {"type": "contains", "note": "for people"}):
        suite = reading(tmp_path, scorer, *cases).suite
        assert suite is not None
        digests.append({case.id: case.digest for case in suite.cases})
    changed = {name for name in digests[0] if digests[0][name] != digests[1][name]}
    assert changed == {"a"}
    assert digests[1] == digests[2]


@pytest.mark.parametrize(
    ("scorer", "fields", "code", "words"),
    [
        ({"type": "exact"}, {}, NOTHING_TO_SCORE, "no expected for the suite's default_scorer"),
        (None, {"expected": "x"}, NOTHING_TO_SCORE, "no sound default_scorer"),
        ({"type": "exact"}, {"expected": 42}, BAD_EXPECTED, "is no text"),
        ({"type": "contains"}, {"expected": None}, BAD_EXPECTED, "is no text"),
        (FIGURE, {"expected": "42"}, BAD_EXPECTED, "is no number"),
        (FIGURE, {"expected": True}, BAD_EXPECTED, "is no number"),
        (FIGURE | {"tolerance": 1e-20}, {"expected": 1}, BAD_EXPECTED, "too many digits"),
        (FIGURE | {"tolerance": 1e-200}, {"expected": 1e200}, BAD_EXPECTED, "too far apart"),
        *(
            ({"type": "exact"}, {"expected": "x", name: value}, BAD_EXPECTED, f"scored by its {name}")
            for name, value in {
                "checks": [{"id": "k", "type": "contains", "text": "x"}],
                "must_match": "x",
                "must_not_match": "x",
                "rubric": ["says x"],
                "behavior": {"action": "assist", "refused": False, "required": "a", "forbidden": "b"},
            }.items()
        ),
    ],
)
def test_what_would_not_be_scored_as_written_is_refused(
    tmp_path: Path, scorer: Any, fields: dict[str, Any], code: str, words: str
) -> None:
    """At the case, with its reason."""
    found = reading(tmp_path, scorer, BARE | fields).findings
    assert [(one.code, words in one.message) for one in found] == [(code, True)]


@pytest.mark.parametrize("kind", ["regex", "not_contains", "json_valid", "line_count", "llm_judge", "other", 1])
def test_a_type_that_takes_no_value_is_no_default_scorer(tmp_path: Path, kind: Any) -> None:
    """Refused by the schema, and its cases have nothing to score them."""
    found = reading(tmp_path, {"type": kind}, BARE | {"expected": "x"})
    assert found.suite is None
    assert any("default_scorer.type" in one.message for one in found.findings)


@pytest.mark.parametrize("field", ["text", "value", "min", "max", "id", "samples"])
def test_the_field_of_the_value_is_not_fixed(tmp_path: Path, field: str) -> None:
    """What the case gives cannot be given for all."""
    found = reading(tmp_path, {"type": "exact", field: "x"}, BARE | {"expected": "x"})
    assert any(field in one.message and "default_scorer" in one.message for one in found.findings)


def test_the_lint_looks_for_the_expected_value(tmp_path: Path) -> None:
    """As for that of any check: a query that gives it away is found."""
    found = reading(tmp_path, {"type": "exact"}, BARE | {"expected": "Reimbursable"}).suite
    assert found is not None
    (value,) = expected_values(found.cases[0])
    assert (value.item, value.text, value.is_answer) == (CHECK_ID, "Reimbursable", True)


FIGURES = st.decimals(min_value=-999999, max_value=999999, places=3)


@given(expected=FIGURES, tolerance=st.decimals(min_value=0, max_value=999, places=3), answer=FIGURES)
def test_a_figure_passes_within_the_tolerance(expected: Decimal, tolerance: Decimal, answer: Decimal) -> None:
    """By the decimals that were written, both ends included."""
    spec = check_of(FIGURE | {"tolerance": float(tolerance)}, float(expected))
    for figure in (answer, expected, expected + tolerance, expected - tolerance):
        found = evaluate(build_check(spec, where="here"), f"{figure:f}").verdict
        assert found is (Verdict.PASS if abs(figure - expected) <= tolerance else Verdict.FAIL)
