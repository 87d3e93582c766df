"""A run whose judge abstains where it is told to, and the people who then say what they see."""

from __future__ import annotations

import json
from typing import Any

from tests.endtoend.faulty_server import Asked, Fault, FaultyServer, healthy, said
from tests.project import HELLO, Cli, Ran

TWO_MODES = ("--mode", "progressive", "--mode", "none")

OPEN = {**HELLO, "may_abstain": True}


def verdict(word: str) -> Fault:
    """A judge's word on the greeting."""
    item = {"id": "says-hello", "reasoning": "r", "evidence": "hello", "verdict": word}
    return said(json.dumps({"criteria": [item]}))


class Judged:
    """A project whose judge is on a server: it says what ``words`` has next about the greeting of `two`."""

    def __init__(self, cli: Cli, server: FaultyServer) -> None:
        self.cli, self.root = cli, cli.root
        self.words: list[str] = []
        self.always: Fault | None = None
        self.base_url = server.base_url
        server.fault = self._fault

    def _fault(self, asked: Asked) -> Fault | None:
        is_two = asked.is_judge and "Greet two." in asked.text and "hello hello" in asked.text
        if is_two and self.always is not None:
            return self.always
        return verdict(self.words.pop(0)) if is_two and self.words else healthy(asked)

    def eval(self, *words: str, repeats: int = 1) -> Ran:
        """Evaluate with the judge's words on `two` in progressive, in the order of its repeats."""
        self.words = [*words]
        ran = self.cli(
            *("eval", "--judge-model", "gemini:faulty", "--jobs", "1", "--repeats", str(repeats), *TWO_MODES)
        )
        assert self.words == []
        return ran

    def say(self, word: str, by: str = "Mika Sato", *more: str, repeat: int | None = 1) -> Ran:
        """Adjudicate `two` in progressive."""
        which = () if repeat is None else ("--repeat", str(repeat))
        where = ("--case", "two", "--mode", "progressive", *which)
        return self.cli("review", *where, "--verdict", word, "--by", by, "--reason", "I read the answer twice.", *more)

    def queue(self) -> list[dict[str, Any]]:
        """The queue."""
        found: list[dict[str, Any]] = self.cli("review", "--format", "json").json["queue"]
        return found

    def kinds(self) -> list[tuple[str, str, bool]]:
        """Kind, state and whether it holds the gate, of each entry."""
        return [(item["kind"], item["state"], item["holds_the_gate"]) for item in self.queue()]
