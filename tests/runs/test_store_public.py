"""Public reports on records of other tools that a resume could not read. The names are the reports' labels."""

from __future__ import annotations

import json
from pathlib import Path

from skillassay.runs.record import Outcome, TrialRecord
from skillassay.runs.store import RunWriter, read_records

PUBLIC = Path(__file__).parents[1] / "data" / "public" / "cache"


def record(case_id: str, answer: str) -> TrialRecord:
    """A record of one failed trial without a criterion."""
    return TrialRecord(
        trial_id=case_id,
        suite="s",
        case_id=case_id,
        skill_path="skills/x",
        mode="none",
        repeat=1,
        n_criteria=1,
        outcome=Outcome(status="FAIL", kind="turn_limit"),
        answer=answer,
    )


def test_verifiers_1644_a_separator_in_a_text_ends_no_record(tmp_path: Path) -> None:
    """PrimeIntellect-ai/verifiers#1644: U+0085, U+2028 and the like inside an answer; two records stay two."""
    data = (PUBLIC / "verifiers-1644" / "results.jsonl").read_bytes()
    assert len(data.decode().splitlines()) == 4  # where a reader goes wrong
    told = [json.loads(line) for line in data.split(b"\n")[:-1]]
    writer = RunWriter.create(tmp_path, {"id": "r"})
    for item in told:
        writer.append(record(item["case"], item["text"]))
    writer.close()
    RunWriter.reopen(writer.folder).close()
    assert [(item.case_id, item.answer) for item in read_records(writer.folder)] == [
        (item["case"], item["text"]) for item in told
    ]


def test_verifiers_803_a_record_is_not_glued_to_a_torn_one(tmp_path: Path) -> None:
    """PrimeIntellect-ai/verifiers#803: a torn last line is cut before the next record is appended."""
    data = (PUBLIC / "verifiers-803" / "results.jsonl").read_bytes()
    assert not data.endswith(b"\n")
    writer = RunWriter.create(tmp_path, {"id": "r"})
    writer.close()
    trials = writer.folder / "trials.jsonl"
    trials.write_bytes(data)
    again = RunWriter.reopen(writer.folder)
    again.append(record("b", "new"))
    again.close()
    whole, added, rest = trials.read_bytes().split(b"\n")
    assert whole == data.split(b"\n")[0]
    assert (json.loads(added)["case_id"], rest) == ("b", b"")
