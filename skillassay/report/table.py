"""The report for a terminal, 80 columns and up, readable without colour. Owns layout only."""

from __future__ import annotations

from tabulate import tabulate

from skillassay.printable import clip, one_line
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
from skillassay.report.layout import columns_table, reason, wrap
from skillassay.report.noise import noise_texts
from skillassay.report.parts import HEADERS, part_rows
from skillassay.report.people import people_texts
from skillassay.scoring.scores import Row

DEFAULT_COLUMNS = 80
MOST_DETAILS = 20


def render_table(view: RunView, *, columns: int = DEFAULT_COLUMNS) -> str:
    """The whole report as text, no line wider than ``columns`` but for words that are (paths)."""
    parts = [
        wrap(view.notice, columns) if view.notice is not None else [],
        told_lines(view, columns),
        wrap(view.isolation_line, columns) if view.isolation_line is not None else [],
        [""],
        _trial_lines(view, columns),
        [""],
        _total_lines(view, columns),
        _part_lines(view),
        _breakdown_lines(view, columns),
        [""],
        _lift_lines(view, columns),
        [line for text in view.previous_texts for line in wrap(text, columns)],
        _lucky_lines(view, columns),
        _reason_lines(view),
        [""],
        decision_lines(view, columns),
        [""],
        _hint_lines(view, columns),
        _evidence_lines(view, columns),
        [f"record: {view.place}", f"content digest: {view.assessment.content_digest}"],
        wrap(view.retention_line, columns),
    ]
    return "\n".join(line.rstrip() for part in parts for line in part) + "\n"


def _trial_lines(view: RunView, columns: int) -> list[str]:
    rows = view.assessment.scores.rows
    cells = [_trial_cells(row, view, columns) for row in rows]
    headers = ("case", "mode", "score", "calls", "tokens in")
    align = ("left", "left", "right", "right", "right")
    lines = tabulate(cells, headers=headers, tablefmt="simple", disable_numparse=True, colalign=align).split("\n")
    shown = lines[:2]
    for row, line in zip(rows, lines[2:], strict=True):
        shown.append(line)
        details = [("skill", "", name) for name in row.record.activated]
        details += [("script", "", name) for name in row.record.scripts]
        for word, name, text in [*details, *failed_lines(row, view.facts)]:
            lead, told = f"    {word:<8}  ", f"{name}: {text}" if name else text
            # A statement stands in the suite; a reason stands nowhere else, so it gets more than one line.
            is_reason = word in {"why", "UNSCORED"}
            shown += reason(told, columns, lead=lead) if is_reason else [clip(lead + one_line(told), columns)]
    return shown


def _trial_cells(row: Row, view: RunView, columns: int) -> tuple[str, ...]:
    record = row.record
    repeat = f" #{row.planned.repeat}" if view.facts.plan.repeats > 1 else ""
    return (
        one_line(row.planned.case_id, columns - 50),
        f"{row.planned.mode.value}{repeat}",
        score_text(record),
        str(record.candidate.n_calls),
        tokens_text(record.candidate.usage.input_tokens, estimated=record.candidate.usage.estimated),
    )


def _total_lines(view: RunView, columns: int) -> list[str]:
    scores, estimated = view.assessment.scores, view.facts.estimated_tokens
    cells = [
        (
            total.mode.value,
            criteria_text(total),
            rate_text(total.trials),
            str(total.n_calls),
            tokens_text(total.usage.input_tokens, estimated=estimated),
        )
        for total in scores.totals
    ]
    headers = ("total", "criteria", "trials passed, Wilson 95 %", "calls", "tokens in")
    align = ("left", "right", "left", "right", "right")
    # Rates of many trials are wide. What gives way are the calls: the JSON has them, and nothing is decided on them.
    lines = columns_table(headers, cells, align)
    if max(map(len, lines)) > columns:
        narrow = [(*row[:3], row[4]) for row in (headers, align, *cells)]
        lines = columns_table(narrow[0], narrow[2:], narrow[1])
    for part in scores.slices:
        shown = ", ".join(f"{total.mode.value} {criteria_text(total)}" for total in part.totals)
        lines += wrap(f"slice {part.name} ({part.n_cases} cases): {shown}", columns)
    if scores.token_ratio is not None:
        lines.append(f"tokens in, eager to progressive: {float(scores.token_ratio):.1f} times")
    for line in effort_lines(scores.totals):
        lines += wrap(line, columns)
    if view.cache_line is not None:
        lines.append(view.cache_line)
    for text in cost_texts(view.costs):
        lines += wrap(text, columns)
    return lines


