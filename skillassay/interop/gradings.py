"""Scored trials as gradings, in the field names of skill-creator and of the Agent Skills guide. Owns one run's files.

A trial without a score has no grading: it is neither passed nor failed there, and an empty one would be read as zero.
What is not known is left out, since readers take 0 for what they do not find. ``grading.json`` holds no ``timing``: its
published reader takes tokens from ``output_chars`` then, and never opens ``timing.json``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from skillassay.canonical import Json
from skillassay.interop.written_evals import statement_of
from skillassay.runs.plan import Mode
from skillassay.runs.record import TrialRecord
from skillassay.scoring.scores import Row
from skillassay.suites.case import BEHAVIOR_MARKS

CONFIGURATIONS: Mapping[Mode, str] = {Mode.PROGRESSIVE: "with_skill", Mode.NONE: "without_skill"}
"""The modes that have a configuration there. A third one would change the sign of what its reader calls the delta."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """One scored trial. ``seconds`` is the whole trial, ``tokens`` the candidate's; None where nobody told them."""

    case_id: str
    configuration: str
    repeat: int
    answer: str | None
    statements: tuple[dict[str, Json], ...]
    seconds: float
    tokens: int | None
    started_at: str
    metrics: dict[str, Json]

    @property
    def n_passed(self) -> int:
        """Statements that hold."""
        return sum(bool(one["passed"]) for one in self.statements)

    @property
    def summary(self) -> dict[str, Json]:
        """``passed``, ``failed``, ``total``, ``pass_rate``: the fields of both layouts."""
        total = len(self.statements)
        return {
            "passed": self.n_passed,
            "failed": total - self.n_passed,
            "total": total,
            "pass_rate": round(self.n_passed / total, 4),
        }

    def grading_json(self, *, is_guide: bool) -> dict[str, Json]:
        """``grading.json``."""
        if is_guide:
            return {"assertion_results": list(self.statements), "summary": self.summary}
        return {"expectations": list(self.statements), "summary": self.summary, "execution_metrics": self.metrics}

    def timing_json(self, *, is_guide: bool) -> dict[str, Json]:
        """``timing.json``."""
        told: dict[str, Json] = {} if self.tokens is None else {"total_tokens": self.tokens}
        told |= {"duration_ms": round(self.seconds * 1000)}
        if is_guide:
            return told
        return told | {"total_duration_seconds": round(self.seconds, 3), "executor_start": self.started_at}


def grade(row: Row, case: Mapping[str, Any]) -> Graded:
    """The grading of a scored trial of ``case`` (its normal form)."""
    record = row.record
    usage, answer = record.candidate.usage, record.answer
    both = (usage.input_tokens, usage.output_tokens)
    tokens = usage.total_tokens if None in both else sum(count for count in both if count is not None)
    return Graded(
        case_id=row.planned.case_id,
        configuration=CONFIGURATIONS[row.planned.mode],
        repeat=row.planned.repeat,
        answer=answer,
        statements=tuple(_statements(record, case)),
        seconds=record.duration_s,
        tokens=tokens,
        started_at=record.started_at,
        metrics=_metrics(row) | ({} if tokens is None else {"output_chars": len(answer or "")}),
    )


def _statements(record: TrialRecord, case: Mapping[str, Any]) -> Iterator[dict[str, Json]]:
    """Each verdict with what it is on; of a failure without an answer, each statement of the case as failed."""
    said = {check["id"]: statement_of(check) for check in case["checks"]}
    said |= {criterion["id"]: criterion["text"] for criterion in case["rubric"]}
    for mark in record.marks:
        text = mark.text or said.get(mark.id, mark.id)
        yield {"text": text, "passed": mark.passed, "evidence": mark.evidence}
    if not record.marks:
        names = [*said.values(), *(BEHAVIOR_MARKS if "behavior" in case else ())]
        why = record.outcome.detail or record.outcome.kind or "there is no answer"
        yield from ({"text": name, "passed": False, "evidence": why} for name in names)


def _metrics(row: Row) -> dict[str, Json]:
    """Tool calls by name, model calls, and tool results that are errors. Without tokens there are no characters: its
    reader would take them for tokens.
    """
    turns = [turn for turn in row.record.transcript or () if isinstance(turn, Mapping)]
    calls = Counter(str(call.get("name")) for call in _parts(turns, "calls"))
    n_errors = sum(
        isinstance(one.get("response"), Mapping) and "error" in one["response"] for one in _parts(turns, "results")
    )
    return {
        "tool_calls": dict(sorted(calls.items())),
        "total_tool_calls": calls.total(),
        "total_steps": row.record.candidate.n_calls,
        "errors_encountered": n_errors,
    }


def _parts(turns: Iterable[Mapping[str, Any]], key: str) -> list[Mapping[str, Any]]:
    return [part for turn in turns for part in turn.get(key) or () if isinstance(part, Mapping)]
