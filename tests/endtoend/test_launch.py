"""Starting from a checkout, and what a start may cost."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project import REPOSITORY, build_small, environment

BASE_PYTHON = Path(sys.base_prefix) / "bin" / "python3"


@pytest.mark.skipif(not (REPOSITORY / ".venv/bin/python").exists(), reason="no .venv beside run.py")
@pytest.mark.parametrize("flags", [("-I",), ("-S",), ("-I", "-S"), ()])
def test_run_py_finds_the_environment(flags: tuple[str, ...]) -> None:
    """A Python without our packages, the one the environment was made with among them, goes on in .venv."""
    argv = [str(BASE_PYTHON), *flags, str(REPOSITORY / "run.py"), "--version"]
    ran = subprocess.run(argv, capture_output=True, text=True, env=environment(), timeout=30)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("skillassay, version ")


@pytest.mark.parametrize("broken", [False, True])
def test_without_an_environment_one_line_says_what_to_run(tmp_path: Path, broken: bool) -> None:
    """Exit 3 and one line, whether .venv is missing or half made; no endless re-execution."""
    shutil.copytree(REPOSITORY / "skillassay", tmp_path / "skillassay", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(REPOSITORY / "run.py", tmp_path)
    if broken:
        subprocess.run([BASE_PYTHON, "-m", "venv", "--without-pip", tmp_path / ".venv"], check=True, timeout=30)
    argv = [str(BASE_PYTHON), "-I", "-S", str(tmp_path / "run.py"), "eval"]
    ran = subprocess.run(argv, capture_output=True, text=True, env=environment(), timeout=30)
    assert ran.returncode == 3
    assert ran.stderr == "the environment is not set up; run: make setup\n"


@pytest.mark.parametrize("arguments", [["--help"], ["eval", "--help"], ["check"], ["lock", "--check"], ["--version"]])
def test_no_model_sdk_is_imported_for_nothing(tmp_path: Path, arguments: list[str]) -> None:
    """Help and offline checks load no SDK and no HTTP client."""
    build_small(tmp_path)
    code = (
        "import sys; from skillassay.cli.main import main; main(sys.argv[1:]); "
        "print(sorted(n for n in sys.modules if n.split('.')[0] in {'google', 'httpx', 'httpx2', 'http'} "
        "and n not in {'http', 'http.client'}), file=sys.stderr)"
    )
    argv = [sys.executable, "-c", code, "--root", str(tmp_path), *arguments]
    ran = subprocess.run(argv, capture_output=True, text=True, cwd=REPOSITORY, env=environment(), timeout=30)
    assert ran.stderr.splitlines()[-1] == "[]"
