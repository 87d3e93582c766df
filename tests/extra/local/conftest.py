"""The real model of `scripts/local_engine.py`: one engine for all tests, asked by one trial at a time."""

from __future__ import annotations

import re
import shutil
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from scripts import local_engine
from scripts.local_engine import Engine
from skillassay.models.openai_chat import OpenAIModel
from tests.project import REPOSITORY

EXAMPLE = REPOSITORY / "examples" / "local"


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """A running engine. Without its wheels each test fails with the line that says what to run."""
    with local_engine.engine() as running:
        yield running


@pytest.fixture
def model(engine: Engine) -> Iterator[OpenAIModel]:
    """The engine's model through the openai SDK."""
    with closing(OpenAIModel(name=local_engine.MODEL_NAME, api_key="no-key", base_url=engine.base_url)) as opened:
        yield opened


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """A copy of the example without its runs."""
    return copy_example(tmp_path / "example")


def copy_example(target: Path) -> Path:
    """Copy the example without its runs."""
    return Path(shutil.copytree(EXAMPLE, target, ignore=shutil.ignore_patterns(".skillassay")))


def metered(engine: Engine) -> dict[str, int]:
    """What the engine itself has counted since it began: tokens read and tokens written."""
    with urllib.request.urlopen(f"{engine.address}/metrics", timeout=10) as reply:
        text = reply.read().decode()
    names = {"input_tokens": "prompt_tokens_total", "output_tokens": "tokens_predicted_total"}
    counts = dict(re.findall(r"^llamacpp:(\w+) (\S+)$", text, re.MULTILINE))
    return {key: int(float(counts[name])) for key, name in names.items()}
