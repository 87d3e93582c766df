"""A second judge without a word is told and leaves the run open: silence is no agreement. Real HTTP, real SDK."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.acceptance.benched import DOWN, GARBAGE, HELLO, SECOND, TONE, Bench, Benched, words
from tests.acceptance.priced import MODELS as PRICED_MODELS
from tests.acceptance.priced import PricedServer, build_priced, limit
from tests.acceptance.renamed import MODELS, TERMS, RenamedServer, judge_terms
from tests.acceptance.test_judge_gate import gate, line
from tests.models.wire_server import Canned
from tests.project import Cli, build_small, run_folder


def keyed(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    """The address of the models, and a key."""
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", address)
    monkeypatch.setenv("GEMINI_API_KEY", "k")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """The live models, with a key in the environment."""
    with Bench() as server:
        keyed(monkeypatch, server.base_url)
        yield server


def test_a_second_judge_that_never_answers_leaves_the_run_open(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three cases in three modes, one criterion each: no score is touched, the line counts nine, and the exit is 3."""
    build_small(cli.root)
    judge_terms(cli, **TERMS)
    with RenamedServer() as server:
        keyed(monkeypatch, server.base_url)
        heard = cli("eval", *MODELS, "--second-judge-model", "gemini:second")
        assert heard.code == 1  # nobody calibrated it, which is decided
        assert line(gate(cli), "second_judge")["status"] == "passed"
        server.is_silent = True
        ran = cli("eval", *MODELS, "--second-judge-model", "gemini:second")
    assert ran.code == 3
    found = line(gate(cli), "second_judge")
    assert (found["status"], found["number"]) == ("undecided", "0 of 9 criteria have the second judge's word")
    assert found["counts"] == {"heard": 0, "judged": 9}
    assert [words.partition(" (")[0] for words in found["detail"]] == ["9 without: provider_error"]
    assert line(gate(cli), "complete")["status"] == "passed"
    assert "9 of 9 criteria are without a word of the second judge: 9 provider_error" in " ".join(ran.out.split())


@pytest.mark.parametrize(("bad", "why"), [(DOWN, "provider_error"), (GARBAGE, "contract_error")])
def test_what_it_did_not_say_is_counted_by_reason(cli: Cli, server: Bench, bad: Canned, why: str) -> None:
    """In the result, beside what both judges decided."""
    bench = Benched(cli, server, HELLO, TONE)
    bench.eval(*SECOND, second=[bad])
    told = bench.result()["judges"]["second"]
    assert (told["without_word"], [one.partition(" (")[0] for one in told["why_without"]]) == (2, [why])
    assert list(told["why_without"].values()) == [2]


@pytest.mark.parametrize(
    ("second", "status", "without"),
    [
        ({"hello": "P", "tone": "F"}, "passed", {}),  # a difference is told elsewhere
        ({"hello": "P", "tone": "I"}, "undecided", {"ungrounded": 1}),
    ],
)
def test_an_invented_quotation_is_no_word(
    cli: Cli, server: Bench, second: dict[str, str], status: str, without: dict[str, Any]
) -> None:
    """It is no vote against the first judge, and none for it."""
    bench = Benched(cli, server, HELLO, TONE)
    bench.eval(*SECOND, second=words(**second))
    assert bench.trial() == ("PASS", None)
    assert line(gate(cli), "second_judge")["status"] == status
    assert bench.result()["judges"]["second"]["why_without"] == without


def test_one_of_two_samples_is_not_its_word(cli: Cli, server: Bench) -> None:
    """The second sample of the second judge fails, so that it said nothing as a whole."""
    bench = Benched(cli, server, HELLO, judge={"samples": 2})
    bench.eval(*SECOND, second=[*words(hello="P"), DOWN])
    assert line(gate(cli), "second_judge")["counts"] == {"heard": 0, "judged": 1}


def test_run_again_with_a_cache_only_what_is_missing_is_asked(cli: Cli, server: Bench) -> None:
    """What failed was never kept: the second judge is asked anew, the first is not."""
    bench = Benched(cli, server, HELLO)
    bench.eval(*SECOND, "--cache", second=[DOWN])
    bench.eval(*SECOND, "--cache")
    assert server.asked == {"judge": 1, "second": 2}
    assert line(gate(cli), "second_judge")["status"] == "passed"


def test_without_a_second_judge_there_is_no_line(cli: Cli, server: Bench) -> None:
    """However often the first one is asked."""
    bench = Benched(cli, server, HELLO, judge={"samples": 2})
    bench.eval()
    assert "second_judge" not in [one["name"] for one in gate(cli).json["lines"]]


def test_a_second_judge_that_the_budget_refuses_is_without_a_word(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Room for one call: the first judge is heard once, the second not at all."""
    with PricedServer() as server:
        keyed(monkeypatch, server.base_url)
        build_priced(cli.root)
        server.tells = False
        limit(cli.root, tokens=10_000)
        ran = cli("eval", *PRICED_MODELS, "--jobs", "1", "--second-judge-model", "gemini:judge")
        assert (ran.code, server.n_asked()) == (3, 1)
    found = line(gate(cli), "second_judge")
    assert (found["status"], found["detail"]) == ("undecided", ["1 without: budget_blocked (tokens)"])
    told = json.loads((run_folder(cli.root) / "result.json").read_text("utf-8"))["judges"]["second"]
    assert told["why_without"] == {"budget_blocked (tokens)": 1}


def test_a_fixture_run_with_a_second_judge_has_the_line_too(cli: Cli) -> None:
    """Authored verdicts of both judges: each of nine criteria has both words."""
    build_small(cli.root)
    assert cli("eval", "--second-judge-model", "fixture").code == 0
    assert line(gate(cli), "second_judge")["counts"] == {"heard": 9, "judged": 9}
