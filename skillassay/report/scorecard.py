"""The scorecard as a table, as Markdown, as CSV and as JSON. Owns layout; computes nothing."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby

from skillassay.canonical import Json
from skillassay.printable import markdown_cell
from skillassay.report.base import lift_text, rate_text
from skillassay.report.layout import wrap
from skillassay.report.spreadsheet import cell
from skillassay.runs.results import interval_json, lift_json, rate_json
from skillassay.scoring.scorecard import ScoreRow, Trend

SCORECARD_VERSION = 1
NOT_MEASURED = "not measured: the run did not plan progressive and none"
COLUMNS = (
    *("skill", "name", "version", "runs", "runs_of_a_part", "trials_passed", "trials_scored", "trials_planned"),
    *("low", "high", "criteria_passed", "criteria_scored", "score", "lift", "lift_low", "lift_high", "lift_word"),
    *("gate", "decision", "grade", "date", "run", "subject", "candidate", "judge", "marks"),
    *("trend", "trend_against", "trend_why"),
)
_HEADERS = ("version", "runs", "trials passed (Wilson 95 %)", "score", "lift", "decision", "trend", "of")

Skipped = Sequence[tuple[str, str]]


def render_scorecard(rows: Sequence[ScoreRow], skipped: Skipped, *, columns: int) -> str:
    """The scorecard for a terminal: a block a row, below its skill."""
    lines: list[str] = []
    for path, group in groupby(rows, key=lambda row: row.newest.skill_path):
        lines += wrap(path, columns)
        for row in group:
            lines += [part for text in _texts(row)[:1] for part in wrap(text, columns, lead="  ")]
            lines += [part for text in _texts(row)[1:] for part in wrap(text, columns, lead="    ")]
        lines.append("")
    lines += [part for text in skipped_texts(skipped) for part in wrap(text, columns)]
    return "\n".join(lines).rstrip("\n") + "\n"


def skipped_texts(skipped: Skipped) -> list[str]:
    """Each run that was skipped, with its reason."""
    return [f"skipped {run}: {why}" for run, why in skipped]


def _texts(row: ScoreRow) -> list[str]:
    newest = row.newest
    return [
        f"{newest.version or 'no version'}: {_runs(row)}, newest {newest.run} of {newest.date}",
        *([f"{'; '.join(newest.marks)}"] if newest.marks else []),
        f"trials {rate_text(row.trials)}; score {_score(row)}",
        f"lift {_lift(row)}",
        _decision(row),
        f"candidate {newest.candidate} through {newest.subject}, judge {newest.judge}",
        f"trend {trend_text(row.trend)}",
    ]


def _runs(row: ScoreRow) -> str:
    part = f" ({row.n_parts} of a part of its cases or modes)" if row.n_parts else ""
    return f"{row.n_runs} run{'' if row.n_runs == 1 else 's'}{part}"


def _score(row: ScoreRow) -> str:
    return "none" if row.score is None else f"{_two(row.score)} ({row.k}/{row.n})"


def _lift(row: ScoreRow) -> str:
    return NOT_MEASURED if row.newest.lift is None else lift_text(row.newest.lift)


def _decision(row: ScoreRow) -> str:
    newest = row.newest
    return f"{newest.gate} {newest.decision.value}" + (f" (grade {newest.grade})" if newest.grade else "")


def trend_text(trend: Trend) -> str:
    """The trend in words: a difference with what it is against, or why there is none."""
    if trend.difference is None or trend.against is None or trend.against.score is None:
        return trend.why or "none"
    return f"{float(trend.difference):+.2f} against {trend.against.run} ({_two(trend.against.score)} then)"


def _two(share: Fraction) -> str:
    return f"{float(share):.2f}"


def render_scorecard_markdown(rows: Sequence[ScoreRow], skipped: Skipped) -> str:
    """The scorecard as one Markdown table a skill."""
    lines: list[str] = []
    for path, group in groupby(rows, key=lambda row: row.newest.skill_path):
        lines += [f"### {markdown_cell(path)}", "", *_line(_HEADERS), *_line(("---",) * len(_HEADERS), is_rule=True)]
        for row in group:
            newest = row.newest
            about = f"{newest.run}, {newest.date}; candidate {newest.candidate} through {newest.subject}"
            of = "; ".join((*newest.marks, f"{about}, judge {newest.judge}"))
            version, trials = newest.version or "no version", rate_text(row.trials)
            trend = trend_text(row.trend)
            lines += _line((version, _runs(row), trials, _score(row), _lift(row), _decision(row), trend, of))
        lines.append("")
    lines += [f"- {markdown_cell(text)}" for text in skipped_texts(skipped)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _line(cells: Sequence[str], *, is_rule: bool = False) -> list[str]:
    shown = cells if is_rule else [markdown_cell(text) for text in cells]
    return [f"| {' | '.join(shown)} |"]


def render_scorecard_csv(rows: Sequence[ScoreRow]) -> str:
    """One line a row. What is not known is an empty cell."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(map(_cells, rows))
    return out.getvalue()


def _cells(row: ScoreRow) -> tuple[object, ...]:
    newest, trend, lift = row.newest, row.trend, row.newest.lift
    mean = None if lift is None else lift.difference.mean
    return (
        *(cell(newest.skill_path), cell(newest.name), cell(newest.version or ""), row.n_runs, row.n_parts),
        *(row.trials.passed, row.trials.scored, row.trials.planned, *_ends(interval_json(row.trials.interval))),
        *(row.k, row.n, _six(row.score)),
        *(_six(mean), *_ends(None if lift is None else interval_json(lift.difference.interval))),
        "" if lift is None else lift.difference.word,
        *(newest.gate, newest.decision.value, newest.grade or "", newest.date, cell(newest.run)),
        *(cell(newest.subject), cell(newest.candidate), cell(newest.judge), cell("; ".join(newest.marks))),
        *(_six(trend.difference), "" if trend.against is None else cell(trend.against.run), cell(trend.why or "")),
    )


def _ends(interval: list[float] | None) -> tuple[object, object]:
    return ("", "") if interval is None else (interval[0], interval[1])


def _six(value: Fraction | float | None) -> object:
    return "" if value is None else round(float(value), 6)


def scorecard_json(rows: Sequence[ScoreRow], skipped: Skipped, *, n_runs: int) -> Json:
    """The scorecard as one JSON object, ``"scorecard": 1``."""
    return {
        "scorecard": SCORECARD_VERSION,
        "runs": n_runs,
        "rows": [_row_json(row) for row in rows],
        "skipped": [{"run": run, "why": why} for run, why in skipped],
    }


def _row_json(row: ScoreRow) -> Json:
    newest, trend = row.newest, row.trend
    return {
        "skill": newest.skill_path,
        "name": newest.name,
        "version": newest.version,
        "runs": row.n_runs,
        "runs_of_a_part": row.n_parts,
        "trials": rate_json(row.trials),
        "k": row.k,
        "n": row.n,
        "score": None if row.score is None else round(float(row.score), 6),
        "lift": None if newest.lift is None else lift_json(newest.lift),
        "gate": newest.gate,
        "decision": newest.decision.value,
        "grade": newest.grade,
        "date": newest.date,
        "run": newest.run,
        "subject": newest.subject,
        "candidate": newest.candidate,
        "judge": newest.judge,
        "marks": list(newest.marks),
        "trend": {
            "difference": None if trend.difference is None else round(float(trend.difference), 6),
            "against": None if trend.against is None else trend.against.run,
            "why": trend.why,
        },
    }
