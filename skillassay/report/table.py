"""The report for a terminal, 80 columns and up, readable without colour. Owns layout only."""

from __future__ import annotations

import textwrap

from tabulate import tabulate

from skillassay.printable import clip, one_line
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

DEFAULT_COLUMNS = 80


def render_table(view: RunView, *, columns: int = DEFAULT_COLUMNS) -> str:
    """The whole report as text, no line wider than ``columns`` but for paths and hints at its end."""
    parts = [
        _wrap(FIXTURE_NOTICE, columns) if view.facts.is_fixture else [],
        [one_line(view.model_line, columns)],
        [""],
        _trial_lines(view, columns),
        [""],
        _total_lines(view),
        [""],
        _lift_lines(view, columns),
        _lucky_lines(view, columns),
        _reason_lines(view),
        [""],
        decision_lines(view, columns),
        [""],
        _evidence_lines(view, columns),
        [f"record: {view.place}"],
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
        details = [("skill", name) for name in row.record.activated]
        details += [("script", name) for name in row.record.scripts]
        details += [(word, f"{one_line(name)}: {text}") for word, name, text in failed_lines(row)]
        shown += [clip(f"    {word:<6}  {one_line(text)}", columns) for word, text in details]
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


def _total_lines(view: RunView) -> list[str]:
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
    lines = tabulate(cells, headers=headers, tablefmt="simple", disable_numparse=True, colalign=align).split("\n")
    for part in scores.slices:
        shown = ", ".join(f"{total.mode.value} {criteria_text(total)}" for total in part.totals)
        lines.append(f"slice {part.name} ({part.n_cases} cases): {shown}")
    if scores.token_ratio is not None:
        lines.append(f"tokens in, eager to progressive: {float(scores.token_ratio):.1f} times")
    retries = {total.mode.value: total.n_retries for total in scores.totals if total.n_retries}
    if retries:
        lines.append("retries: " + ", ".join(f"{mode} {n}" for mode, n in retries.items()))
    return lines


def _lift_lines(view: RunView, columns: int) -> list[str]:
    scores = view.assessment.scores
    if scores.overall_lift is None:
        return ["lift: not measured, progressive and none were not both planned"]
    lines = ["lift (progressive - none, share of criteria, the case as unit):"]
    for lift in scores.lifts:
        lines += _wrap(f"  {one_line(lift.skill_path)}: {lift_text(lift)}", columns)
    if len(scores.lifts) > 1:
        lines += _wrap(f"  all {len(scores.lifts)} skills: {lift_text(scores.overall_lift)}", columns)
    return lines


def _lucky_lines(view: RunView, columns: int) -> list[str]:
    lines: list[str] = []
    for row in view.assessment.scores.rows:
        if row.record.outcome.scored:
            for check, criterion in row.record.lucky:
                where = f"{row.planned.case_id} [{row.planned.mode.value}]"
                text = f"lucky pass: {where}: {check} passed, {criterion} failed: right result, wrong reasoning"
                lines += _wrap(one_line(text), columns)
    return lines


def _reason_lines(view: RunView) -> list[str]:
    reasons = view.assessment.scores.reasons
    return [f"unscored: {n} x {name} in {mode}" for mode, name, n in reasons]


_WORDS = {"passed": "ok", "failed": "FAILED", "undecided": "OPEN", "not_applicable": "n/a"}


def decision_lines(view: RunView, columns: int) -> list[str]:
    """The gate's lines with number and limit, what broke each, and the decision."""
    decision = view.assessment.decision
    lines: list[str] = []
    for line in decision.lines:
        word = _WORDS[line.status.value]
        lines += _wrap(f"{word:<6}  {line.name}: {one_line(line.number)}; limit: {one_line(line.limit)}", columns)
        lines += [clip(f"          {one_line(text)}", max(columns, 200)) for text in line.detail]
    declared = " (declared: only judge and approver are not certified)" if _is_declared(view) else ""
    lines.append(f"{decision.gate}: {decision.status.value.upper()}{declared}")
    if view.assessment.interrupted:
        lines.append("interrupted: the run was stopped before its end")
    return lines


def _is_declared(view: RunView) -> bool:
    decision = view.assessment.decision
    return decision.gate == "model_gate" and decision.declared and decision.status.value != "passed"


def _evidence_lines(view: RunView, columns: int) -> list[str]:
    return [line for path, why in view.evidence.items() for line in _wrap(f"no evidence for {path}: {why}", columns)]


def _wrap(text: str, columns: int) -> list[str]:
    """Break at spaces; continuation lines are indented by four more."""
    indent = " " * (len(text) - len(text.lstrip()))
    return textwrap.wrap(
        text, columns, subsequent_indent=indent + "    ", break_long_words=False, break_on_hyphens=False
    )
