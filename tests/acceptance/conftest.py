"""Fixtures that several acceptance tests share."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from skillassay import clock
from skillassay.cli.main import main
from tests.acceptance.governed import build
from tests.acceptance.hidden import Hidden, build_hidden
from tests.people.waivers import DAY
from tests.project import SETTINGS, Cli


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch) -> Callable[[date], None]:
    """Set the day; it begins as ``DAY``."""

    def turn(day: date) -> None:
        monkeypatch.setattr(clock, "today", lambda: day)

    turn(DAY)
    return turn


@pytest.fixture(scope="module")
def evaluated_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a run that fails ``quality_min`` on the case `one` and nothing else; to be copied."""
    root = tmp_path_factory.mktemp("governed")
    build(root)
    with pytest.MonkeyPatch.context() as patch:
        for name in SETTINGS:
            patch.delenv(name, raising=False)
        assert main(["--root", str(root), "--quiet", "eval"]) == 1
    return root


@pytest.fixture
def failed(evaluated_once: Path, cli: Cli, on: Callable[[date], None]) -> Cli:
    """A copy of that project."""
    shutil.copytree(evaluated_once, cli.root, dirs_exist_ok=True)
    return cli


@pytest.fixture
def hidden(cli: Cli, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Hidden:
    """A project with a sealed holdout that passes its gate."""
    return build_hidden(cli, tmp_path_factory.mktemp("outside"), monkeypatch)
