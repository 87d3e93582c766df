"""Public reports on comparing runs and on triggering skills, by the command line. Names are the reports' labels."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.live import LiveServer
from tests.acceptance.test_judge_gate import MODELS
from tests.models.wire_server import Canned, Seen, reply
from tests.project import BAD, GOOD, SKILL, Cli, build_small, records, small_case, small_rules, write_json

PUBLIC = Path(__file__).parents[1] / "data" / "public" / "stats"


def data(name: str) -> Any:
    """The material of a report."""
    return json.loads((PUBLIC / name).read_text(encoding="utf-8"))


def put(root: Path, cases: list[dict[str, Any]], version: str) -> None:
    """A suite of these cases, answered so that they pass or fail as said."""
    suite = {"suite": "quality", "version": version, "cases": [small_case(one["id"]) for one in cases]}
    write_json(root / "evals" / "quality.json", suite)
    rules = [r for one in cases for r in small_rules(one["id"], good=GOOD if one["pass"] else BAD)]
    fixtures = json.loads((root / "evals" / "fixtures" / "all.json").read_text("utf-8"))
    write_json(root / "evals" / "fixtures" / "all.json", fixtures | {"subject": rules})


def test_mcpjam_4343_a_removed_case_is_told_and_an_added_one_counts_for_nothing(cli: Cli) -> None:
    """MCPJam/inspector#4343: b is gone and d is new. `compare` refuses, and the gate compares what both runs asked."""
    build_small(cli.root)
    put(cli.root, data("mcpjam-4343/baseline.json"), "1.0.0")
    old = cli("eval", "--format", "json").json["run"]
    put(cli.root, data("mcpjam-4343/current.json"), "2.0.0")
    new = cli("eval", "--format", "json").json["run"]
    refused = cli("compare", old, new)
    assert refused.code == 3
    assert "planned in the first alone: b [" in refused.out
    assert "planned in the second alone: d [" in refused.out
    lines = cli("gate", "--format", "json").json["lines"]
    (line,) = [one for one in lines if one["name"] == "no_regression"]
    assert (line["counts"]["compared"], line["counts"]["passed"], line["counts"]["passed_before"]) == (2, 1, 1)
    assert "removed since, not compared: quality/b" in line["detail"]
    assert "added since, or without a score there, not compared: quality/d" in line["detail"]


def test_mcpjam_4343_two_cases_of_one_id_are_refused(cli: Cli) -> None:
    """Which of the two would be paired with the baseline's nobody can say."""
    build_small(cli.root)
    put(cli.root, data("mcpjam-4343/dup.json"), "1.0.0")
    ran = cli("eval")
    assert ran.code == 3
    assert "suite.duplicate-id" in ran.err


def test_ai_agents_5601_a_flaky_base_is_no_baseline(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """rjmurillo/ai-agents#5601: one of three base repeats failed by chance; neither a regression nor an improvement is
    claimed on that case.
    """
    sides = data("ai-agents-5601/t.json")
    build_small(cli.root, cases=[small_case("one")], gate={"min_cases": 1})
    # Progressive and eager are judged alike; without the skill nothing says hello, and nothing passes.
    with Chance(sorted(2 * sides["base"]) + 2 * sides["head"]) as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        monkeypatch.setenv("GEMINI_API_KEY", "k")
        for _ in range(2):
            cli("eval", *MODELS, "--repeats", "3", "--jobs", "1")
    lines = cli("gate", "--format", "json").json["lines"]
    (line,) = [one for one in lines if one["name"] == "no_regression"]
    assert line["status"] == "passed"
    low, high = map(float, line["number"].rpartition("[")[2].rstrip("]").split(","))
    assert low < 0 < high
    assert line["detail"] == ["flaky in the baseline, not passed there: quality/one"]


class Chance(LiveServer):
    """A judge that passes and fails answers with a hello in this order."""

    def __init__(self, verdicts: list[int]) -> None:
        super().__init__()
        self._verdicts = iter(verdicts)

    def _verdict(self, document: dict[str, Any]) -> dict[str, Any]:
        passed = "hello" in document["answer"] and bool(next(self._verdicts))
        self.reads = lambda *_: passed
        return super()._verdict(document)


def calls_of(stream: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The calls of a recorded stream as our tools know them; a shell command is none of them."""
    for call in stream["calls"]:
        name, _, what = call.partition(":")
        if name == "load_skill":
            wanted = "missing" if "not found" in what else what
            yield {"name": "load_skill", "args": {"skill_name": wanted}}
        elif name == "load_skill_resource":
            skill, _, file = what.partition("/")
            yield {"name": "load_skill_resource", "args": {"skill_name": skill, "file_path": file}}
        else:
            yield {"name": name, "args": {}}


class Caller(LiveServer):
    """A candidate that makes these calls in its first turn and says this when they are answered."""

    def __init__(self, stream: Mapping[str, Any]) -> None:
        super().__init__()
        self._calls, self._said = list(calls_of(stream)), stream.get("text", "hello")

    def answer(self, seen: Seen) -> Canned:
        """The judge's reply, or the next step of the conversation."""
        if "models/judge:" in seen.path:
            return super().answer(seen)
        if self._calls and b"functionResponse" not in seen.body:
            return reply(*({"functionCall": call} for call in self._calls))
        return reply({"text": self._said})


@pytest.mark.parametrize("stream", data("anthropics-skills-1559/streams.json"), ids=str)
def test_anthropics_skills_1559_a_skill_is_triggered_by_a_load_that_worked(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, stream: dict[str, Any]
) -> None:
    """anthropics/skills#1559: the whole conversation counts, by exact name. Another skill first, a failed load, a look
    into a file, a mention in the text: none of these decides otherwise.
    """
    skills = {f"skills/{name}/SKILL.md": SKILL.format(name=name) for name in ("demo", "demo2", "other")}
    build_small(cli.root, cases=[small_case("one")], files=skills)
    with Caller(stream) as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        monkeypatch.setenv("GEMINI_API_KEY", "k")
        cli("eval", *MODELS, "--mode", "progressive")
    (record,) = records(cli.root)
    if record["outcome"]["status"] == "UNSCORED":  # a call of a tool that was never offered is a broken contract
        assert "bash" in stream["calls"]
        assert record["outcome"]["reason"] == "contract_error"
        return
    assert ("demo" in record["activated"]) is (stream["triggered"] is True)
