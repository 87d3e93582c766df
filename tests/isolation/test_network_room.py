"""The room of a command-line agent: the network is the machine's, everything else is as closed as for a script."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from skillassay.isolation import levels as isolation
from skillassay.isolation import process
from skillassay.isolation.levels import Room
from skillassay.isolation.process import CommandResult, Isolation, Limits, run_isolated

LIMITS = Limits(timeout_s=20, n_processes=24)
HOME = "/home/agent"

pytestmark = pytest.mark.skipif(
    process.probe_isolation().level is not Isolation.NAMESPACES, reason=process.probe_isolation().why
)


class _Hello(BaseHTTPRequestHandler):
    """Answers every request with a word."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[int]:
    """The port of a server on the machine's loopback."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Hello) as answering:
        threading.Thread(target=answering.serve_forever, daemon=True).start()
        yield answering.server_port
        answering.shutdown()


def agent(code: str, tmp_path: Path, *, readable: Sequence[Path] = (), **more: str) -> CommandResult:
    """Python code as an agent with a workspace and a home of its own."""
    for name in ("workspace", "home"):
        (tmp_path / name).mkdir(exist_ok=True)
    return run_isolated(
        [sys.executable, "-c", code],
        workspace=tmp_path / "workspace",
        env={"HOME": HOME, **more},
        limits=LIMITS,
        level=Isolation.NAMESPACES,
        folders={HOME: tmp_path / "home"},
        network=True,
        readable=readable,
    )


def test_agent_reaches_a_server_on_the_machine(tmp_path: Path, server: int) -> None:
    """By address and by the name that /etc/hosts gives it."""
    code = f"import urllib.request as u\nfor h in ('127.0.0.1', 'localhost'): print(u.urlopen(f'http://{{h}}:{server}').read())"
    result = agent(code, tmp_path)
    assert (result.stdout, result.stderr) == (b"b'hello'\nb'hello'\n", b"")


def test_agent_has_what_names_and_tls_need(tmp_path: Path) -> None:
    """Each file of the machine that exists is readable inside, with the same bytes, and certificates are loaded."""
    names = [name for name in isolation.NETWORK_FILES if Path(name).is_file()]
    assert "/etc/hosts" in names
    code = (
        "import hashlib, ssl\n"
        f"print([hashlib.sha256(open(n, 'rb').read()).hexdigest() for n in {names}])\n"
        "print(len(ssl.create_default_context().get_ca_certs(binary_form=True)))"
    )
    outside = process.run_command(
        [sys.executable, "-c", code], cwd=tmp_path, env=process.SCRUBBED, timeout_s=20, max_output_bytes=1 << 20
    )
    assert agent(code, tmp_path).stdout == outside.stdout != b""


def test_files_that_the_system_links_to_come_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A resolv.conf that is a link to a link outside /etc, as with systemd-resolved, is read all the same."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "stub").write_text("nameserver 192.0.2.1\n")
    (tmp_path / "middle").symlink_to("run/stub")
    (tmp_path / "resolv.conf").symlink_to("middle")
    monkeypatch.setattr(isolation, "NETWORK_FILES", (str(tmp_path / "resolv.conf"), str(tmp_path / "missing")))
    code = f"for n in ('resolv.conf', 'middle', 'run/stub'): print(open('{tmp_path}/' + n).read())"
    assert agent(code, tmp_path).stdout == b"nameserver 192.0.2.1\n\n" * 3


def test_agent_reads_the_folders_it_was_given_and_no_other(tmp_path: Path) -> None:
    """A folder given as readable can be read, not written; the user's other files are not there."""
    (tmp_path / "node_modules" / "agent").mkdir(parents=True)
    (tmp_path / "node_modules" / "agent" / "main.js").write_text("given")
    (tmp_path / "secret").write_text("mine")
    code = (
        f"print(open('{tmp_path}/node_modules/agent/main.js').read())\n"
        f"for mode, name in (('w', 'node_modules/x'), ('r', 'secret')):\n"
        f"  try: open('{tmp_path}/' + name, mode); print('reached', name)\n"
        "  except OSError as error: print(error.errno)"
    )
    assert agent(code, tmp_path, readable=[tmp_path / "node_modules"]).stdout.split() == [b"given", b"30", b"2"]


def test_agent_cannot_read_the_home_of_the_user(tmp_path: Path) -> None:
    """Of all that lies there nothing can be seen but what this Python is part of; its own home is the given folder."""
    home = Path.home()
    python = [Path(sys.prefix), Path(sys.base_prefix)]
    hidden = [str(path) for path in home.iterdir() if not any(needed.is_relative_to(path) for needed in python)]
    code = f"import os; print(os.path.expanduser('~'), [p for p in {hidden} if os.path.lexists(p)])"
    assert hidden
    assert agent(code, tmp_path).stdout.decode() == f"{HOME} []\n"


def test_agent_writes_only_into_its_folders(tmp_path: Path) -> None:
    """Workspace, home and /tmp can be written, and what lies in the first two is there afterwards; nothing else can."""
    inside = ["/trial/a", f"{HOME}/b", "/tmp/c"]
    closed = ["/etc/x", "/usr/x", "/x", "/home/x", "/opt/x"]
    code = f"for p in {inside + closed}:\n  try: open(p, 'w').close(); print(p)\n  except OSError as error: pass"
    assert agent(code, tmp_path).stdout.decode().split() == inside
    assert [path.name for path in (tmp_path / "workspace").iterdir()] == ["a"]
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["b"]


def test_agent_sees_no_process_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every process it can list is its own, and no environment it can read holds what ours does."""
    monkeypatch.setenv("SOME_API_KEY", "the-secret-of-the-parent")
    code = (
        "import glob, json, os\n"
        "seen = {}\n"
        "for path in glob.glob('/proc/[0-9]*/environ'):\n"
        "  try: seen[path] = open(path).read()\n"
        "  except OSError: seen[path] = None\n"
        "print(json.dumps([seen, os.getppid()]))"
    )
    seen, parent = json.loads(agent(code, tmp_path).stdout)
    assert set(seen) == {"/proc/1/environ", "/proc/2/environ"}
    assert seen["/proc/1/environ"] is None
    assert "the-secret" not in seen["/proc/2/environ"]
    assert parent == 1


def test_grandchild_of_an_agent_dies_with_it(tmp_path: Path) -> None:
    """One that started a session of its own, too."""
    mark = f"{9000 + os.getpid()}.5"
    code = f"import subprocess; subprocess.Popen(['setsid', 'sleep', '{mark}']); print('started')"
    assert agent(code, tmp_path).stdout == b"started\n"
    running = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            running += [path] if mark.encode() in path.read_bytes().split(b"\0") else []
    assert running == []


def test_network_is_shared_only_when_asked_for(tmp_path: Path) -> None:
    """The same code as a script's: the loopback has nothing on it."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        code = f"import socket; socket.create_connection(('127.0.0.1', {port}), 1)"
        where = {"workspace": tmp_path, "env": {}, "limits": LIMITS, "level": Isolation.NAMESPACES}
        argv = [sys.executable, "-c", code]
        shared, closed = (run_isolated(argv, network=network, **where) for network in (True, False))  # type: ignore[arg-type]
    assert (shared.exit_code, closed.exit_code) == (0, 1)


def test_without_namespaces_there_is_no_command_to_make_them() -> None:
    """Below that level a network to share or to close is not told to anybody."""
    assert Room(level=Isolation.PROCESS, folders={}, network=True).namespaces == ()
