"""Scripts that ADK runs: its own program and words, in our isolation."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from skillassay.errors import Reason, Stage
from skillassay.isolation.levels import Isolation, Limits
from skillassay.isolation.process import probe_isolation
from skillassay.tools import ScriptPolicy
from skillassay.transcript import ToolTurn
from tests.extra.adk.engine import DONE, PRINTS, RUN, SCRIPT, call, engine
from tests.models.wire_server import reply

SPIES = """
import json, os, pathlib, socket, sys
told = {"env": dict(os.environ), "uid_file": None, "network": None}
try:
    told["file"] = pathlib.Path(sys.argv[1]).read_text()
except OSError as error:
    told["file"] = type(error).__name__
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[2])), timeout=2).close()
    told["network"] = "open"
except OSError as error:
    told["network"] = type(error).__name__
print(json.dumps(told))
"""


def run(tmp_path: Path, script: str, *, name: str = "hello.py", **settings: Any) -> dict[str, Any]:
    """What ADK tells the model of a run of the skill's only script, called without `scripts/`."""
    arguments = settings.pop("args", [])
    called = call("run_skill_script", skill_name="greeter", file_path=name, args=arguments)
    with engine(tmp_path, reply(called), DONE, files={f"skills/greeter/scripts/{name}": script}, **settings) as adk:
        result = adk.ask()
    assert result.answer == "hello hello"
    (turn,) = [turn for turn in result.transcript.turns if isinstance(turn, ToolTurn)]
    told: dict[str, Any] = {"scripts": result.scripts, **turn.results[0].response}
    return told


def test_a_python_script_runs_with_its_arguments(tmp_path: Path) -> None:
    """ADK's status and output; the script counts under its path in the skill, however the model named it."""
    told = run(tmp_path, PRINTS, args=["twice", "é"])
    assert (told["status"], told["stdout"], told["stderr"]) == ("success", "hello twice é\n", "")
    assert told["scripts"] == ("greeter/scripts/hello.py",)


def test_a_shell_script_runs(tmp_path: Path) -> None:
    """ADK starts bash inside its program."""
    told = run(tmp_path, 'echo "from $BASH_VERSION" | cut -c1-4; echo oops >&2\n', name="say.sh")
    assert (told["status"], told["stdout"], told["stderr"]) == ("warning", "from\n", "oops\n")
    assert told["scripts"] == ("greeter/scripts/say.sh",)


def test_a_script_that_fails_was_run(tmp_path: Path) -> None:
    """Exit code 3: an error for the model, with what was printed; it counts as started."""
    told = run(tmp_path, 'import sys\nprint("half")\nsys.exit(3)\n')
    assert (told["status"], told["stdout"]) == ("error", "half\n")
    assert told["scripts"] == ("greeter/scripts/hello.py",)


def test_words_on_stderr_are_no_failure(tmp_path: Path) -> None:
    """Exit 0 with stderr alone is a success, as with ADK's own local executor."""
    told = run(tmp_path, 'import sys\nprint("careful", file=sys.stderr)\n')
    assert (told["status"], told["stdout"]) == ("success", "")


def test_a_kind_that_adk_cannot_run(tmp_path: Path) -> None:
    """JavaScript is refused by ADK, and was not run."""
    told = run(tmp_path, "console.log(1)\n", name="hello.js")
    assert told["error_code"] == "UNSUPPORTED_SCRIPT_TYPE"
    assert told["scripts"] == ()


@pytest.mark.parametrize(
    ("name", "script"),
    [("hello.py", "import time\nprint('begun', flush=True)\ntime.sleep(60)\n"), ("hello.sh", "echo begun; sleep 60\n")],
)
def test_a_script_has_a_time_limit(tmp_path: Path, name: str, script: str) -> None:
    """It is stopped, and the model is told so."""
    told = run(tmp_path, script, name=name, limits=Limits(timeout_s=2.0))
    assert told["status"] == "error"
    assert "timed out" in told["stderr"].lower()


def test_output_has_a_limit(tmp_path: Path) -> None:
    """A flood ends the script; what was read is told."""
    told = run(tmp_path, "while True: print('x' * 999)\n", limits=Limits(output_bytes=50_000))
    assert told["status"] == "error"
    assert "wrote too much" in told["stderr"]
    assert len(told["stdout"]) <= 50_000


def test_keys_files_and_network_are_out_of_reach(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No key in the environment, no file of the user, no connection, although all three are there outside."""
    if probe_isolation().level is not Isolation.NAMESPACES:
        pytest.skip("this machine gives no namespaces")
    monkeypatch.setenv("GEMINI_API_KEY", "very-secret")
    secret = tmp_path / "secret.txt"
    secret.write_text("very-secret", encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        told = run(tmp_path / "project", SPIES, args=[str(secret), str(listening.getsockname()[1])])
    seen = json.loads(told["stdout"])
    assert "very-secret" not in told["stdout"]
    assert seen["file"] == "FileNotFoundError"
    assert seen["network"] != "open"
    assert "GEMINI_API_KEY" not in seen["env"]


def test_the_environment_is_scrubbed_without_namespaces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the weaker level a key is not handed on either."""
    monkeypatch.setenv("GEMINI_API_KEY", "very-secret")
    told = run(tmp_path, "import os\nprint(dict(os.environ))\n", isolation=Isolation.PROCESS)
    assert told["status"] == "success"
    assert "very-secret" not in told["stdout"]


def test_a_script_that_may_not_run_ends_the_trial(tmp_path: Path) -> None:
    """It says nothing about the candidate: unscored at the harness, and the model is asked no further."""
    policy = ScriptPolicy(allowed=False, why="GEMINI_API_KEY is set")
    with engine(tmp_path, reply(RUN), DONE, files={SCRIPT: PRINTS}, policy_of_scripts=policy) as adk:
        result = adk.ask()
        assert len(adk.server.seen) == 1
    assert result.error is not None
    assert (result.error.reason, result.error.stage) == (Reason.MISSING_CAPABILITY, Stage.HARNESS)
    assert "GEMINI_API_KEY is set" in result.error.message
    assert (result.answer, result.scripts) == (None, ())


def test_parallel_calls_run_one_after_the_other(tmp_path: Path) -> None:
    """Two scripts called in one turn: both run, in one workspace, never at the same time."""
    script = (
        "import os, sys, time\n"
        "os.mkdir('/trial/lock')\n"  # fails when another one is there
        "time.sleep(0.3)\n"
        "os.rmdir('/trial/lock')\n"
        "print('alone')\n"
    )
    if probe_isolation().level is not Isolation.NAMESPACES:
        pytest.skip("/trial is a folder in namespaces alone")
    with engine(tmp_path, reply(RUN, RUN), DONE, files={SCRIPT: script}) as adk:
        result = adk.ask()
    (turn,) = [turn for turn in result.transcript.turns if isinstance(turn, ToolTurn)]
    assert [one.response["stdout"] for one in turn.results] == ["alone\n", "alone\n"]
    assert result.scripts == ("greeter/scripts/hello.py",) * 2
