"""A skill's script runs from a copy, and what it did is told within bounds."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.errors import Reason, Stage, TrialError
from skillassay.isolation import process, script
from skillassay.isolation.process import Isolation, Limits
from skillassay.isolation.script import STDOUT_BYTES, ScriptOutput, clip_middle, run_script
from skillassay.tool_arguments import Refusal

LEVELS = [level for level in Isolation if level is Isolation.PROCESS or process.probe_isolation().level is level]
LIMITS = Limits(timeout_s=5, memory_bytes=1 << 30, n_processes=40)


@pytest.fixture(params=LEVELS, ids=lambda level: level.name.lower())
def level(request: pytest.FixtureRequest) -> Isolation:
    """Every level this machine has."""
    value = request.param
    assert isinstance(value, Isolation)
    return value


class Demo:
    """A skill of the given files and an empty workspace."""

    def __init__(self, folder: Path, level: Isolation) -> None:
        self.folder, self.workspace, self.level = folder / "demo", folder / "workspace", level
        self.folder.mkdir()
        self.workspace.mkdir()

    def run(self, files: Mapping[str, str | bytes], *line: str, limits: Limits = LIMITS) -> ScriptOutput:
        """Write the files and run the first one."""
        paths = {}
        for name, content in files.items():
            paths[name] = self.folder / name
            paths[name].parent.mkdir(parents=True, exist_ok=True)
            paths[name].write_bytes(content.encode() if isinstance(content, str) else content)
        first = next(iter(files))
        where = {"workspace": self.workspace, "isolation": self.level}
        return run_script(paths, first, line=line, limits=limits, **where)  # type: ignore[arg-type]


@pytest.fixture
def demo(tmp_path: Path, level: Isolation) -> Demo:
    """An empty skill at each level."""
    return Demo(tmp_path, level)


def test_python_script_imports_its_sibling_and_gets_its_arguments(demo: Demo) -> None:
    """A script finds the modules beside it and its arguments as given."""
    files = {"scripts/a.py": "import sys, b\nprint(b.X, sys.argv)", "scripts/b.py": "X = 1"}
    assert demo.run(files, "--k", "a b; $(c)") == ScriptOutput(
        status="success", stdout="1 ['/skill/scripts/a.py', '--k', 'a b; $(c)']\n", stderr="", truncated=False
    )


def test_shell_script_runs_and_reads_its_skill(demo: Demo) -> None:
    """A shell script reaches its skill's other files by its own path."""
    files = {"scripts/a.sh": 'cat "$(dirname "$0")/../assets/t.txt"; echo "$1"', "assets/t.txt": "text "}
    assert demo.run(files, "x y").stdout == "text x y\n"


@pytest.mark.skipif(shutil.which("node", path=process.SYSTEM_PATH) is None, reason="no node on the system path")
def test_node_script_runs_under_a_memory_limit(demo: Demo) -> None:
    """V8 reserves far more address space than the limit, and runs."""
    assert demo.run({"scripts/a.js": "console.log(process.argv[2], 1 + 1)"}, "x").stdout == "x 2\n"


@pytest.mark.parametrize(
    ("body", "status", "stderr"),
    [
        ("exit 0", "success", ""),
        ("echo careful >&2", "warning", "careful\n"),
        ("exit 3", "error", "Exit code 3"),
        ("echo bad >&2; exit 3", "error", "bad\nExit code 3"),
        ("kill -9 $$", "error", "Exit code 137"),
    ],
)
def test_status_says_how_it_ended(demo: Demo, body: str, status: str, stderr: str) -> None:
    """Exit code first, then words on standard error."""
    output = demo.run({"scripts/a.sh": body})
    assert (output.status, output.stderr) == (status, stderr)


def test_hanging_python_script_is_stopped(demo: Demo) -> None:
    """[google/adk-python#5079] One limit for every kind of script; partial output is kept."""
    body = 'import time\nprint("start", flush=True)\nwhile True: time.sleep(1)\n'
    output = demo.run({"scripts/hang.py": body}, limits=replace(LIMITS, timeout_s=0.5))
    assert (output.status, output.stdout, output.stderr) == ("error", "start\n", "Timed out after 0.5 s.")


