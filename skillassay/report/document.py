"""The report as Markdown, for pull requests and step summaries. Owns layout, escaping of cells and the byte budget.

Everything a model or an author wrote goes through an escape that leaves no markup alive. Under a budget the totals and
the decision always stay; failed and unscored trials come first, and a line says how many rows were left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from skillassay.printable import markdown_cell
from skillassay.report.base import (
    RunView,
    criteria_text,
    effort_lines,
    failed_lines,
    rate_text,
    score_text,
    tokens_text,
)
from skillassay.report.breakdown import all_entries, matrix_grids
from skillassay.report.costs import cost_texts
from skillassay.report.effects import effect_texts, lift_rows, p_legend
from skillassay.report.hints import hints_of
from skillassay.report.noise import noise_texts
from skillassay.report.parts import HEADERS, part_rows
from skillassay.report.people import people_texts
from skillassay.scoring.scores import Row

SUMMARY_BYTES = 1_048_576
"""What a GitHub step summary may hold; a larger one is dropped whole."""


def render_markdown(view: RunView, *, max_bytes: int | None = None) -> str:
    """The report as Markdown, at most ``max_bytes`` of UTF-8."""
    parts = (_head(view), _totals(view), _breakdown(view), _lifts(view), _decision(view), _hints(view))
    head = "\n".join(line for part in parts for line in part)
    rows = sorted(view.assessment.scores.rows, key=_urgency)
    table = _trial_table(rows, view)
    tail = f"\nRecord: `{view.place}`, content digest `{view.assessment.content_digest}`\n"
    tail += f"\n{markdown_cell(view.retention_line)}\n"
    if max_bytes is None:
        return "\n".join([head, *table]) + tail
    room = max_bytes - len((head + tail).encode()) - _NOTE_BYTES
    if room < 0:
        head = "\n".join(_head(view))
    kept = _fitting(table, room)
    n_left_out = len(rows) - max(len(kept) - _TABLE_HEAD_LINES, 0)
    note = f"\nLeft out for size: {n_left_out} of {len(rows)} trials; the record has them all.\n" if n_left_out else ""
    return "\n".join([head, *kept]) + note + tail


def _fitting(table: Iterable[str], room: int) -> list[str]:
    """As many lines as fit; none where not even one row would stand below the table's head."""
    kept: list[str] = []
    for line in table:
        room -= len(line.encode()) + 1
        if room < 0:
            break
        kept.append(line)
    return kept if len(kept) > _TABLE_HEAD_LINES else []


def _urgency(row: Row) -> int:
    return {"FAIL": 0, "UNSCORED": 1}.get(row.record.outcome.status, 2)


def _head(view: RunView) -> list[str]:
    decision = view.assessment.decision
    lines = [f"## skillassay: {decision.gate} {decision.status.value}", ""]
    if view.notice is not None:
        lines += [f"> {view.notice}", ""]
    told = [*view.told_lines, *([view.isolation_line] if view.isolation_line is not None else [])]
    return [*lines, *(part for line in told for part in (markdown_cell(line), ""))]


def _table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A Markdown table, line by line as it is asked for; every cell is escaped here and nowhere else."""
    yield f"| {' | '.join(headers)} |"
    yield f"| {' | '.join('---' for _ in headers)} |"
    for row in rows:
        yield f"| {' | '.join(markdown_cell(cell) for cell in row)} |"


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
    cached = [view.cache_line, ""] if view.cache_line is not None else []
    told = (*effort_lines(scores.totals), *cost_texts(view.costs))
    cached += [part for line in told for part in (markdown_cell(line), "")]
    parts = [*_table(HEADERS, part_rows(view)), ""] if part_rows(view) else []
    return [*_table(("mode", "criteria", "trials passed (Wilson 95 %)", "tokens in"), rows), "", *cached, *parts]


def _breakdown(view: RunView) -> list[str]:
    lines: list[str] = []
    for entry in all_entries(view):
        lines += [f"- {markdown_cell(entry.text)}", *(f"  - {markdown_cell(text)}" for text in entry.below)]
    for grid in matrix_grids(view):
        lines += ["", markdown_cell(grid.title), "", *_table(grid.headers, grid.rows)]
    return [*lines, ""] if lines else []


def _lifts(view: RunView) -> list[str]:
    scores = view.assessment.scores
    previous = [part for text in view.previous_texts for part in (markdown_cell(text), "")]
    if scores.overall_lift is None:
        return previous
    effects = [f"- {markdown_cell(text)}" for text in (*noise_texts(view), *effect_texts(view))]
    legend = p_legend(view)
    table = [*_table(("skill", "lift"), lift_rows(view)), "", *([markdown_cell(legend), ""] if legend else [])]
    return [*table, *effects, "", *previous]


def _decision(view: RunView) -> list[str]:
    rows = [
        (line.status.value, line.name, line.number, line.limit, "; ".join(line.detail))
        for line in view.assessment.decision.lines
    ]
    people = [f"- {markdown_cell(text)}" for text in people_texts(view)]
    return [*_table(("", "line", "number", "limit", "detail"), rows), "", *people, *([""] if people else [])]


def _hints(view: RunView) -> list[str]:
    """Each hint as a paragraph. A command is escaped as any other text: names of models and files stand in it."""
    texts = (" ".join(filter(None, (hint.text, hint.command))) for hint in hints_of(view))
    return [part for text in texts for part in (markdown_cell(text), "")]


_TABLE_HEAD_LINES = 2
_NOTE_BYTES = 120


def _trial_table(rows: Sequence[Row], view: RunView) -> Iterator[str]:
    cells = (
        (
            row.planned.case_id,
            f"{row.planned.mode.value} #{row.planned.repeat}",
            f"{row.record.outcome.status} {score_text(row.record)}",
            tokens_text(row.record.candidate.usage.input_tokens, estimated=view.facts.estimated_tokens),
            "; ".join(f"{f'{word} {name}'.strip()}: {text}" for word, name, text in failed_lines(row, view.facts)),
        )
        for row in rows
    )
    return _table(("case", "mode", "outcome", "tokens in", "why"), cells)
