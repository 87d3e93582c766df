"""`skillassay e2e`: does a request lead to the right skill and script, or to none?"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from skillassay.patterns import Pattern, PatternTimeout
from tests.models.wire_server import WireServer, reply
from tests.project import Cli, build_small, rule, write_json

LOAD = {"calls": [{"name": "load_skill", "args": {"skill_name": "greeter"}}]}
CALL = {"functionCall": {"name": "load_skill", "args": {"skill_name": "greeter"}}}


def test_the_shipped_requests_are_routed(cli: Cli, shipped: Path) -> None:
    """Nine requests, each to its skill or to none: exit 0, and nothing is written."""
    before = set(shipped.rglob("*"))
    ran = cli("e2e")
    assert ran.code == 0
    assert ran.out.splitlines()[-1].startswith("9/9 passed in ")
    assert ran.out.count("ok    ") == 9
    assert "FIXTURE RUN" in ran.err
    assert set(shipped.rglob("*")) == before


def test_at_least_four_requests_need_no_skill(shipped: Path) -> None:
    """A catalog that is always used would pass without them."""
    cases = json.loads((shipped / "evals/routing.json").read_text("utf-8"))["cases"]
    assert sum(case["expect"]["skills"] == [] for case in cases) >= 4


def routed(cli: Cli, first: dict[str, Any], **expect: object) -> tuple[int, str]:
    """Exit code and output for one request whose first reply is authored."""
    rules = [rule("one", {"text": "hello"}, prompt=["Say hello twice"]), rule("one", first, tools=["load_skill"])]
    build_small(cli.root, rules=rules, suites={"quality": ["evals/quality.json"], "routing": ["evals/routing.json"]})
    case = {"id": "to-greet", "query": "Greet one.", "expect": {"skills": [], **expect}}
    write_json(cli.root / "evals" / "routing.json", {"suite": "routing", "version": "1.0.0", "cases": [case]})
    ran = cli("e2e")
    return ran.code, ran.out


def test_the_expected_skill_passes(cli: Cli) -> None:
    """Activated what was expected: exit 0."""
    code, out = routed(cli, LOAD, skills=["greeter"])
    assert code == 0
    assert "expected   greeter" in out
    assert "activated  greeter" in out


@pytest.mark.parametrize(
    ("first", "expect", "words"),
    [
        (LOAD, {"skills": []}, "why        activated greeter, expected none"),
        ({"text": "hello"}, {"skills": ["greeter"]}, "why        activated none, expected greeter"),
        (LOAD, {"skills": ["greeter"], "scripts": ["greeter/scripts/x.py"]}, "did not run greeter/scripts/x.py"),
    ],
)
def test_another_way_fails(cli: Cli, first: dict[str, Any], expect: dict[str, Any], words: str) -> None:
    """A skill too many, one too few, a script that did not run: exit 1 with what was expected and what was done."""
    code, out = routed(cli, first, **expect)
    assert code == 1
    assert "FAIL  to-greet" in out
    assert words in out


def test_a_request_that_got_no_answer_is_open(cli: Cli) -> None:
    """An error is neither right nor wrong: exit 3 with its reason."""
    code, out = routed(cli, {"error": {"code": 500, "status": "INTERNAL", "message": "down"}}, skills=["greeter"])
    assert code == 3
    assert "OPEN  to-greet" in out
    assert "provider_error (candidate): HTTP 500 INTERNAL: down" in out


def test_an_error_behind_the_right_activation_is_open(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Activated rightly, then cut off: not passed."""
    routed(cli, LOAD, skills=["greeter"])
    with WireServer(reply(CALL), reply(finish="SAFETY")) as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        monkeypatch.setenv("GEMINI_API_KEY", "k")
        ran = cli("e2e", "--model", "gemini:some")
    assert ran.code == 3
    assert "FIXTURE" not in ran.err
    assert "0/1 passed" in ran.out


def test_no_routing_case_is_no_success(cli: Cli) -> None:
    """Nothing to route: exit 3, saying what to write."""
    build_small(cli.root)
    ran = cli("e2e")
    assert ran.code == 3
    assert "write evals/routing.json" in ran.err