def test_script_that_asks_for_input_fails_at_once(demo: Demo) -> None:
    """[google/adk-python#5079] Standard input is empty, so a prompt is an error and no wait."""
    output = demo.run({"scripts/stdin.py": 'print(input("name? "))\n'})
    assert output.status == "error"
    assert "EOFError" in output.stderr


def test_non_ascii_output_survives(demo: Demo, monkeypatch: pytest.MonkeyPatch) -> None:
    """[use-agent-os/agent-os#2403] The script writes UTF-8 whatever our own locale is."""
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    assert demo.run({"scripts/p.py": 'print("naïve ✓ 日本")\n'}).stdout == "naïve ✓ 日本\n"


@pytest.mark.parametrize("body", ["#!/usr/bin/env bash\r\necho hi\r\n", 'echo hi > "$OUT"\r\n'])
def test_windows_line_ends_are_told_before_running(demo: Demo, body: str) -> None:
    """[software-mansion/argent#977] bash would write to a file whose name ends in a carriage return, and exit 0."""
    with pytest.raises(Refusal, match="line endings") as refusal:
        demo.run({"scripts/out.sh": body})
    assert refusal.value.code == "EXECUTION_ERROR"
    assert list(demo.workspace.iterdir()) == []


def test_windows_line_ends_do_not_matter_to_python(demo: Demo) -> None:
    """Only shells mind them."""
    assert demo.run({"scripts/a.py": "print(1)\r\n"}).stdout == "1\n"


def test_background_process_does_not_hold_the_answer(demo: Demo) -> None:
    """[python/cpython#76116] A grandchild that inherited the pipe is not waited for."""
    body = 'import subprocess,sys\nsubprocess.Popen([sys.executable,"-c","import time;time.sleep(60)"])\n'
    started = time.monotonic()
    assert demo.run({"scripts/daemon.py": body + 'print("parent done")\n'}).stdout == "parent done\n"
    assert time.monotonic() - started < 20


def test_shell_that_waits_for_its_child_is_stopped(demo: Demo) -> None:
    """[python/cpython#76116] The time limit ends the whole group."""
    started = time.monotonic()
    output = demo.run({"scripts/spawn.sh": "sleep 60 &\necho started\nwait\n"}, limits=replace(LIMITS, timeout_s=0.4))
    assert output.stderr == "Timed out after 0.4 s."
    assert time.monotonic() - started < 20


def test_long_output_keeps_head_and_tail(demo: Demo) -> None:
    """[aden-hive/hive#3486] A noisy script ends as it would, and its middle is left out with a mark."""
    body = '#!/bin/sh\necho first\nyes "line of text" | head -n 200000\necho last\n'
    output = demo.run({"scripts/flood.sh": body})
    assert (output.status, output.truncated) == ("success", True)
    assert len(output.stdout.encode()) <= STDOUT_BYTES
    assert output.stdout.startswith("first\n")
    assert output.stdout.endswith("last\n")
    assert "bytes left out" in output.stdout


def test_binary_output_is_told(demo: Demo) -> None:
    """[aden-hive/hive#3486] What is no text does not raise."""
    body = 'import sys\nsys.stdout.buffer.write(b"head\\n"+bytes(range(128,256))+b"\\ntail\\n")\n'
    output = demo.run({"scripts/bin.py": body})
    assert (output.status, output.stdout[:5], output.stdout[-5:]) == ("success", "head\n", "tail\n")


def test_wide_output_is_cut_between_characters(demo: Demo) -> None:
    """[wecode-ai/Wegent#299] The cap is in bytes, the cut between characters."""
    output = demo.run({"scripts/wide.py": 'print("？"*40000)\n'})
    assert output.truncated
    assert len(output.stdout.encode()) <= STDOUT_BYTES
    assert "\ufffd" not in output.stdout


def test_endless_output_is_an_error_in_words(demo: Demo) -> None:
    """Over the hard cap the script is stopped, and the model is told."""
    output = demo.run({"scripts/a.sh": "yes"}, limits=replace(LIMITS, output_bytes=200_000))
    assert (output.status, output.truncated) == ("error", True)
    assert output.stderr == "Stopped: more than 200000 bytes of output."


