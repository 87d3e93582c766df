"""The scorecard over stored runs: its sums are the reports', its trends obey compare, and no bad run hides another."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from skillassay.printable import width
from tests.project import BAD, GOOD, Cli, build_small, edit, small_rules, write_json

NAMES = ("one", "two", "three")


def rows_of(cli: Cli, *arguments: str) -> list[dict[str, Any]]:
    """The rows as JSON."""
    ran = cli("scorecard", "--format", "json", *arguments)
    assert ran.code == 0, ran.err
    rows: list[dict[str, Any]] = ran.json["rows"]
    return rows


def answer_with(root: Path, **goods: str) -> None:
    """Author other answers for some cases with the skill."""
    path = root / "evals" / "fixtures" / "all.json"
    fixtures = json.loads(path.read_text("utf-8"))
    fixtures["subject"] = [rule for name in NAMES for rule in small_rules(name, good=goods.get(name, GOOD))]
    write_json(path, fixtures)


def newest(root: Path) -> Path:
    """The folder of the newest run."""
    return max((root / ".skillassay" / "runs").iterdir())


@pytest.fixture
def root(cli: Cli) -> Path:
    """A small project."""
    return build_small(cli.root)


def test_the_sums_are_those_of_the_reports(cli: Cli, root: Path) -> None:
    """Trials and criteria are the reports' progressive totals, added up; lift and decision are the newest one's."""
    reports = []
    for goods in ({}, {"two": BAD}, {"two": BAD, "three": BAD}):
        answer_with(root, **goods)
        cli("eval", "--repeats", "2")
        reports.append(cli("report", "--format", "json").json)
    (row,) = rows_of(cli)
    totals = [report["metrics"]["modes"]["progressive"] for report in reports]
    for name in ("planned", "passed", "failed", "unscored"):
        assert row["trials"][name] == sum(total["trials"][name] for total in totals)
    assert (
        (row["k"], row["n"]) == (sum(total["k"] for total in totals), sum(total["n"] for total in totals)) == (12, 18)
    )
    assert row["runs"] == 3
    last = reports[-1]
    lift = {name: value for name, value in last["metrics"]["lift"]["skills/greeter"].items() if name != "p_adjusted"}
    assert row["lift"] == lift
    assert (row["decision"], row["gate"], row["run"], row["date"]) == (
        last["decision"]["status"], last["decision"]["gate"], last["run"], last["occurred_at"],
    )  # fmt: skip


def test_a_trend_is_against_the_run_before_where_they_compare(cli: Cli, root: Path) -> None:
    """From 3 of 3 to 2 of 3 criteria: -0.333333 against that run; the first run has no earlier one."""
    cli("eval")
    assert rows_of(cli)[0]["trend"] == {"difference": None, "against": None, "why": "no earlier run of this skill"}
    first = newest(root).name
    answer_with(root, two=BAD)
    cli("eval")
    assert rows_of(cli)[0]["trend"] == {"difference": -0.333333, "against": first, "why": None}
    assert "trend -0.33 against" in " ".join(cli("scorecard").out.split())


def test_a_trend_between_runs_that_do_not_compare_is_no_number(cli: Cli, root: Path) -> None:
    """A stricter gate, as compare says it: its first reason stands in the place of a number, in each format."""
    cli("eval")
    first = newest(root).name
    cli("eval", "--quality-min", "0.9")
    second = newest(root).name
    reason = cli("compare", first, second, "--format", "json").json["differences"][0]
    trend = rows_of(cli)[0]["trend"]
    assert trend == {"difference": None, "against": None, "why": f"not comparable with {first}: {reason}"}
    (line,) = csv.DictReader(io.StringIO(cli("scorecard", "--format", "csv").out))
    assert (line["trend"], line["trend_why"]) == ("", trend["why"])
    assert "not comparable with" in cli("scorecard", "--format", "markdown").out


def test_a_trend_looks_past_what_does_not_compare(cli: Cli, root: Path) -> None:
    """The newest run that compares is the yardstick, also behind one that does not, and beyond --last."""
    cli("eval")
    first = newest(root).name
    cli("eval", "--quality-min", "0.9")
    cli("eval")
    (row,) = rows_of(cli, "--last", "1")
    assert (row["runs"], row["trend"]["against"], row["trend"]["difference"]) == (1, first, 0.0)


def test_a_new_version_is_a_row_of_its_own(cli: Cli, root: Path) -> None:
    """Two versions, two rows, the newer first; each has its own number of runs."""
    cli("eval")
    edit(root / "skills" / "greeter" / "SKILL.md", 'version: "1.0.0"', 'version: "1.1.0"')
    cli("eval")
    cli("eval")
    assert [(row["version"], row["runs"]) for row in rows_of(cli)] == [("1.1.0", 2), ("1.0.0", 1)]


def test_runs_that_cannot_be_read_are_listed_and_hide_nothing(cli: Cli, root: Path) -> None:
    """A damaged record, a newer header, a header of before: three reasons, and the good run is there."""
    for _ in range(4):
        cli("eval")
    good, *bad = sorted((root / ".skillassay" / "runs").iterdir())
    (bad[0] / "trials.jsonl").write_text("{}\n", encoding="utf-8")
    header = json.loads((bad[1] / "run.json").read_text("utf-8"))
    write_json(bad[1] / "run.json", header | {"run": 99})
    write_json(bad[2] / "run.json", {"run": 1, "id": bad[2].name})
    ran = cli("scorecard", "--format", "json")
    assert ran.code == 0
    assert [row["run"] for row in ran.json["rows"]] == [good.name]
    assert [one["run"] for one in ran.json["skipped"]] == [folder.name for folder in bad]
    whys = [one["why"] for one in ran.json["skipped"]]
    assert "line 1" in whys[0]
    assert "newer than 1" in whys[1]
    assert "lacks" in whys[2]
    csv_ran = cli("scorecard", "--format", "csv")
    assert csv_ran.err.count("skipped ") == 3
    assert all(f"skipped {folder.name}" in cli("scorecard").out for folder in bad)


def test_nothing_that_can_be_read_is_3(cli: Cli, root: Path) -> None:
    """No run is an error; runs that are all damaged are listed and the code says that nothing was shown."""
    assert cli("scorecard").code == 3
    cli("eval")
    (newest(root) / "trials.jsonl").write_text("{}\n", encoding="utf-8")
    ran = cli("scorecard", "--skill", "greeter")
    assert (ran.code, "skipped" in ran.out) == (3, True)


def test_fixture_runs_are_marked_in_every_format(cli: Cli, root: Path) -> None:
    """Authored answers are never shown without the word FIXTURE."""
    cli("eval")
    for form in ("table", "markdown", "csv", "json"):
        assert "FIXTURE candidate" in cli("scorecard", "--format", form).out


def test_the_table_has_80_columns(cli: Cli, root: Path) -> None:
    """No line of the table is wider than the narrowest terminal."""
    cli("eval")
    cli("eval", "--quality-min", "0.9")
    assert max(width(line) for line in cli("scorecard").out.splitlines()) <= 80


def test_an_unknown_skill_is_a_mistake(cli: Cli, root: Path) -> None:
    """--skill takes a path or a folder's name that a run knows."""
    cli("eval")
    assert [row["skill"] for row in rows_of(cli, "--skill", "greeter")] == ["skills/greeter"]
    ran = cli("scorecard", "--skill", "gretter")
    assert (ran.code, "skills/greeter" in ran.err) == (2, True)


def test_answers_made_elsewhere_are_no_row_with_others(cli: Cli, root: Path, tmp_path: Path) -> None:
    """What score records stands apart, its candidate named as unknown."""
    cli("eval")
    lines = "".join(json.dumps({"case": name, "answer": GOOD}) + "\n" for name in NAMES)
    (tmp_path / "a.jsonl").write_text(lines, encoding="utf-8")
    cli("score", str(tmp_path / "a.jsonl"))
    rows = {row["subject"]: row for row in rows_of(cli)}
    assert set(rows) == {"loop", "answers"}
    assert (rows["answers"]["candidate"], rows["answers"]["decision"]) == ("answers:made elsewhere", "undecided")
    assert "UNKNOWN candidate" in rows["answers"]["marks"]
