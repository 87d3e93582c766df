"""A disk that is full, a real one in a mount namespace: whatever file it hits, and what is there when there is room."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.endtoend.faulty_server import FaultyServer
from tests.extra.faults.runs import DONE, assert_whole, build, complete, folders, records, result
from tests.project import REPOSITORY, build_small, environment

N_CASES = 6
N_TRIALS = 3 * N_CASES
PAGE = 4096
PYTHON = f"{sys.executable} -m skillassay --quiet"


def can_mount() -> bool:
    """Whether this machine lets a test mount a small disk of its own."""
    if shutil.which("unshare") is None:
        return False
    probe = ["unshare", "-rm", "mount", "-t", "tmpfs", "-o", "size=64k", "none", "/mnt"]
    return subprocess.run(probe, capture_output=True).returncode == 0


pytestmark = pytest.mark.skipif(not can_mount(), reason="no user and mount namespaces here")


def shell(script: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a script in namespaces of its own; its mounts are gone with it."""
    argv = ["unshare", "-rm", "sh", "-c", script]
    return subprocess.run(argv, capture_output=True, text=True, cwd=REPOSITORY, env=env, timeout=60)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, int]:
    """The content digest of a run with room, and how many pages all its files take."""
    root = build(tmp_path_factory.mktemp("undisturbed") / "project", n_cases=N_CASES)
    with FaultyServer(root) as server:
        assert complete(root, server)[0] == DONE
    (folder,) = folders(root)
    files = [path for path in (root / ".skillassay").rglob("*") if path.is_file()]
    return result(folder)["content_digest"], sum(-(-path.stat().st_size // PAGE) for path in files)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[FaultyServer]:
    """A server for one project."""
    root = build(tmp_path / "project", n_cases=N_CASES)
    (root / ".skillassay").mkdir()
    with FaultyServer(root) as server:
        yield server


@pytest.mark.parametrize("n_missing", [0, 1, 2, 3, 5, 8, 10, 12])
def test_a_full_disk_while_a_run_is_recorded(
    tmp_path: Path, server: FaultyServer, undisturbed: tuple[str, int], n_missing: int
) -> None:
    """From the first record to the result: exit 3 and one clear error; with more room it ends as if there had been."""
    digest, n_needed = undisturbed
    root, kept, first = tmp_path / "project", tmp_path / "kept", tmp_path / "first"
    n_pages = n_needed - n_missing
    runs = f"{root}/.skillassay/runs"
    script = (
        f"mount -t tmpfs -o size={n_pages * PAGE} none {root}/.skillassay; "
        f"{PYTHON} --root {root} eval --model gemini:faulty >/dev/null; echo $?; cp -r {runs} {first}; "
        f"mount -o remount,size=8m {root}/.skillassay; "
        f"{PYTHON} --root {root} eval --resume $(ls {runs}) >/dev/null; echo $?; cp -r {runs} {kept}"
    )
    ran = shell(script, server.environment)
    first_code, last_code = map(int, ran.stdout.split())
    if first_code == 3:
        assert "cannot be written: No space left on device" in ran.stderr
        assert "free space or fix permissions; what was written before is whole, go on with --resume" in ran.stderr
    else:
        assert (first_code, n_missing) == (DONE, 0), ran.stderr
    assert "Traceback" not in ran.stderr
    assert "bug:" not in ran.stderr
    (before,) = first.iterdir()
    written = [line for line in (before / "trials.jsonl").read_bytes().split(b"\n")[:-1] if line]
    assert last_code == DONE, ran.stderr
    (folder,) = kept.iterdir()
    assert_whole(folder, n_trials=N_TRIALS)
    assert len(records(folder)) == N_TRIALS
    assert result(folder)["content_digest"] == digest
    assert (folder / "trials.jsonl").read_bytes().split(b"\n")[: len(written)] == written


@pytest.mark.parametrize("n_pages", [1, 2, 3])
def test_a_disk_without_room_for_a_header(tmp_path: Path, server: FaultyServer, n_pages: int) -> None:
    """Nothing is asked, exit 3, and what lies there is no run: the next one begins anew."""
    root = tmp_path / "project"
    script = (
        f"mount -t tmpfs -o size={n_pages * PAGE} none {root}/.skillassay; "
        f"{PYTHON} --root {root} eval --model gemini:faulty; echo $?; {PYTHON} --root {root} report; echo $?; "
        f"mount -o remount,size=8m {root}/.skillassay; {PYTHON} --root {root} eval --model gemini:faulty >&2; echo $?"
    )
    ran = shell(script, server.environment)
    assert ran.stdout.split() == ["3", "3", str(DONE)]
    assert "cannot be written: No space left on device" in ran.stderr
    assert "no run in" in ran.stderr
    assert len(server.seen) == 2 * N_TRIALS


@pytest.mark.parametrize("n_free", range(8))
def test_a_full_disk_while_a_version_is_locked(tmp_path: Path, n_free: int) -> None:
    """Lock and evidence are each there whole or not at all; with room, locking again completes them."""
    root = build_small(tmp_path / "project")
    ready = subprocess.run([*PYTHON.split(), "--root", str(root), "eval"], capture_output=True, env=environment())
    assert ready.returncode == 0
    disk = tmp_path / "disk"
    disk.mkdir()
    fill = "head -c 100m /dev/zero > fill 2>/dev/null"
    give = f"truncate -s -{n_free * PAGE} fill"
    script = (
        f"mount -t tmpfs -o size=2m none {disk}; cp -r {root}/. {disk}; cd {disk}; {fill}; {give}; "
        f"cd {REPOSITORY}; {PYTHON} --root {disk} lock >&2; echo $?; ls {disk} {disk}/evals/evidence -R >&2; "
        f"{PYTHON} --root {disk} lock --check >&2; echo $?; rm {disk}/fill; "
        f"{PYTHON} --root {disk} lock >&2; echo $?; {PYTHON} --root {disk} lock --check >&2; echo $?; "
        f"find {disk} -name '*.tmp' >&2"
    )
    ran = shell(script, environment())
    first, checked, *rest = map(int, ran.stdout.split())
    assert rest == [0, 0], ran.stderr
    if first == 0:
        assert (checked, n_free >= 2) == (0, True)
    else:
        assert (first, checked in {1, 3}) == (3, True), ran.stderr
        assert "error: the lock cannot be written" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert ".tmp" not in ran.stderr
