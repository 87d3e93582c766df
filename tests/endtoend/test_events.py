"""A stored run as JSON lines: every frame under the schema, the same numbers as the report, and nothing of a text."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from skillassay.schema import schema_problems
from tests.project import REPOSITORY, Cli, Ran, build_small, command, environment, records, run_folder

SECRET = "hello hello, says the plum"


def frames_of(ran: Ran) -> list[dict[str, Any]]:
    """The frames of a stream, each held against the schema."""
    assert ran.code == 0, ran.err
    frames = [json.loads(line) for line in ran.out.split("\n") if line]
    assert [
        (frame["frame"], schema_problems(frame, "events")) for frame in frames if schema_problems(frame, "events")
    ] == []
    return frames


@pytest.fixture
def root(cli: Cli) -> Path:
    """A small project after one evaluation."""
    build_small(cli.root)
    assert cli("eval").code == 0
    return cli.root


def test_a_run_comes_first_a_summary_last_and_a_trial_for_each_record(cli: Cli, root: Path) -> None:
    """Trials stand in the order of the record, with its outcomes; the summary is the report's own."""
    frames = frames_of(cli("events"))
    assert [frame["frame"] for frame in frames] == ["run", *["trial"] * 9, "summary"]
    told = [(one["trial"], one["status"], one["k"], one["n"]) for one in frames[1:-1]]
    kept = [
        (one["trial_id"], one["outcome"]["status"], sum(m["verdict"] == "PASS" for m in one["marks"]), 1)
        for one in records(root)
    ]
    assert told == kept
    report = cli("report", "--format", "json").json
    result = frames[-1]["result"]
    assert (result["content_digest"], result["counts"]) == (report["content_digest"], report["counts"])
    assert {line["name"] for line in result["decision"]["lines"]} == {
        one["name"] for one in report["decision"]["lines"]
    }
    assert frames[0]["planned"] == Counter(one["mode"] for one in records(root))
    assert (frames[-1]["ended"], frames[-1]["why"], frames[-1]["records"]) == (True, None, 9)


def test_case_and_mode_leave_out_frames_and_not_the_summary(cli: Cli, root: Path) -> None:
    """Two options choose frames; what the run came to is told of the whole of it."""
    frames = frames_of(cli("events", "--case", "two", "--mode", "none", "--mode", "eager"))
    assert {(one["case"], one["mode"]) for one in frames[1:-1]} == {("two", "none"), ("two", "eager")}
    assert (frames[-1]["shown"], frames[-1]["records"], frames[-1]["planned"]) == (2, 9, 9)
    ran = cli("events", "--case", "four")
    assert (ran.code, ran.out) == (2, "")
    assert "there is no case 'four'" in ran.err


def test_no_text_without_texts(cli: Cli) -> None:
    """An answer and the evidence of a verdict stand in the stream with --texts alone."""
    rules = [
        {"id": f"{name}-{i}", "when": {"query": [f"Greet {name}."]}, "reply": {"text": SECRET}}
        for i, name in enumerate(("one", "two", "three"))
    ]
    build_small(cli.root, rules=rules, judge=[{"criterion": "says-hello", "pass": "plum", "missing": "no plum"}])
    cli("eval")
    without, with_texts = cli("events"), cli("events", "--texts")
    assert "plum" not in without.out
    trials = [one for one in frames_of(with_texts) if one["frame"] == "trial"]
    assert {one["answer"] for one in trials} == {SECRET}
    assert {mark["evidence"] for one in trials for mark in one["marks"]} == {"plum"}
    assert all("answer" not in one and "detail" not in one for one in frames_of(without))


def test_a_run_that_keeps_no_texts_gives_none(cli: Cli) -> None:
    """Under retention hash --texts is refused before a line is written; the frames are there without."""
    build_small(cli.root, retention="hash")
    assert cli("eval").code == 0
    ran = cli("events", "--texts")
    assert (ran.code, ran.out) == (3, "")
    assert "keeps no texts (retention hash)" in ran.err
    assert len(frames_of(cli("events"))) == 11


