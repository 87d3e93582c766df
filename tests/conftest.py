"""What several folders of tests share: the shipped project in a copy, evaluated once, and the command line."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

from skillassay.cli.main import main
from tests.project import REPOSITORY, SETTINGS, Cli

# A busy machine is no failure: nothing in the tests is timed.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture
def quiet_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key, no endpoint and no service of the person who runs the tests."""
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str], quiet_environment: None) -> Cli:
    """The command line at the project in ``tmp_path``."""
    return Cli(tmp_path, capsys)


def copy_shipped(target: Path) -> Path:
    """Copy the skills, suites, evidence and lock of this repository."""
    target.mkdir(parents=True, exist_ok=True)
    for name in ("skills", "evals"):
        shutil.copytree(REPOSITORY / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(REPOSITORY / "skills.lock.json", target)
    return target


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    """A copy of the shipped project for a test to change."""
    return copy_shipped(tmp_path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """The shipped project after one evaluation on the fixture; to be read only."""

    root: Path
    code: int


@pytest.fixture(scope="session")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Evaluated:
    """One evaluation for all tests that look at it."""
    root = copy_shipped(tmp_path_factory.mktemp("shipped") / "project")
    with pytest.MonkeyPatch.context() as patch:
        for name in SETTINGS:
            patch.delenv(name, raising=False)
        return Evaluated(root=root, code=main(["--root", str(root), "--quiet", "eval"]))


@pytest.fixture
def shown(evaluated: Evaluated, capsys: pytest.CaptureFixture[str], quiet_environment: None) -> Callable[[str], str]:
    """The report of the evaluated shipped project in a format."""

    def show(form: str) -> str:
        ran = Cli(evaluated.root, capsys)("report", "--format", form)
        assert (ran.code, ran.err) == (0, "")
        return ran.out

    return show
