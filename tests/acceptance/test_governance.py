"""Acceptance of waivers and of the human queue, through the command line: what people decide stands beside what was
recorded, under a name, and never in its place.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from skillassay import clock
from skillassay.cli.main import main
from tests.endtoend.faulty_server import Asked, Fault, FaultyServer, healthy, said
from tests.people.waivers import APPROVED, DAY, LAST, audit_lines, fitting, newest_header, write_waivers
from tests.project import HELLO, SETTINGS, Cli, Ran, build_small, edit, records, run_folder, small_case, small_rules

NAMES = ("one", "two", "three", "four")
NEXT = LAST + timedelta(days=1)


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch) -> Callable[[date], None]:
    """Set the day; it begins as ``DAY``."""

    def turn(day: date) -> None:
        monkeypatch.setattr(clock, "today", lambda: day)

    turn(DAY)
    return turn


def build(root: Path, *, bad: tuple[str, ...] = ("one",), **more: Any) -> None:
    """Four cases; with the skill the ``bad`` ones fail, without it all do."""
    critical = more.pop("critical", ())
    cases = [small_case(name, **({"critical": True} if name in critical else {})) for name in NAMES]
    rules = [item for name in NAMES for item in small_rules(name, good="good day" if name in bad else "hello hello")]
    build_small(root, cases=cases, rules=rules, **more)


@pytest.fixture(scope="module")
def evaluated_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a run that fails ``quality_min`` on the case `one` and nothing else; to be copied."""
    root = tmp_path_factory.mktemp("governed")
    build(root)
    with pytest.MonkeyPatch.context() as patch:
        for name in SETTINGS:
            patch.delenv(name, raising=False)
        assert main(["--root", str(root), "--quiet", "eval"]) == 1
    return root


@pytest.fixture
def failed(evaluated_once: Path, cli: Cli, on: Callable[[date], None]) -> Cli:
    """A copy of that project."""
    shutil.copytree(evaluated_once, cli.root, dirs_exist_ok=True)
    return cli


def gate(cli: Cli, *options: str) -> Ran:
    """``gate --with-waivers`` on the newest run, as JSON."""
    return cli("gate", "--with-waivers", "--format", "json", *options)


def lines(decision: dict[str, Any]) -> dict[str, str]:
    """The status of each line of a decision."""
    return {line["name"]: line["status"] for line in decision["lines"]}


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


# --- waivers, evidence and lock


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


# --- the human queue


TWO_MODES = ("--mode", "progressive", "--mode", "none")
OPEN = {**HELLO, "may_abstain": True}


def verdict(word: str) -> Fault:
    """A judge's word on the greeting."""
    item = {"id": "says-hello", "reasoning": "r", "evidence": "hello", "verdict": word}
    return said(json.dumps({"criteria": [item]}))


class Judged:
    """A project whose judge is on a server: it says what ``words`` has next about the greeting of `two`."""

    def __init__(self, cli: Cli, server: FaultyServer) -> None:
        self.cli, self.root = cli, cli.root
        self.words: list[str] = []
        self.always: Fault | None = None
        self.base_url = server.base_url
        server.fault = self._fault

    def _fault(self, asked: Asked) -> Fault | None:
        is_two = asked.is_judge and "Greet two." in asked.text and "hello hello" in asked.text
        if is_two and self.always is not None:
            return self.always
        return verdict(self.words.pop(0)) if is_two and self.words else healthy(asked)

    def eval(self, *words: str, repeats: int = 1) -> Ran:
        """Evaluate with the judge's words on `two` in progressive, in the order of its repeats."""
        self.words = [*words]
        ran = self.cli(
            *("eval", "--judge-model", "gemini:faulty", "--jobs", "1", "--repeats", str(repeats), *TWO_MODES)
        )
        assert self.words == []
        return ran

    def say(self, word: str, by: str = "Mika Sato", *more: str, repeat: int | None = 1) -> Ran:
        """Adjudicate `two` in progressive."""
        which = () if repeat is None else ("--repeat", str(repeat))
        where = ("--case", "two", "--mode", "progressive", *which)
        return self.cli("review", *where, "--verdict", word, "--by", by, "--reason", "I read the answer twice.", *more)

    def queue(self) -> list[dict[str, Any]]:
        """The queue."""
        found: list[dict[str, Any]] = self.cli("review", "--format", "json").json["queue"]
        return found

    def kinds(self) -> list[tuple[str, str, bool]]:
        """Kind, state and whether it holds the gate, of each entry."""
        return [(item["kind"], item["state"], item["holds_the_gate"]) for item in self.queue()]


