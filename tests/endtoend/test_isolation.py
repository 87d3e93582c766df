"""The level of isolation: asked for, reached, refused and shown."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from skillassay.isolation import process
from skillassay.isolation.levels import WORKSPACE, Room
from skillassay.isolation.process import Isolation
from tests.endtoend.scripted import MODES, build_scripted, told
from tests.project import Cli, build_small, records, run_folder, write_json

in_namespaces = pytest.mark.skipif(
    process.probe_isolation().level is not Isolation.NAMESPACES, reason=process.probe_isolation().why
)


@pytest.fixture
def no_namespaces(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine without the program that makes them."""
    missing = property(lambda room: ("no-such-unshare",) if room.closed else ())
    monkeypatch.setattr(Room, "namespaces", missing)
    process.probe_isolation.cache_clear()
    yield
    process.probe_isolation.cache_clear()


def test_a_machine_that_reaches_less_is_refused_before_a_model_is_called(cli: Cli, no_namespaces: None) -> None:
    """Exit 3 with what is missing and what to do; nothing is recorded."""
    build_scripted(cli.root, "print(1)")
    ran = cli("eval", "--require-isolation", "namespaces")
    assert ran.code == 3
    assert "isolation 'namespaces' is required and this machine gives 'process'" in ran.err
    assert "no-such-unshare" in ran.err
    assert "hint: install unshare" in ran.err
    assert not (cli.root / ".skillassay").exists()


def test_routing_is_refused_alike(cli: Cli, no_namespaces: None) -> None:
    """It runs scripts too."""
    build_small(cli.root)
    case = {"id": "hello", "query": "Greet one.", "expect": {"skills": []}}
    write_json(cli.root / "evals" / "routing.json", {"suite": "routing", "version": "1.0.0", "cases": [case]})
    ran = cli("e2e", "--require-isolation", "namespaces")
    assert ran.code == 3
    assert "is required and this machine gives 'process'" in ran.err


def test_what_is_required_and_reached_is_no_matter(cli: Cli) -> None:
    """The weaker level is reached by every machine."""
    build_small(cli.root)
    assert cli("eval", "--require-isolation", "process").code == 0


@in_namespaces
def test_the_level_is_recorded_and_shown_where_scripts_may_run(cli: Cli) -> None:
    """In the table, in Markdown and in result.json, with the skills whose scripts it is about."""
    build_scripted(cli.root, "print(1)")
    ran = cli("eval", "--require-isolation", "namespaces", *MODES)
    line = "scripts of skills/greeter: level namespaces, isolated: user, network, pid, mount namespaces"
    assert line in " ".join(ran.out.split())
    assert "level namespaces" in cli("report", "--format", "markdown").out
    result = json.loads((run_folder(cli.root) / "result.json").read_text("utf-8"))
    assert (result["isolation"]["level"], result["isolation"]["skills"]) == ("namespaces", ["skills/greeter"])
    header = json.loads((run_folder(cli.root) / "run.json").read_text("utf-8"))
    assert header["settings"]["require_isolation"] == "namespaces"


def test_nothing_is_shown_where_no_skill_has_a_script(cli: Cli) -> None:
    """A line about nothing is none."""
    build_small(cli.root)
    assert "level " not in cli("eval").out


