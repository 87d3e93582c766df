"""Acceptance of waivers in evidence and lock: shown while they hold, and a failure when they do not."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, timedelta

import pytest

from tests.acceptance.governed import NEXT
from tests.people.waivers import APPROVED, DAY, LAST, audit_lines, fitting, write_waivers
from tests.project import Cli


@pytest.fixture
def locked(failed: Cli) -> Cli:
    """The project locked on the evidence of a run that passed with a waiver."""
    write_waivers(failed.root, fitting(failed.root, "one"))
    assert failed("lock").code == 1
    assert failed("eval", "--with-waivers").code == 0
    ran = failed("lock")
    assert ran.code == 0, ran.out + ran.err
    assert "waived: W-1" in ran.out
    assert failed("lock", "--check").code == 0
    return failed


def lapsed(cli: Cli) -> bool:
    """Whether the lock's check fails, by the waiver alone."""
    ran = cli("lock", "--check")
    found = "lock.waiver-lapsed" in ran.out
    assert (ran.code == 1) is found
    assert (" error " in ran.out) is found
    return found


def test_evidence_carries_the_waivers_and_the_lock_shows_them(locked: Cli) -> None:
    """The committed evidence has the use with its digest and what was recorded; the lock names the waiver."""
    evidence = json.loads((locked.root / "evals/evidence/skills/greeter.json").read_text("utf-8"))
    (used,) = evidence["waivers"]
    assert (used["line"], used["waiver"], used["approver"]) == ("quality_min", "W-1", "Mika Sato")
    assert (evidence["recorded_decision"], evidence["waived_on"]) == ("failed", DAY.isoformat())
    lock = json.loads((locked.root / "skills.lock.json").read_text("utf-8"))
    assert lock["skills"]["skills/greeter"]["evidence"]["waived"] == ["W-1"]
    (line,) = audit_lines(locked.root)
    assert (line["command"], line["waiver_digest"]) == ("eval", used["waiver_digest"])


def test_the_lock_fails_when_the_waiver_has_run_out(locked: Cli, on: Callable[[date], None]) -> None:
    """On its last day it holds, on the next it does not, and no new lock is made of it."""
    on(LAST)
    assert not lapsed(locked)
    on(NEXT)
    assert lapsed(locked)
    assert f"whose last day was {LAST}" in locked("lock", "--check").out
    assert locked("lock").code == 1
    on(APPROVED - timedelta(days=1))
    assert lapsed(locked)


def test_the_lock_fails_when_the_waiver_is_gone(locked: Cli) -> None:
    """The file is taken away."""
    (locked.root / "evals/waivers.yaml").unlink()
    assert lapsed(locked)


@pytest.mark.parametrize("field", ["reason", "approver", "expires_on"])
def test_the_lock_fails_when_the_waiver_was_changed(locked: Cli, field: str) -> None:
    """Another reason, approver or last day under the same id is another waiver."""
    other = {"reason": "Another reason, which nobody saw then.", "approver": "Jo Berg", "expires_on": "2026-12-31"}
    write_waivers(locked.root, fitting(locked.root, "one", **{field: other[field]}))
    assert lapsed(locked)


def test_the_lock_does_not_hide_a_waiver(locked: Cli) -> None:
    """Who takes the word out of the lock by hand has another lock than the evidence gives."""
    path = locked.root / "skills.lock.json"
    lock = json.loads(path.read_text("utf-8"))
    del lock["skills"]["skills/greeter"]["evidence"]["waived"]
    path.write_text(json.dumps(lock), "utf-8")
    ran = locked("lock", "--check")
    assert ran.code == 1
    assert "lock.evidence-file" in ran.out


def test_without_the_option_a_waiver_gives_no_evidence(failed: Cli) -> None:
    """The file alone changes nothing: exit 1, no use, nothing to lock."""
    write_waivers(failed.root, fitting(failed.root, "one"))
    assert failed("eval").code == 1
    assert failed("lock").code == 1
    assert audit_lines(failed.root) == []