@pytest.fixture
def judged(cli: Cli, on: Callable[[date], None], monkeypatch: pytest.MonkeyPatch) -> Iterator[Judged]:
    """Four good cases; `two` is critical, and its judge may abstain."""
    cases = [small_case(name, rubric=[OPEN], **({"critical": True} if name == "two" else {})) for name in NAMES]
    build_small(cli.root, cases=cases, rules=[item for name in NAMES for item in small_rules(name)])
    with FaultyServer(cli.root) as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        monkeypatch.setenv("GEMINI_API_KEY", "k-faulty")
        yield Judged(cli, server)


def test_an_abstention_is_held_and_a_person_decides_it(judged: Judged) -> None:
    """Unscored and in the queue: exit 3. After PASS under a name: exit 0, shown as such, and the record unchanged."""
    assert judged.eval("ABSTAIN").code == 3
    assert judged.kinds() == [("judge_abstained", "open", False)]
    folder = run_folder(judged.root)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    digest = judged.cli("gate", "--format", "json").json["content_digest"]
    ran = judged.say("pass")
    assert ran.code == 0, ran.err
    assert judged.kinds() == [("judge_abstained", "adjudicated", False)]
    ran = judged.cli("gate")
    assert ran.code == 0
    assert "adjudicated by Mika Sato: two [progressive #1]: pass" in " ".join(ran.out.split())
    assert "as recorded, without adjudications: fixture_gate UNDECIDED" in " ".join(ran.out.split())
    shown = judged.cli("gate", "--format", "json").json
    assert (shown["status"], shown["recorded"]["status"], shown["content_digest"]) == ("passed", "undecided", digest)
    assert "adjudicated by Mika Sato" in judged.cli("report").out
    after = {path.name: path.read_bytes() for path in folder.iterdir()}
    del after["adjudications.jsonl"]
    assert after == before


def test_a_person_who_says_fail_fails_the_critical_case(judged: Judged) -> None:
    """What the judge left open counts as failed, in a critical case as a critical failure: exit 1."""
    assert judged.eval("ABSTAIN").code == 3
    assert judged.say("fail").code == 0
    ran = judged.cli("gate", "--format", "json")
    assert ran.code == 1
    assert lines(ran.json)["critical_failures"] == "failed"


def test_no_majority_outvotes_one(judged: Judged) -> None:
    """Two say pass and one says fail: a disagreement, held, without a score; open until all say the same."""
    judged.eval("ABSTAIN")
    for word, by in (("pass", "Mika Sato"), ("pass", "Jo Berg"), ("fail", "Ada Roy")):
        assert judged.say(word, by).code == 0
    assert judged.kinds() == [("disagreement", "open", True)]
    ran = judged.cli("gate", "--format", "json")
    assert (ran.code, lines(ran.json)["nothing_held"], lines(ran.json)["complete"]) == (3, "undecided", "undecided")
    assert judged.say("pass", "ada roy").code == 0  # one person's last word counts, however the name is written
    assert judged.kinds() == [("judge_abstained", "adjudicated", False)]
    assert judged.cli("gate").code == 0
    assert len((run_folder(judged.root) / "adjudications.jsonl").read_bytes().splitlines()) == 4


def test_no_majority_of_repeats_hides_the_one_that_failed(judged: Judged) -> None:
    """Two of three repeats of a critical case pass: flaky, held; a person who looked at it changes no score."""
    assert judged.eval("PASS", "FAIL", "PASS", repeats=3).code == 1
    assert judged.kinds() == [("flaky", "open", True)]
    (found,) = judged.queue()
    assert (found["why"], found["repeat"]) == ("2 of 3 scored repeats passed", None)
    ran = judged.cli("gate", "--format", "json")
    assert (lines(ran.json)["nothing_held"], lines(ran.json)["critical_failures"]) == ("undecided", "failed")
    assert judged.say("pass", repeat=None).code == 0
    assert judged.kinds() == [("flaky", "adjudicated", False)]
    ran = judged.cli("gate", "--format", "json")
    assert (ran.code, lines(ran.json)["nothing_held"], lines(ran.json)["critical_failures"]) == (1, "passed", "failed")