def test_an_unknown_case_is_wrong_usage(cli: Cli, shipped: Path) -> None:
    """Exit 2 with the cases there are, also when no other case was named."""
    ran = cli("e2e", "--case", "other")
    assert ran.code == 2
    assert "route-notes-atelier" in ran.err


@pytest.mark.parametrize(
    ("patterns", "code", "why"),
    [
        (["^hel+o$"], 0, None),
        (["hello", "(?i)HELLO"], 0, None),
        (["good day"], 1, "why        the answer does not hold good day"),
        (["hello", "x{3}"], 1, "why        the answer does not hold x{3}"),
    ],
)
def test_the_answer_is_asserted(cli: Cli, patterns: list[str], code: int, why: str | None) -> None:
    """Each pattern must be found in the final answer, which is then shown."""
    got, out = routed(cli, LOAD, skills=["greeter"], answer=patterns)
    assert got == code
    assert "      answer     hello\n" in out
    assert why is None or why in out


def test_a_wrong_skill_is_said_before_the_answer(cli: Cli) -> None:
    """Both differ: the activation is named."""
    code, out = routed(cli, LOAD, skills=[], answer=["good day"])
    assert code == 1
    assert "why        activated greeter, expected none" in out


def test_a_pattern_over_its_time_leaves_the_case_open(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pattern that backtracks without end decides nothing: exit 3."""
    monkeypatch.setattr("skillassay.patterns.Pattern.search", _slow)
    code, out = routed(cli, LOAD, skills=["greeter"], answer=["hello"])
    assert code == 3
    assert "why        check_error (check): too slow" in out


def _slow(pattern: Pattern, text: str) -> None:
    if pattern.text == "hello":
        raise PatternTimeout("too slow")


def test_a_pattern_that_cannot_be_used_is_a_finding(cli: Cli) -> None:
    """check names the case, and e2e asks nothing."""
    code, _ = routed(cli, LOAD, skills=["greeter"], answer=["(", "ok"])
    ran = cli("check")
    assert (code, ran.code) == (3, 1)
    assert "suite.bad-check" in ran.out + ran.err
    assert "case 'to-greet': pattern '(' cannot be compiled" in ran.out + ran.err


def test_a_long_answer_is_cut_to_two_lines(cli: Cli) -> None:
    """At 80 columns, with a mark that something is left out."""
    code, out = routed(cli, {"text": "many words " * 60}, skills=[], answer=["many"])
    assert code == 0
    lines = out.splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith("      answer "))
    assert lines[start + 1].startswith(" " * 17)
    assert lines[start + 1].endswith(" …")
    assert max(map(len, lines)) <= 80
    assert not lines[start + 2].startswith(" " * 17)


def test_an_unknown_subject_is_wrong_usage(cli: Cli, shipped: Path) -> None:
    """Exit 2, before anything is asked."""
    ran = cli("e2e", "--subject", "loop", "--subject", "nobody")
    assert ran.code == 2
    assert "nobody" in ran.err
    assert ran.out == ""


def test_adk_that_is_not_installed_is_said_with_its_extra(cli: Cli, shipped: Path) -> None:
    """Exit 3 with what to install, before the other subject is asked."""
    if find_spec("google.adk") is not None:
        pytest.skip("google-adk is installed here")
    ran = cli("e2e", "--subject", "loop", "--subject", "adk")
    assert ran.code == 3
    assert "pip install 'skillassay[adk]'" in ran.err
    assert "make e2e" in ran.err
    assert ran.out == ""


def test_adk_asks_gemini_models_alone(cli: Cli, shipped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another provider's model behind ADK is wrong usage."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    ran = cli("e2e", "--subject", "adk", "--model", "openai:some")
    assert ran.code == 2
    assert "openai:some is none" in ran.err


def test_no_line_is_wider_than_a_terminal(cli: Cli) -> None:
    """An error of any length is wrapped below its word, whole, and not cut at the edge."""
    words = " ".join(f"word{number}" for number in range(30))
    code, out = routed(cli, {"error": {"code": 400, "status": "INVALID", "message": words}}, skills=["greeter"])
    assert code == 3
    assert max(map(len, out.splitlines())) <= 80
    assert words in " ".join(out.split())
