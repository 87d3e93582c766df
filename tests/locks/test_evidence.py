"""Evidence: its file, its strict reading, and every way in which it does not prove these bytes."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skillassay.locks.evidence import (
    EvidenceProblem,
    accepts,
    evidence_bytes,
    evidence_from_body,
    evidence_path,
    mismatches,
    parse_evidence,
    read_evidence,
)
from tests.locks.states import BOUND, body_of, bound, evidence_of, proven, sha, state_of

BODY = body_of("skills/greeter", sha("bytes"), "1.0.0")
STATE = state_of()
SKILL = evidence_of(STATE).body["skill"]


@pytest.mark.parametrize(
    ("skill", "path"),
    [("skills/x", "evals/evidence/skills/x.json"), (".", "evals/evidence/_root.json"), ("x", "evals/evidence/x.json")],
)
def test_a_file_is_named_by_the_skills_path(skill: str, path: str) -> None:
    """One file a skill, the project's root as one skill included."""
    assert evidence_path(skill) == path


def test_evidence_reads_back() -> None:
    """What was written is what is compared; the whole object stays at hand."""
    evidence = parse_evidence(evidence_bytes(BODY))
    assert (evidence.skill_path, evidence.skill_digest, evidence.grade) == ("skills/greeter", sha("bytes"), "fixture")
    assert evidence.body == BODY
    assert evidence.voided is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"evidence": 2}, "newer than 1"),
        ({"evidence": 0}, "not an evidence file"),
        ({"evidence": True}, "not an evidence file"),
        ({"evidence": "1"}, "not an evidence file"),
        ({"decision": {"grade": "gold"}}, "unknown grade"),
        ({"decision": "fixture"}, "lacks decision.grade"),
        ({"skill": {"path": "x", "version": "1.0.0"}}, "lacks skill.digest"),
        ({"skill": {"path": "x", "version": "1.0.0", "digest": 7}}, "lacks skill.digest"),
        ({"skill": []}, "lacks skill.path"),
        ({"cases": "abc"}, "lacks cases"),
        ({"cases": [["a", "b"]]}, "lacks cases"),
        ({"cases": {"a": 1}}, "lacks cases"),
        ({"cases": {}}, "covers no case"),
        ({"binding": {"digest": ""}}, "lacks binding.digest"),
        ({"catalog": None}, "lacks catalog"),
        ({"run": {}}, "lacks run.id"),
        ({"voided": False}, "reason in words"),
        ({"voided": " "}, "reason in words"),
        ({"attempts": 3}, "no count of earlier runs"),
        ({"attempts": {"passed": True, "failed": 0}}, "no count of earlier runs"),
        ({"attempts": {"passed": 0, "failed": -1}}, "no count of earlier runs"),
        ({"fixtures": "x"}, "lacks fixtures.digest"),
    ],
    ids=str,
)
def test_what_is_no_evidence_is_refused(change: dict[str, Any], words: str) -> None:
    """A wrong version, field or type is a problem in words, never an exception of another kind."""
    with pytest.raises(EvidenceProblem, match=words):
        evidence_from_body(BODY | change)


@pytest.mark.parametrize("data", [b"", b"null", b"[]", b"{", b"\xff", b'{"evidence": 1, "evidence": 1}', b"[" * 10**5])
def test_bytes_that_are_no_evidence(data: bytes) -> None:
    """Broken JSON and other values."""
    with pytest.raises(EvidenceProblem):
        parse_evidence(data)


@pytest.mark.parametrize(
    ("requires", "grade", "accepted"),
    [
        ("fixture", "fixture", True),
        ("fixture", "declared", True),
        ("fixture", "model", True),
        ("declared", "fixture", False),
        ("declared", "declared", True),
        ("declared", "model", True),
        ("model", "fixture", False),
        ("model", "declared", False),
        ("model", "model", True),
    ],
)
def test_a_stronger_grade_is_accepted(requires: str, grade: str, accepted: bool) -> None:
    """And a weaker one never."""
    assert accepts(requires, grade) is accepted


