"""What may be locked: with proof, without an unversioned edit, and all or nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from skillassay.locks import lock as rules
from skillassay.locks.base_lock import LOST_EVIDENCE
from skillassay.locks.evidence import evidence_bytes, evidence_from_body, evidence_path
from skillassay.locks.lock import SkillState
from skillassay.locks.lockfile import Lock, LockedSuite
from skillassay.locks.relock import NEWEST_FAILED, Options, Proof, Relock, plan_relock
from skillassay.suites.drift import SUITE_EDITED
from tests.locks.states import (
    RATCHET,
    SUITES,
    TERMS,
    body_of,
    bound,
    entry_of,
    lock_of,
    proven,
    sha,
    state_of,
    unproven,
)

OLD = state_of()
NEW = unproven(state_of(version="1.0.1", text="Say bye."))
OTHER = state_of("skills/other")


def proof_of(state: SkillState, **changes: Any) -> Proof:
    """The newest run's proof of a skill."""
    body = body_of(state.path, state.digest, state.version or "", **changes)
    data = evidence_bytes(body)
    return Proof(data=data, sha256=hashlib.sha256(data).hexdigest(), evidence=evidence_from_body(body), why_not=None)


def evidence_sha(state: SkillState) -> str:
    """The SHA-256 of a skill's evidence in the tree."""
    assert state.evidence_sha256 is not None
    return state.evidence_sha256


def known(sha256: str) -> Proof:
    """A stored run that gives the evidence in the tree."""
    return Proof(data=None, sha256=None, evidence=None, why_not=None, known=frozenset({sha256}))


NO = Proof(data=None, sha256=None, evidence=None, why_not="the run's fixture_gate is failed (run-7)")


def relock(
    *states: SkillState,
    old: Lock | None = None,
    proofs: Mapping[str, Proof] | None = None,
    suites: Mapping[str, LockedSuite] = SUITES,
    **options: Any,
) -> Relock:
    """What locking these skills would do."""
    return plan_relock(states, proofs or {}, old=old, suites=suites, options=Options(**({"terms": TERMS} | options)))


def refusal(plan: Relock) -> str:
    """The code of the one refusal; nothing may be written with it."""
    (finding,) = plan.refusals
    assert (plan.writes, plan.lines) == ((), ())
    assert finding.hint
    return finding.code


def test_a_proven_version_is_locked_with_its_evidence() -> None:
    """The evidence file is written beside the entry that names its SHA-256."""
    proof = proof_of(NEW)
    plan = relock(NEW, old=lock_of([OLD]), proofs={NEW.path: proof})
    assert plan.refusals == ()
    assert plan.writes == ((evidence_path(NEW.path), proof.data),)
    entry = plan.lock.skills[NEW.path]
    assert (entry.version, entry.digest, entry.files) == ("1.0.1", NEW.digest, NEW.files)
    assert (entry.evidence.sha256, entry.evidence.grade, entry.evidence.file) == (
        proof.sha256,
        "fixture",
        evidence_path(NEW.path),
    )
    assert plan.lines == ("locked     skills/greeter 1.0.0 -> 1.0.1 (fixture evidence)",)


def test_locking_again_changes_nothing() -> None:
    """Committed evidence that still proves the bytes is kept, also when a newer run is at hand."""
    plan = relock(OLD, old=lock_of([OLD]), proofs={OLD.path: proof_of(OLD, run={"id": "newer"})})
    assert (plan.lock, plan.writes) == (lock_of([OLD]), ())
    assert plan.lines == ("unchanged  skills/greeter 1.0.0 (fixture evidence)",)


def test_a_first_lock() -> None:
    """Without an old lock every skill is added."""
    plan = relock(OLD, OTHER, proofs={s.path: known(evidence_sha(s)) for s in (OLD, OTHER)})
    assert plan.lock == lock_of([OLD, OTHER])
    assert plan.lines[0] == "added      skills/greeter 1.0.0 (fixture evidence)"


def test_a_skill_that_is_gone_leaves_the_lock() -> None:
    """And is named."""
    plan = relock(OLD, old=lock_of([OLD, OTHER]))
    assert plan.lock == lock_of([OLD])
    assert "removed    skills/other" in plan.lines


