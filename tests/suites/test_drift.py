"""Locked cases: appended freely, otherwise changed only under a version that says so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from skillassay.locks.lock import verify
from skillassay.locks.lockfile import LockedSuite
from skillassay.suites.drift import CASE_MOVED, SUITE_EDITED, SUITE_GONE, SUITE_WENT_BACK, suite_findings
from tests.locks.states import CASE_DIGEST, TERMS, lock_of, sha, state_of

LOCK = replace(lock_of([]), suites={"quality": LockedSuite(version="1.1.0", cases={"a": CASE_DIGEST, "b": sha("b")})})
A, B = {"a": CASE_DIGEST}, {"b": sha("b")}


def suite(version: str = "1.1.0", **cases: str) -> LockedSuite:
    """A suite as it is now."""
    return LockedSuite(version=version, cases=cases)


@pytest.mark.parametrize(
    ("suites", "code", "words"),
    [
        ({"quality": suite(a=sha("x"), **B)}, SUITE_EDITED, "case a changed under the same suite version"),
        ({"quality": suite(**B)}, SUITE_EDITED, "case a vanished under the same suite version"),
        ({}, SUITE_GONE, "suite quality is locked and gone, with 2 cases that no other suite has: a, b"),
        ({"new": suite(**A)}, SUITE_GONE, "with 1 cases that no other suite has: b"),
        ({"quality": suite("1.0.9", **A, **B)}, SUITE_WENT_BACK, "version went back from 1.1.0 to 1.0.9"),
        ({"quality": suite("1.1.0-rc.1", **A, **B)}, SUITE_WENT_BACK, "from 1.1.0 to 1.1.0-rc.1"),
        ({"quality": suite("1.1.0+x", a=sha("x"), **B)}, SUITE_EDITED, "case a changed"),
        ({"new": suite(a=sha("x"), **B)}, CASE_MOVED, "case a moved from suite quality to new and changed on the way"),
        ({"quality": suite("1.2.0", **B), "new": suite(a=sha("x"))}, CASE_MOVED, "case a moved"),
    ],
)
def test_what_a_locked_case_may_not_do(suites: dict[str, LockedSuite], code: str, words: str) -> None:
    """Each way has its code, and names suite and case."""
    (finding,) = suite_findings(suites, LOCK)
    assert finding.code == code
    assert words in finding.message
    assert finding.hint


@pytest.mark.parametrize(
    "suites",
    [
        {"quality": suite(**A, **B, c=sha("c"))},
        {"quality": suite("1.2.0", a=sha("x"))},
        {"quality": suite("spring", a=sha("x"))},
        {"renamed": suite("0.0.1", **A, **B)},
        {"quality": suite(**A), "new": suite(**B)},
    ],
    ids=["appended", "new version", "no semver", "renamed", "moved unchanged"],
)
def test_what_it_may_do(suites: dict[str, LockedSuite]) -> None:
    """More cases at any time, other cases under a later version, the same cases in another suite."""
    assert suite_findings(suites, LOCK) == []


def test_versions_that_are_no_semver_are_only_compared_for_equality() -> None:
    """There is no order to hold them to."""
    lock = replace(LOCK, suites={"quality": suite("spring", **A)})
    assert suite_findings({"quality": suite("autumn", a=sha("x"))}, lock) == []
    (finding,) = suite_findings({"quality": suite("spring", a=sha("x"))}, lock)
    assert finding.code == SUITE_EDITED


def test_a_check_of_the_lock_looks_at_suites() -> None:
    """They are part of what is locked."""
    state = state_of()
    assert [one.code for one in verify([state], {}, lock_of([state]), TERMS)] == [SUITE_GONE]
