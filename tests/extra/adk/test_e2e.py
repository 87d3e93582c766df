"""`skillassay e2e` through both engines: the shipped requests, and what stops a run."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skillassay.runs.plan import Mode
from skillassay.subjects import adk
from skillassay.subjects.base import SubjectRequest
from skillassay.subjects.offering import first_turn
from tests.models.wire_server import WireServer, reply
from tests.project import REPOSITORY, Cli, build_small, command, edit, environment, rule, write_json

BOTH = ("--subject", "loop", "--subject", "adk")
LOAD = {"calls": [{"name": "load_skill", "args": {"skill_name": "greeter"}}]}


def blocks(out: str) -> dict[tuple[str, str], str]:
    """What was printed of each case and subject."""
    found: dict[tuple[str, str], str] = {}
    key = ("", "")
    for line in out.splitlines()[:-1]:
        if not line.startswith(" "):
            _, case, subject = line.split()
            key = (case, subject)
        found[key] = f"{found.get(key, '')}{line}\n"
    return found


def test_the_shipped_requests_go_through_both_engines(cli: Cli, shipped: Path) -> None:
    """Each request twice, to its skill and script or to none; nothing is written."""
    n_runs = 2 * len(json.loads((shipped / "evals/routing.json").read_text("utf-8"))["cases"])
    before = set(shipped.rglob("*"))
    ran = cli("e2e", *BOTH)
    assert ran.code == 0, ran.out
    assert ran.out.splitlines()[-1].startswith(f"{n_runs}/{n_runs} passed in ")
    assert len(blocks(ran.out)) == n_runs
    assert set(shipped.rglob("*")) == before


def test_the_balance_is_six_days_in_both(cli: Cli, shipped: Path) -> None:
    """Hired 2019-03-04, 4 days carried over, 7 taken since June, asked on 2026-10-15: 4 full months at 2.25 are 9, and
    9 + 4 - 7 = 6; ADK's calls are shown in their order.
    """
    ran = cli("e2e", *BOTH, "--case", "route-jours-restants")
    assert ran.code == 0, ran.out
    told = blocks(ran.out)
    for subject in ("loop", "adk"):
        assert "6 jours ouvrés" in told["route-jours-restants", subject]
        assert "activated  leave-balance-calculator\n" in told["route-jours-restants", subject]
    adk = told["route-jours-restants", "adk"]
    assert "script     leave-balance-calculator/scripts/leave_balance.py\n" in adk
    assert max(map(len, adk.splitlines())) <= 80
    said = " ".join(adk.split())
    assert said.count(" call ") == 3
    calls = ("list_skills", "load_skill leave-balance-calculator", "run_skill_script leave-balance-calculator/scripts")
    assert [said.index(f" call {call}") for call in calls] == sorted(said.index(f" call {call}") for call in calls)


def project(cli: Cli, *rules: dict[str, object], **expect: object) -> None:
    """A small project with one routing case and these rules."""
    suites = {"quality": ["evals/quality.json"], "routing": ["evals/routing.json"]}
    build_small(cli.root, rules=rules, suites=suites)
    case = {"id": "to-greet", "query": "Greet one.", "expect": {"skills": ["greeter"], **expect}}
    write_json(cli.root / "evals" / "routing.json", {"suite": "routing", "version": "1.0.0", "cases": [case]})


def test_engines_may_differ(cli: Cli) -> None:
    """A model that loads the skill only where it stands in the prompt passes in the loop alone: exit 1."""
    project(
        cli,
        rule("one", {"text": "hello hello"}, prompt=["Say hello twice"]),
        rule("one", LOAD, prompt=["<available_skills>"], tools=["load_skill"]),
        rule("one", {"text": "good day"}),
    )
    ran = cli("e2e", *BOTH)
    assert ran.code == 1
    told = blocks(ran.out)
    assert told["to-greet", "loop"].startswith("ok  ")
    assert told["to-greet", "adk"].startswith("FAIL")
    assert "why        activated none, expected greeter" in told["to-greet", "adk"]
    assert ran.out.splitlines()[-1].startswith("1/2 passed in ")


def test_a_skill_that_adk_refuses_stops_both(cli: Cli, shipped: Path) -> None:
    """Exit 3 naming the skill and ADK's reason, before the loop has asked anything."""
    edit(shipped / "skills/ticket-triage/SKILL.md", "\nlicense: MIT\n", "\nlicense: 2.0\n")
    ran = cli("e2e", *BOTH)
    assert ran.code == 3
    assert ran.out == ""
    assert "ADK does not load skills/ticket-triage" in ran.err
    assert "license: Input should be a valid string" in ran.err


