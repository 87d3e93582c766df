"""The report as Markdown, for pull requests and step summaries. Owns layout, escaping of cells and the byte budget.

Everything a model or an author wrote goes through an escape that leaves no markup alive. Under a budget the totals and
the decision always stay; failed and unscored trials come first, and a line says how many rows were left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from skillassay.printable import markdown_cell
from skillassay.report.base import (
    FIXTURE_NOTICE,
    RunView,
    criteria_text,
    failed_lines,
    lift_text,
    rate_text,
    score_text,
    tokens_text,
)
from skillassay.scoring import Row

SUMMARY_BYTES = 1_048_576
"""What a GitHub step summary may hold; a larger one is dropped whole."""


def render_markdown(view: RunView, *, max_bytes: int | None = None) -> str:
    """The report as Markdown, at most ``max_bytes`` of UTF-8."""
    head = "\n".join([*_head(view), *_totals(view), *_lifts(view), *_decision(view)])
    rows = sorted(view.assessment.scores.rows, key=_urgency)
    table = _trial_table(rows, view)
    tail = f"\nRecord: `{view.place}`\n"
    if max_bytes is None:
        return "\n".join([head, *table]) + tail
    note = "\nLeft out for size: {} of {} trials; the record has them all.\n"
    budget = max_bytes - len((head + tail + note).encode()) - 40
    kept, used = [], 0
    for line in table:
        used += len(line.encode()) + 1
        if used > budget:
            break
        kept.append(line)
    left_out = len(table) - max(len(kept), _TABLE_HEAD_LINES)
    return "\n".join([head, *kept]) + (note.format(left_out, len(rows)) if left_out else "") + tail


def _urgency(row: Row) -> int:
    return {"FAIL": 0, "UNSCORED": 1}.get(row.record.outcome.status, 2)


def _head(view: RunView) -> list[str]:
    decision = view.assessment.decision
    lines = [f"## skillassay: {decision.gate} {decision.status.value}", ""]
    if view.facts.is_fixture:
        lines += [f"> {FIXTURE_NOTICE}", ""]
    return [*lines, markdown_cell(view.model_line), ""]


def _table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A Markdown table; every cell is escaped here and nowhere else."""
    lines = [f"| {' | '.join(headers)} |", f"| {' | '.join('---' for _ in headers)} |"]
    return [*lines, *(f"| {' | '.join(markdown_cell(cell) for cell in row)} |" for row in rows)]


def _totals(view: RunView) -> list[str]:
    scores = view.assessment.scores
    rows = [
        (
            total.mode.value,
            criteria_text(total),
            rate_text(total.trials),
            tokens_text(total.usage.input_tokens, estimated=view.facts.estimated_tokens),
        )
        for total in scores.totals
    ]
    for part in scores.slices:
        rows += [(f"{part.name}: {t.mode.value}", criteria_text(t), rate_text(t.trials), "") for t in part.totals]
    return [*_table(("mode", "criteria", "trials passed (Wilson 95 %)", "tokens in"), rows), ""]


def _lifts(view: RunView) -> list[str]:
    scores = view.assessment.scores
    if scores.overall_lift is None:
        return []
    rows = [(lift.skill_path, lift_text(lift)) for lift in scores.lifts]
    return [*_table(("skill", "lift"), [*rows, ("all", lift_text(scores.overall_lift))]), ""]


def _decision(view: RunView) -> list[str]:
    rows = [
        (line.status.value, line.name, line.number, line.limit, "; ".join(line.detail))
        for line in view.assessment.decision.lines
    ]
    return [*_table(("", "line", "number", "limit", "detail"), rows), ""]


_TABLE_HEAD_LINES = 2


def _trial_table(rows: Sequence[Row], view: RunView) -> list[str]:
    cells = [
        (
            row.planned.case_id,
            f"{row.planned.mode.value} #{row.planned.repeat}",
            f"{row.record.outcome.status} {score_text(row.record)}",
            tokens_text(row.record.candidate.usage.input_tokens, estimated=view.facts.estimated_tokens),
            "; ".join(f"{word} {name}: {text}" for word, name, text in failed_lines(row)),
        )
        for row in rows
    ]
    return _table(("case", "mode", "outcome", "tokens in", "why"), cells)
