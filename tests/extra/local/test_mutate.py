"""Mutants of the example's skill with the real model: whatever it answers, each is what the definitions make of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scripts import local_engine
from scripts.local_engine import Engine
from tests.endtoend.damaged import session, tree, trials
from tests.extra.local.conftest import copy_example
from tests.project import REPOSITORY, environment, write_json

N_MUTANTS = 3
CASES = ("rose-price", "parcel-days", "saturday")
SAMPLES = {"pass": ["The garden shop."], "fail": ["The shop."]}


def mutate(engine: Engine, root: Path) -> subprocess.CompletedProcess[str]:
    """Three mutants of the skill of a project, in a process of its own."""
    argv = [sys.executable, "-m", "skillassay", "--quiet", "--root", str(root), "mutate", "garden-shop"]
    argv += ["--max", str(N_MUTANTS), "--jobs", "1", "--format", "json"]
    env = environment(OPENAI_BASE_URL=engine.base_url)
    return subprocess.run(argv, cwd=REPOSITORY, env=env, stdout=subprocess.PIPE, encoding="utf-8", timeout=300)


@pytest.fixture(scope="module")
def mutated(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int, dict[str, Any]]:
    """A copy of the example after three mutants; the exit code and the result."""
    root = copy_example(tmp_path_factory.mktemp("mutated") / "example")
    before = tree(root)
    done = mutate(engine, root)
    assert tree(root) == before
    return root, done.returncode, json.loads(done.stdout)


def test_what_a_real_model_makes_of_three_mutants(mutated: tuple[Path, int, dict[str, Any]]) -> None:
    """Cases that do not pass as the skill is kill nothing; an unscored trial kills nothing; counts add up."""
    root, code, found = mutated
    statuses: dict[str, list[str]] = {}
    for record in trials(root):
        statuses.setdefault(record["case_id"], []).append(record["outcome"]["status"])
    assert sorted(statuses) == sorted(CASES)
    first = {name: words[0] for name, words in statuses.items()}
    assert {one["case"]: one["can_kill"] for one in found["unmutated"]} == {
        name: first[name] == "PASS" for name in CASES
    }
    able = [name for name in CASES if first[name] == "PASS"]
    assert len(trials(root)) == len(CASES) + N_MUTANTS * len(able)
    score = found["score"]
    assert (score["killed"] + score["survived"] + score["undecided"], len(found["mutants"])) == (N_MUTANTS, N_MUTANTS)
    for mutant in found["mutants"]:
        assert mutant["planned"] == len(able)
        assert (mutant["outcome"] == "killed") == any(one["kills"] for one in mutant["failing"])
        if not able:
            assert (mutant["outcome"], mutant["why"]) == ("undecided", "no case passes unmutated")
    assert code == (3 if score["undecided"] else 0)


def test_it_says_that_chance_is_in_it_and_no_fixture(mutated: tuple[Path, int, dict[str, Any]]) -> None:
    """A live model with one repeat; nothing was authored; the judge is the candidate."""
    root, _, found = mutated
    told = " ".join(found["notices"])
    assert "chance alone can kill a mutant" in told
    assert "FIXTURE" not in told
    assert (found["candidate"]["id"], found["independent"]) == (f"openai:{local_engine.MODEL_NAME}", False)
    assert session(root).name == found["id"]


def test_a_case_that_code_decides_gives_verdicts(engine: Engine, tmp_path: Path) -> None:
    """Without a judge that invents: killed where the answer fails the check, survived where it passes it."""
    root = copy_example(tmp_path / "example")
    check = {"id": "names-it", "type": "contains", "text": "garden shop", "samples": SAMPLES}
    case = {
        "id": "rose",
        "skill": "garden-shop",
        "query": "What does a rose cost in the garden shop?",
        "checks": [check],
    }
    write_json(root / "evals" / "quality.json", {"suite": "quality", "version": "2.0.0", "cases": [case]})
    done = mutate(engine, root)
    found = json.loads(done.stdout)
    unmutated, *others = trials(root)
    assert unmutated["outcome"]["status"] == "PASS", unmutated["answer"]
    assert len(others) == len(found["mutants"]) == N_MUTANTS
    words = {"PASS": "survived", "FAIL": "killed", "UNSCORED": "undecided"}
    made = sorted(words[record["outcome"]["status"]] for record in others)
    assert sorted(one["outcome"] for one in found["mutants"]) == made
    assert done.returncode == (3 if "undecided" in made else 0)