def test_a_live_endpoint_that_blocks_leaves_the_case_open(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through ADK on a model of the Gemini API at another address: unscored, exit 3."""
    project(cli, rule("one", {"text": "x"}))
    monkeypatch.setenv("GEMINI_API_KEY", "a-test-key")
    with WireServer(reply(finish="SAFETY")) as server:
        ran = cli("e2e", "--subject", "adk", "--model", "gemini:some", "--base-url", server.base_url)
        assert len(server.seen) == 1
    assert ran.code == 3
    assert "OPEN  to-greet  adk" in ran.out
    assert "blocked (candidate): the answer was blocked: SAFETY" in ran.out


def test_a_whole_evaluation_through_adk(cli: Cli, shipped: Path) -> None:
    """The shipped suite in its three modes: every trial is scored, arms differ in the skill alone, the gate passes."""
    ran = cli("--quiet", "eval", "--subject", "adk", "--format", "json")
    assert ran.code == 0, ran.err
    counts = ran.json["counts"]
    assert counts["planned"] == len(ran.json["trials"]) >= 39
    assert counts["unscored"] == 0
    assert ran.json["subject"]["kind"] == "adk"
    lines = {line["name"]: line["status"] for line in ran.json["decision"]["lines"]}
    assert lines["clean_arms"] == "passed"


def status_of_arms(cli: Cli) -> tuple[str, str]:
    """The gate's line on the arms of a run through ADK: its status, and all that it says."""
    ran = cli("--quiet", "eval", "--subject", "adk", "--format", "json")
    line = next(line for line in ran.json["decision"]["lines"] if line["name"] == "clean_arms")
    return line["status"], str(line)


@pytest.mark.parametrize("mode", ["none", "progressive", "eager"])
def test_words_that_an_arm_alone_is_told_fail_the_gate(cli: Cli, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    """The agent's instruction names a skill in `none`, or helps where the skill is: found in what was sent."""
    build_small(cli.root)
    assert status_of_arms(cli)[0] == "passed"
    sound = adk.AdkSubject._agent

    def leaking(subject: Any, request: SubjectRequest, workspace: Path, said: Any) -> Any:
        agent = sound(subject, request, workspace, said)
        if request.mode.value == mode:
            told = agent.instruction
            agent.instruction = lambda context: f"The skill greeter says hello twice. {told(context)}"
        return agent

    monkeypatch.setattr(adk.AdkSubject, "_agent", leaking)
    status, words = status_of_arms(cli)
    assert status == "failed"
    assert "another prompt" in words


def test_a_tool_that_tells_the_model_in_its_turn_fails_the_gate(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words beside the user's own, in the contents, count like those of the instruction."""
    build_small(cli.root)

    def leaking(request: SubjectRequest) -> str:
        told = first_turn(request)
        return f"{told} Be as greeter is." if request.mode is Mode.NONE else told

    monkeypatch.setattr(adk, "first_turn", leaking)
    status, words = status_of_arms(cli)
    assert status == "failed"
    assert "another prompt" in words


def test_ctrl_c_does_not_wait_for_a_silent_service(cli: Cli) -> None:
    """Interrupted while the service is silent: exit 130 at once, long before the time limit of the call."""
    project(cli, rule("one", {"text": "x"}))
    with WireServer(replace(reply({"text": "late"}), delay_s=60.0)) as server:
        arguments = ("e2e", "--subject", "adk", "--model", "gemini:some", "--base-url", server.base_url)
        process = subprocess.Popen(
            command(cli.root, *arguments),
            cwd=REPOSITORY,
            env=environment(GEMINI_API_KEY="a-test-key"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        until = time.monotonic() + 60
        while not server.seen and time.monotonic() < until:
            time.sleep(0.05)
        assert server.seen
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert process.returncode == 130, err.decode()
    assert b"Traceback" not in err
