"""The level of isolation: asked for, reached, refused and shown."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import pytest

from skillassay import process
from skillassay.isolation import Room
from skillassay.process import Isolation
from tests.endtoend.scripted import MODES, build_scripted, told
from tests.project import Cli, build_small, records, run_folder, write_json

in_namespaces = pytest.mark.skipif(
    process.detect_isolation() is not Isolation.NAMESPACES, reason=process.probe_isolation().why
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
    assert cli("eval", "--mode", "progressive").code == 3
    (record,) = records(cli.root)
    assert record["outcome"]["reason"] == "missing_required_capability"
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
