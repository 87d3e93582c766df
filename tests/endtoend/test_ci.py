"""What a CI service needs: output on any encoding, exit codes that can be told apart, a step summary that is kept."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from skillassay.cli.main import COMMANDS
from tests.endtoend.held_server import HeldServer, start, wait_until
from tests.project import (
    BAD,
    REPOSITORY,
    Cli,
    build_small,
    command,
    environment,
    rule,
    small_case,
    small_rules,
    spawn,
)

PUBLIC = Path(__file__).parents[1] / "data" / "public" / "ci"
GLYPHS = json.loads((PUBLIC / "cmcp-396" / "case_names.json").read_text("utf-8"))
LEGACY = json.loads((PUBLIC / "cmcp-396" / "env.json").read_text("utf-8"))
CODES = json.loads((PUBLIC / "promptfoo-741" / "codes.json").read_text("utf-8"))
SUMMARY_BYTES = 1_048_576


@pytest.fixture
def glyphs(cli: Cli) -> Path:
    """A project whose criteria and evidence hold what legacy code pages lack."""
    cases = [
        small_case(f"g{number}", rubric=[{"id": "says-hello", "text": name}]) for number, name in enumerate(GLYPHS)
    ]
    rules = [rule for number in range(len(GLYPHS)) for rule in small_rules(f"g{number}")]
    judge = [{"criterion": "says-hello", "pass": "(?i)hello", "missing": " ".join(GLYPHS)}]
    return build_small(cli.root, cases=cases, rules=rules, judge=judge)


ENCODINGS = [LEGACY, {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}, {"PYTHONIOENCODING": "utf-16"}]


@pytest.mark.parametrize("settings", ENCODINGS, ids=lambda settings: settings["PYTHONIOENCODING"])
def test_no_glyph_ends_a_command(glyphs: Path, settings: dict[str, str]) -> None:
    """The exit code is the result's, not the glyph's, and nothing is lost without a trace."""
    ran = spawn(glyphs, "eval", **settings)
    assert (ran.returncode, b"Traceback" in ran.stderr) == (0, False)
    text = ran.stdout.decode(settings["PYTHONIOENCODING"])
    assert "fixture_gate: PASSED" in text
    assert ("日本語" in text) or ("\\u65e5\\u672c\\u8a9e" in text)


@pytest.mark.parametrize("settings", ENCODINGS[:2], ids=lambda settings: settings["PYTHONIOENCODING"])
def test_json_is_json_on_any_encoding(glyphs: Path, settings: dict[str, str]) -> None:
    """An escape for a glyph must be one of JSON's."""
    assert spawn(glyphs, "eval").returncode == 0
    ran = spawn(glyphs, "report", "--format", "json", **settings)
    marks = [mark for trial in json.loads(ran.stdout)["trials"] for mark in trial["marks"]]
    assert {mark["evidence"] for mark in marks if mark["verdict"] == "FAIL"} == {" ".join(GLYPHS)}


def reach_interrupt(root: Path) -> int:
    """An evaluation that is interrupted."""
    with HeldServer(root, free=4) as server:
        run = start(root, server)
        wait_until(server.held.is_set)
        run.send_signal(signal.SIGINT)
        assert run.stderr is not None
        run.stderr.readline()
        server.release()
        run.communicate(timeout=10)
        return run.returncode


def reach_closed_pipe(root: Path) -> int:
    """A report whose reader is gone."""
    reader = subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.PIPE)
    reader.wait()
    argv = command(root, "--help")
    ran = subprocess.run(argv, stdout=reader.stdin, cwd=REPOSITORY, env=environment(), timeout=30)
    assert reader.stdin is not None
    reader.stdin.close()
    return ran.returncode


def reach(cli: Cli, code: str) -> int:
    """Call what should come to an exit code."""
    failing = [rule for name in ("one", "two", "three") for rule in small_rules(name, good=BAD)]
    build_small(cli.root, rules=failing if code == "1" else None)
    if code == "130":
        return reach_interrupt(cli.root)
    if code == "141":
        return reach_closed_pipe(cli.root)
    return cli("eval", *{"2": ["--mode", "other"], "3": ["--model", "gemini:some"]}.get(code, [])).code


