"""The lock's verdicts: each difference between tree and lock has its code, its words and its next step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from skillassay.findings import Finding, Severity
from skillassay.locks import lock as rules
from skillassay.locks.lock import SkillState, Terms, changed_files, fixture_findings, verify
from skillassay.locks.lockfile import EvidenceRef, Lock, LockedSuite
from tests.locks.states import (
    CASE_DIGEST,
    RATCHET,
    SUITES,
    TERMS,
    bound,
    entry_of,
    evidence_of,
    lock_of,
    proven,
    sha,
    state_of,
    unproven,
)

OLD = state_of()
OTHER = state_of("skills/other")
OLD_SKILL = evidence_of(OLD).body["skill"]


def found(
    *states: SkillState, lock: Lock | None = None, suites: Mapping[str, LockedSuite] = SUITES, terms: Terms = TERMS
) -> list[Finding]:
    """The findings on these skills against a lock (of the old skill, unless told otherwise)."""
    return verify(states, suites, lock if lock is not None else lock_of([OLD]), terms)


def apart_from_the_catalog(findings: Sequence[Finding]) -> list[Finding]:
    """Without the warnings that evidence was made beside other skills, where a test is about something else."""
    return [finding for finding in findings if finding.code != rules.CATALOG]


def only(findings: Sequence[Finding]) -> Finding:
    """The one finding."""
    (finding,) = findings
    return finding


def test_an_unchanged_skill_has_no_finding() -> None:
    """Tree, lock and evidence agree."""
    assert found(OLD) == []


@pytest.mark.parametrize(
    ("version", "text", "code", "words", "hint"),
    [
        (
            "1.0.0",
            "Say bye.",
            rules.EDITED,
            "without a new metadata.version (1.0.0): SKILL.md changed",
            "bump skills/gr",
        ),
        ("1.0.0+b", "Say bye.", rules.EDITED, "without a new metadata.version (1.0.0+b)", "bump"),
        ("1.0.1", "Say bye.", rules.NOT_LOCKED, "1.0.0 -> 1.0.1 is not locked yet: SKILL.md changed", "eval`, then"),
        ("1.0.1", "Say hello.", rules.NOT_LOCKED, "1.0.0 -> 1.0.1 is not locked yet", "eval`, then"),
        ("0.9.9", "Say bye.", rules.WENT_BACK, "went back from 1.0.0 to 0.9.9", "above 1.0.0"),
        ("1.0.0-rc.1", "Say bye.", rules.WENT_BACK, "went back from 1.0.0 to 1.0.0-rc.1", "above 1.0.0"),
        (None, "Say bye.", rules.NO_VERSION, "greeter: no metadata.version", "bump --init"),
    ],
)
def test_an_edit_is_judged_by_its_version(version: str | None, text: str, code: str, words: str, hint: str) -> None:
    """One finding that names skill, versions and files, and the next step; evidence is not asked about as well."""
    finding = only(found(state_of(version=version, text=text)))
    assert (finding.code, finding.severity, finding.path) == (code, Severity.ERROR, "skills/greeter/SKILL.md")
    assert "greeter" in finding.message
    assert words in finding.message
    assert hint in (finding.hint or "")


def test_a_version_that_is_no_semver_is_named() -> None:
    """It cannot be locked, and says what it is."""
    finding = only(
        found(replace(state_of(version=None), version_problem="metadata.version '1.0' is not semver (1.2.3)"))
    )
    assert finding.code == rules.NO_VERSION
    assert "'1.0' is not semver" in finding.message


def test_a_lock_that_names_another_version_of_the_same_bytes() -> None:
    """The version stands in the bytes, so the lock was edited by hand."""
    lock = lock_of([replace(OLD, version="2.0.0")])
    finding = only(found(OLD, lock=lock))
    assert finding.code == rules.CHANGED_VERSION_ONLY
    assert "says 2.0.0 and SKILL.md 1.0.0" in finding.message


def test_an_added_skill() -> None:
    """In the tree and not in the lock."""
    finding = only(apart_from_the_catalog(found(OLD, OTHER)))
    assert (finding.code, finding.path) == (rules.ADDED, "skills/other/SKILL.md")
    assert "other 1.0.0 is not in the lock" in finding.message


def test_a_removed_skill() -> None:
    """In the lock and not in the tree."""
    finding = only(found(OLD, lock=lock_of([OLD, OTHER])))
    assert (finding.code, finding.path) == (rules.REMOVED, "skills.lock.json")
    assert "skills/other 1.0.0 is locked and not in the tree" in finding.message


@pytest.mark.parametrize(
    ("terms", "severity"), [(TERMS, Severity.ERROR), (RATCHET, Severity.WARNING)], ids=["all", "ratchet"]
)
def test_locked_without_evidence(terms: Terms, severity: Severity) -> None:
    """The lock's reason is told; under ratchet evidence that came later is a warning to lock it."""
    findings = found(OLD, lock=lock_of([OLD], none="locked with --no-evidence"), terms=terms)
    finding = next(one for one in findings if one.code == rules.NO_EVIDENCE)
    assert finding.severity is severity
    assert "greeter 1.0.0 is locked without evidence (locked with --no-evidence)" in finding.message


