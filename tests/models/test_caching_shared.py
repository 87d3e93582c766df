"""The cache where many write to it, or where nothing can be written: no trouble with it stops a run."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from skillassay.isolation.process import Isolation, probe_isolation
from skillassay.models import caching, reply_store
from skillassay.models.reply_store import CACHE_PATH, ReplyStore
from tests.models.cached import PUBLIC, cached, n_asked, request, said
from tests.models.wire_server import reply

PROGRAM = textwrap.dedent("""
    import sys
    from pathlib import Path
    from skillassay.models.reply_store import ReplyStore
    root, name, rounds, size = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    told = []
    sys.stdin.read(1)
    store = ReplyStore(root, warn=told.append)
    for number in range(rounds):
        store.put(f"k{number}", (name * size)[:size])
        value = store.get(f"k{number}")
        assert value is not None and len(value) == size and value == (value[:2] * size)[:size], number
    store.close()
    assert told == [], told
""")


def worker(root: Path, name: str, rounds: int, size: int) -> subprocess.Popen[bytes]:
    """A process that waits at the start, then writes and reads the same keys as all others."""
    argv = [sys.executable, "-c", PROGRAM, str(root), name, str(rounds), str(size)]
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stderr=subprocess.PIPE)


def test_copairs_128_many_processes_at_once(tmp_path: Path, warnings: list[str]) -> None:
    """cytomining/copairs#128: 16 processes found one file, write the same keys and read them: values are whole."""
    stress = json.loads((PUBLIC / "copairs-128" / "stress.json").read_bytes())
    size, rounds = stress["payload_kb"] * 1024, stress["rounds"]
    processes = [worker(tmp_path, f"{number:02}", rounds, size) for number in range(stress["workers"])]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b"g")
        process.stdin.close()
    for process in processes:
        assert process.stderr is not None
        with process.stderr as stream:
            assert stream.read() == b""
        assert process.wait(60) == 0
    store = ReplyStore(tmp_path, warn=warnings.append)
    values = [store.get(f"k{number}") for number in range(rounds)]
    store.close()
    assert all(value is not None and value == value[:2] * (size // 2) for value in values)
    assert warnings == []


def test_copairs_128_a_killed_writer_leaves_nothing_half(tmp_path: Path, warnings: list[str]) -> None:
    """What a killed process was writing is not there, or is whole; the next one is not disturbed."""
    process = worker(tmp_path, "xy", 100_000, 64 * 1024)
    assert process.stdin is not None
    process.stdin.write(b"g")
    process.stdin.flush()
    path = tmp_path / CACHE_PATH
    while process.poll() is None and not (path.exists() and path.with_name(path.name + "-wal").exists()):
        pass
    process.send_signal(signal.SIGKILL)
    process.communicate()
    store = ReplyStore(tmp_path, warn=warnings.append)
    values = [store.get(f"k{number}") for number in range(2000)]
    store.put("after", "whole")
    assert store.get("after") == "whole"
    store.close()
    assert {value for value in values if value is not None} <= {"xy" * (32 * 1024)}
    assert warnings == []


FULL = textwrap.dedent("""
    import resource, sys
    from pathlib import Path
    from skillassay.models.reply_store import ReplyStore
    told = []
    store = ReplyStore(Path(sys.argv[1]), warn=told.append)
    store.put("small", "kept")
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
    for number in range(5):
        store.put(f"k{number}", str(number) * 200_000)
    print([store.get("small"), store.get("k4")])
    store.close()
    print(len(told), told[0])
""")


def test_a_full_disk_does_not_stop_a_run(tmp_path: Path) -> None:
    """When the file can grow no more, what is in it is still served, nothing is half-written, one warning says so."""
    done = subprocess.run([sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("['kept', None]\n1 the cache .skillassay/cache.sqlite cannot be written")


@pytest.mark.skipif(
    probe_isolation().level is not Isolation.NAMESPACES, reason="no namespaces to mount a read-only folder"
)
def test_a_read_only_folder_does_not_stop_a_run(tmp_path: Path, warnings: list[str]) -> None:
    """What can be read is served, what cannot be written is not kept: one warning, no error."""
    n_asked(tmp_path, warnings, request())
    program = (
        "import sys; from pathlib import Path; from skillassay.models.reply_store import ReplyStore\n"
        "told = []; store = ReplyStore(Path(sys.argv[1]), warn=told.append)\n"
        "store.put('k', 'v'); got = store.get('k'); store.close(); print(got, len(told), told[0])\n"
    )
    (tmp_path / "p.py").write_text(program, encoding="utf-8")
    mount = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && exec "$2" "$1/p.py" "$1"'
    argv = ["unshare", "-rm", "sh", "-c", mount, "sh", str(tmp_path), sys.executable]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, cwd=Path(caching.__file__).parents[2])
    assert done.stdout.startswith("None 1 the cache .skillassay/cache.sqlite cannot be"), done.stderr


def test_a_place_without_a_folder_does_not_stop_a_run(tmp_path: Path, warnings: list[str]) -> None:
    """A file stands where the folder should be: models are asked."""
    (tmp_path / ".skillassay").write_bytes(b"")
    assert n_asked(tmp_path, warnings, request()) == 1
    assert len(warnings) == 1


def test_a_busy_file_is_waited_for_and_then_done_without(
    tmp_path: Path, warnings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process holds the file for writing: reading goes on, the reply is not kept, the run is not stopped."""
    n_asked(tmp_path, warnings, request())
    monkeypatch.setattr(reply_store, "BUSY_S", 0.05)
    other = sqlite3.connect(tmp_path / CACHE_PATH, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert n_asked(tmp_path, warnings, request()) == 0
    assert n_asked(tmp_path, warnings, request("new")) == 1
    other.execute("ROLLBACK")
    other.close()
    assert len(warnings) == 1
    assert "database is locked" in warnings[0]


def test_the_first_reply_of_a_key_stays(tmp_path: Path, warnings: list[str]) -> None:
    """Two runs at once ask twice; both keep their own answer, later ones get the first."""
    with (
        cached(tmp_path, warnings, reply({"text": "first"})) as (one, _),
        cached(tmp_path, warnings, reply({"text": "second"})) as (two, _),
    ):
        one.store.put(one._key(request(), "t1"), caching._text(said("first")))
        two.store.put(two._key(request(), "t1"), caching._text(said("second")))
        assert two.generate(request()).turn.text == "first"


def test_text_that_no_file_can_hold_is_not_kept(tmp_path: Path, warnings: list[str]) -> None:
    """Half a surrogate pair is no text: it is not kept, and others still are."""
    store = ReplyStore(tmp_path, warn=warnings.append)
    store.put("k", "\ud800")
    store.put("l", "fine")
    assert (store.get("k"), store.get("l")) == (None, "fine")
    store.close()
    assert len(warnings) == 1
