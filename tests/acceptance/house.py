"""A project with a home and a temporary folder of its own, and all that commands in it said."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.acceptance.every_byte import found_everywhere
from tests.acceptance.marked_server import PASSING, PLANTED, SCRIPT, SLOW_SCRIPT, MarkedServer, cases
from tests.project import build_small, environment, run_folder, small_case, write_json

EVERY = PLANTED | PASSING

PATIENCE_S = 20.0

MODES = ("--mode", "progressive", "--mode", "none")

_START = "import os, signal, sys\nsignal.signal(signal.SIGINT, signal.SIG_DFL)\nos.execv(sys.argv[1], sys.argv[1:])"
"""Ctrl-C reaches the command also where the tests run with it ignored."""


@dataclass(kw_only=True)
class House:
    """A project, a home, a temporary folder and a summary file, and all that commands in it said."""

    top: Path
    server: MarkedServer
    said: dict[str, bytes] = field(default_factory=dict)
    codes: dict[str, int] = field(default_factory=dict)

    @property
    def root(self) -> Path:
        """The project."""
        return self.top / "project"

    def start(self, *arguments: str, **more: str) -> subprocess.Popen[bytes]:
        """Begin a command in the project, with every switch on that makes libraries talk."""
        (self.top / "home").mkdir(exist_ok=True)
        (self.top / "tmp").mkdir(exist_ok=True)
        loud = {"PYTHONWARNINGS": "always", "PYTHONASYNCIODEBUG": "1", "OPENAI_LOG": "debug"}
        own = {"HOME": str(self.top / "home"), "TMPDIR": str(self.top / "tmp"), "PYTHONDONTWRITEBYTECODE": "1"}
        summary = {"GITHUB_STEP_SUMMARY": str(self.top / "summary.md")}
        address = {"GOOGLE_GEMINI_BASE_URL": self.server.base_url, "GEMINI_API_KEY": "k-held"}
        return subprocess.Popen(
            [sys.executable, "-c", _START, sys.executable, "-m", "skillassay", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.root,
            env=environment(**loud, **own, **summary, **address, **more),
        )

    def end(self, name: str, process: subprocess.Popen[bytes]) -> int:
        """Wait for a command and keep what it said under a name."""
        out, err = process.communicate(timeout=60)
        self.said[f"{name} stdout"], self.said[f"{name} stderr"] = out, err
        self.codes[name] = process.returncode
        return process.returncode

    def run(self, name: str, *arguments: str, **more: str) -> int:
        """Run a command to its end; ``more`` is added to its environment."""
        return self.end(name, self.start(*arguments, **more))

    @property
    def places(self) -> dict[str, set[str]]:
        """Where each planted text is found now."""
        return found_everywhere([self.top], self.said, EVERY)

    @property
    def outcomes(self) -> list[dict[str, Any]]:
        """The outcomes on record."""
        lines = (run_folder(self.root) / "trials.jsonl").read_bytes().split(b"\n")
        return [json.loads(line)["outcome"] for line in lines if line]


def build(top: Path, server: MarkedServer, retention: str, *, names: tuple[str, ...] = ()) -> House:
    """A house with all cases, or with plain ones of these names."""
    files = {
        "skills/greeter/scripts/echo.py": SCRIPT,
        "skills/greeter/scripts/slow.py": SLOW_SCRIPT,
        "skills/greeter/references/how.md": "Say hello.\n",
    }
    candidate = {"model": "gemini:held", "timeout_s": 1.0, "turn_limit": 3}
    # Where it is held, the first cases are over and most are still to come.
    made = [small_case(name) for name in names] or [*cases()[:4], small_case("held"), *cases()[4:]]
    build_small(top / "project", cases=made, files=files, retention=retention, candidate=candidate)
    with (top / "project/evals/contract.yaml").open("a", encoding="utf-8") as contract:
        contract.write("judge: {model: 'gemini:held', timeout_s: 1.0}\n")
    expect = {"skills": ["greeter"], "scripts": [], "answer": ["hello"]}
    routing = [
        {"id": f"asks-{name}", "query": f"Greet {name}.", "expect": expect} for name in ("passes", "reads", "refused")
    ]
    write_json(top / "project/evals/routing.json", {"suite": "routing", "version": "1.0.0", "cases": routing})
    return House(top=top, server=server)