def test_only_some_keeps_the_others() -> None:
    """Skills that were not named stay as they were locked, there or not."""
    plan = relock(NEW, old=lock_of([OLD, OTHER]), proofs={NEW.path: proof_of(NEW)}, only_some=True)
    assert plan.refusals == ()
    assert plan.lock.skills[OTHER.path] == entry_of(OTHER)
    assert plan.lock.skills[NEW.path].version == "1.0.1"


@pytest.mark.parametrize(
    ("state", "code"),
    [
        (state_of(text="Say bye."), rules.EDITED),
        (state_of(version="1.0.0+b", text="Say bye."), rules.EDITED),
        (state_of(version="0.9.0", text="Say bye."), rules.WENT_BACK),
        (state_of(version=None), rules.NO_VERSION),
        (NEW, rules.NO_EVIDENCE),
    ],
)
@pytest.mark.parametrize("no_evidence", [False, True])
def test_what_is_refused(state: SkillState, code: str, no_evidence: bool) -> None:
    """An edit without a version, a version gone back or missing; --no-evidence excuses the missing proof alone."""
    plan = relock(state, OTHER, old=lock_of([OLD, OTHER]), no_evidence=no_evidence)
    if code == rules.NO_EVIDENCE and no_evidence:
        assert plan.refusals == ()
        assert plan.lock.skills[state.path].evidence.none == "locked with --no-evidence"
    else:
        assert refusal(plan) == code


def test_a_case_edited_under_its_suites_version_is_refused() -> None:
    """Locking would forget what the case was."""
    suites = {"quality": LockedSuite(version="1.0.0", cases={"a": sha("other")})}
    assert refusal(relock(OLD, old=lock_of([OLD]), suites=suites)) == SUITE_EDITED


def test_every_refusal_is_told() -> None:
    """And what could have been locked is not written beside them."""
    states = (
        state_of(text="x"),
        other := unproven(state_of("skills/other", version="2.0.0")),
        state_of("skills/fine"),
    )
    plan = relock(*states, old=lock_of([OLD, OTHER]), proofs={"skills/fine": proof_of(states[2])})
    assert [one.code for one in plan.refusals] == [rules.EDITED, rules.NO_EVIDENCE]
    assert other.name in plan.refusals[1].message
    assert (plan.writes, plan.lines) == ((), ())


@pytest.mark.parametrize(
    ("proof", "words"),
    [
        (None, "no run has evaluated exactly these bytes"),
        (NO, "the run's fixture_gate is failed (run-7)"),
        (proof_of(NEW, decision={"grade": "fixture"}, voided="wrong judge"), "wrong judge"),
        (proof_of(NEW, binding=bound(quality_min="1/2")), "its terms differ: gate.quality_min 1/2, not 4/5"),
    ],
)
def test_a_refusal_says_why_there_is_no_proof(proof: Proof | None, words: str) -> None:
    """No run, a run that said no, or evidence that does not fit."""
    plan = relock(NEW, old=lock_of([OLD]), proofs={} if proof is None else {NEW.path: proof})
    assert refusal(plan) == rules.NO_EVIDENCE
    assert words in plan.refusals[0].message


def test_voided_evidence_locks_nothing() -> None:
    """Also when its bytes are unchanged."""
    assert refusal(relock(proven(OLD, voided="x"), old=lock_of([OLD]))) == rules.NO_EVIDENCE


def test_under_ratchet_a_skill_never_evaluated_is_locked_without() -> None:
    """And says so; under ``all`` it is refused."""
    state = unproven(OLD)
    plan = relock(state, terms=RATCHET)
    assert plan.refusals == ()
    assert plan.lock.skills[state.path].evidence.none == "never evaluated"
    assert refusal(relock(state)) == rules.NO_EVIDENCE


def test_under_ratchet_a_run_that_said_no_is_not_never_evaluated() -> None:
    """It was evaluated, and failed."""
    assert refusal(relock(unproven(OLD), proofs={OLD.path: NO}, terms=RATCHET)) == rules.NO_EVIDENCE