def test_fitting_evidence_has_no_mismatch() -> None:
    """It is about these bytes, cases and terms, and strong enough."""
    assert mismatches(evidence_of(STATE), STATE.expected) == ()


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        ({"voided": "the judge was broken"}, "voided", "the judge was broken"),
        ({"skill": BODY["skill"]}, "other-bytes", sha("bytes")[:12]),
        ({"skill": SKILL | {"path": "more/greeter"}}, "other-bytes", "about more/greeter, not skills/greeter"),
        ({"skill": SKILL | {"version": "1.0.1"}}, "other-bytes", "about 1.0.1, not 1.0.0"),
        ({"cases": {"quality/a": sha("other")}}, "other-cases", "quality/a"),
        ({"cases": {"quality/a": sha("case"), "quality/b": sha("b")}}, "other-cases", "cases that differ: quality/b"),
        ({"binding": {"digest": "c" * 64, "terms": BOUND}}, "other-contract", "not the digest of its terms"),
        ({"binding": {"digest": "c" * 64}}, "other-contract", "none are recorded"),
        ({"binding": bound(quality_min="3/4")}, "other-contract", "gate.quality_min 3/4, not 4/5"),
    ],
)
def test_each_mismatch_has_its_kind(change: dict[str, Any], kind: str, words: str) -> None:
    """One thing differs, one kind is found, and it says what differs."""
    ((found, message),) = mismatches(evidence_of(proven(STATE, **change)), STATE.expected)
    assert found == kind
    assert words in message


def test_a_weaker_grade_is_a_mismatch() -> None:
    """A fixture run is no model run."""
    ((kind, message),) = mismatches(evidence_of(STATE), replace(STATE.expected, requires="model"))
    assert kind == "too-weak"
    assert "passed as fixture, the lock requires model" in message


def test_all_mismatches_come_at_once() -> None:
    """Nothing hides behind the first."""
    evidence = evidence_of(proven(STATE, voided="x", cases={"q/z": "0"}, binding={"digest": "c"}))
    expected = replace(STATE.expected, requires="model", skill_digest="0")
    kinds = [kind for kind, _ in mismatches(evidence, expected)]
    assert kinds == ["voided", "other-bytes", "other-cases", "other-contract", "too-weak"]


def test_a_committed_file_is_read_with_crlf(tmp_path: Path) -> None:
    """A Windows checkout has the same bytes to hash, and so the same SHA-256."""
    path = tmp_path / evidence_path("skills/greeter")
    path.parent.mkdir(parents=True)
    data = evidence_bytes(BODY)
    for stored in (data, data.replace(b"\n", b"\r\n")):
        path.write_bytes(stored)
        found, evidence, problem = read_evidence(tmp_path, "skills/greeter")
        assert (found, problem) == (data, None)
        assert evidence is not None


def test_no_file_is_no_problem(tmp_path: Path) -> None:
    """Whether evidence is needed is the lock's question."""
    assert read_evidence(tmp_path, "skills/greeter") == (None, None, None)


def test_a_broken_file_is_a_problem_in_words(tmp_path: Path) -> None:
    """A folder in its place, or text that is no evidence."""
    path = tmp_path / evidence_path("x")
    path.mkdir(parents=True)
    assert "cannot be read" in (read_evidence(tmp_path, "x")[2] or "")
    (tmp_path / "evals/evidence/y.json").write_bytes(b"<<<<<<< HEAD\n")
    assert "not JSON" in (read_evidence(tmp_path, "y")[2] or "")


def test_evidence_under_a_stricter_limit_counts() -> None:
    """``QUALITY_MIN=0.9`` proves what 0.8 asks for."""
    assert mismatches(evidence_of(proven(STATE, binding=bound(quality_min="9/10"))), STATE.expected) == ()


def test_a_pipe_in_its_place_is_not_waited_for(tmp_path: Path) -> None:
    """Nor is more read than evidence can be long."""
    path = tmp_path / evidence_path("x")
    path.parent.mkdir(parents=True)
    os.mkfifo(path)
    assert "is not a regular file" in (read_evidence(tmp_path, "x")[2] or "")
