"""A second judge beside the first, through the command line: real HTTP, real SDK, scripted words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.acceptance.benched import (
    CRITICAL,
    DOWN,
    GARBAGE,
    HELLO,
    MODELS,
    ONE,
    SECOND,
    TONE,
    Bench,
    Benched,
    words,
)
from tests.models.wire_server import Canned
from tests.project import Cli


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """The live models, with a key in the environment."""
    with Bench() as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        monkeypatch.setenv("GEMINI_API_KEY", "k")
        yield server


def test_judges_that_agree_decide(cli: Cli, server: Bench) -> None:
    """Each was asked once, and what each spent stands by itself."""
    bench = Benched(cli, server, CRITICAL, TONE)
    bench.eval(*SECOND, judge=words(hello="P", tone="F"), second=words(hello="P", tone="F"))
    assert bench.trial() == ("FAIL", None)
    assert server.asked == {"judge": 1, "second": 1}
    record = bench.record()
    assert (record["second"]["n_calls"], record["second"]["model"]) == (1, "second")
    assert bench.queue() == []


def test_a_difference_on_what_is_critical_is_no_score(cli: Cli, server: Bench) -> None:
    """Whichever of the two passes it; what they agree on stays."""
    bench = Benched(cli, server, CRITICAL, TONE)
    for first, second in (("P", "F"), ("F", "P")):
        bench.eval(*SECOND, judge=words(hello=first, tone="P"), second=words(hello=second, tone="P"))
        assert bench.trial() == ("UNSCORED", "judge_disagreed")
        assert [one["id"] for one in bench.record()["marks"]] == ["tone"]


def test_a_difference_elsewhere_leaves_the_first_verdict(cli: Cli, server: Bench) -> None:
    """It is told, and waits for people without holding the gate."""
    bench = Benched(cli, server, HELLO, TONE)
    ran = bench.eval(*SECOND, judge=words(hello="P", tone="P"), second=words(hello="P", tone="F"))
    assert bench.trial() == ("PASS", None)
    assert bench.queue() == [("judge_disagreed", "open", False)]
    assert "differs: one [progressive #1]: tone: PASS; second FAIL" in ran.out


def test_agreement_is_told_with_its_denominators(cli: Cli, server: Bench) -> None:
    """By hand on four criteria: both PASS twice, both FAIL once, one apart. po = 3/4, pe = (3*2 + 1*2)/16 = 1/2, so
    kappa = 1/2; phi = (2*1 - 1*0) / sqrt(3*1*2*2) = 0.577350.
    """
    rubric = [{"id": name, "text": f"It says {name}."} for name in "abcd"]
    bench = Benched(cli, server, *rubric)
    said = words(a="P", b="P", c="P", d="F")
    ran = bench.eval(*SECOND, judge=said, second=words(a="P", b="P", c="F", d="F"))
    told = bench.result()["judges"]["second"]
    assert told["table"] == [[2, 1], [0, 1]]
    assert (told["agreed"], told["judged_by_both"], told["judged_by_first"]) == (3, 4, 4)
    assert told["kappa"] == {"value": 0.5, "why_not": None}
    assert told["correlation"] == {"value": 0.57735, "why_not": None}
    assert told["interval"] == [0.300642, 0.954413]  # statsmodels: proportion_confint(3, 4, method="wilson")
    assert "the judges agree on 3 of 4 criteria that both decided" in " ".join(ran.out.split())
    markdown = cli("report", "--format", "markdown").out
    assert "kappa 0.50, correlation 0.58" in markdown


def test_what_is_undefined_is_told_as_such(cli: Cli, server: Bench) -> None:
    """Judges that both pass everything have no kappa and no correlation."""
    bench = Benched(cli, server, HELLO, TONE)
    ran = bench.eval(*SECOND)
    told = bench.result()["judges"]["second"]
    assert (told["kappa"]["value"], told["correlation"]["value"]) == (None, None)
    assert "kappa undefined" in ran.out


@pytest.mark.parametrize(("bad", "reason"), [(DOWN, "provider_error"), (GARBAGE, "contract_error")])
def test_a_second_judge_that_fails_leaves_what_is_critical_open(
    cli: Cli, server: Bench, bad: Canned, reason: str
) -> None:
    """With its own reason, at the judge's stage; the other criteria keep the first verdict."""
    bench = Benched(cli, server, CRITICAL, TONE)
    bench.eval(*SECOND, judge=words(hello="P", tone="P"), second=[bad])
    (trial,) = bench.result()["trials"]
    assert (trial["status"], trial["reason"], trial["stage"]) == ("UNSCORED", reason, "judge")
    assert [one["id"] for one in bench.record()["marks"]] == ["tone"]
    run = bench.result()["run"]
    cli("eval", *MODELS, *ONE, "--retry-unscored", run)
    assert bench.trial() == ("PASS", None)


