"""A project whose candidate, judge and second judge answer over HTTP, the judges as they are told. Scripted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import yaml

from tests.acceptance.live import LiveServer
from tests.models.wire_server import Canned, Seen, refusal, reply
from tests.project import Cli, Ran, build_small, small_case

MODELS = ("--model", "gemini:candidate", "--judge-model", "gemini:judge", "--jobs", "1")
SECOND = ("--second-judge-model", "gemini:second")
ONE = ("--mode", "progressive")

HELLO = {"id": "hello", "text": "It says hello."}
TONE = {"id": "tone", "text": "It is polite."}
CRITICAL = {**HELLO, "critical": True}

DOWN = refusal(400, "INVALID_ARGUMENT", "down")
GARBAGE = reply({"text": "PASS, I would say"})

Told = Mapping[str, str] | Canned


class Bench(LiveServer):
    """``script`` has, for a judge, what it says next; it passes everything where there is nothing more to say."""

    def __init__(self) -> None:
        super().__init__()
        self.script: dict[str, list[Told]] = {"judge": [], "second": []}
        self.asked: dict[str, int] = {"judge": 0, "second": 0}

    def answer(self, seen: Seen) -> Canned:
        """The candidate's reply, or the next one of a judge."""
        who = next((name for name in self.script if f"models/{name}:" in seen.path), None)
        if who is None:
            return super().answer(seen)
        self.asked[who] += 1
        document = json.loads(json.loads(seen.body)["contents"][0]["parts"][0]["text"])
        told = self.script[who].pop(0) if self.script[who] else {}
        return told if isinstance(told, Canned) else reply({"text": _said(document, told)}, modelVersion=who)


def _said(document: Mapping[str, Any], told: Mapping[str, str]) -> str:
    if "criteria" not in document:
        marks = {name: told.get(name, "PASS") == "PASS" for name in ("required_met", "forbidden_absent")}
        return json.dumps({"explanation": "read", **marks})
    evidence = {"PASS": "hello", "INVENTED": "never said"}
    entries = [
        {
            "id": one["id"],
            "reasoning": "r",
            "evidence": evidence.get(word := told.get(one["id"], "PASS"), "nothing there"),
            "verdict": "PASS" if word == "INVENTED" else word,
        }
        for one in document["criteria"]
    ]
    return json.dumps({"criteria": entries})


def words(**of: str) -> list[Told]:
    """One reply a letter: ``words(hello="PPF")`` passes twice and fails then; A abstains, I invents."""
    names = {"P": "PASS", "F": "FAIL", "A": "ABSTAIN", "I": "INVENTED"}
    n = max(map(len, of.values()))
    return [{criterion: names[letters[i]] for criterion, letters in of.items()} for i in range(n)]


class Benched:
    """A project of one case, ``one``, with the rubric given, and what became of its only trial."""

    def __init__(self, cli: Cli, server: Bench, *rubric: Mapping[str, Any], **contract: Any) -> None:
        self.cli, self.server = cli, server
        case = small_case("one", rubric=list(rubric)) if rubric else contract.pop("case")
        judge = contract.pop("judge", {})  # of the contract; what a project is built with are authored rules
        build_small(cli.root, cases=[case], **contract)
        path = cli.root / "evals" / "contract.yaml"
        path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | {"judge": judge}), encoding="utf-8")

    def eval(self, *more: str, judge: list[Told] | None = None, second: list[Told] | None = None) -> Ran:
        """Evaluate in progressive with these words; every one of them must have been asked for."""
        self.server.script = {"judge": judge or [], "second": second or []}
        ran = self.cli("eval", *MODELS, *ONE, *more)
        assert self.server.script == {"judge": [], "second": []}, ran.err
        return ran

    def result(self) -> Any:
        """The result of the newest run."""
        newest = max((self.cli.root / ".skillassay" / "runs").iterdir(), key=lambda path: path.name)
        return json.loads((newest / "result.json").read_text(encoding="utf-8"))

    def trial(self) -> tuple[str, str | None]:
        """Status and reason of the trial."""
        (trial,) = self.result()["trials"]
        return trial["status"], trial["reason"]

    def record(self) -> Any:
        """The last record of the newest run."""
        newest = max((self.cli.root / ".skillassay" / "runs").iterdir(), key=lambda path: path.name)
        return json.loads((newest / "trials.jsonl").read_bytes().rstrip(b"\n").split(b"\n")[-1])

    def queue(self) -> list[tuple[str, str, bool]]:
        """Kind, state and whether it holds the gate, of each entry for people."""
        found = self.cli("review", "--format", "json").json["queue"]
        return [(one["kind"], one["state"], one["holds_the_gate"]) for one in found]
