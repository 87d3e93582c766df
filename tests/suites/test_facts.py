"""What a case says about itself: how its facts are read, what must come with them, and what contradicts itself."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from skillassay.schema import SCHEMA, load_schema
from skillassay.suites.facts import (
    BAD_DATE,
    NO_ORACLE,
    ORACLES,
    PART_DIFFERS,
    PARTS,
    SEVERITY_DIFFERS,
    Incident,
    SourceSnapshot,
)
from tests.suites.test_case import BEHAVIOR, CASE, problems, read

INCIDENT = {"id": "INC-7", "root_cause": "The cap was read from another column."}
SNAPSHOT = {"source": "https://example.org/rates", "taken_at": "2027-02-01"}
FRESH = {"part": "freshness", "source_snapshot": SNAPSHOT, "effective_date": "2027-01-01"}
REFERENCES: dict[str, Any] = {
    "positive": [{"action": "refuse", "response": "I cannot.", "refused": True}],
    "negative": [{"action": "refuse", "response": "I cannot, but here.", "refused": True, "violates": "helps"}],
    "provenance": "ours",
}
CHECK = {"checks": [{"id": "k", "type": "contains", "text": "a"}]}


def test_the_words_are_those_of_the_schema() -> None:
    """Parts and oracles are one list for reader and editor."""
    fields = load_schema("suite")["definitions"]["case"]["properties"]
    assert [tuple(fields[name]["enum"]) for name in ("part", "oracle_type")] == [PARTS, tuple(ORACLES)]


def test_a_case_that_says_nothing_has_its_defaults(tmp_path: Path) -> None:
    """Representative, of no told severity, without origin or references."""
    (case,) = read(tmp_path, CASE)
    assert (case.part, case.severity, case.acceptable_variants) == ("representative", None, ())
    assert (case.incident, case.source_snapshot, case.effective_date, case.references) == (None, None, None, None)


def test_facts_are_read_as_written(tmp_path: Path) -> None:
    """Each field arrives with its kind: days as days, parts as their own data."""
    fresh = FRESH | {"id": "b", "acceptable_variants": ["12 EUR", "douze euros"]}
    past, now = read(tmp_path, CASE | {"part": "failure_corpus", "incident": INCIDENT}, CASE | fresh)
    assert past.incident == Incident(**INCIDENT)
    assert now.source_snapshot == SourceSnapshot(source=SNAPSHOT["source"], taken_at=date(2027, 2, 1))
    assert now.effective_date == date(2027, 1, 1)
    assert now.acceptable_variants == ("12 EUR", "douze euros")


@pytest.mark.parametrize(
    ("change", "oracle"),
    [
        ({}, "rubric"),
        ({"reference": "r"}, "reference"),
        (CHECK, "rubric"),
        (CHECK | {"rubric": []}, "code"),
        (CHECK | {"rubric": [], "reference": "r"}, "code"),
        ({"behavior": BEHAVIOR, "rubric": []}, "rubric"),
        ({"oracle_type": "human"}, "human"),
        (CHECK | {"oracle_type": "code"}, "code"),
    ],
    ids=str,
)
def test_the_oracle_is_derived_where_it_is_not_written(tmp_path: Path, change: dict[str, Any], oracle: str) -> None:
    """Code where checks alone decide, the reference where a judge compares with one, else the rubric."""
    (case,) = read(tmp_path, CASE | change)
    assert case.oracle_type == oracle


@pytest.mark.parametrize(
    ("change", "critical", "severity"),
    [
        ({"critical": True}, True, "critical"),
        ({"severity": "critical"}, True, "critical"),
        ({"severity": "critical", "critical": True}, True, "critical"),
        ({"severity": "high"}, False, "high"),
        ({"severity": "low", "critical": False}, False, "low"),
        ({"critical": False}, False, None),
    ],
    ids=str,
)
def test_critical_is_one_fact_in_two_words(
    tmp_path: Path, change: dict[str, Any], critical: bool, severity: str | None
) -> None:
    """A case called critical by its severity is one for the gate, and the other way round."""
    (case,) = read(tmp_path, CASE | change)
    assert (case.critical, case.severity) == (critical, severity)


@pytest.mark.parametrize(
    ("change", "missing"),
    [
        ({"part": "failure_corpus"}, {"incident"}),
        ({"part": "freshness"}, {"source_snapshot", "effective_date"}),
        ({"part": "freshness", "source_snapshot": SNAPSHOT}, {"effective_date"}),
        ({"part": "freshness", "effective_date": "2027-01-01"}, {"source_snapshot"}),
        ({"references": REFERENCES}, {"behavior"}),
        ({"part": "failure_corpus", "incident": {"id": "INC-7"}}, {"root_cause"}),
        (FRESH | {"source_snapshot": {"source": "s"}}, {"taken_at"}),
        *(
            ({"behavior": BEHAVIOR, "references": {k: v for k, v in REFERENCES.items() if k != field}}, {field})
            for field in REFERENCES
        ),
    ],
    ids=lambda value: "+".join(sorted(value)),  # in an order that no hash decides
)
def test_what_belongs_together_is_asked_for(tmp_path: Path, change: dict[str, Any], missing: set[str]) -> None:
    """The schema names each field that a part, or a group, cannot do without."""
    found = problems(tmp_path, CASE | {"id": "first"}, CASE | change)
    assert {(finding.code, finding.line) for finding in found} == {(SCHEMA, 5)}
    named = [re.findall(r"'(\w+)'", finding.message.partition("missing field ")[2]) for finding in found]
    assert {name for names in named for name in names} == missing


def test_a_missing_companion_says_whose_it_is(tmp_path: Path) -> None:
    """The reason stands behind the name of the field."""
    (finding,) = problems(tmp_path, CASE | {"part": "failure_corpus"})
    assert "missing field 'incident': a case of part failure_corpus names the incident" in finding.message


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        ({"severity": "low", "critical": True}, SEVERITY_DIFFERS, "severity is 'low' and critical is true"),
        ({"severity": "critical", "critical": False}, SEVERITY_DIFFERS, "severity is 'critical' and critical is false"),
        ({"oracle_type": "code"}, NO_ORACLE, "oracle_type is 'code' and the case has none of checks"),
        ({"oracle_type": "reference"}, NO_ORACLE, "none of reference, references"),
        (CHECK | {"rubric": [], "oracle_type": "rubric"}, NO_ORACLE, "none of rubric, behavior"),
        ({"incident": INCIDENT}, PART_DIFFERS, "the part is representative"),
        ({"incident": INCIDENT, "part": "challenge"}, PART_DIFFERS, "the part is challenge"),
        ({"effective_date": "2027-02-29"}, BAD_DATE, "effective_date: 2027-02-29 is no day"),
        ({"source_snapshot": SNAPSHOT | {"taken_at": "2027-13-01"}}, BAD_DATE, "source_snapshot: 2027-13-01"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_contradiction_is_an_error_at_its_case(tmp_path: Path, change: dict[str, Any], code: str, words: str) -> None:
    """It has code, line, case and next step, and the suite cannot be used."""
    (finding,) = problems(tmp_path, CASE | {"id": "first"}, CASE | change)
    assert (finding.code, finding.line) == (code, 5)
    assert finding.message.startswith("case 'a': ")
    assert words in finding.message
    assert finding.hint


@pytest.mark.parametrize("day", ["2027-1-1", "20270101", "2027-01-01T00:00:00Z", "2027-W01-1", "1 janvier 2027"])
def test_a_day_is_written_in_one_way(tmp_path: Path, day: str) -> None:
    """YYYY-MM-DD; what else a reader of dates would take is refused by the schema."""
    assert {f.code for f in problems(tmp_path, CASE | {"effective_date": day})} == {SCHEMA}