@pytest.mark.skipif(os.geteuid() != 0, reason="the case of root")
def test_root_without_a_limit_on_processes_runs_no_script(
    cli: Cli, no_namespaces: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless it is told to: the trial has no score, which says nothing about the skill, and its reason."""
    monkeypatch.setattr(process, "why_root", lambda: "Python fails inside: Permission denied")
    build_scripted(cli.root, "print('ran')")
    ran = cli("eval", "--mode", "progressive")
    assert ran.code == 3
    hint = "1 trial asked for a script that was not run; --allow-unisolated runs scripts all the same"
    assert " ".join(ran.out.split()).count(hint) == 1
    (record,) = records(cli.root)
    assert record["outcome"]["reason"] == "missing_required_capability"
    assert record["outcome"]["detail"].startswith("not run: greeter/scripts/")
    assert "it would run as root, with no limit on processes: Python fails inside" in record["outcome"]["detail"]


@pytest.mark.skipif(os.geteuid() != 0, reason="the case of root")
def test_the_risk_can_be_taken(cli: Cli, no_namespaces: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its option, which the record shows."""
    monkeypatch.setattr(process, "why_root", lambda: "Python fails inside: Permission denied")
    build_scripted(cli.root, "print('ran')")
    cli("eval", "--mode", "progressive", "--allow-unisolated")
    assert [said["stdout"] for said in told(cli.root)] == ["ran\n"]
    header = json.loads((run_folder(cli.root) / "run.json").read_text("utf-8"))
    assert header["isolation"]["scripts"].startswith("--allow-unisolated: ")


@in_namespaces
def test_a_run_does_not_go_on_at_another_level(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its record says one level for all trials: exit 3, naming both, and no trial is added."""
    build_small(cli.root)
    assert cli("eval", "--mode", "progressive").code == 3  # a part of the modes is no evidence
    run = run_folder(cli.root)
    before = (run / "trials.jsonl").read_bytes()
    lower = process.Probe(level=Isolation.PROCESS, why="a test")
    monkeypatch.setattr("skillassay.runs.preparation.require_isolation", lambda _: lower)
    ran = cli("eval", "--resume", run.name)
    assert ran.code == 3
    assert "the isolation (namespaces, now process)" in " ".join(ran.err.split())
    assert (run / "trials.jsonl").read_bytes() == before


@in_namespaces
def test_what_a_run_required_its_resumption_requires(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the option is left out, and a weaker one does not undo it."""
    build_small(cli.root)
    cli("eval", "--require-isolation", "namespaces")
    run = run_folder(cli.root)
    monkeypatch.setattr(Room, "namespaces", property(lambda room: ("no-such-unshare",) if room.closed else ()))
    process.probe_isolation.cache_clear()
    try:
        for option in ((), ("--require-isolation", "process")):
            ran = cli("eval", "--resume", run.name, *option)
            assert ran.code == 3
            assert "isolation 'namespaces' is required and this machine gives 'process'" in ran.err
    finally:
        process.probe_isolation.cache_clear()


@pytest.mark.parametrize("risky_then", [True, False])
def test_a_run_does_not_go_on_under_another_rule_for_scripts(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, risky_then: bool
) -> None:
    """Whether scripts run beside a key is the experiment's, and a stored run cannot take the risk for its user."""
    lower = process.Probe(level=Isolation.PROCESS, why="a test")
    monkeypatch.setattr("skillassay.runs.preparation.require_isolation", lambda _: lower)
    monkeypatch.setenv("GEMINI_API_KEY", "k")
    build_scripted(cli.root, "print('ran')")
    options = ["--allow-unisolated"]
    cli("eval", *MODES, *options[: int(risky_then)])
    ran = cli("eval", "--resume", run_folder(cli.root).name, *options[int(risky_then) :])
    assert ran.code == 3
    assert "the rule for scripts (" in " ".join(ran.err.split())


def test_equal_machines_say_the_same_of_what_is_in_the_way(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The trial room's folders have other names each time, and the message none of them: it stands in records whose
    digests are compared.
    """
    blind = tmp_path / "unshare"
    blind.write_text('#!/bin/sh\necho "cannot enter $PWD" >&2\nexit 1\n', encoding="utf-8")
    blind.chmod(0o755)
    monkeypatch.setattr(Room, "namespaces", property(lambda _: (str(blind),)))
    process.probe_isolation.cache_clear()
    try:
        why = process.probe_isolation().why
    finally:
        process.probe_isolation.cache_clear()
    assert why == f"isolation ({Isolation.NAMESPACES}) could not be set up: cannot enter {WORKSPACE}"
