"""The human queue on a terminal: the list, and one thing with all there is to see of it. Owns layout only."""

from __future__ import annotations

from collections.abc import Sequence

from tabulate import tabulate

from skillassay.people.adjudication import Target
from skillassay.people.review import Entry
from skillassay.printable import one_line
from skillassay.report.layout import reason, wrap
from skillassay.scoring.scores import Row

_CASE_COLUMNS = 24
_ANSWER_LINES = 40


def render_queue(queue: Sequence[Entry], *, columns: int) -> str:
    """One entry in a few lines: where it stands, why it is there, who said what."""
    cells = [
        (
            entry.id,
            "open" if entry.is_open else "closed",
            "holds" if entry.holds else "",
            entry.kind,
            one_line(entry.target.case_id, _CASE_COLUMNS),
            entry.target.mode or "",
            "" if entry.target.repeat is None else str(entry.target.repeat),
        )
        for entry in queue
    ]
    headers = ("id", "state", "gate", "kind", "case", "mode", "#")
    lines = tabulate(cells, headers=headers, tablefmt="simple", disable_numparse=True).split("\n")
    shown = lines[:2]
    for entry, line in zip(queue, lines[2:], strict=True):
        shown += [line, *reason(entry.why, columns, lead="    "), *_said_lines(entry, columns)]
    n_open, n_held = sum(entry.is_open for entry in queue), sum(entry.holds for entry in queue)
    shown.append(f"{len(queue)} in the queue, {n_open} open, {n_held} hold the gate")
    return "\n".join(line.rstrip() for line in shown)


def render_one(target: Target, rows: Sequence[Row], entry: Entry | None, *, record: str, columns: int) -> str:
    """The trials of a target with answers and verdicts, and the digest that says what was looked at."""
    where = "not in the queue" if entry is None else f"{entry.kind}, {'open' if entry.is_open else 'adjudicated'}"
    lines = [*wrap(f"{target}: {where}", columns), f"record {record}"]
    lines += [] if entry is None else [*reason(entry.why, columns, lead="why: "), *_said_lines(entry, columns)]
    for row in rows:
        outcome = row.record.outcome
        words = "" if outcome.reason is None else f" ({outcome.reason.value}): {outcome.detail or ''}"
        told = f"{row.planned.mode.value} #{row.planned.repeat}: {outcome.status}{words}"
        lines += ["", *reason(told, columns, lead="")]
        for mark in row.record.marks:
            lines += reason(f"{mark.verdict} {mark.id} ({mark.by}): {mark.text or mark.evidence}", columns, lead="  ")
        answer = "no answer" if row.record.answer is None else row.record.answer
        lines.append("  answer:")
        lines += reason(answer, columns, lead="    ", most_lines=_ANSWER_LINES)
    return "\n".join(line.rstrip() for line in lines)


def _said_lines(entry: Entry, columns: int) -> list[str]:
    said = [f"{item.by}, {item.at}: {item.verdict}: {item.reason}" for item in entry.said]
    return [line for text in said for line in reason(text, columns, lead="    - ")]
