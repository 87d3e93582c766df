"""A stored run whose records were edited by hand: every command that reads it says so, and none builds on it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.project import BAD, Cli, build_small, records, run_folder, small_rules

SAID = "the records are not those that the result was made of"


@pytest.fixture
def edited(cli: Cli) -> Cli:
    """A run that passed its gate, with a word more in one of its answers than was given."""
    build_small(cli.root)
    assert cli("eval").code == 0
    path = run_folder(cli.root) / "trials.jsonl"
    first, *others = path.read_text("utf-8").splitlines(keepends=True)
    record = json.loads(first)
    record["answer"] += " again"
    path.write_text("".join((json.dumps(record) + "\n", *others)), encoding="utf-8")
    return cli


def pass_all(folder: Path) -> None:
    """Every failed trial with the skill passes from now on, each line being sound by itself."""
    path = folder / "trials.jsonl"
    kept = [json.loads(line) for line in path.read_bytes().splitlines()]
    for one in (one for one in kept if one["mode"] != "none"):
        one["outcome"] = {**one["outcome"], "status": "PASS"}
        for mark in one["marks"]:
            mark["verdict"] = "PASS"
    path.write_text("".join(json.dumps(one) + "\n" for one in kept), encoding="utf-8")


def gate_lines(cli: Cli) -> dict[str, str]:
    """Name and status of each line."""
    return {one["name"]: one["status"] for one in cli("gate", "--format", "json").json["lines"]}


def test_the_gate_is_undecided(edited: Cli) -> None:
    """A line of its own, open, and exit 3."""
    assert edited("gate").code == 3
    assert gate_lines(edited)["records_whole"] == "undecided"


def test_a_run_as_it_ended_has_no_such_line(cli: Cli) -> None:
    """The near miss: the same run, unedited, and with its records in another order."""
    build_small(cli.root)
    assert cli("eval").code == 0
    path = run_folder(cli.root) / "trials.jsonl"
    path.write_bytes(b"".join(reversed(path.read_bytes().splitlines(keepends=True))))
    assert "records_whole" not in gate_lines(cli)
    assert SAID not in cli("report").out


@pytest.mark.parametrize("form", ["table", "json", "markdown", "html", "junit", "csv", "github"])
def test_every_report_says_so(edited: Cli, form: str) -> None:
    """In the report itself where it has room for words, and beside each on standard error."""
    ran = edited("report", "--format", form)
    assert ran.code == 0
    assert SAID in " ".join(ran.err.split())
    if form != "csv":
        assert SAID in " ".join(ran.out.split())


@pytest.mark.parametrize("command", [("plan", "--from"), ("suite", "lint", "--run")])
def test_what_only_reads_it_warns(edited: Cli, command: tuple[str, ...]) -> None:
    """A forecast and a lint are shown, with the warning before them."""
    ran = edited(*command, run_folder(edited.root).name)
    assert ran.code in {0, 1}
    assert SAID in " ".join(ran.err.split())


def test_it_is_compared_with_nothing(edited: Cli) -> None:
    """Neither as the older nor as the newer run; nor does it enter the scorecard or the pool of a lint."""
    old = run_folder(edited.root).name
    assert edited("eval").code == 0
    (new,) = {one.name for one in (edited.root / ".skillassay" / "runs").iterdir()} - {old}
    for pair in ((old, new), (new, old)):
        ran = edited("compare", *pair)
        assert (ran.code, SAID in " ".join(ran.out.split())) == (3, True)
    card: dict[str, Any] = edited("scorecard", "--format", "json").json
    assert SAID in json.dumps(card)
    assert SAID in json.dumps(edited("suite", "lint", "--format", "json").json)


@pytest.mark.parametrize("command", [("calibrate",), ("pairwise",)])
def test_nothing_new_rests_on_it(edited: Cli, command: tuple[str, ...]) -> None:
    """Neither a calibration nor a comparison of answers: exit 3, and no file more or less."""
    name, (*_, last) = run_folder(edited.root).name, records(edited.root)
    label = {key: last[key] for key in ("suite", "answer")} | {"case": last["case_id"], "verdict": "pass"}
    labels = edited.root / "labels-of-ann.jsonl"
    labels.write_text(json.dumps(label | {"criterion": last["marks"][0]["id"]}) + "\n", encoding="utf-8")
    assert edited("label", "--by", "ann", "--from", str(labels), "--origin", "human").code == 0
    before = {path for path in edited.root.rglob("*") if path.is_file()}
    ran = edited(*command, name, *(("--judge-model", "fixture") if command == ("pairwise",) else ()))
    assert ran.code == 3
    assert SAID in " ".join(ran.err.split())
    assert {path for path in edited.root.rglob("*") if path.is_file()} == before


def test_verdicts_turned_by_hand_pass_no_gate(cli: Cli) -> None:
    """A refused run, edited into one that meets every limit, is undecided and not passed."""
    build_small(cli.root, rules=[one for name in ("one", "two", "three") for one in small_rules(name, good=BAD)])
    assert cli("eval").code == 1
    pass_all(run_folder(cli.root))
    assert cli("gate").code == 3
    assert {name for name, status in gate_lines(cli).items() if status in {"failed", "undecided"}} == {"records_whole"}