def test_under_ratchet_the_never_evaluated_are_counted_once() -> None:
    """One warning for all, with the number and some names."""
    states = [unproven(state_of(f"skills/s{n}")) for n in range(4)]
    finding = only(apart_from_the_catalog(found(*states, OLD, lock=_partly_evaluated(states), terms=RATCHET)))
    assert (finding.code, finding.severity) == (rules.RATCHET, Severity.WARNING)
    assert "4 of 5 skills are locked and were never evaluated: s0, s1, s2, …" in finding.message


def _partly_evaluated(states: Sequence[SkillState]) -> Lock:
    never = lock_of(states, none="never evaluated")
    return replace(never, skills={**never.skills, OLD.path: entry_of(OLD)})


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        ({"voided": "wrong judge"}, "lock.evidence-voided", "greeter 1.0.0: wrong judge"),
        ({"skill": OLD_SKILL | {"digest": sha("x")}}, "lock.evidence-other-bytes", sha("x")[:12]),
        ({"cases": {"quality/b": CASE_DIGEST}}, "lock.evidence-other-cases", "quality/a, quality/b"),
        ({"binding": bound(quality_min="1/2")}, "lock.evidence-other-contract", "gate.quality_min 1/2, not 4/5"),
    ],
)
def test_evidence_that_does_not_fit(change: dict[str, Any], code: str, words: str) -> None:
    """Each kind has its own code, points at the evidence file, and says what to run."""
    finding = only(found(proven(OLD, **change)))
    assert (finding.code, finding.path) == (code, "evals/evidence/skills/greeter.json")
    assert words in finding.message
    assert "eval" in (finding.hint or "")


def test_evidence_of_too_low_a_grade() -> None:
    """The contract asks for more than the fixture's."""
    terms = replace(TERMS, requires="model")
    state = replace(OLD, expected=replace(OLD.expected, requires="model"))
    codes = [one.code for one in found(state, terms=terms)]
    assert codes == ["lock.evidence-too-weak", rules.IGNORE]


@pytest.mark.parametrize("problem", [None, "cannot be read: Permission denied"])
def test_a_missing_or_unreadable_evidence_file(problem: str | None) -> None:
    """The locked file must be there and whole."""
    finding = only(found(replace(unproven(OLD), evidence_problem=problem)))
    assert finding.code == rules.EVIDENCE_FILE
    assert (problem or "does not exist") in finding.message


@pytest.mark.parametrize("change", [{"sha256": sha("other")}, {"grade": "model"}], ids=["bytes", "grade"])
def test_evidence_must_be_the_file_that_was_locked(change: dict[str, str]) -> None:
    """Fitting evidence of other bytes, or under a nobler name in the lock, is not what was locked."""
    lock = lock_of([OLD])
    old = lock.skills[OLD.path].evidence
    ref = EvidenceRef(file=old.file, sha256=change.get("sha256", old.sha256), grade=change.get("grade", old.grade))
    lock = replace(lock, skills={OLD.path: replace(lock.skills[OLD.path], evidence=ref)})
    assert only(found(OLD, lock=lock)).code == rules.EVIDENCE_FILE


def test_a_change_in_the_catalog_warns() -> None:
    """Skills evaluated beside other bytes of another skill are counted in one warning that names what changed."""
    state = proven(OLD, catalog={"skills/other": sha("before"), "skills/gone": sha("gone")})
    lock = lock_of([state, OTHER])
    warnings = [one for one in found(state, OTHER, lock=lock) if one.code == rules.CATALOG]
    assert only(warnings).severity is Severity.WARNING
    assert "of 2 skills" in only(warnings).message
    assert "skills/gone, " in only(warnings).message


