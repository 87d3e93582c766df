"""What the tests of the real Gemini CLI share: a server under the asked name, and a run with its requests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from skillassay.canonical import Json
from skillassay.fixture.base import FixtureRules
from skillassay.fixture.server import FixtureServer
from skillassay.isolation.process import Isolation, probe_isolation
from tests.project import Ran, records

KEY = "AIza-canary/key+3141"

NO_RULES = FixtureRules(subject=(), judge=(), digest="")

BODY, DESCRIPTION = "Say hello twice, as greeter does.", "Says hello the way greeter does."

SCRIPT = "print('hello from the script')\n"

NEEDS_NAMESPACES = pytest.mark.skipif(probe_isolation().level is not Isolation.NAMESPACES, reason="no namespaces here")

ACTIVATE = {"calls": [{"name": "activate_skill", "args": {"name": "greeter"}}]}

GREET = "python3 .gemini/skills/greeter/scripts/greet.py"

RULES = [  # activate, run the script, and say what it said; without the skill something else
    {"id": "said", "when": {"prompt": ["hello from the script"]}, "reply": {"text": "hello hello"}},
    {
        "id": "run",
        "when": {"prompt": [BODY], "tools": ["activate_skill"]},
        "reply": {"calls": [{"name": "run_shell_command", "args": {"command": GREET}}]},
    },
    {"id": "shown", "when": {"prompt": [BODY]}, "reply": {"text": "hello hello"}},
    {"id": "activate", "when": {"tools": ["activate_skill"]}, "reply": ACTIVATE},
    {"id": "alone", "when": {"query": ["Greet"]}, "reply": {"text": "good day"}},
]


class NamedServer(FixtureServer):
    """Answers as the model that every test asks for, as a provider would: another name is another experiment."""

    answers_as = "some-model"

    def answer(self, body: bytes) -> tuple[int, Json]:
        """HTTP status and JSON for one request body."""
        status, reply = super().answer(body)
        return status, {**reply, "modelVersion": self.answers_as} if isinstance(reply, dict) else reply


class Run:
    """One evaluation through the real program, with every request that the server got."""

    def __init__(self, ran: Ran, root: Path, bodies: Sequence[bytes]) -> None:
        assert (root / ".skillassay").exists(), ran.err
        self.ran = ran
        self.records = records(root)
        self.bodies = bodies
        self.requests = [json.loads(body) for body in bodies]

    @property
    def record(self) -> dict[str, Any]:
        """The only record."""
        (record,) = self.records
        return record

    def tools(self, at: int = 0) -> set[str]:
        """The names of the tools that a request offered."""
        return {d["name"] for tool in self.requests[at].get("tools", ()) for d in tool["functionDeclarations"]}


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
