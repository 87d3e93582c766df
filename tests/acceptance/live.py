"""A model behind a real HTTP server in the Gemini wire format, as candidate and as judge. Scripted, and said so."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.models.wire_server import Canned, Seen, WireServer, refusal, reply

Reads = Callable[[str, str], bool]
"""Whether an answer meets a statement, as the judge reads it."""


def says_hello(answer: str, statement: str) -> bool:
    """A reader who looks for a hello."""
    return "hello" in answer.lower()


class LiveServer(WireServer):
    """Greets where the skill is offered, and judges as ``reads`` says, under the name ``judge_name``, or none.

    ``is_down`` makes the judge refuse every request, ``delay_s`` lets each of its replies wait.
    """

    def __init__(self, reads: Reads = says_hello) -> None:
        super().__init__(Canned())
        self.reads = reads
        self.judge_name: str | None = "judge-2026-01"
        self.is_down = False
        self.delay_s = 0.0

    def answer(self, seen: Seen) -> Canned:
        """The candidate's or the judge's reply."""
        body = json.loads(seen.body)
        if "models/judge:" in seen.path:
            if self.is_down:
                return refusal(400, "INVALID_ARGUMENT", "down")
            document = json.loads(body["contents"][0]["parts"][0]["text"])
            said = reply({"text": json.dumps(self._verdict(document))}, modelVersion=self.judge_name)
            return replace(said, delay_s=self.delay_s)
        return reply({"text": _candidate(json.dumps(body, ensure_ascii=False))}, modelVersion="candidate-2026-01")

    def _verdict(self, document: dict[str, Any]) -> dict[str, Any]:
        answer = document["answer"]
        if "criteria" not in document:
            met = self.reads(answer["response"], document["required"])
            return {"required_met": met, "forbidden_absent": met, "explanation": "read"}
        return {
            "criteria": [
                {
                    "id": item["id"],
                    "reasoning": "r",
                    "evidence": answer[:20] if self.reads(answer, item["text"]) else "no hello",
                    "verdict": "PASS" if self.reads(answer, item["text"]) else "FAIL",
                }
                for item in document["criteria"]
            ]
        }


def _candidate(request: str) -> str:
    """Hello where a skill is in sight. A behaviour case is answered as it demands."""
    if "responseJsonSchema" in request or "responseSchema" in request:
        said = "hello, no" if "greeter" in request else "good day"
        return json.dumps({"action": "refuse", "response": said, "refused": True})
    return "hello hello" if "greeter" in request else "good day"