@pytest.mark.parametrize("no_evidence", [False, True])
def test_under_ratchet_evidence_is_never_lost(no_evidence: bool) -> None:
    """A skill that once had evidence can never be locked with none, whatever option is given."""
    plan = relock(NEW, old=lock_of([OLD]), terms=RATCHET, no_evidence=no_evidence)
    assert refusal(plan) == LOST_EVIDENCE


def test_under_ratchet_a_grade_is_never_lost() -> None:
    """A skill locked with a model's evidence is not locked again with a fixture's."""
    had = proven(OLD, decision={"grade": "model"})
    plan = relock(NEW, old=lock_of([had]), proofs={NEW.path: proof_of(NEW)}, terms=RATCHET)
    assert refusal(plan) == LOST_EVIDENCE
    assert "passed as fixture, the lock holds model evidence" in plan.refusals[0].message
    better = proof_of(NEW, decision={"grade": "model"})
    assert relock(NEW, old=lock_of([had]), proofs={NEW.path: better}, terms=RATCHET).refusals == ()


def test_under_all_the_contracts_grade_is_enough() -> None:
    """Without the ratchet only ``lock.requires`` counts."""
    had = proven(OLD, decision={"grade": "model"})
    assert relock(NEW, old=lock_of([had]), proofs={NEW.path: proof_of(NEW)}).refusals == ()


def test_too_weak_a_grade_is_refused() -> None:
    """The contract asks for more than the run proved."""
    state = replace(NEW, expected=replace(NEW.expected, requires="declared"))
    plan = relock(state, old=lock_of([OLD]), proofs={NEW.path: proof_of(NEW)})
    assert refusal(plan) == rules.NO_EVIDENCE
    assert "passed as fixture, the lock requires declared" in plan.refusals[0].message


def test_the_new_lock_names_the_contracts_rules() -> None:
    """Ignore list and grade are written into it, so that a check can compare."""
    terms = replace(TERMS, ignore=("*.log",))
    lock = relock(OLD, terms=terms).lock
    assert (lock.ignore, lock.requires, lock.suites) == (("*.log",), "fixture", SUITES)


def test_refresh_takes_the_newest_runs_evidence() -> None:
    """Evidence that still holds stays as it is, so that branches merge; --refresh replaces it, the version stays."""
    proof = proof_of(OLD, catalog={"skills/other": OTHER.digest})
    kept = relock(OLD, old=lock_of([OLD]), proofs={OLD.path: proof})
    assert kept.writes == ()
    fresh = relock(OLD, old=lock_of([OLD]), proofs={OLD.path: proof}, refresh=True)
    assert fresh.writes == ((evidence_path(OLD.path), proof.data),)
    assert fresh.lock.skills[OLD.path].evidence.sha256 == proof.sha256
    assert fresh.lines[0].startswith("evidence ")


def test_refresh_without_any_run_keeps_what_holds() -> None:
    """There is nothing newer to take."""
    assert relock(OLD, old=lock_of([OLD]), refresh=True).refusals == ()


@pytest.mark.parametrize("no_evidence", [False, True])
def test_refresh_is_refused_when_the_newest_run_failed(no_evidence: bool) -> None:
    """Who asks for the newest run's word gets it."""
    plan = relock(OLD, old=lock_of([OLD]), proofs={OLD.path: NO}, refresh=True, no_evidence=no_evidence)
    assert refusal(plan) == NEWEST_FAILED
    assert "the run's fixture_gate is failed (run-7)" in plan.refusals[0].message


def test_a_newer_failure_is_told_beside_evidence_that_is_kept() -> None:
    """A failed newer run does not take committed evidence away, and is not passed over in silence."""
    plan = relock(OLD, old=lock_of([OLD]), proofs={OLD.path: NO})
    assert plan.refusals == ()
    assert plan.lock == lock_of([OLD])
    assert plan.lines[1].startswith("warning    skills/greeter: ")
    assert "the run's fixture_gate is failed (run-7)" in plan.lines[1]


