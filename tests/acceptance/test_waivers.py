"""Acceptance of waivers, through the command line: it stands beside what was recorded, never in its place."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, timedelta
from html import unescape
from typing import Any

import pytest

from tests.acceptance.governed import NAMES, NEXT, build, gate, lines
from tests.people.waivers import APPROVED, LAST, audit_lines, fitting, newest_header, write_waivers
from tests.project import Cli, Ran, build_small, edit, run_folder, small_case, small_rules


def codes(ran: Ran) -> set[str]:
    """The finding codes of a ``check --format json``."""
    return {finding["code"] for finding in ran.json["findings"] if finding["code"].startswith("waiver.")}


def test_a_waived_line_passes_effectively_and_the_record_still_says_failed(failed: Cli) -> None:
    """Exit 0 with the option and 1 without; the result keeps its bytes; line, id, approver, reason, last day shown."""
    write_waivers(failed.root, fitting(failed.root, "one"))
    before = (run_folder(failed.root) / "result.json").read_bytes()
    assert failed("gate").code == 1
    ran = gate(failed)
    assert ran.code == 0
    shown = ran.json
    assert (shown["status"], lines(shown)["quality_min"]) == ("failed", "failed")
    effective = shown["effective"]
    assert (effective["decision"]["status"], effective["waived"]) == ("passed", ["quality_min"])
    (used,) = effective["waivers"]
    assert used["causes"] == [{"skill": "skills/greeter", "case": "quality/one"}]
    assert (used["waiver"], used["approver"], used["expires_on"]) == ("W-1", "Mika Sato", LAST.isoformat())
    assert (run_folder(failed.root) / "result.json").read_bytes() == before
    assert json.loads(before)["decision"]["status"] == "failed"
    text = failed("gate", "--with-waivers").out
    assert "fixture_gate: FAILED" in text
    assert f"W-1 by Mika Sato until {LAST}" in " ".join(text.split())
    assert "effective fixture_gate: PASSED with 1 of" in text
    assert max(len(line) for line in text.splitlines()) <= 80


def test_every_use_leaves_a_line(failed: Cli) -> None:
    """Who, when, which run, line and waiver with its digest; two uses are two lines, and the first keeps its bytes."""
    write_waivers(failed.root, fitting(failed.root, "one"))
    assert failed("gate").code == 1
    assert audit_lines(failed.root) == []
    gate(failed)
    first = (failed.root / ".skillassay/audit.jsonl").read_bytes()
    gate(failed)
    assert (failed.root / ".skillassay/audit.jsonl").read_bytes().startswith(first)
    one, two = audit_lines(failed.root)
    used = gate(failed).json["effective"]["waivers"][0]
    for line in (one, two):
        assert line["run"] == newest_header(failed.root)["id"]
        assert (line["line"], line["waiver"], line["waiver_digest"]) == ("quality_min", "W-1", used["waiver_digest"])
        assert (line["recorded"], line["effective"], line["command"]) == ("failed", "passed", "gate")
        assert line["by"]
        assert line["at"].endswith("Z")


def test_no_use_without_its_line(failed: Cli) -> None:
    """Where the trail cannot be written, nobody is told an effective decision: exit 3."""
    write_waivers(failed.root, fitting(failed.root, "one"))
    (failed.root / ".skillassay/audit.jsonl").mkdir()
    ran = gate(failed)
    assert (ran.code, ran.out) == (3, "")
    assert "audit.jsonl cannot be written" in ran.err


@pytest.mark.parametrize(
    ("day", "code", "found"),
    [
        (APPROVED - timedelta(days=1), 1, {"waiver.bad-dates"}),
        (APPROVED, 0, set()),
        (LAST, 0, set()),
        (NEXT, 1, {"waiver.expired"}),
    ],
    ids=["before", "first", "last", "next day"],
)
def test_a_waiver_holds_from_its_approval_to_its_last_day(
    failed: Cli, on: Callable[[date], None], day: date, code: int, found: set[str]
) -> None:
    """Both days included; outside of them the gate fails as recorded, no use is written, and ``check`` fails."""
    write_waivers(failed.root, fitting(failed.root, "one"))
    on(day)
    ran = gate(failed)
    assert ran.code == code
    assert len(audit_lines(failed.root)) == (code == 0)
    assert codes(failed("check", "--format", "json")) == found
    if code:
        assert [item["waiver"] for item in ran.json["effective"]["not_counted"]] == ["W-1"]


UNUSABLE: dict[str, tuple[dict[str, Any], str]] = {
    "wildcard case": ({"scope": {"cases": {"quality/*": "b" * 64}}}, "waiver.over-wide"),
    "wildcard skill": ({"scope": {"skill": "skills/*"}}, "waiver.over-wide"),
    "no case": ({"scope": {"cases": None}}, "waiver.over-wide"),
    "no approver": ({"approver": None}, "file.schema"),
    "a role": ({"approver": "QA lead"}, "waiver.no-person"),
    "the judge": ({"approver": "the judge"}, "waiver.no-person"),
    "complete": ({"scope": {"line": "complete"}}, "waiver.not-waivable"),
    "leakage": ({"scope": {"line": "no_leakage"}}, "waiver.not-waivable"),
    "critical": ({"scope": {"line": "critical_failures"}}, "waiver.not-waivable"),
    "held": ({"scope": {"line": "nothing_held"}}, "waiver.not-waivable"),
    "unknown line": ({"scope": {"line": "everything"}}, "waiver.not-waivable"),
    "too long": ({"expires_on": (APPROVED + timedelta(days=91)).isoformat()}, "waiver.too-long"),
    "no end": ({"expires_on": None}, "file.schema"),
    "backwards": ({"expires_on": (APPROVED - timedelta(days=1)).isoformat()}, "waiver.bad-dates"),
    "no such day": ({"expires_on": "2026-12-32"}, "waiver.bad-dates"),
    "no reason": ({"reason": "because"}, "file.schema"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_a_file_that_grants_too_much_is_not_used(failed: Cli, name: str) -> None:
    """A wildcard, no person, a line that nobody may waive, no end: ``check`` fails, and the gate exits 3 saying why."""
    changes, code = UNUSABLE[name]
    write_waivers(
        failed.root, fitting(failed.root, "one") | {"id": "W-0"}, fitting(failed.root, "one", **dict(changes))
    )
    checked = failed("check", "--format", "json")
    assert checked.code == 1
    found = [item for item in checked.json["findings"] if item["path"] == "evals/waivers.yaml"]
    assert {item["code"] for item in found} == {code}
    assert all(item["line"] is not None for item in found)
    ran = gate(failed)
    assert (ran.code, ran.out) == (3, "")
    assert str(code) in ran.err
    assert audit_lines(failed.root) == []


def test_whoever_owns_the_contract_approves_nothing(failed: Cli) -> None:
    """The contract's owner is the approver, in other case and spacing: refused."""
    edit(failed.root / "evals/contract.yaml", "owner: the tests", "owner: Mika Sato")
    write_waivers(failed.root, fitting(failed.root, "one", approver="mika  SATO"))
    assert codes(failed("check", "--format", "json")) == {"waiver.self-approved"}
    assert gate(failed).code == 3


