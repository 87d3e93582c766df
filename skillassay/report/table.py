"""The report for a terminal, 80 columns and up, readable without colour. Owns layout only."""

from __future__ import annotations

from tabulate import tabulate

from skillassay.printable import clip, one_line, width
from skillassay.report.base import (
    RunView,
    criteria_text,
    effort_lines,
    failed_lines,
    lift_text,
    rate_text,
    score_text,
    tokens_text,
)
from skillassay.scoring import Row

DEFAULT_COLUMNS = 80
MOST_LINES = 4
"""How many lines one reason may fill: an answer or an error may be of any length, and the record has it whole."""
MOST_DETAILS = 20


def render_table(view: RunView, *, columns: int = DEFAULT_COLUMNS) -> str:
    """The whole report as text, no line wider than ``columns`` but for words that are (paths)."""
    parts = [
        _wrap(view.notice, columns) if view.notice is not None else [],
        _wrap(view.model_line, columns),
        _wrap(view.isolation_line, columns) if view.isolation_line is not None else [],
        [""],
        _trial_lines(view, columns),
        [""],
        _total_lines(view, columns),
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
        details = [("skill", "", name) for name in row.record.activated]
        details += [("script", "", name) for name in row.record.scripts]
        for word, name, text in [*details, *failed_lines(row, view.facts)]:
            lead, told = f"    {word:<8}  ", f"{name}: {text}" if name else text
            # A statement stands in the suite; a reason stands nowhere else, so it gets more than one line.
            is_reason = word in {"why", "UNSCORED"}
            shown += _reason(told, columns, lead=lead) if is_reason else [clip(lead + one_line(told), columns)]
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
    lines = tabulate(cells, headers=headers, tablefmt="simple", disable_numparse=True, colalign=align).split("\n")
    for part in scores.slices:
        shown = ", ".join(f"{total.mode.value} {criteria_text(total)}" for total in part.totals)
        lines += _wrap(f"slice {part.name} ({part.n_cases} cases): {shown}", columns)
    if scores.token_ratio is not None:
        lines.append(f"tokens in, eager to progressive: {float(scores.token_ratio):.1f} times")
    for line in effort_lines(scores.totals):
        lines += _wrap(line, columns)
    if view.cache_line is not None:
        lines.append(view.cache_line)
    return lines


def _lift_lines(view: RunView, columns: int) -> list[str]:
    scores = view.assessment.scores
    if scores.overall_lift is None:
        return ["lift: not measured, progressive and none were not both planned"]
    lines = ["lift (progressive - none, share of criteria, the case as unit):"]
    for lift in scores.lifts:
        lines += _wrap(f"{lift.skill_path}: {lift_text(lift)}", columns, lead="  ")
    if len(scores.lifts) > 1:
        lines += _wrap(f"all {len(scores.lifts)} skills: {lift_text(scores.overall_lift)}", columns, lead="  ")
    return lines


def _lucky_lines(view: RunView, columns: int) -> list[str]:
    lines: list[str] = []
    for row in view.assessment.scores.rows:
        if row.record.outcome.scored:
            for check, criterion in row.record.lucky:
                where = f"{row.planned.case_id} [{row.planned.mode.value}]"
                text = f"lucky pass: {where}: {check} passed, {criterion} failed: right result, wrong reasoning"
                lines += _wrap(text, columns)
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
        lines += _wrap(f"{line.name}: {line.number}; limit: {line.limit}", columns, lead=f"{word:<6}  ")
        for text in line.detail[:MOST_DETAILS]:
            lines += _reason(text, columns, lead="        - ")
        if len(line.detail) > MOST_DETAILS:
            lines.append(f"          and {len(line.detail) - MOST_DETAILS} more; --format json has them all")
    declared = " (declared: only judge and approver are not certified)" if _is_declared(view) else ""
    word = decision.status.value.upper()
    if view.assessment.interrupted:
        lines.append("interrupted: the run was stopped before its end")
        word = "UNDECIDED" if word == "PASSED" else word
    lines.append(f"{decision.gate}: {word}{declared}")
    return lines


def _is_declared(view: RunView) -> bool:
    decision = view.assessment.decision
    return decision.gate == "model_gate" and decision.declared and decision.status.value != "passed"


def _evidence_lines(view: RunView, columns: int) -> list[str]:
    paths: dict[str, list[str]] = {}
    for path, why in view.evidence.items():
        paths.setdefault(why, []).append(path)
    return [line for why in paths for line in _wrap(f"no evidence for {', '.join(paths[why])}: {why}", columns)]


def _wrap(text: str, columns: int, *, lead: str = "", deeper: int = 4) -> list[str]:
    """Foreign text behind ``lead``, broken at blanks; further lines are indented below the text by ``deeper`` more."""
    lines, line = [], lead
    indent = " " * (len(lead) + deeper)
    is_empty = True
    for word in one_line(text).split(" "):
        if not is_empty and width(f"{line} {word}") > columns:
            lines.append(line)
            line, is_empty = indent, True
        line += word if is_empty else f" {word}"
        is_empty = False
    return [*lines, line]


def _reason(text: str, columns: int, *, lead: str) -> list[str]:
    """A reason of any length, on a few lines; words wider than a line (Japanese, a wall of letters) are cut."""
    room = columns - len(lead)
    words = clip(one_line(text), room * MOST_LINES).split(" ")
    return _wrap(" ".join(piece for word in words for piece in _pieces(word, room)), columns, lead=lead, deeper=0)


def _pieces(word: str, room: int) -> list[str]:
    pieces = [""]
    for char in word if width(word) > room else ():
        if width(pieces[-1] + char) > room:
            pieces.append("")
        pieces[-1] += char
    return pieces if pieces != [""] else [word]