@pytest.mark.parametrize(("word", "kind"), [("oracle-invalid", "oracle_doubt"), ("hold", "held")])
def test_who_doubts_a_good_result_holds_the_gate(judged: Judged, word: str, kind: str) -> None:
    """A run that passed is undecided while a person doubts its oracle or holds a trial: exit 3."""
    assert judged.eval("PASS").code == 0
    assert judged.cli("gate").code == 0
    assert judged.say(word).code == 0
    assert judged.kinds() == [(kind, "open", True)]
    ran = judged.cli("gate", "--format", "json")
    assert (ran.code, lines(ran.json)["nothing_held"]) == (3, "undecided")
    assert judged.say("pass").code == 0
    assert judged.cli("gate").code == 0


def test_a_person_who_contradicts_a_pass_is_heard(judged: Judged) -> None:
    """FAIL on a trial that passed is no score, and no silence: a disagreement, held."""
    judged.eval("PASS")
    assert judged.say("fail").code == 0
    assert judged.kinds() == [("disagreement", "open", True)]
    assert judged.cli("gate").code == 3


def test_a_scored_failure_never_becomes_a_pass(judged: Judged) -> None:
    """PASS on a trial that failed is refused (exit 2), and nothing is written."""
    assert judged.eval("FAIL").code == 1
    ran = judged.say("pass")
    assert ran.code == 2
    assert "waivers.md" in ran.err
    assert not (run_folder(judged.root) / "adjudications.jsonl").exists()


def test_a_failure_beside_an_invented_quotation_stays_one(judged: Judged) -> None:
    """One reply fails a criterion and makes up the evidence of another: a person decides what is open, not over it."""
    case = small_case("two", rubric=[OPEN, {"id": "is-polite", "text": "The answer is polite."}], critical=True)
    suite = json.loads((judged.root / "evals/quality.json").read_text("utf-8"))
    suite["cases"] = [case if item["id"] == "two" else item for item in suite["cases"]]
    (judged.root / "evals/quality.json").write_text(json.dumps(suite), encoding="utf-8")
    entries = [
        {"id": "says-hello", "reasoning": "r", "evidence": "it is rude", "verdict": "FAIL"},
        {"id": "is-polite", "reasoning": "r", "evidence": "words that nobody said", "verdict": "PASS"},
    ]
    reply = said(json.dumps({"criteria": entries}))
    judged.always = reply
    judged.cli("eval", "--judge-model", "gemini:faulty", "--case", "two", "--mode", "progressive")
    (record,) = records(judged.root)
    assert record["outcome"]["reason"] == "ungrounded"
    assert [(mark["id"], mark["verdict"]) for mark in record["marks"]] == [("says-hello", "FAIL")]
    assert judged.say("pass").code == 2


def test_a_line_slipped_into_the_file_makes_no_pass_either(judged: Judged) -> None:
    """The same words put into the file past the command: the score stays, and the contradiction is held."""
    judged.eval("FAIL")
    assert judged.say("hold").code == 0
    edit(run_folder(judged.root) / "adjudications.jsonl", '"hold"', '"pass"')
    assert judged.kinds() == [("disagreement", "open", True)]
    assert judged.cli("gate").code == 1


def test_a_verdict_about_another_record_is_refused(judged: Judged) -> None:
    """``--record`` is not the digest that is shown: exit 3; the digest that is: taken."""
    judged.eval("ABSTAIN")
    (found,) = judged.queue()
    ran = judged.say("pass", "Mika Sato", "--record", "0" * 64)
    assert ran.code == 3
    assert found["record"][:12] in ran.err
    assert judged.say("pass", "Mika Sato", "--record", found["record"]).code == 0


def test_a_verdict_about_an_earlier_record_does_not_count(judged: Judged) -> None:
    """What the digest in the file is not of, it says nothing about: the trial stays open."""
    judged.eval("ABSTAIN")
    assert judged.say("pass").code == 0
    (found,) = judged.queue()
    edit(run_folder(judged.root) / "adjudications.jsonl", found["record"], "0" * 64)
    assert judged.kinds() == [("judge_abstained", "open", False)]
    assert judged.cli("gate").code == 3