def test_two_waivers_have_two_ids(failed: Cli) -> None:
    """The same id twice is refused, so that an audit line names one of them."""
    write_waivers(failed.root, fitting(failed.root, "one"), fitting(failed.root, "two"))
    assert codes(failed("check", "--format", "json")) == {"waiver.same-id"}


@pytest.mark.parametrize("split", [False, True], ids=["in one", "in two"])
def test_every_case_of_a_skill_is_a_wildcard_too(failed: Cli, split: bool) -> None:
    """Whether one waiver names them all or several do."""
    parts = [NAMES[:2], NAMES[2:]] if split else [NAMES]
    write_waivers(failed.root, *(fitting(failed.root, *part, id=f"W-{i}") for i, part in enumerate(parts)))
    assert codes(failed("check", "--format", "json")) == {"waiver.over-wide"}
    ran = gate(failed)
    assert ran.code == 1
    assert {item["why"] for item in ran.json["effective"]["not_counted"]} == {
        "all 4 cases of skills/greeter that quality_min looks at are waived"
    }


@pytest.mark.parametrize("what", ["skill_digest", "cases"])
def test_a_waiver_for_other_bytes_covers_nothing(failed: Cli, what: str) -> None:
    """The digest of the skill or of the case is another one: exit 1 as recorded, and ``check`` warns."""
    other: dict[str, Any] = {"skill_digest": "a" * 64, "cases": {"quality/one": "b" * 64}}
    write_waivers(failed.root, fitting(failed.root, "one", scope={what: other[what]}))
    assert gate(failed).code == 1
    assert audit_lines(failed.root) == []
    checked = failed("check", "--format", "json")
    (found,) = [item for item in checked.json["findings"] if item["code"] == "waiver.stale"]
    assert found["severity"] == "warning"