def _breakdown_lines(view: RunView, columns: int) -> list[str]:
    lines: list[str] = []
    for entry in all_entries(view):
        lines += wrap(entry.text, columns)
        lines += [line for text in entry.below for line in wrap(text, columns, lead="  ")]
    for grid in matrix_grids(view):
        lines += wrap(grid.title, columns)
        align = ("left", *("right" for _ in grid.headers[1:]))
        table = tabulate(grid.rows, headers=grid.headers, tablefmt="plain", disable_numparse=True, colalign=align)
        lines += [f"  {line}" for line in table.split("\n")]
    return ["", *lines] if lines else []


def _part_lines(view: RunView) -> list[str]:
    rows = part_rows(view)
    if not rows:
        return []
    align = ("left", "left", *("right",) * 4, "left")
    return ["", *tabulate(rows, headers=HEADERS, tablefmt="simple", disable_numparse=True, colalign=align).split("\n")]


def _lift_lines(view: RunView, columns: int) -> list[str]:
    scores = view.assessment.scores
    if scores.overall_lift is None:
        return ["lift: not measured, progressive and none were not both planned"]
    lines = ["lift (progressive - none, share of criteria, the case as unit):"]
    for name, text in lift_rows(view):
        lines += wrap(f"{name}: {text}", columns, lead="  ")
    legend = p_legend(view)
    lines += wrap(legend, columns, lead="  ") if legend is not None else []
    for text in (*noise_texts(view), *effect_texts(view)):
        lines += wrap(text, columns, lead="  ")
    return lines


def _lucky_lines(view: RunView, columns: int) -> list[str]:
    lines: list[str] = []
    for row in view.assessment.scores.rows:
        if row.record.outcome.scored:
            for check, criterion in row.record.lucky:
                where = f"{row.planned.case_id} [{row.planned.mode.value}]"
                text = f"lucky pass: {where}: {check} passed, {criterion} failed: right result, wrong reasoning"
                lines += wrap(text, columns)
    return lines


def _reason_lines(view: RunView) -> list[str]:
    reasons = view.assessment.scores.reasons
    return [f"unscored: {n} x {name} in {mode}" for mode, name, n in reasons]


def told_lines(view: RunView, columns: int) -> list[str]:
    """Who answered and judged, and of what a sample the figures are, as lines."""
    return [line for text in view.told_lines for line in wrap(text, columns)]


_WORDS = {"passed": "ok", "failed": "FAILED", "undecided": "OPEN", "not_applicable": "n/a"}


def decision_lines(view: RunView, columns: int) -> list[str]:
    """The gate's lines with number and limit, what broke each, and the decision."""
    decision = view.assessment.decision
    lines: list[str] = []
    for line in decision.lines:
        word = _WORDS[line.status.value]
        lines += wrap(f"{line.name}: {line.number}; limit: {line.limit}", columns, lead=f"{word:<6}  ")
        for text in line.detail[:MOST_DETAILS]:
            lines += reason(text, columns, lead="        - ")
        if len(line.detail) > MOST_DETAILS:
            lines.append(f"          and {len(line.detail) - MOST_DETAILS} more; --format json has them all")
    declared = " (declared: only judge and approver are not certified)" if _is_declared(view) else ""
    word = decision.status.value.upper()
    if view.assessment.interrupted:
        lines.append("interrupted: the run was stopped before its end")
        word = "UNDECIDED" if word == "PASSED" else word
    lines.append(f"{decision.gate}: {word}{declared}")
    return lines + [line for text in people_texts(view) for line in reason(text, columns, lead="")]


def _is_declared(view: RunView) -> bool:
    decision = view.assessment.decision
    return decision.gate == "model_gate" and decision.declared and decision.status.value != "passed"


def _hint_lines(view: RunView, columns: int) -> list[str]:
    lines: list[str] = []
    for hint in hints_of(view):
        lines += wrap(hint.text, columns)
        lines += [f"  {one_line(hint.command)}"] if hint.command is not None else []
    return lines


def _evidence_lines(view: RunView, columns: int) -> list[str]:
    paths: dict[str, list[str]] = {}
    for path, why in view.evidence.items():
        paths.setdefault(why, []).append(path)
    return [line for why in paths for line in wrap(f"no evidence for {', '.join(paths[why])}: {why}", columns)]