def test_run_never_changes_the_skill(demo: Demo) -> None:
    """Writing beside itself, over itself and importing leave the skill's folder as it was."""
    body = (
        "import os, pathlib, b\nhere = pathlib.Path(__file__).parent\n"
        "(here / 'new').write_text('x'); (here / 'b.py').write_text('y'); os.remove(__file__)\n"
        "print(sorted(p.name for p in here.iterdir()))"
    )
    files = {"scripts/a.py": body, "scripts/b.py": "X = 1"}
    assert demo.run(files).stdout == "['b.py', 'new']\n"
    after = {str(p.relative_to(demo.folder)): p.read_text() for p in demo.folder.rglob("*") if p.is_file()}
    assert after == files


def test_each_run_gets_a_fresh_copy(demo: Demo) -> None:
    """What one run left in its copy the next one does not find."""
    files = {"scripts/a.sh": 'cd /; ls "$(dirname "$0")"; touch "$(dirname "$0")/left"'}
    first, second = demo.run(files), demo.run(files)
    assert first.stdout == second.stdout == "a.sh\n"


def test_workspace_is_the_working_folder_and_keeps_what_is_written(demo: Demo) -> None:
    """The case's files are there, and results stay for the next call."""
    (demo.workspace / "in.txt").write_text("data")
    assert demo.run({"scripts/a.sh": "cat in.txt > out.txt"}).status == "success"
    assert (demo.workspace / "out.txt").read_text() == "data"


def test_files_outside_the_manifest_are_not_there(demo: Demo) -> None:
    """The copy holds the given files and nothing else of the skill's folder."""
    (demo.folder / "evals").mkdir()
    (demo.folder / "evals" / "answers.json").write_text("{}")
    output = demo.run(
        {"scripts/a.py": "import os; print(sorted(os.listdir('/skill')) if os.path.isdir('/skill') else '')"}
    )
    assert output.stdout in {"['scripts']\n", "\n"}
    assert "evals" not in demo.run({"scripts/b.sh": 'ls "$(dirname "$0")/.."'}).stdout


def test_error_messages_name_the_same_path_every_time(demo: Demo) -> None:
    """A traceback holds no random folder, or no recorded conversation could be replayed."""
    assert 'File "/skill/scripts/a.py", line 1' in demo.run({"scripts/a.py": "1/0"}).stderr


def test_missing_interpreter_is_the_machines_fault(demo: Demo, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without node the trial is not scored, rather than failed."""
    monkeypatch.setattr(script, "SYSTEM_PATH", "/nowhere")
    with pytest.raises(TrialError, match="node") as error:
        demo.run({"scripts/a.js": "1"})
    assert (error.value.reason, error.value.stage) == (Reason.MISSING_CAPABILITY, Stage.HARNESS)


def test_vanished_skill_is_the_harness_fault(tmp_path: Path) -> None:
    """A file that went away between manifest and run says nothing about the candidate."""
    files = {"scripts/a.py": tmp_path / "gone.py"}
    with pytest.raises(TrialError) as error:
        run_script(files, "scripts/a.py", line=(), workspace=tmp_path, isolation=Isolation.PROCESS, limits=LIMITS)
    assert error.value.reason is Reason.HARNESS_ERROR


@given(st.text(max_size=300), st.integers(100, 400))
def test_clipped_text_fits_and_is_made_of_its_ends(text: str, cap: int) -> None:
    """Whole if it fits; otherwise within the cap, with a true head and tail."""
    clipped, cut = clip_middle(text.encode("utf-8", "replace"), cap)
    whole = text.encode("utf-8", "replace").decode()
    assert cut is (len(whole.encode()) > cap)
    assert len(clipped.encode()) <= cap
    head, mark, tail = clipped.partition("\n[… ")
    assert (whole.startswith(head) and whole.endswith(tail.partition("…]\n")[2])) if cut else clipped == whole
    assert mark or not cut


@given(st.binary(max_size=400))
def test_any_bytes_can_be_told(data: bytes) -> None:
    """Nothing a program writes raises."""
    assert len(clip_middle(data, 200)[0].encode()) <= 200