def test_a_waiver_for_one_of_two_failures_waives_neither(cli: Cli, on: Callable[[date], None]) -> None:
    """The line fails on two cases; one is covered: failed. Both are, by two waivers: passed."""
    build(cli.root, bad=("one", "two"))
    assert cli("eval").code == 1
    write_waivers(cli.root, fitting(cli.root, "one"))
    ran = gate(cli)
    assert ran.code == 1
    assert ran.json["effective"]["not_counted"][0]["why"] == "quality_min also fails on what no waiver covers"
    write_waivers(cli.root, fitting(cli.root, "one"), fitting(cli.root, "two", id="W-2"))
    assert gate(cli).code == 0
    assert [line["waiver"] for line in audit_lines(cli.root)] == ["W-1", "W-2"]


def test_a_critical_failure_cannot_be_waived_by_its_quality(cli: Cli, on: Callable[[date], None]) -> None:
    """The case is critical: ``quality_min`` is waived, ``critical_failures`` still fails."""
    build(cli.root, critical=("one",))
    assert cli("eval").code == 1
    write_waivers(cli.root, fitting(cli.root, "one"))
    ran = gate(cli)
    assert ran.code == 1
    after = lines(ran.json["effective"]["decision"])
    assert (after["quality_min"], after["critical_failures"]) == ("passed", "failed")


def test_a_skill_line_is_waived_by_skill(cli: Cli, on: Callable[[date], None]) -> None:
    """``beats_none`` is about the skill: waived without cases, and with cases refused."""
    rules = [item for name in NAMES for item in small_rules(name, bad="hello hello")]
    build_small(cli.root, cases=[small_case(name) for name in NAMES], rules=rules)
    assert cli("eval").code == 1
    write_waivers(cli.root, fitting(cli.root, scope={"line": "beats_none"}))
    assert gate(cli).code == 0
    write_waivers(cli.root, fitting(cli.root, "one", scope={"line": "beats_none"}))
    assert codes(cli("check", "--format", "json")) == {"waiver.not-waivable"}


def test_a_file_that_is_not_sound_stops_an_evaluation_before_it_begins(failed: Cli) -> None:
    """With --with-waivers, exit 3 and no run: nothing is spent on what cannot be decided so."""
    write_waivers(failed.root, fitting(failed.root, "one", approver="QA"))
    assert failed("eval", "--with-waivers").code == 3
    run_folder(failed.root)  # still the only one


def test_a_run_that_was_stopped_has_no_effective_decision(failed: Cli) -> None:
    """Without its result a run is a stopped one: the waiver is not used, and the command says so."""
    write_waivers(failed.root, fitting(failed.root, "one"))
    (run_folder(failed.root) / "result.json").unlink()
    ran = failed("gate", "--with-waivers")
    assert ran.code == 1
    assert "no waiver counts" in ran.err
    assert audit_lines(failed.root) == []


def test_every_report_shows_both_decisions(failed: Cli) -> None:
    """Table, Markdown and JSON of the evaluation itself."""
    write_waivers(failed.root, fitting(failed.root, "one"))
    for form in ("table", "markdown"):
        ran = failed("eval", "--with-waivers", "--format", form)
        told = " ".join(unescape(ran.out).split())
        assert (ran.code, "effective fixture_gate: PASSED with 1 of" in told) == (0, True)
        assert "without waivers: FAILED" in told
    shown = failed("eval", "--with-waivers", "--format", "json").json
    assert (shown["decision"]["status"], shown["passed"]) == ("failed", False)
    assert shown["effective"]["decision"]["status"] == "passed"
