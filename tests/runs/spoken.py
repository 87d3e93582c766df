"""A record with a text in every place that somebody else than this program can write to."""

from __future__ import annotations

from typing import Any

from skillassay.errors import Reason, Stage
from skillassay.runs.record import (
    Arm,
    Mark,
    Outcome,
    Spent,
    TrialRecord,
)
from skillassay.runs.retention import (
    HASH,
    Retention,
)

NAMES = frozenset({"greeter", "greeter/scripts/x.py", "load_skill", "gemini-x"})

KEY = bytes(range(32))

HIDING = Retention(rule=HASH, names=NAMES, key=KEY)


def spoken(text: str, *, status: str = "FAIL", reason: Reason | None = None) -> TrialRecord:
    """A record with ``text`` in every place that a model, its provider or an agent can write to."""
    turns: list[Any] = [
        {"who": "UserTurn", "text": text},
        {
            "who": "ModelTurn",
            "text": text,
            "raw": {text: text},
            "notes": [text],
            "calls": [{"name": text, "args": {text: text}, "id": text}],
        },
        {"who": "ToolTurn", "results": [{"name": text, "id": text, "response": {"error_code": text, text: text}}]},
        {"who": "ToolTurn", "results": [{"name": text, "response": {"status": text, "stdout": text}}]},
        {"who": text},
    ]
    return TrialRecord(
        trial_id="t",
        suite="s",
        case_id="c",
        skill_path="skills/greeter",
        mode="progressive",
        repeat=1,
        n_criteria=2,
        outcome=Outcome(status=status, reason=reason, stage=Stage.CANDIDATE, kind=text, detail=text),
        marks=(
            Mark(id="a", by="code", verdict="FAIL", evidence=text, file="out.txt"),
            Mark(id="b", by="judge", verdict="PASS", evidence=text, explains="a", text="The answer says hello."),
        ),
        answer=text,
        judge_reply=text,
        transcript=turns,
        activated=("greeter", text),
        scripts=("greeter/scripts/x.py", text),
        candidate=Spent(n_calls=2, model=text),
        judge=Spent(n_calls=1, model="gemini-x-001"),
        arm=Arm(skills=("greeter",), files=(), tools=("load_skill", text), skill_tools=("load_skill",), prompt="p"),
        started_at="2026-01-01T00:00:00Z",
    )