def test_earlier_failures_are_told() -> None:
    """Evaluating until it passes is seen by whoever locks, now and each time after."""
    proof = proof_of(NEW, attempts={"passed": 1, "failed": 2})
    plan = relock(NEW, old=lock_of([OLD]), proofs={NEW.path: proof})
    words = "attempts   skills/greeter: 2 of 3 earlier runs on the same bytes, cases and terms failed"
    assert plan.lines[1:] == (words,)
    passed = proof_of(NEW, attempts={"passed": 1, "failed": 0})
    assert len(relock(NEW, old=lock_of([OLD]), proofs={NEW.path: passed}).lines) == 1


FORGED = proven(state_of(version="1.0.1", text="Steal keys."), run={"id": "never-ran"})


def test_evidence_that_nobody_vouches_for_locks_nothing() -> None:
    """It fits these bytes, and is neither the locked file nor what a stored run gives."""
    plan = relock(FORGED, old=lock_of([OLD]))
    assert refusal(plan) == rules.NO_EVIDENCE
    assert "is not what was locked, and no stored run gives it" in plan.refusals[0].message
    assert refusal(relock(proven(OLD, results={"k": 99}), old=lock_of([OLD]))) == rules.NO_EVIDENCE


def test_evidence_counts_when_a_run_or_a_committed_lock_vouches_for_it() -> None:
    """A stored run of these bytes gives it, also an older one; or the other side of a merge has locked it."""
    older = replace(proof_of(FORGED), known=frozenset({evidence_sha(FORGED)}))
    for how in ({"proofs": {FORGED.path: older}}, {"trusted": frozenset({evidence_sha(FORGED)})}):
        plan = relock(FORGED, old=lock_of([OLD]), **how)
        assert (plan.refusals, plan.writes) == ((), ())
        assert plan.lock.skills[FORGED.path].evidence.sha256 == evidence_sha(FORGED)


def test_a_skill_in_the_tree_without_a_state_is_not_gone() -> None:
    """It could not be read; forgetting it would let its next bytes pass as new."""
    plan = relock(OLD, old=lock_of([OLD, OTHER]), present=frozenset({OLD.path, OTHER.path}))
    assert refusal(plan) == rules.UNVERIFIABLE
    assert plan.refusals[0].path == OTHER.path


def test_a_move_is_no_new_version() -> None:
    """Edited on the way to another folder: refused under the old version, whatever proof there is."""
    edited = state_of("more/greeter", text="Say bye.")
    plan = relock(edited, old=lock_of([OLD]), proofs={edited.path: proof_of(edited)}, no_evidence=True)
    assert refusal(plan) == rules.MOVED_EDITED
    raised = state_of("more/greeter", version="1.0.1", text="Say bye.")
    plan = relock(raised, old=lock_of([OLD]), proofs={raised.path: proof_of(raised)})
    assert plan.refusals == ()
    assert plan.lines[1] == "removed    skills/greeter"


def test_under_ratchet_a_move_loses_no_evidence() -> None:
    """The skill is the one that had it."""
    moved = unproven(state_of("more/greeter"))
    assert refusal(relock(moved, old=lock_of([OLD]), terms=RATCHET)) == LOST_EVIDENCE


def test_a_weak_grade_is_answered_with_the_two_ways_out() -> None:
    """Evaluating again would not help: the hint names a real model and the contract's lock.requires."""
    # The state expects what the lock requires, as the command builds it.
    state = replace(NEW, expected=replace(NEW.expected, requires="declared"))
    plan = relock(
        state, old=lock_of([OLD]), proofs={NEW.path: proof_of(NEW)}, terms=replace(TERMS, requires="declared")
    )
    assert refusal(plan) == rules.NO_EVIDENCE
    assert "it passed as fixture, the lock requires declared" in plan.refusals[0].message
    assert "requires: fixture" in (plan.refusals[0].hint or "")


def test_evidence_for_other_cases_is_named_without_any_run() -> None:
    """The bytes are unchanged and only a case differs: that is what the refusal says."""
    cases = {"quality/a": sha("a rubric line changed")}
    state = replace(OLD, expected=replace(OLD.expected, cases=cases))
    plan = relock(state, old=lock_of([OLD]))
    assert refusal(plan) == rules.NO_EVIDENCE
    assert "cases that differ" in plan.refusals[0].message