@pytest.mark.parametrize("by", ["", "judge", "the model", "QA team", "anonymous", "gpt-4o"])
def test_nobody_in_particular_decides_nothing(judged: Judged, by: str) -> None:
    """No name, a role, a program: exit 2, and nothing is written."""
    judged.eval("ABSTAIN")
    assert judged.say("pass", by).code == 2
    assert not (run_folder(judged.root) / "adjudications.jsonl").exists()


def test_the_queue_fits_a_terminal_and_shows_what_was_looked_at(judged: Judged) -> None:
    """80 columns; one entry with its answer, its verdicts and the digest to name."""
    judged.eval("ABSTAIN")
    judged.say("hold", "Mika Sato")
    text = judged.cli("review").out
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "1 in the queue, 1 open, 1 hold the gate" in text
    one = judged.cli("review", "--case", "two", "--mode", "progressive").out
    assert "hello hello" in one
    assert judged.queue()[0]["record"] in one


def test_adjudicated_evidence_says_so(judged: Judged) -> None:
    """A run that is gone on with after people spoke gives evidence with their words; its decision is as recorded."""
    judge = f"judge: {{model: 'gemini:faulty', endpoint: '{judged.base_url}'}}"
    edit(judged.root / "evals/contract.yaml", "contract: 1\n", f"contract: 1\n{judge}\n")
    judged.words = ["ABSTAIN", "PASS"]
    assert judged.cli("eval", "--jobs", "1").code == 3
    assert judged.cli("lock").code == 1
    assert judged.say("pass").code == 0
    run_id = run_folder(judged.root).name
    ran = judged.cli("eval", "--resume", run_id)
    assert ran.code == 0, ran.out + ran.err
    assert len(records(judged.root)) == 12
    result = json.loads((run_folder(judged.root) / "result.json").read_text("utf-8"))
    assert (result["decision"]["status"], result["adjudicated"]["status"]) == ("undecided", "passed")
    assert judged.cli("lock").code == 0
    evidence = json.loads((judged.root / "evals/evidence/skills/greeter.json").read_text("utf-8"))
    assert [(item["by"], item["verdict"]) for item in evidence["adjudications"]] == [("Mika Sato", "pass")]
    assert evidence["recorded_decision"] == "undecided"


@pytest.mark.parametrize("word", ["oracle-invalid", "hold"])
def test_no_lock_goes_past_what_people_said_since(cli: Cli, word: str) -> None:
    """A word that holds the gate comes after the run's evidence was made: `lock` refuses, and says what to do."""
    build_small(cli.root)
    assert cli("eval").code == 0
    where = ("--case", "two", "--mode", "progressive", "--repeat", "1")
    said_so = cli("review", *where, "--verdict", word, "--by", "Mika Sato", "--reason", "I read the answer twice.")
    assert said_so.code == 0
    assert cli("gate").code == 3
    ran = cli("lock")
    assert ran.code == 1
    assert "Mika Sato said" in " ".join((ran.out + ran.err).split())
    assert not (cli.root / "skills.lock.json").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("--mode", "progressive"),
        ("--case", "two", "--by", "Mika Sato"),
        ("--case", "two", "--verdict", "pass"),
        ("--case", "nine"),
        ("--case", "two", "--mode", "eager"),
        ("--case", "two", "--repeat", "1"),
        ("--verdict", "pass", "--by", "Mika Sato", "--reason", "I read the answer."),
    ],
    ids=" ".join,
)
def test_wrong_usage(judged: Judged, arguments: tuple[str, ...]) -> None:
    """What a word is about must be there, and a word has a person and a reason: exit 2."""
    judged.eval("PASS")
    assert judged.cli("review", *arguments).code == 2


def test_a_run_without_texts_is_not_judged(cli: Cli, on: Callable[[date], None]) -> None:
    """Under retention hash there is nothing to look at: exit 2 as for every command that needs texts, saying so."""
    build(cli.root, bad=(), retention="hash")
    assert cli("eval").code == 0
    ran = cli("review", "--case", "one", "--mode", "none", "--verdict", "hold", "--by", "Jo Berg", "--reason", "r" * 12)
    assert ran.code == 2
    assert "under retention hash none is kept" in " ".join(ran.err.split())
