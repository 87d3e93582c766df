"""A case's digest: what changes it, and what does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skillassay.canonical import digest_of
from tests.suites.test_case import BEHAVIOR, CASE, read
from tests.suites.test_facts import INCIDENT, REFERENCES, SNAPSHOT

CHECK = {"id": "k", "type": "regex", "pattern": "x", "samples": {"pass": ["x"], "fail": ["y"]}, "note": "n"}
CRITERION = {"id": "r", "text": "t", "note": "n"}
FULL: dict[str, Any] = {
    "id": "a",
    "skill": "s",
    "query": "q",
    "files": ["f.txt"],
    "must_match": ["m"],
    "must_not_match": "n",
    "checks": [CHECK],
    "rubric": [CRITERION, "a text"],
    "behavior": BEHAVIOR,
    "reference": "the right answer",
    "critical": True,
    "severity": "critical",
    "part": "failure_corpus",
    "incident": INCIDENT,
    "oracle_type": "human",
    "acceptable_variants": ["another right answer"],
    "source_snapshot": SNAPSHOT,
    "effective_date": "2027-01-01",
    "references": REFERENCES,
    "slice": "hard",
    "expect": {"skills": ["s"], "scripts": ["x.py"]},
    "note": "for people",
}
COUNTED: list[dict[str, Any]] = [
    {"id": "b"},
    {"skill": "t"},
    {"query": "q "},
    {"files": ["g.txt"]},
    {"files": []},
    {"must_match": ["m", "o"]},
    {"must_match": []},
    {"must_not_match": "o"},
    {"checks": []},
    {"checks": [CHECK | {"pattern": "y"}]},
    {"checks": [CHECK | {"type": "not_regex"}]},
    {"checks": [CHECK | {"ignore_case": True}]},
    {"checks": [CHECK | {"id": "l"}]},
    {"rubric": ["a text", CRITERION]},
    {"rubric": [CRITERION]},
    *({"rubric": [CRITERION | change, "a text"]} for change in ({"text": "u"}, {"id": "s"}, {"critical": True})),
    *({"rubric": [CRITERION | change, "a text"]} for change in ({"explains": "k"}, {"absence": True})),
    {"rubric": [CRITERION | {"may_abstain": True}, "a text"]},
    *({"behavior": BEHAVIOR | {field: value}} for field, value in (("action", "assist"), ("refused", False))),
    *({"behavior": BEHAVIOR | {field: "other"}} for field in ("required", "forbidden")),
    {"reference": "another answer"},
    {"critical": False, "severity": "low"},
    {"incident": INCIDENT | {"id": "INC-8"}},
    {"incident": INCIDENT | {"root_cause": "other"}},
    {"part": "freshness", "incident": []},
    {"oracle_type": "code"},
    {"acceptable_variants": ["a third one"]},
    {"source_snapshot": SNAPSHOT | {"source": "other"}},
    {"source_snapshot": SNAPSHOT | {"taken_at": "2027-02-02"}},
    {"effective_date": "2027-01-02"},
    {"references": REFERENCES | {"provenance": "other"}},
    *({"references": REFERENCES | {side: REFERENCES[side] * 2}} for side in ("positive", "negative")),
    {"slice": "easy"},
    {"expect": {"skills": []}},
    {"expect": {"skills": ["s"], "scripts": []}},
]
FREE: list[dict[str, Any]] = [
    {"note": "other words"},
    {"checks": [CHECK | {"note": "other"}]},
    {"checks": [CHECK | {"samples": {"pass": ["xx"]}}]},
    {"checks": [{key: CHECK[key] for key in ("pattern", "type", "id")}]},
    {"rubric": [CRITERION | {"note": "other"}, "a text"]},
    {"severity": []},
    {"critical": []},
    {"rubric": [CRITERION | {"critical": False, "absence": False, "may_abstain": False}, "a text"]},
]


def digest(folder: Path, case: dict[str, Any]) -> str:
    """The digest of one case beside two files."""
    (folder / "f.txt").write_text("f", encoding="utf-8")
    (folder / "g.txt").write_text("f", encoding="utf-8")
    case = {key: value for key, value in case.items() if value != []}
    return read(folder, case)[0].digest


@pytest.mark.parametrize("change", COUNTED, ids=str)
def test_what_is_asked_and_scored_counts(tmp_path: Path, change: dict[str, Any]) -> None:
    """Any field that a candidate, a check, a judge or the gate sees changes the digest."""
    assert digest(tmp_path, FULL | change) != digest(tmp_path, FULL)


@pytest.mark.parametrize("change", FREE, ids=str)
def test_notes_samples_and_written_out_defaults_are_free(tmp_path: Path, change: dict[str, Any]) -> None:
    """Words for people, samples, the order of fields and a default written out change nothing."""
    assert digest(tmp_path, FULL | change) == digest(tmp_path, FULL)


def test_defaults_written_out_are_free(tmp_path: Path) -> None:
    """``critical: false``, an empty ``expect``, the usual part and the derived oracle say what their absence says."""
    written = {"critical": False, "expect": {}, "part": "representative", "oracle_type": "rubric"}
    assert digest(tmp_path, CASE | written) == digest(tmp_path, CASE)


@pytest.mark.parametrize(("one", "other"), [("low", "high"), ("low", None), ("critical", None)])
def test_a_severity_counts(tmp_path: Path, one: str, other: str | None) -> None:
    """Another one, and one where there was none."""
    plain = {} if other is None else {"severity": other}
    assert digest(tmp_path, CASE | {"severity": one}) != digest(tmp_path, CASE | plain)


def test_a_case_without_facts_keeps_the_digest_it_had(tmp_path: Path) -> None:
    """Evidence from before there were these fields stays valid: the normal form is spelled out here."""
    criterion = {"id": "r", "text": "t", "critical": False, "explains": None, "may_abstain": False, "absence": False}
    normal = {
        "id": "a",
        "skill": "s",
        "query": "q",
        "reference": "x",
        "critical": True,
        "slice": "hard",
        "files": [],
        "checks": [],
        "rubric": [criterion],
    }
    case = {"id": "a", "skill": "s", "query": "q", "reference": "x", "critical": True, "slice": "hard"}
    assert digest(tmp_path, case | {"rubric": [CRITERION]}) == digest_of(normal)


def test_short_forms_are_their_long_forms(tmp_path: Path) -> None:
    """``must_match`` is a regex check of that id."""
    long = {"checks": [{"id": "must_match", "type": "regex", "pattern": "m"}]}
    assert digest(tmp_path, CASE | {"must_match": "m"}) == digest(tmp_path, CASE | long)


def test_the_bytes_of_a_file_count(tmp_path: Path) -> None:
    """Under the same name, other content is another case; CRLF alone is not."""
    case = CASE | {"files": ["data.csv"]}
    digests = []
    for data in (b"a\n", b"a\r\n", b"b\n"):
        (tmp_path / "data.csv").write_bytes(data)
        digests.append(read(tmp_path, case)[0].digest)
    assert digests[0] == digests[1] != digests[2]


def test_every_field_of_a_case_is_in_one_of_the_tables(tmp_path: Path) -> None:
    """A field added to the schema must be put on one side or the other.

    But ``expected``, which stands beside no other way to score: ``test_scorers`` has it.
    """
    from skillassay.schema import load_schema

    fields = set(load_schema("suite")["definitions"]["case"]["properties"]) - {"expected"}
    assert fields == set(FULL)
    assert {field for change in COUNTED for field in change} | {"note"} == fields