def test_a_run_without_a_result_says_that_it_did_not_end(cli: Cli, root: Path) -> None:
    """A killed run is streamed as far as it came, its torn last line left out, and its summary decides nothing."""
    folder = run_folder(root)
    (folder / "result.json").unlink()
    whole = (folder / "trials.jsonl").read_bytes().split(b"\n")
    (folder / "trials.jsonl").write_bytes(b"\n".join(whole[:4]) + b"\n" + whole[4][:50])
    last = frames_of(cli("events"))[-1]
    assert (last["ended"], last["result"], last["records"], last["planned"]) == (False, None, 4, 9)
    assert "it has no result" in last["why"]


def test_records_behind_the_result_are_told(cli: Cli, root: Path) -> None:
    """A result that counts more attempts than there are records is not this record's."""
    path = run_folder(root) / "trials.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    last = frames_of(cli("events"))[-1]
    assert (last["ended"], last["records"]) == (False, 8)
    assert "more or fewer" in last["why"]


def test_a_damaged_record_ends_without_a_summary(cli: Cli, root: Path) -> None:
    """A broken line is an error behind the frames before it: no summary, so nobody takes the stream for whole."""
    path = run_folder(root) / "trials.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], b"{}\n", *lines[3:]]))
    ran = cli("events")
    assert ran.code == 3
    assert [json.loads(line)["frame"] for line in ran.out.splitlines()] == ["run", "trial", "trial"]
    assert "trials.jsonl, line 3" in ran.err


def test_a_reader_that_leaves_is_141(cli: Cli, root: Path) -> None:
    """No traceback and no word when the pipe is closed."""
    reader = subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.PIPE)
    reader.wait()
    ran = subprocess.run(
        command(root, "events"),
        stdout=reader.stdin,
        stderr=subprocess.PIPE,
        cwd=REPOSITORY,
        env=environment(),
        timeout=30,
    )
    assert (ran.returncode, ran.stderr) == (141, b"")
    assert reader.stdin is not None
    reader.stdin.close()


MEASURE = """
import io, sys, tracemalloc
from skillassay.cli.main import main
import skillassay.cli.events
class Nowhere(io.TextIOBase):
    encoding = "utf-8"
    def write(self, text): return len(text)
sys.stdout = Nowhere()
main(["--root", sys.argv[1], "events", "--case", "one", "--mode", "none"])
tracemalloc.start()
code = main(["--root", sys.argv[1], "events"])
sys.stderr.write(f"{code} {tracemalloc.get_traced_memory()[1]}")
"""


def test_memory_does_not_grow_with_the_trials(cli: Cli, root: Path) -> None:
    """Ten times as many records, planned and shown in the result, take no more than a tenth more at the peak."""
    folder = run_folder(root)
    header, result = (json.loads((folder / name).read_text("utf-8")) for name in ("run.json", "result.json"))
    record = records(root)[0] | {"answer": "word " * 400}
    peaks = []
    for n_trials in (500, 5000):
        trial, shown = header["facts"]["trials"][0], result["trials"][0]
        header["facts"]["trials"] = [trial | {"repeat": n} for n in range(1, n_trials + 1)]
        result["trials"] = [shown | {"repeat": n} for n in range(1, n_trials + 1)]
        for name, value in (("run.json", header), ("result.json", result)):
            (folder / name).write_text(json.dumps(value, indent=2, sort_keys=True) + "\n", encoding="utf-8")
        lines = (json.dumps(record | {"repeat": n}) + "\n" for n in range(1, n_trials + 1))
        (folder / "trials.jsonl").write_text("".join(lines), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-c", MEASURE, str(root)],
            capture_output=True,
            text=True,
            cwd=REPOSITORY,
            env=environment(),
            timeout=120,
        )
        code, peak = done.stderr.split()
        assert code == "0"
        peaks.append(int(peak))
    assert peaks[1] < 1.1 * peaks[0], peaks
