"""A project and a service that never answers alike, for tests that record a run and replay it."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillassay.canonical import Json
from skillassay.fixture.rules import load_rules
from skillassay.fixture.server import FixtureServer, error_body
from tests.project import (
    JUDGE_RULE,
    build_small,
    rule,
    run_folder,
    small_case,
    small_rules,
)

KEY = "AIza-canary/key+2718"

TAPE = "evals/recordings/all.jsonl"

TOLD = "told by the script"

CALL = {
    "calls": [
        {"name": "load_skill", "args": {"skill_name": "greeter"}},
        {"name": "run_skill_script", "args": {"skill_name": "greeter", "file_path": "scripts/tell.py"}},
    ]
}


class LiveServer(FixtureServer):
    """Plays a service: no two answers are the same, one judge breaks its contract, and one query it refuses."""

    def __init__(self, root: Path) -> None:
        rules, _ = load_rules(sorted(root.glob("evals/fixtures/*.json")))
        assert rules is not None
        super().__init__(rules)
        self._lock, self.n_answers = threading.Lock(), 0

    def answer(self, body: bytes) -> tuple[int, Json]:
        """HTTP status and JSON for one request body."""
        with self._lock:
            self.n_answers += 1
            number = self.n_answers
        text = body.decode()
        if "Greet refused." in text:
            return error_body(400, "INVALID_ARGUMENT", f"refused, key {KEY}")
        status, reply = super().answer(body)
        parts = _parts(reply)
        if "responseJsonSchema" in text and "Greet broken." in text:
            parts[0]["text"] = "I would say PASS."
        elif "responseJsonSchema" not in text and "text" in parts[0]:
            parts[0]["text"] += f" {number}"
        else:
            parts[0]["thoughtSignature"] = f"c2ln{number}"
        return status, {**reply, "modelVersion": "live-001"}


def _parts(reply: Any) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = reply["candidates"][0]["content"]["parts"]
    return parts


def build(root: Path) -> Path:
    """Cases that pass with the skill and fail without, one by a script, one misjudged, one refused."""
    names = ("one", "broken", "refused", "script")
    script = [
        rule("script", CALL, tools=["run_skill_script"], absent=[TOLD]),
        rule("script", {"text": "hello hello"}, prompt=[TOLD]),
        rule("script", {"text": "good day"}, no_tools=True),
    ]
    rules = [made for name in names[:3] for made in small_rules(name)] + script
    return build_small(
        root,
        cases=[small_case(name) for name in names],
        rules=rules,
        judge=[JUDGE_RULE],
        files={"skills/greeter/scripts/tell.py": f"print({TOLD!r})\n"},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """The recorded project; ``out`` and ``err`` are what the command printed. To be read only."""

    root: Path
    code: int
    out: str
    err: str
    n_answers: int


def result_of(root: Path) -> dict[str, Any]:
    """The canonical result of the only run."""
    value: dict[str, Any] = json.loads((run_folder(root) / "result.json").read_text("utf-8"))
    return value
