"""A judge asked several times, through the command line: real HTTP, real SDK, scripted words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.acceptance.benched import CRITICAL, DOWN, GARBAGE, HELLO, MODELS, ONE, TONE, Bench, Benched, words
from tests.project import Cli, build_small, small_case

THREE: dict[str, Any] = {"judge": {"samples": 3}}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """The live models, with a key in the environment."""
    with Bench() as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        monkeypatch.setenv("GEMINI_API_KEY", "k")
        yield server


def test_unanimous_samples_are_the_verdict(cli: Cli, server: Bench) -> None:
    """Three requests, three records of what was said, tokens of all of them, nothing for people."""
    bench = Benched(cli, server, CRITICAL, TONE, **THREE)
    bench.eval(judge=words(hello="PPP", tone="PPP"))
    assert bench.trial() == ("PASS", None)
    record = bench.record()
    assert (server.asked["judge"], record["judge"]["n_calls"]) == (3, 3)
    assert [(one["side"], one["number"], len(one["words"])) for one in record["samples"]] == [
        ("judge", 1, 2),
        ("judge", 2, 2),
        ("judge", 3, 2),
    ]
    assert bench.queue() == []
    told = bench.result()["judges"]
    assert (told["unanimous"], told["criteria"], told["flips"]) == (2, 2, [])


def test_a_split_elsewhere_counts_by_majority_and_waits_for_people(cli: Cli, server: Bench) -> None:
    """Two of three fail it: the trial fails, says so, and stands in the queue without holding the gate."""
    bench = Benched(cli, server, HELLO, TONE, **THREE)
    ran = bench.eval(judge=words(hello="PPP", tone="FPF"))
    assert bench.trial() == ("FAIL", None)
    assert bench.queue() == [("judge_disagreed", "open", False)]
    assert "judge samples: 3 for each answer; unanimous on 1 of 2 criteria" in ran.out
    assert "differs: one [progressive #1]: tone: FAIL, PASS, FAIL" in ran.out


@pytest.mark.parametrize("critical", [{"rubric": [CRITICAL]}, {"rubric": [HELLO], "critical": True}])
@pytest.mark.parametrize("said", ["PPF", "FFP", "PPA"])
def test_a_split_on_what_is_critical_is_no_score(cli: Cli, server: Bench, critical: dict[str, Any], said: str) -> None:
    """Of a critical criterion and of a critical case; its lines stay open, never a zero and never a pass."""
    rubric = [{**one, "may_abstain": True} for one in critical["rubric"]]
    bench = Benched(cli, server, case=small_case("one", **{**critical, "rubric": rubric}), **THREE)
    bench.eval(judge=words(hello=said))
    assert bench.trial() == ("UNSCORED", "judge_disagreed")
    assert bench.record()["marks"] == []
    lines = {one["name"]: one["status"] for one in cli("gate", "--format", "json").json["lines"]}
    assert (lines["complete"], lines["critical_failures"], lines["quality_min"]) == ("undecided",) * 3


def test_a_tie_is_no_score(cli: Cli, server: Bench) -> None:
    """One of two is no majority."""
    bench = Benched(cli, server, HELLO)
    bench.eval("--judge-samples", "2", judge=words(hello="PF"))
    assert bench.trial() == ("UNSCORED", "judge_disagreed")


@pytest.mark.parametrize(("bad", "reason"), [(GARBAGE, "contract_error"), (DOWN, "provider_error")])
def test_an_error_in_one_sample_is_the_trials(cli: Cli, server: Bench, bad: Any, reason: str) -> None:
    """No majority over errors: two that pass do not outvote it, and it is tried again as any other."""
    bench = Benched(cli, server, HELLO, **THREE)
    bench.eval(judge=[*words(hello="PP"), bad])
    assert bench.trial() == ("UNSCORED", reason)
    assert [one["reason"] for one in bench.record()["samples"]] == [None, None, reason]
    run = bench.result()["run"]
    assert cli("eval", *MODELS, *ONE, "--retry-unscored", run).code in {1, 3}
    assert bench.trial() == ("PASS", None)
    assert len(bench.record()["samples"]) == 3


def test_an_invented_quotation_in_one_sample_is_no_vote(cli: Cli, server: Bench) -> None:
    """The other criterion keeps its verdict."""
    bench = Benched(cli, server, HELLO, TONE, **THREE)
    bench.eval(judge=words(hello="PPP", tone="PIP"))
    assert bench.trial() == ("UNSCORED", "ungrounded")
    assert [one["id"] for one in bench.record()["marks"]] == ["hello"]


def test_the_prose_of_a_behaviour_is_judged_as_often(cli: Cli, server: Bench) -> None:
    """A split on what the case of behaviour requires, in a critical case: no score; the other mark stays."""
    behavior = {"action": "refuse", "refused": True, "required": "Says hello.", "forbidden": "Says no hello."}
    bench = Benched(cli, server, case=small_case("one", rubric=[], behavior=behavior, critical=True), **THREE)
    bench.eval(judge=words(required_met="PFP", forbidden_absent="PPP"))
    assert bench.trial() == ("UNSCORED", "judge_disagreed")
    kept = [one["id"] for one in bench.record()["marks"]]
    assert kept == ["behavior.action", "behavior.refused", "behavior.forbidden_absent"]


def test_a_person_settles_what_the_judge_left_open(cli: Cli, server: Bench) -> None:
    """It is not asked again; a person's word counts beside the record."""
    bench = Benched(cli, server, CRITICAL, **THREE)
    bench.eval(judge=words(hello="PPF"))
    run = bench.result()["run"]
    again = cli("eval", *MODELS, *ONE, "--retry-unscored", run)
    assert "nothing to try again" in again.err
    assert server.asked["judge"] == 3
    where = ("--case", "one", "--mode", "progressive")
    assert cli("review", *where, "--verdict", "pass", "--by", "Mika Sato", "--reason", "I read it twice.").code == 0
    assert bench.queue() == [("judge_disagreed", "adjudicated", False)]
    assert cli("report", "--format", "json").json["trials"][0]["status"] == "PASS"
    assert bench.trial() == ("UNSCORED", "judge_disagreed")


