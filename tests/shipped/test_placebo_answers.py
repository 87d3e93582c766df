"""The authored answers to a placebo of a shipped skill: it is loaded, and then what is said is what is said without."""

from __future__ import annotations

import json
from pathlib import Path

from tests.project import Cli, run_folder


def test_a_placebo_brings_nothing_on_authored_answers(cli: Cli, shipped: Path) -> None:
    """Every case: the placebo is loaded once, no trial runs into its turn limit, and the answer is that of no skill."""
    assert cli("--quiet", "eval", "--mode", "none", "--mode", "placebo").code == 3  # the gate needs progressive
    found: dict[str, dict[str, str]] = {"none": {}, "placebo": {}}
    for line in (run_folder(shipped) / "trials.jsonl").read_bytes().split(b"\n")[:-1]:
        record = json.loads(line)
        found[record["mode"]][record["case_id"]] = record["answer"]
        assert record["activated"] == ([record["skill_path"].rpartition("/")[2]] if record["mode"] == "placebo" else [])
    assert len(found["none"]) > 20
    assert found["placebo"] == found["none"]
