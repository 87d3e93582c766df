"""The matrix of cases, modes and criteria, and a page for each trial: what the HTML report shows of them.

Owns which trials stand on the page when a run is large: those that failed or have no score come first, and the page
says how many are left out. Computes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillassay.report.base import RunView, score_text, tokens_text
from skillassay.runs.record import Mark, TrialRecord
from skillassay.scoring.scores import Row

MOST_PAGES = 500
MOST_CASES = 200
MOST_CHARS = 50_000
"""Of one text of a trial; the record has the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One verdict in the matrix. ``target`` is its page, None where it has none; ``brief`` the score of a trial."""

    word: str
    label: str
    target: str | None
    brief: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseBlock:
    """A case with its column heads, its scores, and a row of cells for each check and criterion."""

    suite: str
    case_id: str
    skill_path: str
    is_clean: bool
    columns: tuple[str, ...]
    scores: tuple[Cell, ...]
    rows: tuple[tuple[str, str, tuple[Cell, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """The cases shown, and how many are not."""

    blocks: tuple[CaseBlock, ...]
    n_left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One part of a transcript: who, in which kind, and the text."""

    who: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """All that is kept of one trial."""

    anchor: str
    row: Row
    record: TrialRecord
    score: str
    tokens: Mapping[str, str]
    turns: tuple[Said, ...]
    answer: str | None
    judge_reply: str | None


def anchor_of(row: Row) -> str:
    """The name of a trial's place on the page."""
    return f"t-{row.planned.trial_id}"


def _urgency(row: Row) -> int:
    return {"FAIL": 0, "UNSCORED": 1}.get(row.record.outcome.status, 2)


def _shown_rows(view: RunView) -> list[Row]:
    """The rows that have a page: in the order of the plan, the most urgent ones where not all have room."""
    rows = list(view.assessment.scores.rows)
    if len(rows) <= MOST_PAGES:
        return rows
    kept = {id(row) for row in sorted(rows, key=_urgency)[:MOST_PAGES]}
    return [row for row in rows if id(row) in kept]


def build_pages(view: RunView) -> tuple[list[Page], int]:
    """The pages, and how many trials have none."""
    rows = _shown_rows(view)
    return [_page(row) for row in rows], len(view.assessment.scores.rows) - len(rows)


def _page(row: Row) -> Page:
    record, usage = row.record, row.record.candidate.usage
    counts = {"in": usage.input_tokens, "out": usage.output_tokens, "cached": usage.cached_tokens}
    return Page(
        anchor=anchor_of(row),
        row=row,
        record=record,
        score=score_text(record),
        tokens={name: tokens_text(count, estimated=usage.estimated) for name, count in counts.items()},
        turns=tuple(_turns(record.transcript)),
        answer=_cut(record.answer),
        judge_reply=_cut(record.judge_reply),
    )


def _cut(text: str | None) -> str | None:
    if text is None or len(text) <= MOST_CHARS:
        return text
    return f"{text[:MOST_CHARS]}\n… ({len(text)} characters in all; the record has them)"


def _turns(transcript: Any) -> Iterable[Said]:
    """What was said, part by part. A record is read as it is: a part of another shape is shown as JSON."""
    for turn in transcript if isinstance(transcript, list) else ():
        if not isinstance(turn, dict):
            continue
        who = {"UserTurn": "user", "ModelTurn": "model", "ToolTurn": "tool"}.get(str(turn.get("who")), "?")
        if isinstance(turn.get("text"), str) and turn["text"]:
            yield Said(who=who, kind="text", text=_cut(turn["text"]) or "")
        for call in _parts(turn, "calls"):
            yield Said(who=who, kind=f"calls {call.get('name')}", text=_cut(_pretty(call.get("args"))) or "")
        for result in _parts(turn, "results"):
            yield Said(who=who, kind=f"result of {result.get('name')}", text=_result(result.get("response")))


def _parts(turn: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """The calls or results of a turn; one of another shape as it is, under no name."""
    found = turn.get(name)
    parts = found if isinstance(found, list) else [found] if found else []
    key = "args" if name == "calls" else "response"
    return [part if isinstance(part, dict) else {"name": "?", key: part} for part in parts]


def _result(response: Any) -> str:
    """A tool's result; what a script printed is shown as lines, not as one JSON string."""
    if not isinstance(response, dict):
        return _cut(_pretty(response)) or ""
    texts = {name: value for name, value in response.items() if isinstance(value, str) and "\n" in value}
    others = {name: value for name, value in response.items() if name not in texts}
    parts = [_pretty(others)] if others else []
    parts += [f"{name}:\n{value}" for name, value in texts.items()]
    return _cut("\n".join(parts)) or ""


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def build_matrix(view: RunView) -> Matrix:
    """Every case with its verdicts by mode and repeat; the cases with a failure first where not all have room."""
    by_case: dict[tuple[str, str], list[Row]] = {}
    for row in view.assessment.scores.rows:
        by_case.setdefault((row.planned.suite, row.planned.case_id), []).append(row)
    with_page = {anchor_of(row) for row in _shown_rows(view)}
    cases = list(by_case.values())
    if len(cases) > MOST_CASES:
        kept = {id(rows) for rows in sorted(cases, key=lambda rows: min(map(_urgency, rows)))[:MOST_CASES]}
        cases = [rows for rows in cases if id(rows) in kept]
    blocks = tuple(_block(rows, with_page, repeats=view.facts.plan.repeats) for rows in cases)
    return Matrix(blocks=blocks, n_left_out=len(by_case) - len(blocks))


def _block(rows: Sequence[Row], with_page: set[str], *, repeats: int) -> CaseBlock:
    first = rows[0].planned
    marks = [{mark.id: mark for mark in row.record.marks} for row in rows]
    ids = list(dict.fromkeys(mark_id for found in marks for mark_id in found))
    columns = tuple(row.planned.mode.value + (f" #{row.planned.repeat}" if repeats > 1 else "") for row in rows)
    targets = [anchor_of(row) if anchor_of(row) in with_page else None for row in rows]
    return CaseBlock(
        suite=first.suite,
        case_id=first.case_id,
        skill_path=first.skill_path,
        is_clean=all(row.record.outcome.status == "PASS" for row in rows if row.planned.mode.value == "progressive"),
        columns=columns,
        scores=tuple(
            Cell(
                word=row.record.outcome.status,
                label=f"{column}: {row.record.outcome.status} {score_text(row.record)}",
                target=target,
                brief=f"{column} {score_text(row.record)}",
            )
            for row, column, target in zip(rows, columns, targets, strict=True)
        ),
        rows=tuple(
            (
                mark_id,
                next((m[mark_id].text or "" for m in marks if mark_id in m), ""),
                tuple(
                    _cell(found.get(mark_id), row, f"{mark_id}, {column}", target)
                    for found, row, column, target in zip(marks, rows, columns, targets, strict=True)
                ),
            )
            for mark_id in ids
        ),
    )


def _cell(mark: Mark | None, row: Row, label: str, target: str | None) -> Cell:
    if mark is None:
        return Cell(word="--", label=f"{label}: no verdict", target=target)
    word = mark.verdict if row.record.outcome.scored else f"({mark.verdict})"
    return Cell(word=word, label=f"{label}: {word}", target=target)
