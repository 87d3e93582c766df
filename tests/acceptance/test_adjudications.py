"""Acceptance of the human queue, through the command line: what people decide stands beside what was recorded, under a
name, and never in its place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import date

import pytest

from tests.acceptance.governed import NAMES, build, lines
from tests.acceptance.judged import OPEN, Judged
from tests.endtoend.faulty_server import FaultyServer, said
from tests.project import Cli, build_small, edit, records, run_folder, small_case, small_rules


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
