"""The scorecard's layout: a golden CSV written by hand, cells that are no formulas, 80 columns, and sums."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from skillassay.gate.lines import Status
from skillassay.printable import width
from skillassay.report.scorecard import (
    render_scorecard,
    render_scorecard_csv,
    render_scorecard_markdown,
    scorecard_json,
    trend_text,
)
from skillassay.scoring.scorecard import Scorecard, SkillRun, Trend, build_trend
from skillassay.scoring.scores import Rate

FIRST = SkillRun(
    run="r1",
    date="2026-11-01T10:00:00Z",
    skill_path="skills/a",
    name="a",
    version="1.0.0",
    candidate="fixture",
    judge="fixture",
    subject="loop",
    marks=("FIXTURE candidate",),
    trials=Rate(passed=0, failed=0, unscored=2),
    k=0,
    n=0,
    lift=None,
    gate="fixture_gate",
    decision=Status.UNDECIDED,
    grade=None,
    is_part=True,
)
SECOND = replace(
    FIRST,
    run="r2",
    date="2026-11-02T10:00:00Z",
    trials=Rate(passed=1, failed=1, unscored=0),
    k=3,
    n=4,
    decision=Status.PASSED,
    grade="fixture",
    is_part=False,
)
OTHER = replace(SECOND, run="r3", skill_path="skills/=b", name="=SUM(1)", version=None, candidate="gemini:x", marks=())

GOLDEN = """\
skill,name,version,runs,runs_of_a_part,trials_passed,trials_scored,trials_planned,low,high,criteria_passed,\
criteria_scored,score,lift,lift_low,lift_high,lift_word,gate,decision,grade,date,run,subject,candidate,judge,marks,\
trend,trend_against,trend_why
skills/=b,'=SUM(1),,1,0,1,2,2,0.094531,0.905469,3,4,0.75,,,,,fixture_gate,passed,fixture,2026-11-02T10:00:00Z,r3,\
loop,gemini:x,fixture,,,,no earlier run of this skill
skills/a,a,1.0.0,2,1,1,2,4,0.094531,0.905469,3,4,0.75,,,,,fixture_gate,passed,fixture,2026-11-02T10:00:00Z,r2,\
loop,fixture,fixture,FIXTURE candidate,,,no earlier run of this skill
"""
"""Wilson 95 % of 1 of 2 is 0.0945 to 0.9055: centre (0.5 + z²/4) / (1 + z²/2) = 0.5, half width z sqrt(1/8 + z²/16) /
(1 + z²/2), with z = 1.959964."""


def card(*runs: SkillRun) -> Scorecard:
    """A scorecard of these runs, one after the other."""
    made = Scorecard()
    for run in runs:
        made.add([run])
    return made


def test_the_csv_is_the_golden_one() -> None:
    """Runs of one version are summed, other candidates and skills apart; unknown is empty; no cell is a formula."""
    assert render_scorecard_csv(card(FIRST, SECOND, OTHER).rows) == GOLDEN


def test_a_csv_reader_reads_it_back() -> None:
    """Python's reader finds as many cells in each line as there are columns."""
    lines = list(csv.reader(io.StringIO(GOLDEN)))
    assert {len(line) for line in lines} == {len(lines[0])} == {29}


outcomes = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=6)


@given(counts=outcomes)
def test_a_row_is_the_sum_of_its_runs(counts: list[tuple[int, int, int]]) -> None:
    """Passed, failed, unscored and criteria of a row are the sums over its runs; the newest run is the last one."""
    runs = [
        replace(FIRST, run=f"r{i}", trials=Rate(passed=p, failed=f, unscored=u), k=p, n=p + f)
        for i, (p, f, u) in enumerate(counts)
    ]
    (row,) = card(*runs).rows
    told = (row.trials.passed, row.trials.failed, row.trials.unscored)
    assert told == tuple(sum(column) for column in zip(*counts, strict=True))
    assert (row.k, row.n, row.n_runs) == (told[0], told[0] + told[1], len(counts))
    assert row.newest.run == f"r{len(counts) - 1}"
    assert row.trials.planned == sum(told)


def test_what_was_measured_otherwise_is_another_row() -> None:
    """Version, candidate, judge, subject and gate keep runs apart; newest first within a skill."""
    changes: dict[str, Any] = {"version": "2.0.0", "candidate": "c", "judge": "j", "subject": "s", "gate": "model_gate"}
    runs = [replace(SECOND, run=f"r{i}", **{name: value}) for i, (name, value) in enumerate(changes.items())]
    rows = card(SECOND, *runs).rows
    assert [row.n_runs for row in rows] == [1] * 6
    assert [row.newest.run for row in rows] == ["r4", "r3", "r2", "r2", "r1", "r0"]


def test_a_trend_is_a_difference_of_scores_or_says_why_not() -> None:
    """3/4 after 1/4 is +0.50; a run that scored nothing gives no number."""
    assert build_trend(SECOND, replace(SECOND, run="r0", k=1)).difference == Fraction(1, 2)
    none = build_trend(SECOND, FIRST)
    assert none.difference is None
    assert trend_text(none) == "not comparable: run r1 scored no trial of it in progressive"
    assert trend_text(build_trend(SECOND, replace(SECOND, run="r0", k=1))) == "+0.50 against r0 (0.25 then)"


def test_the_table_keeps_80_columns() -> None:
    """A hostile or endless name bends no line, and its control characters are shown."""
    long = replace(SECOND, judge="openai:" + "word " * 40, marks=("FIXTURE candidate", "interrupted"), name="\x1b[31m")
    row = replace(card(long).rows[0], trend=Trend(why="not comparable with r1: " + "judgment.judge_id: a and b " * 9))
    text = render_scorecard([row], [("r9", "it lacks " + "much " * 30)], columns=80)
    assert max(width(line) for line in text.splitlines()) <= 80
    assert "\x1b" not in text
    assert "skipped r9: it lacks" in text


def test_markdown_is_one_table_a_skill_without_live_markup() -> None:
    """Cells of foreign text are inert; each table has one line a row."""
    hostile = replace(SECOND, candidate="gemini:<img src=x>|y")
    text = render_scorecard_markdown(card(FIRST, hostile, OTHER).rows, [("r9", "a|b")])
    assert "<img" not in text
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert len(tables) == 2 + 2 + 2 + 1
    assert {line.count("|") for line in tables} == {9}


def test_the_json_has_null_for_what_is_not_known() -> None:
    """No lift, no trend and no score are null, never 0."""
    (row,) = scorecard_json(card(FIRST).rows, [("r0", "why")], n_runs=1)["rows"]
    assert (row["lift"], row["score"], row["trend"]["difference"], row["trials"]["interval"]) == (
        None,
        None,
        None,
        None,
    )