def test_samples_may_only_be_raised(cli: Cli, server: Bench) -> None:
    """Fewer than the contract's are refused before anybody is asked; the plan tells what more cost."""
    bench = Benched(cli, server, HELLO, **THREE)
    assert cli("eval", *MODELS, *ONE, "--judge-samples", "2").code == 2
    assert server.asked["judge"] == 0
    assert "at most 5 judge calls" in cli("eval", *MODELS, *ONE, "--judge-samples", "5", "--dry-run").out
    bench.eval("--judge-samples", "5", judge=words(hello="PPPPP"))
    assert server.asked["judge"] == 5


def test_a_recording_tells_samples_apart(cli: Cli, server: Bench) -> None:
    """Each sample comes back as it was; one that was not recorded is a miss, never the word of another."""
    bench = Benched(cli, server, HELLO, TONE)
    server.script["judge"] = words(hello="PPP", tone="FPP")
    cli("record", *MODELS, *ONE, "--judge-samples", "3", "--to", "evals/recordings/r.jsonl")
    first = bench.record()["samples"]
    replay = ("eval", "--model", "replay:evals/recordings/r.jsonl", *ONE)
    cli(*replay, "--judge-samples", "3")
    assert bench.record()["samples"] == first
    assert bench.trial() == ("PASS", None)
    cli(*replay, "--judge-samples", "4")
    assert bench.trial() == ("UNSCORED", "provider_error")
    assert server.asked["judge"] == 3


def test_a_cache_keeps_samples_apart(cli: Cli, server: Bench) -> None:
    """The second run is answered from the cache, with the words of each sample and not of the first."""
    bench = Benched(cli, server, HELLO, TONE, **THREE)
    bench.eval("--cache", judge=words(hello="PPP", tone="FPP"))
    bench.eval("--cache")
    assert server.asked["judge"] == 3
    assert [one["words"][1]["verdict"] for one in bench.record()["samples"]] == ["FAIL", "PASS", "PASS"]


def test_under_hash_no_sample_keeps_a_text(cli: Cli, server: Bench) -> None:
    """Words of the fixed set stay, evidence does not."""
    bench = Benched(cli, server, HELLO, retention="hash", **THREE)
    bench.eval(judge=words(hello="PPF"))
    said = [word for one in bench.record()["samples"] for word in one["words"]]
    assert [(one["verdict"], one["evidence"]) for one in said] == [
        (word, "hidden under retention hash") for word in ("PASS", "PASS", "FAIL")
    ]


def test_another_number_of_samples_is_another_judge(cli: Cli, server: Bench) -> None:
    """``compare`` refuses it, and so does going on with the run."""
    bench = Benched(cli, server, HELLO)
    bench.eval()
    one = bench.result()["run"]
    bench.eval("--judge-samples", "3")
    refused = cli("compare", one, bench.result()["run"])
    assert refused.code == 3
    assert "judge_id: gemini:judge and gemini:judge, 3 samples" in " ".join(refused.out.split())
    resumed = cli("eval", *MODELS, *ONE, "--resume", one, "--judge-samples", "3")
    assert (resumed.code, "judge.samples" in resumed.err) == (3, True)


def test_evidence_needs_the_contract_to_ask_as_often(cli: Cli) -> None:
    """Authored verdicts pass the gate three times over; the run says what the contract would have to."""
    build_small(cli.root)
    ran = cli("eval", "--judge-samples", "3", "--jobs", "1")
    assert ran.code == 0
    assert "it counts only if evals/contract.yaml says judge.samples: 3" in " ".join(ran.out.split())


@pytest.mark.parametrize(("said", "n"), [("PPF", 1), ("PPP", 0)])
def test_a_slice_counts_the_trials_on_which_words_differ(cli: Cli, server: Bench, said: str, n: int) -> None:
    """Not measured by one word a criterion, and 0 where all of several words are the same."""
    bench = Benched(cli, server, case=small_case("one", rubric=[HELLO], slice="s"))
    bench.eval("--judge-samples", "3", judge=words(hello=said))
    assert bench.result()["slices"][0]["modes"]["progressive"]["judge_disagreement"] == n
    bench.eval(judge=words(hello="P"))
    assert bench.result()["slices"][0]["modes"]["progressive"]["judge_disagreement"] is None
