"""What a program's folders hold is seen whatever others do on the same file system."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from skillassay.isolation import occupancy
from skillassay.isolation.occupancy import Disk

LIMITS = {"disk_bytes": 1_000_000, "n_files": 50}


def test_space_that_others_free_hides_nothing_for_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file system looks ever emptier, and the folder holds twice what it may: told when the next look is due."""
    monkeypatch.setattr(occupancy, "LOOK_EVERY_S", 0.05)
    free = iter(range(10**9, 10**12, 10**7))
    monkeypatch.setattr(Disk, "_free_now", lambda _: [(next(free), 10**6)])
    disk = Disk([str(tmp_path)], LIMITS, given=[], in_room=False)
    (tmp_path / "big").write_bytes(b"x" * 2_000_000)
    assert disk.overflow() is None  # it is not due yet, and nothing seems to be taken
    time.sleep(0.06)
    assert disk.overflow() == "more than 1000000 bytes on disk"


def test_a_look_that_finds_nothing_too_much_makes_no_fuss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Due or not, what stays within its limits is left alone."""
    monkeypatch.setattr(occupancy, "LOOK_EVERY_S", 0.0)
    disk = Disk([str(tmp_path)], LIMITS, given=[], in_room=False)
    (tmp_path / "small").write_bytes(b"x" * 1_000)
    assert disk.overflow() is None
