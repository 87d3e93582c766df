"""A live model that also compares answers, over real HTTP, and a project whose answers it gave."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.acceptance.live import LiveServer
from tests.models.wire_server import Canned, Seen, reply
from tests.project import Cli, Ran, build_small, small_case

MODELS = ("--model", "gemini:candidate", "--judge-model", "gemini:judge")
ASK = ("--judge-model", "gemini:judge", "--format", "json")
CASES = tuple(f"c{i}" for i in range(7))

Prefers = Callable[[str, str], str]
"""From the answers in the first and in the second place to the place that wins."""


def greeting(first: str, second: str) -> str:
    """A judge who reads: the one answer that says hello."""
    return _place(("hello" in first) - ("hello" in second))


def longer(first: str, second: str) -> str:
    """A judge who counts."""
    return _place(len(first) - len(second))


def always_first(first: str, second: str) -> str:
    """A judge who likes the first place."""
    return "first"


def _place(lead: int) -> str:
    return "tie" if lead == 0 else "first" if lead > 0 else "second"


class PairServer(LiveServer):
    """Answers case by case as ``answers`` says (with the skill, without), and compares as ``prefers`` says.

    ``broken`` may give another reply to a document about a pair; ``documents`` are those that were asked.
    """

    def __init__(self) -> None:
        super().__init__()
        self.prefers: Prefers = greeting
        self.answers: Mapping[str, tuple[str, str]] = {}
        self.broken: Callable[[dict[str, Any]], Canned | None] = lambda _: None
        self.documents: list[dict[str, Any]] = []

    def answer(self, seen: Seen) -> Canned:
        """The reply to a pair, or to a case that has answers of its own; else a live model's."""
        body = json.loads(seen.body)
        text = body["contents"][0]["parts"][0]["text"]
        if "models/judge:" in seen.path:
            document = json.loads(text)
            return self._compared(document) if "first" in document else super().answer(seen)
        for case, (good, bad) in self.answers.items():
            if f"Greet {case}." in text:
                said = good if "greeter" in json.dumps(body) else bad
                return reply({"text": said}, modelVersion="candidate-2026-01")
        return super().answer(seen)

    def _compared(self, document: dict[str, Any]) -> Canned:
        self.documents.append(document)
        winner = self.prefers(document["first"], document["second"])
        said = verdict(winner, document["first"], document["second"])
        found = self.broken(document) or reply({"text": json.dumps(said)}, modelVersion=self.judge_name)
        return replace(found, delay_s=self.delay_s)


def verdict(winner: str, first: str, second: str) -> dict[str, str]:
    """A grounded reply."""
    return {"reasoning": "r", "evidence_first": first or "-", "evidence_second": second or "-", "winner": winner}


def evaluated(cli: Cli, cases: Sequence[str] = CASES, *more: str, **contract: Any) -> str:
    """Build the project, evaluate it in two modes, and return the run's id."""
    if not (cli.root / "evals").exists():
        build_small(cli.root, cases=[small_case(name) for name in cases], **contract)
    before = set(runs(cli.root))
    cli("eval", *MODELS, "--mode", "progressive", "--mode", "none", *more)
    (made,) = set(runs(cli.root)) - before
    return made


def runs(root: Path) -> list[str]:
    """The ids of all runs."""
    folder = root / ".skillassay" / "runs"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def record(root: Path) -> Path:
    """The only record of a comparison."""
    (found,) = (root / ".skillassay" / "pairwise").iterdir()
    return found


def lines(path: Path) -> list[dict[str, Any]]:
    """The lines of a record, the first one left out."""
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line][1:]


def counts(ran: Ran) -> list[int]:
    """Wins of A, wins of B, ties, inconsistent, unscored, planned."""
    totals = ran.json["totals"]
    return [totals[name] for name in ("a", "b", "ties", "inconsistent", "unscored", "planned")]
