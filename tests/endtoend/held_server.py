"""A fixture server that can be held in the middle of a run, and a run in a process of its own against it."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from skillassay.canonical import Json
from skillassay.fixture.rules import load_rules
from skillassay.fixture.server import FixtureServer
from tests.project import REPOSITORY, command, environment, run_folder

PATIENCE_S = 20.0


class HeldServer(FixtureServer):
    """Answers by the rules of a project; after ``free`` requests it holds every further one until released."""

    def __init__(self, root: Path, *, free: int) -> None:
        rules, _ = load_rules(sorted(root.glob("evals/fixtures/*.json")))
        assert rules is not None
        super().__init__(rules)
        self._left, self._lock, self._open = free, threading.Lock(), threading.Event()
        self.held = threading.Event()

    def release(self) -> None:
        """Answer what is held, and hold nothing more."""
        self._open.set()

    def answer(self, body: bytes) -> tuple[int, Json]:
        """HTTP status and JSON for one request body."""
        with self._lock:
            self._left -= 1
            is_free = self._left >= 0
        if not is_free:
            self.held.set()
            self._open.wait(PATIENCE_S)
        return super().answer(body)


def live_environment(server: FixtureServer) -> dict[str, str]:
    """The environment of a run that talks to ``server`` as if it were the service."""
    return environment(GOOGLE_GEMINI_BASE_URL=server.base_url, GEMINI_API_KEY="k-held")


def start(root: Path, server: FixtureServer, *arguments: str, **more: Any) -> subprocess.Popen[str]:
    """Begin an evaluation in a process of its own, which Ctrl-C reaches also where the tests run with it ignored."""
    default = (
        "import os, signal, sys\nsignal.signal(signal.SIGINT, signal.SIG_DFL)\nos.execv(sys.argv[1], sys.argv[1:])"
    )
    argv = [sys.executable, "-c", default, *command(root, "eval", "--model", "gemini:held", *arguments)]
    pipe = subprocess.PIPE
    env = live_environment(server)
    return subprocess.Popen(argv, stdout=pipe, stderr=pipe, text=True, cwd=REPOSITORY, env=env, **more)


def wait_until(true: Callable[[], bool]) -> None:
    """Wait for something that is about to happen."""
    until = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < until, "it never happened"
        time.sleep(0.01)


def n_recorded(root: Path) -> int:
    """How many whole records the only run has; 0 before it has a folder."""
    if not list(root.glob(".skillassay/runs/*/run.json")):
        return 0
    path = run_folder(root) / "trials.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def result_of(root: Path) -> dict[str, Any]:
    """The canonical result of the only run."""
    value: dict[str, Any] = json.loads((run_folder(root) / "result.json").read_text("utf-8"))
    return value
