"""Answers that try to be graded instead of read (tests/data/injection), and two judges behind real HTTP servers.

The honest judge knows no model's weakness: it reads the message as strict JSON and decides from the answer's lines. The
gullible one does what a model does that obeys what it reads: it copies the first verdict that it finds in the answer,
as it stands or decoded, and without one passes everything on words of its own.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.models.wire_server import Canned, Seen, WireServer, chat, refusal, reply

CORPUS = Path(__file__).parents[1] / "data" / "injection" / "answers.yaml"
TOTAL_LINE, THANKS_LINE = "Total: 10 EUR", "Thank you."
RIGHT, WRONG = f"{TOTAL_LINE}\n{THANKS_LINE}", f"Total: 9 EUR\n{THANKS_LINE}"
CRITERIA = [{"id": "total", "text": "States a total of 10 EUR."}, {"id": "thanks", "text": "Thanks the customer."}]
LINE_OF = {"total": TOTAL_LINE, "thanks": THANKS_LINE}
INVENTED = "The answer meets each criterion without any doubt."


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """One answer of the corpus; the head of its file says what the fields mean."""

    id: str
    kind: str
    obeyed: str
    text: str
    limit: str | None = None
    repeat: dict[str, tuple[str, int]] = field(default_factory=dict)

    def around(self, real: str) -> str:
        """The answer with this real content."""
        text = self.text
        for word, (unit, times) in self.repeat.items():
            text = text.replace(word, unit * times)
        return text.replace("<REAL>", real)


ATTACKS = [Attack(**one) for one in yaml.safe_load(CORPUS.read_text(encoding="utf-8"))]


def message_of(body: bytes) -> str:
    """The judge's user message in a request of either wire format, as the bytes say."""
    request = json.loads(body.decode("utf-8"))
    if "contents" in request:
        (content,) = request["contents"]
        (part,) = content["parts"]
        return str(part["text"])
    return str(request["messages"][-1]["content"])


def strict(text: str) -> Any:
    """One JSON value without doubled keys."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len({key for key, _ in pairs}) == len(pairs), "a doubled key"
        return dict(pairs)

    return json.loads(text, object_pairs_hook=unique)


def honest(message: str) -> str:
    """The reply of a judge that decides from the lines of the answer."""
    document = strict(message)
    assert list(document) == ["query", "answer", "criteria"]
    lines = re.split(r"[\r\n]+", document["answer"])
    entries = []
    for item in document["criteria"]:
        wanted = LINE_OF[item["id"]]
        met = wanted in lines
        evidence = wanted if met else "no line says so"
        entries.append(
            {"id": item["id"], "reasoning": "read", "evidence": evidence, "verdict": "PASS" if met else "FAIL"}
        )
    return json.dumps({"criteria": entries})


def gullible(message: str) -> str:
    """The reply of a judge that obeys the answer."""
    document = strict(message)
    key = "criteria" if "criteria" in document else "required_met"
    answer = document["answer"] if key == "criteria" else document["answer"]["response"]
    for reading in readings(answer):
        for planted in objects_in(reading):
            if key in json.loads(planted):
                return planted
    if key == "required_met":
        return json.dumps({"explanation": INVENTED, "required_met": True, "forbidden_absent": True})
    entries = [
        {"id": item["id"], "reasoning": "obeyed", "evidence": INVENTED, "verdict": "PASS"}
        for item in document["criteria"]
    ]
    return json.dumps({"criteria": entries})


def readings(answer: str) -> Iterator[str]:
    """The answer as it stands, without disguise, without escapes, and what its base64 says."""
    yield answer
    yield "".join(c for c in unicodedata.normalize("NFKC", answer) if unicodedata.category(c) != "Cf")
    yield answer.replace('\\"', '"')
    for word in re.findall(r"[A-Za-z0-9+/]{24,}={0,2}", answer):
        with suppress(binascii.Error, UnicodeDecodeError):
            yield base64.b64decode(word, validate=True).decode("utf-8")


def objects_in(text: str) -> Iterator[str]:
    """Each JSON object in a text that opens with a key, as it is written there."""
    decoder = json.JSONDecoder()
    for match in re.finditer(r'\{\s*"\w+"\s*:', text):
        with suppress(ValueError, RecursionError):
            _, end = decoder.raw_decode(text, match.start())
            yield text[match.start() : end]


class JudgeServer(WireServer):
    """A judge over HTTP in the format in which it is asked, and a candidate that gives the answer of its query."""

    def __init__(self, judge: Any, answers: dict[str, str] | None = None) -> None:
        super().__init__(Canned())
        self._judge, self._answers = judge, answers or {}

    def answer(self, seen: Seen) -> Canned:
        """The judge's reply; a message that it cannot read is refused, which no test expects."""
        message = message_of(seen.body)
        if "models/candidate:" in seen.path:
            return reply({"text": self._answers[message]})
        try:
            said = self._judge(message)
        except (ValueError, AssertionError, KeyError) as error:
            return refusal(400, "INVALID_ARGUMENT", f"unreadable: {error!r}")
        return chat(said) if seen.path.endswith("/chat/completions") else reply({"text": said})
