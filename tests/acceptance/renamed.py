"""A judge and a second judge that answer under the names they are told to, in turn. Real HTTP, scripted."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import yaml

from tests.acceptance.live import LiveServer
from tests.models.wire_server import Canned, Seen, refusal
from tests.project import Cli

MODELS = ("--model", "gemini:candidate", "--judge-model", "gemini:judge", "--jobs", "1")
SECOND = ("--second-judge-model", "gemini:second")
TERMS = {"second": "gemini:second"}


class RenamedServer(LiveServer):
    """``names`` has the names under which each judge answers, round and round; ``is_silent`` refuses the second.

    Each answer of the candidate is one of its own, so that many may be labelled.
    """

    def __init__(self) -> None:
        super().__init__()
        self.names: dict[str, tuple[str | None, ...]] = {"judge": ("judge-a",), "second": ("second-a",)}
        self.asked = {"judge": 0, "second": 0}
        self.is_silent = False
        self.n_answers = 0

    def answer(self, seen: Seen) -> Canned:
        """The candidate's reply, numbered, or that of a judge under its next name."""
        side = next((side for side in self.names if f"models/{side}:" in seen.path), None)
        if side is None:
            self.n_answers += 1
            canned = super().answer(seen)
            body = json.loads(canned.body)
            part = body["candidates"][0]["content"]["parts"][0]
            if "text" in part:
                part["text"] += f" {self.n_answers}"
            return replace(canned, body=json.dumps(body).encode())
        if side == "second" and self.is_silent:
            return refusal(400, "INVALID_ARGUMENT", "down")
        self.judge_name = self.names[side][self.asked[side] % len(self.names[side])]
        self.asked[side] += 1
        return super().answer(replace(seen, path="/v1beta/models/judge:generateContent"))


def judge_terms(cli: Cli, **terms: Any) -> None:
    """The contract with these terms of the judge."""
    path = cli.root / "evals/contract.yaml"
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text("utf-8")) | {"judge": terms}), encoding="utf-8")


def records(cli: Cli) -> list[Any]:
    """The records of the newest run."""
    newest = max((cli.root / ".skillassay" / "runs").iterdir(), key=lambda path: path.name)
    return [json.loads(line) for line in (newest / "trials.jsonl").read_text("utf-8").splitlines()]


def label_run(cli: Cli) -> None:
    """A person's labels on every answer of the newest run."""
    lines = [
        {
            "suite": one["suite"],
            "case": one["case_id"],
            "answer": one["answer"],
            "criterion": "says-hello",
            "verdict": "pass" if "hello" in one["answer"] else "fail",
        }
        for one in records(cli)
    ]
    path = cli.root / "made.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    assert cli("label", "--by", "Aiko Mori", "--from", str(path), "--origin", "human").code == 0
