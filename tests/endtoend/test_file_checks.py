"""Checks on files that a script writes: from the suite to the report, whatever the script leaves in their place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.endtoend.scripted import MODES, SAYS, build_scripted, load_resource, run_script
from tests.project import Cli, records, run_folder

WRITE = """\
import pathlib
out = pathlib.Path("out")
out.mkdir(exist_ok=True)
(out / "report.csv").write_text("day,hours\\n1,8\\n", encoding="utf-8")
"""
REPORT = {"id": "hours", "type": "contains", "text": "1,8", "file": "out/report.csv"}


def marks(cli: Cli, mode: str) -> dict[str, dict[str, Any]]:
    """The marks of a mode's only trial by id."""
    (record,) = [record for record in records(cli.root) if record["mode"] == mode]
    assert record["outcome"]["status"] != "UNSCORED", record["outcome"]
    return {mark["id"]: mark for mark in record["marks"]}


def test_a_written_file_is_checked_and_enters_the_score(cli: Cli) -> None:
    """Progressive, whose script writes it, passes; none fails with what is missing, and that is no error."""
    build_scripted(cli.root, WRITE, checks=[SAYS, REPORT])
    ran = cli("eval", *MODES)
    assert ran.code == 0, ran.out + ran.err
    passed = marks(cli, "progressive")["hours"]
    assert (passed["by"], passed["verdict"], passed["file"]) == ("code", "PASS", "out/report.csv")
    failed = marks(cli, "none")["hours"]
    assert (failed["verdict"], failed["evidence"]) == ("FAIL", "no file out/report.csv in the workspace")
    assert [len(record["marks"]) for record in records(cli.root)] == [2, 2]


def test_the_lift_leaves_it_out_and_the_report_names_the_file(cli: Cli) -> None:
    """One criterion of each arm is compared; the table says which file a failed check read."""
    build_scripted(cli.root, WRITE, checks=[SAYS, REPORT])
    ran = cli("eval", *MODES)
    assert "FAIL      hours [out/report.csv]: no file out/report.csv" in ran.out
    assert "1/1 against 0/1, 1 of 1 cases" in " ".join(ran.out.split())
    result = json.loads((run_folder(cli.root) / "result.json").read_text("utf-8"))
    assert result["metrics"]["modes"]["progressive"]["n"] == 2
    lift = result["metrics"]["lift"]["skills/greeter"]
    assert (lift["progressive"], lift["none"]) == ({"k": 1, "n": 1}, {"k": 0, "n": 1})
    assert [mark["file"] for mark in result["trials"][0]["marks"]] == [None, "out/report.csv"]


def test_a_case_of_file_checks_alone_measures_no_lift(cli: Cli) -> None:
    """The gate stays open and says why, in place of a lift that its absence could not have met."""
    build_scripted(cli.root, WRITE, checks=[REPORT])
    ran = cli("eval", *MODES)
    assert ran.code == 3
    assert "no case has a criterion on the answer" in ran.out


def test_a_file_that_the_user_sent_counts_as_it_lies_there(cli: Cli) -> None:
    """In each mode: nobody changed it, and what a script appends is seen."""
    checks = [
        {"id": "sent", "type": "exact", "text": "a,1", "file": "data.csv"},
        {"id": "log", "type": "contains", "text": "added", "file": "log.txt"},
    ]
    script = "open('log.txt', 'a').write('added')"
    files = {"evals/data.csv": "a,1\n", "evals/log.txt": "sent\n"}
    build_scripted(cli.root, script, checks=checks, files=files, sent=["data.csv", "log.txt"])
    cli("eval", *MODES)
    assert {mode: [mark["verdict"] for mark in marks(cli, mode).values()] for mode in ("progressive", "none")} == {
        "progressive": ["PASS", "PASS"],
        "none": ["PASS", "FAIL"],
    }


SECRET = "what-lies-outside-4711"
LEFT = {
    "link to the system": ("os.symlink('/etc/passwd', 'out/report.csv')", "is a link that leaves the workspace"),
    "link to the user": ("os.symlink({outside!r}, 'out/report.csv')", "is a link that leaves the workspace"),
    "folder to the user": ("os.rmdir('out'); os.symlink({parent!r}, 'out')", "is a link that leaves the workspace"),
    "dangling": ("os.symlink('nowhere', 'out/report.csv')", "is a link to a file that is not there"),
    "loop": ("os.symlink('report.csv', 'out/report.csv')", "is a loop of links"),
    "pipe": ("os.mkfifo('out/report.csv')", "is a pipe, not a regular file"),
    "folder": ("os.mkdir('out/report.csv')", "is a folder"),
    "large": ("open('out/report.csv', 'wb').truncate(1 << 25)", "is over 1000000 bytes"),
    "bytes": ("open('out/report.csv', 'wb').write(bytes(range(256)))", "is not UTF-8 text"),
    "unreadable folder": ("os.chmod('out', 0)", "no file out/report.csv in the workspace"),
}


@pytest.mark.parametrize(("act", "words"), LEFT.values(), ids=LEFT)
def test_whatever_lies_there_is_a_failure_in_words(cli: Cli, act: str, words: str) -> None:
    """Never an error, never a pass, and never a byte of what a link led to."""
    outside = cli.root / "private" / "report.csv"
    outside.parent.mkdir()
    outside.write_text(SECRET)
    script = f"import os\nos.mkdir('out')\n{act.format(outside=str(outside), parent=str(outside.parent))}"
    check = {"id": "hours", "type": "regex", "pattern": "root|4711|hours", "file": "out/report.csv"}
    build_scripted(cli.root, script, checks=[SAYS, check])
    cli("eval", "--mode", "progressive")
    mark = marks(cli, "progressive")["hours"]
    assert mark["verdict"] == "FAIL"
    assert mark["evidence"] in {f"out/report.csv {words}", words, "out/report.csv cannot be read: Permission denied"}
    assert SECRET not in (run_folder(cli.root) / "trials.jsonl").read_text("utf-8")


def test_what_is_put_in_a_files_place_between_two_calls_is_not_followed(cli: Cli) -> None:
    """The first call writes a good file, the second puts a link in its place: what is there at the end counts."""
    swap = "import os\nos.remove('out/report.csv'); os.symlink('/etc/passwd', 'out/report.csv')"
    calls = [run_script(), run_script(file="scripts/swap.py"), load_resource("SKILL.md")]
    build_scripted(cli.root, WRITE, checks=[SAYS, REPORT], calls=calls, files={"skills/greeter/scripts/swap.py": swap})
    cli("eval", "--mode", "progressive")
    mark = marks(cli, "progressive")["hours"]
    assert (mark["verdict"], mark["evidence"]) == ("FAIL", "out/report.csv is a link that leaves the workspace")


@pytest.mark.parametrize("path", ["../report.csv", "/etc/passwd", "out//report.csv"])
@pytest.mark.parametrize("command", ["check", "eval"])
def test_a_path_that_cannot_lie_in_a_workspace_is_found_before_a_model_is_called(
    cli: Cli, command: str, path: str
) -> None:
    """As every other mistake in a check."""
    build_scripted(cli.root, WRITE, checks=[SAYS, {**REPORT, "file": path}])
    ran = cli(command)
    assert ran.code == {"check": 1, "eval": 3}[command]
    assert path in ran.out + ran.err
    assert not (cli.root / ".skillassay").exists()
