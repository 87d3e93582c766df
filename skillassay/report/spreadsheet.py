"""The trials as CSV (RFC 4180 with LF), one row each. Owns the columns and that no cell is a formula.

A spreadsheet runs what begins with ``=``, ``+``, ``-`` or ``@``: in front of a text that begins so stands an apostrophe
(https://owasp.org/www-community/attacks/CSV_Injection). What is not known is an empty cell, never 0.
"""

from __future__ import annotations

import csv
import io

from skillassay.printable import one_line
from skillassay.report.base import RunView
from skillassay.scoring.scores import Row

COLUMNS = (
    *("suite", "case", "skill", "mode", "repeat", "outcome", "reason", "stage", "kind"),
    *("passed", "criteria", "failed_criteria", "attempt", "calls", "input_tokens", "output_tokens", "cached_tokens"),
    *("tokens_estimated", "judge_input_tokens", "judge_output_tokens", "duration_s", "judge_independent", "sample"),
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def render_csv(view: RunView) -> str:
    """All planned trials, in the order of the plan."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in view.assessment.scores.rows:
        writer.writerow((*_cells(row), *_of_run(view)))
    return out.getvalue()


def _of_run(view: RunView) -> tuple[object, ...]:
    """What no row is to be read without: whether its judge is known to be independent, and of how many a sample."""
    sample = view.header.get("sample")
    independent = "yes" if view.header["models"]["independent"] else "no"
    return independent, "" if sample is None else f"{sample['n']} of {sample['of']} seed {sample['seed']}"


def cell(text: str) -> str:
    """A text as a cell that is read as a text."""
    shown = one_line(text)
    return f"'{shown}" if shown.startswith(_FORMULA) else shown


def _cells(row: Row) -> tuple[object, ...]:
    planned, record = row.planned, row.record
    outcome, spent, judge = record.outcome, record.candidate.usage, record.judge.usage
    return (
        *(cell(planned.suite), cell(planned.case_id), cell(planned.skill_path), planned.mode.value, planned.repeat),
        outcome.status,
        outcome.reason.value if outcome.reason else "",
        outcome.stage.value if outcome.stage else "",
        outcome.kind or "",
        record.k if outcome.scored else "",
        record.n_criteria,
        cell(" ".join(mark.id for mark in record.marks if not mark.passed)),
        *(record.attempt, record.candidate.n_calls),
        *(spent.input_tokens, spent.output_tokens, spent.cached_tokens, spent.estimated),
        *(judge.input_tokens, judge.output_tokens, f"{record.duration_s:.3f}"),
    )
