"""A whole evaluation with a real model as candidate and judge, through `scripts/eval_local.py`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from scripts import local_engine
from scripts.local_engine import Engine
from skillassay.judging.judge import CriterionVerdict, ungrounded
from skillassay.suites.case import Criterion
from tests.extra.local.conftest import copy_example, metered
from tests.project import REPOSITORY, environment, records, run_folder

MODES = ("progressive", "none", "eager")
CASES = ("rose-price", "parcel-days", "saturday")
OF_THE_MODEL = {"contract_error", "truncated", "blocked", "ungrounded", "judge_abstained"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """The example after `make eval-local`."""

    root: Path
    code: int
    lines: list[str]
    result: dict[str, Any]
    records: list[dict[str, Any]]


def load(path: Path) -> dict[str, Any]:
    """A JSON document."""
    document: dict[str, Any] = json.loads(path.read_bytes())
    return document


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Evaluated:
    """One evaluation of a copy of the example, as the make target runs it."""
    root = copy_example(tmp_path_factory.mktemp("local") / "example")
    command = [sys.executable, "scripts/eval_local.py", "--root", str(root)]
    done = subprocess.run(command, cwd=REPOSITORY, env=environment(), stdout=subprocess.PIPE, encoding="utf-8")
    return Evaluated(
        root=root,
        code=done.returncode,
        lines=done.stdout.splitlines(),
        result=load(run_folder(root) / "result.json"),
        records=records(root),
    )


def test_the_target_passes_and_says_the_decision_last(evaluated: Evaluated) -> None:
    """Harness and engine worked: exit 0, and the last line names the gate's decision and skillassay's exit code."""
    decision = evaluated.result["decision"]
    assert evaluated.code == 0
    assert decision["exit_code"] in {0, 1, 3}
    begins = next(n for n, line in enumerate(evaluated.lines) if line.startswith("eval-local: "))
    said = " ".join(line.strip() for line in evaluated.lines[begins:])
    assert said.startswith("eval-local: harness and engine worked; ")
    assert f"model_gate {decision['status']} (skillassay's exit code {decision['exit_code']})" in said
    assert max(map(len, evaluated.lines[begins:])) <= 80


def test_every_planned_trial_has_an_outcome(evaluated: Evaluated) -> None:
    """Each case stands once in each mode, and is PASS, FAIL or UNSCORED for a reason that is the model's."""
    seen = Counter((record["case_id"], record["mode"]) for record in evaluated.records)
    assert seen == Counter((case, mode) for case in CASES for mode in MODES)
    outcomes = [record["outcome"] for record in evaluated.records]
    assert {outcome["status"] for outcome in outcomes} <= {"PASS", "FAIL", "UNSCORED"}
    assert {outcome["reason"] for outcome in outcomes if outcome["status"] == "UNSCORED"} <= OF_THE_MODEL


def test_the_counts_add_up(evaluated: Evaluated) -> None:
    """passed + failed + unscored == planned, and each equals the records counted by hand."""
    statuses = Counter(record["outcome"]["status"] for record in evaluated.records)
    counts = evaluated.result["counts"]
    assert (counts["passed"], counts["failed"], counts["unscored"], counts["planned"]) == (
        statuses["PASS"],
        statuses["FAIL"],
        statuses["UNSCORED"],
        len(CASES) * len(MODES),
    )


def test_no_scored_trial_rests_on_an_invented_quotation(evaluated: Evaluated) -> None:
    """A trial is UNSCORED(ungrounded) exactly when a PASS of its judge's reply quotes what its answer does not hold."""
    for record in evaluated.records:
        if record["judge_reply"] is None or record["outcome"]["reason"] not in {None, "ungrounded"}:
            continue
        entries = json.loads(record["judge_reply"])["criteria"]
        verdicts = [
            CriterionVerdict(
                criterion=Criterion(id=entry["id"], text="-"), verdict=entry["verdict"], evidence=entry["evidence"]
            )
            for entry in entries
        ]
        assert bool(ungrounded(verdicts, record["answer"])) == (record["outcome"]["reason"] == "ungrounded")


def test_tokens_are_told(evaluated: Evaluated) -> None:
    """Every call that was made has told what it read and wrote; nothing is estimated."""
    for record in evaluated.records:
        for side in ("candidate", "judge"):
            usage = record[side]["usage"]
            assert usage["estimated"] is False
            if record[side]["n_calls"]:
                assert usage["input_tokens"] > 0
                assert usage["output_tokens"] > 0
    assert evaluated.result["metrics"]["tokens_are_estimates"] is False


def test_a_judge_that_is_the_candidate_is_named_so(evaluated: Evaluated) -> None:
    """One model at one endpoint for both sides is no independent judge."""
    assert evaluated.result["independent"] is False


def test_subject_and_judge_at_two_addresses(engine: Engine, example: Path) -> None:
    """--base-url and --judge-base-url lead each side to its own engine, whose meter equals the record's tokens."""
    with local_engine.engine() as other:
        before = {"candidate": metered(engine), "judge": metered(other)}
        case = ["--case", "rose-price", "--mode", "none", "--jobs", "1"]
        urls = ["--base-url", engine.base_url, "--judge-base-url", other.base_url]
        command = [sys.executable, "-m", "skillassay", "--root", str(example), "eval", *case, *urls]
        done = subprocess.run(command, cwd=REPOSITORY, env=environment(), capture_output=True)
        after = {"candidate": metered(engine), "judge": metered(other)}
    assert done.returncode in {0, 1, 3}, done.stderr
    (record,) = records(example)
    for side, counts in after.items():
        usage = record[side]["usage"]
        assert {name: usage[name] for name in counts} == {name: counts[name] - before[side][name] for name in counts}
    models = load(run_folder(example) / "run.json")["models"]
    assert (models["candidate"]["endpoint"], models["judge"]["endpoint"]) == (engine.base_url, other.base_url)