@pytest.mark.parametrize("code", [*CODES, "141"])
def test_every_exit_code_is_reached_and_documented(cli: Cli, code: str) -> None:
    """Passed, failed, wrong usage, undecided, interrupted and closed pipe are six different codes, all in --help."""
    assert reach(cli, code) == int(code)
    told = cli("--help").out.partition("Exit codes:")[2]
    assert re.search(rf"\b{code} [a-z]", told)


def test_a_failed_gate_and_a_broken_service_differ(cli: Cli) -> None:
    """1 for a failed gate, 3 for an error of the provider: `|| true` is never needed to tell them apart."""
    error = {"error": {"code": 500, "status": "INTERNAL", "message": "down"}}
    build_small(cli.root, rules=[rule(name, error) for name in ("one", "two", "three")])
    assert cli("eval").code == 3


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_what_it_does(cli: Cli, name: str) -> None:
    """Help says what is read, what is written, and each exit code."""
    ran = cli(name, "--help")
    text = " ".join(ran.out.split())
    assert ran.code == 0
    assert re.search(r"[Rr]eads ", text)
    assert re.search(r"[Ww]rites? ", text)
    assert re.search(r"Exit codes: 0 ", text)
    assert max(len(line) for line in ran.out.splitlines()) <= 80


def many(root: Path) -> None:
    """A project with 60 cases that fail without the skill, each with a long reason."""
    names = [f"n{number:03}x" for number in range(60)]
    cases = [small_case(name) for name in names]
    rules = [rule for name in names for rule in small_rules(name)]
    judge = [{"criterion": "says-hello", "pass": "(?i)hello", "missing": "No hello. " * 50}]
    build_small(root, cases=cases, rules=rules, judge=judge)


def test_a_step_summary_is_appended_to(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """What other steps wrote stays; the report comes behind it on a line of its own."""
    build_small(cli.root)
    path = cli.root / "summary.md"
    path.write_text("before", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    assert cli("eval").code == 0
    text = path.read_text("utf-8")
    assert text.startswith("before\n## skillassay: fixture_gate passed\n")
    assert "Left out" not in text
    assert text.count("\n| one | ") == 3


def test_a_step_summary_stays_within_its_limit(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """With little room left: failures first, totals and decision kept, and how many rows were left out."""
    many(cli.root)
    path = cli.root / "summary.md"
    path.write_bytes(b"x" * (SUMMARY_BYTES - 6_000))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    assert cli("eval").code == 0
    assert SUMMARY_BYTES - 600 < path.stat().st_size <= SUMMARY_BYTES
    text = path.read_text("utf-8")
    rows = re.findall(r"^\| n\d\d\dx \| (\S+) .*?\| (\w+) ", text, re.MULTILINE)
    assert {status for _, status in rows} == {"FAIL"}
    assert f"Left out for size: {180 - len(rows)} of 180 trials" in text
    assert "| progressive | 60/60 |" in text
    assert "quality" in text


@pytest.mark.parametrize("room", [0, 1, 200, 1500])
def test_a_full_step_summary_is_left_alone(cli: Cli, monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    """The limit is never passed; where nothing fits a warning says so and the exit code is the result's."""
    build_small(cli.root)
    path = cli.root / "summary.md"
    path.write_bytes(b"x" * (SUMMARY_BYTES - room))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    ran = cli("eval")
    assert ran.code == 0
    assert path.stat().st_size <= SUMMARY_BYTES
    assert ("the step summary is full" in ran.err) == (path.stat().st_size == SUMMARY_BYTES - room)


def test_a_step_summary_that_cannot_be_written_changes_nothing(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A warning, and the exit code of the result."""
    build_small(cli.root)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(cli.root / "no" / "such" / "folder"))
    ran = cli("eval")
    assert ran.code == 0
    assert "warning: the step summary" in ran.err
