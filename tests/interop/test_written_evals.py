"""Cases as evals.json and back, and gradings of trials that are not the usual ones."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillassay.documents import parse_document
from skillassay.interop.benchmark import summarise
from skillassay.interop.gradings import Graded, grade
from skillassay.interop.importing import read_import
from skillassay.interop.written_evals import build_evals, is_exact, statement_of
from skillassay.runs.plan import Mode
from skillassay.scoring.scores import Row
from skillassay.suites.case import parse_suite
from skillassay.suites.files import CaseFile
from skillassay.transcript import Usage
from tests.trials import plan_of, planned_case, scored, turn_limit

texts = st.text(alphabet="abc é☃\n'\"\\(<", min_size=1, max_size=12).filter(lambda text: text.strip() != "")
words = st.sampled_from(["hello", "a+b", "x'y\"z", "é ☃"])
checks: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.fixed_dictionaries({"type": st.sampled_from(["contains", "not_contains"]), "text": words}),
    st.fixed_dictionaries({"type": st.sampled_from(["regex", "not_regex"]), "pattern": words}),
    st.fixed_dictionaries({"type": st.just("contains"), "text": words, "ignore_case": st.just(True)}),
    st.fixed_dictionaries({"type": st.just("contains"), "text": words, "file": st.just("out.txt")}),
)


def _key(check: dict[str, Any]) -> str:
    return json.dumps(check, sort_keys=True)


fields: dict[str, st.SearchStrategy[Any]] = {
    "query": texts,
    "rubric": st.lists(texts, min_size=1, max_size=3, unique=True),
}
more: dict[str, st.SearchStrategy[Any]] = {
    "checks": st.lists(checks, max_size=3, unique_by=_key),
    "reference": texts,
}
cases = st.lists(
    st.fixed_dictionaries(fields, optional=more),
    min_size=1,
    max_size=4,
)


def normals(bodies: list[dict[str, Any]]) -> list[Any]:
    """The normal forms of these cases of the skill `s`, as a run keeps them."""
    suite = []
    for number, body in enumerate(bodies):
        own = [{"id": f"k{index}", **check} for index, check in enumerate(body.get("checks", ()))]
        suite.append({"id": f"c{number}", "skill": "s", **body, **({"checks": own} if own else {})})
    text = json.dumps({"suite": "q", "version": "1", "cases": suite})
    document, _ = parse_document(text, path="q.json", is_json=True)
    assert document is not None

    def read_file(name: str) -> CaseFile:
        raise AssertionError(name)

    reading = parse_suite(document, read_file=read_file)
    assert reading.suite is not None, reading.findings
    return [case.normal for case in reading.suite.cases]


@settings(max_examples=60, deadline=None)
@given(cases, st.sampled_from(["assertions", "expectations"]))
def test_what_is_written_is_read_back(bodies: list[dict[str, Any]], key: str) -> None:
    """Queries, references, statements and exact checks are the same; each other check is named."""
    before = normals(bodies)
    written = build_evals("s", before, key=key)
    imported = read_import(json.loads(json.dumps(written.document)), source=Path("nowhere/evals.json"))
    assert imported.lost == ()
    assert (imported.n_read, imported.n_refused, len(imported.cases)) == (len(before), 0, len(before))
    for case, back in zip(before, imported.cases, strict=True):
        assert back["query"] == case["query"]
        assert back.get("reference") == case.get("reference")
        assert back.get("rubric", []) == [one["text"] for one in case["rubric"]]
        exact = [one for one in case["checks"] if is_exact(one)]
        assert [_said(one) for one in back.get("checks", [])] == [_said(one) for one in exact]
    n_others = sum(not is_exact(one) for case in before for one in case["checks"])
    assert len(written.without) == n_others


def _said(check: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in check.items() if name not in {"id", "note"}}


@pytest.mark.parametrize(
    ("check", "statement"),
    [
        ({"id": "a", "type": "regex", "pattern": "x+"}, "The answer matches the pattern 'x+'"),
        ({"id": "a", "type": "not_contains", "text": "no"}, "The answer does not contain 'no'"),
        ({"id": "a", "type": "contains", "text": "no", "file": "o.txt"}, "o.txt contains 'no'"),
        ({"id": "rows", "type": "line_count", "min": 2}, "The answer holds by the check rows (line_count)"),
    ],
)
def test_a_check_has_words(check: dict[str, Any], statement: str) -> None:
    """What it looks at and what it asks for."""
    assert statement_of(check) == statement


CASE = {"id": "c", "checks": [], "rubric": [{"id": f"r{index}", "text": f"says {index}"} for index in range(2)]}
(TRIAL,) = plan_of(planned_case("c", n=2), modes=[Mode.NONE]).trials


def test_a_failure_without_an_answer_is_graded_as_failed() -> None:
    """Each statement, with the reason: it has a score, and that is none of two."""
    graded = grade(Row(planned=TRIAL, record=turn_limit(TRIAL)), CASE)
    assert graded.summary == {"passed": 0, "failed": 2, "total": 2, "pass_rate": 0.0}
    assert [one["text"] for one in graded.statements] == ["says 0", "says 1"]
    assert {one["evidence"] for one in graded.statements} == {"turn_limit: no answer"}
    assert graded.answer is None


def test_tokens_that_nobody_told_are_left_out() -> None:
    """And with them the characters of the answer, which the published reader would take for tokens."""
    record = scored(TRIAL, 1)
    unknown = replace(record, answer="abc", candidate=replace(record.candidate, usage=Usage(input_tokens=5, n_calls=1)))
    graded = grade(Row(planned=TRIAL, record=unknown), CASE)
    assert graded.tokens is None
    assert "total_tokens" not in graded.timing_json(is_guide=False)
    assert "output_chars" not in graded.metrics
    told = replace(unknown, candidate=replace(record.candidate, usage=Usage(input_tokens=5, output_tokens=2)))
    assert grade(Row(planned=TRIAL, record=told), CASE).tokens == 7


def graded_run(configuration: str, passed: int, seconds: float, tokens: int | None) -> Graded:
    """A grading with ``passed`` of four statements."""
    statements = tuple({"text": str(n), "passed": n < passed, "evidence": ""} for n in range(4))
    return Graded(
        case_id="c",
        configuration=configuration,
        repeat=1,
        answer="",
        statements=statements,
        seconds=seconds,
        tokens=tokens,
        started_at="",
        metrics={},
    )


def test_the_summary_by_hand() -> None:
    """Means, the deviation of the sample (of 1/4 and 3/4: the root of 1/8), and with minus without."""
    runs = [
        graded_run("without_skill", 2, 10.0, 100),
        graded_run("with_skill", 1, 4.0, 300),
        graded_run("with_skill", 3, 8.0, None),
    ]
    assert summarise(runs, is_guide=False) == {
        "with_skill": {
            "pass_rate": {"mean": 0.5, "stddev": 0.3536, "min": 0.25, "max": 0.75},
            "time_seconds": {"mean": 6.0, "stddev": 2.8284, "min": 4.0, "max": 8.0},
            "tokens": {"mean": 300.0, "stddev": 0.0, "min": 300.0, "max": 300.0},
        },
        "without_skill": {
            "pass_rate": {"mean": 0.5, "stddev": 0.0, "min": 0.5, "max": 0.5},
            "time_seconds": {"mean": 10.0, "stddev": 0.0, "min": 10.0, "max": 10.0},
            "tokens": {"mean": 100.0, "stddev": 0.0, "min": 100.0, "max": 100.0},
        },
        "delta": {"pass_rate": "+0.00", "time_seconds": "-4.0", "tokens": "+200"},
    }


@pytest.mark.parametrize("is_guide", [True, False])
def test_an_arm_without_a_score_has_no_figure_and_no_delta(is_guide: bool) -> None:
    """A zero would be read as a result."""
    summary = summarise([graded_run("with_skill", 4, 1.0, None)], is_guide=is_guide)
    assert set(summary) == {"with_skill", "delta"}
    assert summary["delta"] == {}
    assert "tokens" not in summary["with_skill"]