def test_a_second_judge_that_fails_elsewhere_changes_no_score(cli: Cli, server: Bench) -> None:
    """The first verdict counts, and nothing counts as judged by both."""
    bench = Benched(cli, server, HELLO)
    bench.eval(*SECOND, second=[DOWN])
    assert bench.trial() == ("PASS", None)
    assert bench.result()["judges"]["second"]["judged_by_both"] == 0
    assert [(one["side"], one["reason"]) for one in bench.record()["samples"]] == [
        ("judge", None),
        ("second", "provider_error"),
    ]


def test_a_second_judge_without_a_key(cli: Cli, server: Bench) -> None:
    """The run goes on and says so; what is critical has no score."""
    bench = Benched(cli, server, CRITICAL)
    ran = bench.eval("--second-judge-model", "openai:other")
    assert "the second judge cannot be asked" in ran.err
    assert bench.trial() == ("UNSCORED", "missing_required_capability")


def test_its_identity_stands_in_the_header(cli: Cli, server: Bench) -> None:
    """At the judge's endpoint it is not independent; at one of its own and of another name it is."""
    bench = Benched(cli, server, HELLO)
    ran = bench.eval(*SECOND)
    assert "NOT independent of the judge" in " ".join(ran.out.split())
    with Bench() as other:
        ran = bench.eval(*SECOND, "--second-judge-base-url", other.base_url)
        assert (other.asked["second"], server.asked["second"]) == (1, 1)
    said = " ".join(ran.out.split())
    assert "second judge gemini:second: independent of the candidate, independent of the judge" in said


def test_another_second_judge_is_another_judge(cli: Cli, server: Bench) -> None:
    """``compare`` refuses a run with one beside a run without."""
    bench = Benched(cli, server, HELLO)
    bench.eval()
    one = bench.result()["run"]
    bench.eval(*SECOND)
    refused = cli("compare", one, bench.result()["run"])
    assert refused.code == 3
    assert "gemini:judge and gemini:judge, second gemini:second" in " ".join(refused.out.split())


def test_the_contract_names_it_and_the_plan_counts_it(cli: Cli, server: Bench) -> None:
    """Twice as often asked, it doubles both counts."""
    bench = Benched(cli, server, HELLO, judge={"second": "gemini:second", "samples": 2})
    shown = cli("eval", *MODELS, *ONE, "--dry-run").out
    assert "at most 2 judge calls" in shown
    assert "second judge gemini:second: at most 2 calls" in shown
    bench.eval(judge=words(hello="PP"), second=words(hello="PP"))
    assert bench.trial() == ("PASS", None)


def test_authored_verdicts_stand_for_both_judges(cli: Cli, server: Bench) -> None:
    """With the contract's judge replaced by the fixture, its second judge is not asked."""
    Benched(cli, server, HELLO, judge={"model": "gemini:judge", "second": "gemini:second"})
    cli("eval", "--model", "fixture", *ONE)
    assert server.asked == {"judge": 0, "second": 0}


def test_a_recording_has_a_side_for_it(cli: Cli, server: Bench) -> None:
    """Replayed, each judge says what it said; a recording without a second judge holds none."""
    bench = Benched(cli, server, HELLO, TONE)
    server.script = {"judge": words(tone="P"), "second": words(tone="F")}
    cli("record", *MODELS, *ONE, *SECOND, "--to", "evals/recordings/r.jsonl")
    first = bench.record()["samples"]
    replay = "replay:evals/recordings/r.jsonl"
    cli("eval", "--model", replay, *ONE, "--second-judge-model", replay)
    assert bench.record()["samples"] == first
    assert server.asked == {"judge": 1, "second": 1}
    cli("record", *MODELS, *ONE, "--to", "evals/recordings/s.jsonl")
    alone = "replay:evals/recordings/s.jsonl"
    refused = cli("eval", "--model", alone, *ONE, "--second-judge-model", alone)
    assert (refused.code, "holds no second judge" in refused.err) == (3, True)
