"""The budget of the judge through the command line: what it lets through, refuses, and counts. Real HTTP, real SDK."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator

import pytest

from tests.acceptance.priced import (
    MODELS,
    PRICES,
    PricedServer,
    build_priced,
    complete_details,
    held,
    limit,
    result,
    spending,
)
from tests.project import REPOSITORY, Cli, build_small, command, environment, run_folder


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[PricedServer]:
    """The live models, with a key in the environment."""
    with PricedServer() as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        monkeypatch.setenv("GEMINI_API_KEY", "k")
        yield server


def n_blocked(cli: Cli) -> int:
    """How many trials of the newest run the budget kept without a score."""
    trials = result(cli.root)["trials"]
    return sum((one["reason"], one["stage"]) == ("budget_blocked", "judge") for one in trials)


def test_a_budget_that_suffices_changes_nothing(cli: Cli, server: PricedServer) -> None:
    """Nine calls, each settled with what it used."""
    build_priced(cli.root)
    limit(cli.root, tokens=10**6, money="1.00", tokens_per_day=10**6, money_per_day="1.00")
    cli("eval", *MODELS)
    assert (n_blocked(cli), server.n_asked()) == (0, 9)
    assert list(held(cli.root).values()) == [120] * 9
    assert {line["money"] for line in spending(cli.root) if line["event"] == "settled"} == {"0.000018"}


def test_a_limit_of_tokens_is_kept_and_named(cli: Cli, server: PricedServer) -> None:
    """Replies that tell no usage stay reserved, so two calls fill what a third would pass; exit 3."""
    build_priced(cli.root)
    server.tells = False
    limit(cli.root, tokens=14_000)
    ran = cli("eval", *MODELS)
    assert ran.code == 3
    assert (server.n_asked(), n_blocked(cli)) == (2, 7)
    assert sum(held(cli.root).values()) <= 14_000
    assert ran.err.count("budget.judge.tokens is 14000 tokens") == 1
    details = complete_details(cli)
    assert len(details) == 7
    assert all("budget_blocked (judge): budget.judge.tokens is 14000 tokens" in words for words in details)
    assert cli("gate").code == 3


@pytest.mark.parametrize("name", ["money", "money_per_day"])
def test_a_limit_of_money_is_kept_and_named(cli: Cli, server: PricedServer, name: str) -> None:
    """4096 tokens of output alone may cost 0.0016384, so 0.0016 lets no call through, whatever it would really cost."""
    build_priced(cli.root)
    limit(cli.root, **{name: "0.0016"})
    assert cli("eval", *MODELS).code == 3
    assert (server.n_asked(), n_blocked(cli)) == (0, 9)
    assert all(f"budget.judge.{name} is 0.0016 USD; 0 spent or reserved" in words for words in complete_details(cli))


@pytest.mark.parametrize(
    ("prices", "why"),
    [
        (None, "no list of prices is set up"),
        (PRICES.replace("gemini:judge", "gemini:other"), "gemini:judge is not in the list of prices as of 2026-11-01"),
        (PRICES.replace("0.10", "cheap"), "must match"),
        ("prices: [", "evals/prices.yaml"),
    ],
    ids=["none", "another model", "no number", "no YAML"],
)
def test_a_budget_of_money_that_cannot_be_read_spends_nothing(
    cli: Cli, server: PricedServer, prices: str | None, why: str
) -> None:
    """However much of it there is: no call is made, said once, exit 3."""
    build_priced(cli.root, prices=prices)
    limit(cli.root, money="1000000")
    ran = cli("eval", *MODELS)
    assert (ran.code, server.n_asked(), n_blocked(cli)) == (3, 0, 9)
    assert ran.err.count("the budget of the judge cannot be read") == 1
    assert why in ran.err
    assert spending(cli.root) == []


def test_a_ledger_that_cannot_be_read_spends_nothing(cli: Cli, server: PricedServer) -> None:
    """A line torn in the middle of the file."""
    build_priced(cli.root)
    limit(cli.root, tokens=10**9)
    (cli.root / ".skillassay").mkdir()
    (cli.root / ".skillassay/spending.jsonl").write_text('{"spending": 1, "eve\n{}\n', encoding="utf-8")
    assert cli("eval", *MODELS).code == 3
    assert (server.n_asked(), n_blocked(cli)) == (0, 9)


def test_a_budget_that_is_no_budget_stops_before_anything(cli: Cli, server: PricedServer) -> None:
    """Money as a binary float is an error of the contract: nobody is asked, neither judge nor candidate."""
    build_priced(cli.root)
    limit(cli.root, money=2.5)
    assert cli("eval", *MODELS).code == 3
    assert server.seen == []


def test_more_is_allowed_later_and_only_the_judge_is_asked(cli: Cli, server: PricedServer) -> None:
    """The contract's limit is raised and the run goes on: no evidence binds it, and the candidates' answers stay."""
    build_priced(cli.root)
    limit(cli.root, tokens=0)
    assert cli("eval", *MODELS).code == 3
    n_answers = server.n_asked("candidate")
    limit(cli.root, tokens=10**6)
    cli("eval", *MODELS, "--retry-unscored", run_folder(cli.root).name)
    assert (n_blocked(cli), server.n_asked()) == (0, 9)
    assert server.n_asked("candidate") == n_answers


def test_what_a_killed_run_reserved_counts_when_it_goes_on(cli: Cli, server: PricedServer) -> None:
    """kill -9 in the middle of a judge's call: resumed, the same limit that a new run stays within is too small."""
    build_priced(cli.root)
    limit(cli.root, tokens=10**6)
    server.delay_s = 60.0
    settings = environment(GOOGLE_GEMINI_BASE_URL=server.base_url, GEMINI_API_KEY="k")
    argv = command(cli.root, "eval", *MODELS, "--jobs", "1")
    process = subprocess.Popen(argv, cwd=REPOSITORY, env=settings, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    for _ in range(600):
        if server.n_asked():
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    server.delay_s = 0.0
    ((_, most),) = held(cli.root).items()
    # Room for the killed attempt, for another bound and for four more uses; a new run needs one bound and eight.
    enough = 2 * most + 4 * 120
    limit(cli.root, tokens=enough)
    ran = cli("eval", *MODELS, "--jobs", "1", "--resume", run_folder(cli.root).name)
    assert ran.code == 3
    assert 0 < n_blocked(cli) < 9
    assert most <= sum(held(cli.root).values()) <= enough
    cli("eval", *MODELS, "--jobs", "1")
    assert n_blocked(cli) == 0


def test_two_runs_at_once_share_the_limit_of_a_day(cli: Cli, server: PricedServer) -> None:
    """In processes of their own: of six calls that are wanted two fit, whoever makes them, and no run is complete."""
    build_priced(cli.root)
    server.tells = False
    limit(cli.root, tokens_per_day=14_000)
    settings = environment(GOOGLE_GEMINI_BASE_URL=server.base_url, GEMINI_API_KEY="k")
    argv = command(cli.root, "eval", *MODELS, "--mode", "progressive")
    runs = [
        subprocess.Popen(argv, cwd=REPOSITORY, env=settings, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    for run in runs:
        run.communicate(timeout=120)
    assert [run.returncode for run in runs] == [3, 3]
    assert sum(held(cli.root).values()) <= 14_000
    assert server.n_asked() == len(held(cli.root)) == 2


def test_what_the_cache_answers_costs_nothing(cli: Cli, server: PricedServer) -> None:
    """A second run within a budget of 0."""
    build_priced(cli.root)
    limit(cli.root, tokens=10**6)
    cli("eval", *MODELS, "--cache")
    limit(cli.root, tokens=0)
    cli("eval", *MODELS, "--cache")
    assert (n_blocked(cli), server.n_asked(), len(held(cli.root))) == (0, 9, 9)
    judge = result(cli.root)["cost"]["judge"]
    assert (judge["calls"], judge["tokens"], judge["money"]) == (0, 0, "0")


def test_a_recording_is_outside_of_the_budget(cli: Cli, server: PricedServer) -> None:
    """Its answers cost nothing now; and what the budget refused stands in no recording."""
    build_priced(cli.root)
    limit(cli.root, tokens=10**6)
    cli("record", *MODELS, "--to", "evals/recordings/r.jsonl")
    limit(cli.root, tokens=0)
    cli("eval", "--model", "replay:evals/recordings/r.jsonl")
    assert (n_blocked(cli), server.n_asked()) == (0, 9)


def test_calibrate_asks_within_the_budget(cli: Cli, server: PricedServer) -> None:
    """It is a run of its own; with nothing to spend nobody is asked, and the judge is not calibrated."""
    build_priced(cli.root)
    cli("eval", *MODELS, "--case", "one", "--mode", "progressive")
    made = cli.root / "made.jsonl"
    made.write_text(
        '{"suite": "quality", "case": "one", "answer": "hello", "criterion": "says-hello", "verdict": "pass"}\n',
        encoding="utf-8",
    )
    assert cli("label", "--by", "Aiko Mori", "--from", str(made), "--origin", "human").code == 0
    n_asked = server.n_asked()
    limit(cli.root, tokens=0)
    ran = cli("calibrate", "--ask", "--judge-model", "gemini:judge")
    assert (ran.code, server.n_asked()) == (1, n_asked)
    assert "budget.judge.tokens is 0 tokens" in ran.err
    limit(cli.root, tokens=10**6)
    cli("calibrate", "--ask", "--judge-model", "gemini:judge")
    assert server.n_asked() == n_asked + 1
    assert list(held(cli.root).values()) == [120]


def test_authored_answers_count_their_tokens(cli: Cli) -> None:
    """So that the rule can be seen without a key: two limits, one run that ends and one that does not."""
    build_small(cli.root)
    limit(cli.root, tokens=100_000, money="0")
    assert cli("eval").code == 0
    limit(cli.root, tokens=8_000)
    assert cli("eval").code == 3
    assert 0 < n_blocked(cli) < 9


def test_the_limit_is_named_where_no_texts_are_kept(cli: Cli) -> None:
    """Under `retention: hash` the kind still says which limit it was."""
    build_small(cli.root, retention="hash")
    limit(cli.root, tokens=0)
    assert cli("eval").code == 3
    assert all("budget_blocked (tokens)" in words for words in complete_details(cli))