@pytest.mark.parametrize("terms", [replace(TERMS, ignore=("*.log",)), replace(TERMS, requires="model")])
def test_a_lock_written_under_other_rules(terms: Terms) -> None:
    """The lock names its own ignore list and grade, and the contract's must be the same."""
    assert rules.IGNORE in {one.code for one in found(OLD, terms=terms)}


def test_changed_files_in_words() -> None:
    """Changed, added and missing files, some of many."""
    old = {"a": "1", "b": "1", "c": "1"}
    assert changed_files(old, {"a": "1", "b": "2", "d": "1"}) == "b changed, c missing, d added"
    assert changed_files({}, {f"f{n}": "1" for n in range(7)}).endswith("f4 added and 2 more")


def test_every_verdict_has_its_own_code() -> None:
    """No two verdicts share a code."""
    names = [value for name, value in vars(rules).items() if name.isupper() and isinstance(value, str)]
    codes = [value for value in (*names, *rules.EVIDENCE.values()) if value.startswith("lock.")]
    assert len(codes) == len(set(codes))


HAND_EDITS: list[tuple[dict[str, Any], str]] = [
    ({"files": {"SKILL.md": "0" * 64}}, "its digest is not that of its files"),
    ({"name": "other"}, "its name is 'other', in SKILL.md 'greeter'"),
    ({"evidence": replace(entry_of(OLD).evidence, file="/etc/passwd")}, "its evidence is '/etc/passwd'"),
]


@pytest.mark.parametrize(("change", "words"), HAND_EDITS, ids=["files", "name", "file"])
def test_an_entry_edited_by_hand(change: dict[str, Any], words: str) -> None:
    """The digest is the hash of the entry's own files, the name the tree's, the evidence where evidence lies."""
    lock = replace(lock_of([OLD]), skills={OLD.path: replace(entry_of(OLD), **change)})
    finding = only(found(OLD, lock=lock))
    assert finding.code == rules.HAND_EDITED
    assert words in finding.message


def test_a_digest_written_by_hand() -> None:
    """An entry that claims the tree's bytes and lists the old files does not pass for unchanged."""
    now = state_of(text="Say bye.")
    lock = replace(lock_of([OLD]), skills={OLD.path: replace(entry_of(OLD), digest=now.digest)})
    assert rules.HAND_EDITED in {one.code for one in found(now, lock=lock)}


MOVED = "more/greeter"


@pytest.mark.parametrize(
    ("now", "codes"),
    [
        (state_of(MOVED, text="Say bye."), {rules.ADDED, rules.REMOVED, rules.MOVED_EDITED}),
        (state_of(MOVED, version="0.9.0"), {rules.ADDED, rules.REMOVED, rules.MOVED_EDITED}),
        (state_of(MOVED, version="1.0.1", text="Say bye."), {rules.ADDED, rules.REMOVED}),
        (state_of(MOVED), {rules.ADDED, rules.REMOVED}),
        (state_of("more/other", text="Say bye."), {rules.ADDED, rules.REMOVED}),
    ],
    ids=["edited", "back", "raised", "only moved", "another skill"],
)
def test_a_moved_skill_is_compared_with_its_old_entry(now: SkillState, codes: set[str]) -> None:
    """Added here and removed there under one name: an edit needs a new version as without the move."""
    findings = apart_from_the_catalog(found(now))
    assert {one.code for one in findings} == codes
    assert all("skills/greeter" in one.message for one in findings if one.code == rules.MOVED_EDITED)


def test_a_copy_is_no_move() -> None:
    """Where the old folder still stands, a skill of the same name is a new one."""
    codes = {one.code for one in apart_from_the_catalog(found(OLD, state_of(MOVED, text="Say bye.")))}
    assert codes == {rules.ADDED}


def test_other_authored_answers_are_one_counted_warning() -> None:
    """Fixture evidence names the answers it was made on; evidence without them says nothing."""
    states = [proven(OLD, fixtures={"digest": sha("then")}), OTHER]
    assert fixture_findings(states, sha("then")) == []
    finding = only(fixture_findings(states, sha("now")))
    assert (finding.code, finding.severity) == (rules.FIXTURES, Severity.WARNING)
    assert "1 of 2 skills" in finding.message
