"""Words changed after a comparison was seen are no witness for any later one. Real HTTP, real SDK."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from skillassay.runs.store import now_utc
from tests.acceptance.live import LiveServer
from tests.acceptance.renamed import judge_terms
from tests.acceptance.test_judge_gate import ASK, MODELS, gate, label, line
from tests.project import Cli, build_small


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LiveServer]:
    """The live models, with a key in the environment."""
    with LiveServer() as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        monkeypatch.setenv("GEMINI_API_KEY", "k")
        yield server


def test_a_judge_with_one_token_less_does_not_forget_what_was_seen(cli: Cli, server: LiveServer) -> None:
    """19 of 24 agree; then the five words that differ are changed and the same model is asked under another limit. The
    five are left out as they are for the first pin, which is more than one in ten, here and in the gate.
    """
    build_small(cli.root)
    label(cli, wrong=5)
    assert cli(*ASK).code == 1
    wait_a_second()
    judge_terms(cli, max_output_tokens=8191)
    label(cli)
    ran = cli(*ASK, "--format", "json")
    assert (ran.code, ran.json["changed_since_first"], ran.json["before"]) == (1, 5, [])
    assert len(list((cli.root / "evals/calibration").iterdir())) == 2
    cli("eval", *MODELS)
    found = line(gate(cli), "judge_calibrated")
    assert found["status"] == "failed"
    assert any("5 of 24 decided points" in words for words in found["detail"])


def test_a_word_said_after_the_first_comparison_and_changed_after_the_second_is_left_out(
    cli: Cli, server: LiveServer
) -> None:
    """The second comparison is the first that could show where the judge differs on it."""
    build_small(cli.root)
    label(cli, n=10)
    assert cli(*ASK).code == 0
    wait_a_second()
    label(cli, n=11)
    server.reads = lambda answer, _: "hello" in answer and not answer.endswith("10")
    assert cli(*ASK, "--format", "json").json["changed_since_first"] == 0
    wait_a_second()
    relabel_the_eleventh(cli)
    assert cli(*ASK, "--format", "json").json["changed_since_first"] == 1


def wait_a_second() -> None:
    """Times are kept to the second: what is said now is said later than all before it."""
    now = now_utc()
    while now_utc() == now:
        time.sleep(0.01)


def relabel_the_eleventh(cli: Cli) -> None:
    """The person fails the newest greeting, as the judge did."""
    path = cli.root / "one.jsonl"
    answer = '{"suite": "quality", "case": "two", "answer": "hello 10", "criterion": "says-hello", "verdict": "fail"}\n'
    path.write_text(answer, encoding="utf-8")
    assert cli("label", "--by", "Aiko Mori", "--from", str(path), "--origin", "human").code == 0


def test_words_as_they_were_count_for_another_judge(cli: Cli, server: LiveServer) -> None:
    """Nothing was changed: a second pin is calibrated on the same labels as the first, and with new ones."""
    build_small(cli.root)
    label(cli)
    assert cli(*ASK).code == 0
    judge_terms(cli, max_output_tokens=8191)
    label(cli, n=13)
    assert cli(*ASK).code == 0
    cli("eval", *MODELS)
    assert line(gate(cli), "judge_calibrated")["status"] == "passed"
