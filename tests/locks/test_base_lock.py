"""The lock against an older one: what was locked again, lost or loosened in between."""

from __future__ import annotations

from dataclasses import replace

import pytest

from skillassay.locks.base_lock import LOOSENED, LOST_EVIDENCE, RELOCKED, base_findings
from skillassay.locks.lock import WENT_BACK, SkillState
from skillassay.locks.lockfile import Lock, LockedSuite
from skillassay.suites.drift import SUITE_EDITED, SUITE_GONE
from tests.locks.states import entry_of, lock_of, proven, sha, state_of, unproven

OLD = state_of()
OTHER = state_of("skills/other")
MODEL = proven(OLD, decision={"grade": "model"})


@pytest.mark.parametrize(
    ("now", "code"),
    [
        (state_of(text="Say bye."), RELOCKED),
        (state_of(version="1.0.0+b", text="Say bye."), RELOCKED),
        (state_of(version="0.9.0"), WENT_BACK),
        (state_of("more/greeter", text="Say bye."), RELOCKED),
        (state_of("more/greeter", version="0.9.0"), WENT_BACK),
        (state_of("more/greeter", version="1.0.1", text="Say bye."), None),
        (state_of("more/greeter"), None),
        (state_of(version="1.0.1", text="Say bye."), None),
        (OLD, None),
    ],
)
def test_against_a_base(now: SkillState, code: str | None) -> None:
    """An edit that was relocked under its old version is caught, moved or not, and so is a version that went back."""
    findings = base_findings(lock_of([now]), lock_of([OLD]), "main")
    assert [one.code for one in findings] == ([] if code is None else [code])
    assert all("at main" in one.message and "greeter" in one.message for one in findings)


def codes(now: Lock, base: Lock) -> list[str]:
    """The codes of what is found."""
    return [finding.code for finding in base_findings(now, base, "main")]


def test_evidence_lost_since_the_base() -> None:
    """A removed lock forgets that there was evidence; the base does not."""
    raised = unproven(state_of(version="1.0.1", text="Say bye."))
    never = lock_of([raised], none="never evaluated")
    assert codes(never, lock_of([OLD])) == [LOST_EVIDENCE]
    assert codes(lock_of([OLD]), lock_of([MODEL])) == [LOST_EVIDENCE]
    assert codes(lock_of([MODEL]), lock_of([OLD])) == []
    assert codes(never, lock_of([OLD], none="never evaluated")) == []


def test_a_loosened_requirement() -> None:
    """A lock that asks for less than at the base says so; a base without any evidence asked nothing of anybody."""
    base = replace(lock_of([OLD]), requires="model")
    never = replace(lock_of([OLD], none="never evaluated"), requires="model")
    assert codes(lock_of([OLD]), never) == []
    assert codes(lock_of([OLD]), base) == [LOOSENED]
    assert codes(base, lock_of([OLD])) == []
    assert codes(lock_of([OLD]), Lock(skills={}, suites={})) == []


def test_a_suite_relocked_under_its_version_is_caught_against_a_base() -> None:
    """The rules for suites hold here too."""
    edited = {"quality": LockedSuite(version="1.0.0", cases={"a": sha("other")})}
    assert codes(replace(lock_of([OLD]), suites=edited), lock_of([OLD])) == [SUITE_EDITED]
    assert codes(replace(lock_of([OLD]), suites={}), lock_of([OLD])) == [SUITE_GONE]


def test_skills_new_or_gone_since_the_base_are_fine() -> None:
    """Adding and removing are seen by the lock itself."""
    assert codes(lock_of([OTHER]), lock_of([OLD])) == []


def test_of_several_old_folders_the_one_with_these_bytes_counts() -> None:
    """Else the highest version, since a version may not go below it."""
    low, high = state_of("a/greeter"), state_of("b/greeter", version="2.0.0", text="x")
    base = replace(lock_of([]), skills={state.path: entry_of(state) for state in (low, high)})
    assert codes(replace(lock_of([state_of("c/greeter")]), suites={}), replace(base, suites={})) == []
    edited = lock_of([state_of("c/greeter", version="1.5.0", text="y")])
    assert codes(edited, base) == [WENT_BACK]
