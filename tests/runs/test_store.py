"""Run records on disk: order of runs, who owns one, and what a partial write leaves behind."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from skillassay.errors import StoreError
from skillassay.runs.record import Mark, Outcome, TrialRecord
from skillassay.runs.store import RunWriter, list_runs, new_run_id, read_header, read_records, run_folder


def record(number: int, answer: str = "x") -> TrialRecord:
    """A record of one passed trial."""
    return TrialRecord(
        trial_id=f"t{number}",
        suite="s",
        case_id=f"c{number}",
        skill_path="skills/x",
        mode="none",
        repeat=1,
        n_criteria=1,
        outcome=Outcome(status="PASS"),
        marks=(Mark(id="m", by="code", verdict="PASS", evidence="e"),),
        answer=answer,
    )


def test_runs_of_one_second_sort_in_their_order(tmp_path: Path) -> None:
    """The newest is the last."""
    ids = []
    for _ in range(5):
        ids.append(new_run_id())
        RunWriter.create(tmp_path, {"id": ids[-1]}).close()
        until = new_run_id()[:19]
        while new_run_id()[:19] == until:
            pass
    assert list_runs(tmp_path) == ids
    assert run_folder(tmp_path, None).name == ids[-1]


@pytest.mark.parametrize("answer", ["a\u2028b\u2029c\x85d\x0be\x1c\r\nf\\n", "é" * 70_000])
def test_a_record_is_one_line_whatever_it_holds(tmp_path: Path, answer: str) -> None:
    """Lines are split on LF alone, so that no separator inside an answer ends a record (verifiers-1644)."""
    writer = RunWriter.create(tmp_path, {"id": "r"})
    writer.append(record(1, answer))
    writer.append(record(2))
    writer.close()
    assert [item.answer for item in read_records(writer.folder)] == [answer, "x"]


def test_every_cut_leaves_whole_records(tmp_path: Path) -> None:
    """Cut at any byte: records before are read, one appended after reopening is read behind them (verifiers-803)."""
    writer = RunWriter.create(tmp_path, {"id": "r"})
    for number in range(3):
        writer.append(record(number))
    writer.close()
    path = writer.folder / "trials.jsonl"
    data = path.read_bytes()
    for cut in range(0, len(data) + 1, 7):
        path.write_bytes(data[:cut])
        n_whole = data[:cut].count(b"\n")
        assert len(list(read_records(writer.folder))) == n_whole
        again = RunWriter.reopen(writer.folder)
        again.append(record(9))
        again.close()
        assert [item.trial_id for item in read_records(writer.folder)] == [f"t{n}" for n in range(n_whole)] + ["t9"]


def test_what_a_kill_left_half_written_is_removed(tmp_path: Path) -> None:
    """A result that was being written beside its place is nobody's: the run goes on without it."""
    writer = RunWriter.create(tmp_path, {"id": "r"})
    writer.close()
    kept = sorted(path.name for path in writer.folder.iterdir())
    (writer.folder / ".result.json.0123456789ab.tmp").write_text('{"res', encoding="utf-8")
    RunWriter.reopen(writer.folder).close()
    assert sorted(path.name for path in writer.folder.iterdir()) == kept == ["events.jsonl", "run.json", "trials.jsonl"]


def test_a_run_has_one_owner(tmp_path: Path) -> None:
    """A second writer is refused until the first one is closed."""
    writer = RunWriter.create(tmp_path, {"id": "r"})
    with pytest.raises(StoreError, match="under way in another process"):
        RunWriter.reopen(writer.folder)
    writer.close()
    RunWriter.reopen(writer.folder).close()


def test_nothing_follows_a_partial_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that takes half a line gets no further one: the tear stays at the end."""
    writer = RunWriter.create(tmp_path, {"id": "r"})
    writer.append(record(1))

    class Half:
        """A file that takes half of what it is given."""

        closed = False

        def write(self, data: bytes) -> int:
            return os.write(handle.fileno(), data[: len(data) // 2])

        def close(self) -> None:
            handle.close()

    handle: Any = writer._trials
    monkeypatch.setattr(writer, "_trials", Half())
    for _ in range(2):
        with pytest.raises(StoreError, match="cannot be written"):
            writer.append(record(2))
    writer.close()
    assert [item.trial_id for item in read_records(writer.folder)] == ["t1"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "cannot be read"),
        ("[]", "not a run file"),
        ('{"run": 99}', "newer than 1"),
        ('{"run": "1"}', "not a run file"),
    ],
)
def test_a_header_that_is_none_is_an_error(tmp_path: Path, text: str, words: str) -> None:
    """Empty, of another shape, or of a newer format: refused with the file's name."""
    (tmp_path / "run.json").write_text(text, encoding="utf-8")
    with pytest.raises(StoreError, match=words):
        read_header(tmp_path)


def test_a_run_is_named_by_a_prefix(tmp_path: Path) -> None:
    """An unambiguous prefix is enough; none and several are errors that name runs."""
    for name in ("2026-a", "2026-b", "2027-c"):
        RunWriter.create(tmp_path, {"id": name}).close()
    assert run_folder(tmp_path, "2027").name == "2027-c"
    for name, words in (("2026", "2 runs are"), ("2028", "no run is")):
        with pytest.raises(StoreError, match=words):
            run_folder(tmp_path, name)
    assert json.loads((run_folder(tmp_path, "2027") / "run.json").read_text("utf-8"))["run"] == 1
