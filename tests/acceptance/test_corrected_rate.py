"""The corrected share under both rules of the contract: the estimate, or its interval. Real HTTP, real SDK."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.acceptance.live import LiveServer, says_hello
from tests.acceptance.test_judge_gate import ASK, MODELS, gate, label, line
from tests.project import Cli, build_small, small_case


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LiveServer]:
    """The live models, with a key in the environment."""
    with LiveServer() as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        monkeypatch.setenv("GEMINI_API_KEY", "k")
        yield server


@pytest.mark.parametrize(
    ("rule", "limit", "passes", "status"),
    [
        ("point", 0.8, True, "passed"),
        ("bound", 0.8, True, "undecided"),  # six criteria cannot lift the interval there
        ("bound", 0.1, True, "passed"),
        ("point", 0.1, False, "failed"),
        ("bound", 0.1, False, "undecided"),
        ("bound", 0.99, False, "failed"),
    ],
)
def test_the_rule_of_the_contract_decides(
    cli: Cli, server: LiveServer, *, rule: str, limit: float, passes: bool, status: str
) -> None:
    """Six criteria, all passed or none, by a judge with sensitivity 1 and specificity 8/10: the estimate is 1 or 0.

    Under ``bound`` the interval that is shown decides: at or above the limit, below it, or around it.
    """
    cases = [f"c{i}" for i in range(6)]
    build_small(cli.root, cases=[small_case(case) for case in cases], gate={"quality_min": limit, "lift_rule": rule})
    server.reads = lambda answer, _: passes and "hello" in answer
    cli("eval", *MODELS)
    server.reads = lambda answer, statement: says_hello(answer, statement) or answer[-1] in "01"
    label(cli, n=10, about=[(case, "says-hello") for case in cases])
    assert cli(*ASK).code == 0
    found = line(gate(cli), "corrected_rate")
    assert (found["status"], found["limit"]) == (status, f">= {limit} (rule {rule})")
    low, high = map(float, re.findall(r"\[([\d.]+), ([\d.]+)\]", found["number"])[0])
    if rule == "bound":
        assert {"passed": low >= limit, "failed": high < limit, "undecided": low < limit <= high}[status]
    assert found["number"].endswith(", inconclusive") == (status == "undecided")
