"""Each row of the table of outcomes, as it happens to one trial of a whole run, from a real server through the SDKs."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest

from skillassay.models.base import Model, ModelIdentity, ModelReply, ModelRequest
from skillassay.models.gemini import GeminiModel
from skillassay.models.openai_chat import OpenAIModel
from skillassay.models.opening import Opening
from tests.models.happenings import CHAT_USAGE, GOOD, TOLD, Happens, bare
from tests.models.outcomes import ROWS
from tests.models.wire_server import Canned, Clock, Seen, WireServer, chat, opened, policy, reply
from tests.project import Cli, build_small, records, rule, small_case

NAMES = ("one", "two", "three")
IT_HAPPENS_IN = "Greet two."
KINDS: dict[str, type[GeminiModel | OpenAIModel]] = {"gemini": GeminiModel, "openai": OpenAIModel}


class Provider(WireServer):
    """Answers well where a skill is offered and badly where none is; to one trial it sends what a row says."""

    def __init__(self, name: str, row: Happens) -> None:
        super().__init__(Canned())
        self.name = name
        self.theirs: list[Seen] = []
        self._left = deque(row.sends[name])

    def answer(self, seen: Seen) -> Canned:
        """The response to a request."""
        if b"greeter" not in seen.body:
            return self._text("good day")
        if "tools" not in json.loads(seen.body) or IT_HAPPENS_IN.encode() not in seen.body:
            return self._text(GOOD)
        self.theirs.append(seen)
        return self.next()

    def _text(self, words: str) -> Canned:
        return reply({"text": words}) if self.name == "gemini" else chat(words)


@dataclass(frozen=True, slots=True, kw_only=True)
class AsFixture:
    """A live model under the fixture's name, since the gate of a live model also asks for people's labels."""

    model: GeminiModel | OpenAIModel

    @property
    def identity(self) -> ModelIdentity:
        """The fixture's."""
        return replace(self.model.identity, provider="fixture", name="fixture", endpoint=None, is_fixture=True)

    def generate(self, request: ModelRequest) -> ModelReply:
        """The model's answer."""
        return self.model.generate(request)

    def close(self) -> None:
        """Whoever opened the model closes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """What a run came to: its exit code, the record of the trial in which it happened and those of the others, what
    was sent and waited for it.
    """

    code: int
    record: dict[str, Any]
    others: list[dict[str, Any]]
    theirs: list[Seen]
    slept: list[float]


def run(cli: Cli, monkeypatch: pytest.MonkeyPatch, name: str, row: Happens) -> Ended:
    """Evaluate a small project in which the row happens to one trial."""
    cases = [
        {
            "id": case,
            "skill": "greeter",
            "query": f"Greet {case}.",
            "checks": [{"id": "c", "type": "contains", "text": GOOD}],
        }
        for case in NAMES
    ]
    terms = {"timeout_s": row.timeout_s}
    build_small(cli.root, cases=cases, rules=[rule("one", {"text": "x"})], candidate=terms)
    clock = Clock()
    with Provider(name, row) as server:

        @contextmanager
        def open_it(spec: str, how: Opening) -> Iterator[Model]:
            base_url = server.base_url if name == "gemini" else f"{server.base_url}/v1"
            with opened(KINDS[name], base_url, retry=policy(clock)) as model:
                yield AsFixture(model=model)

        monkeypatch.setattr("skillassay.runs.asking.open_model", open_it)
        if row.nobody_listens:
            server.stop()
        ran = cli("eval", "--jobs", "1")
    assert "Traceback" not in ran.err
    by_trial = {(record["case_id"], record["mode"]): record for record in records(cli.root)}
    record = by_trial.pop(("two", "progressive"))
    return Ended(code=ran.code, record=record, others=list(by_trial.values()), theirs=server.theirs, slept=clock.slept)


@pytest.mark.parametrize(("name", "row"), ROWS, ids=[f"{name}: {row.what}" for name, row in ROWS])
def test_what_happens_becomes_what_the_table_says(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, name: str, row: Happens
) -> None:
    """Outcome, requests, waits, tokens and exit code; and nothing of it is booked on another trial."""
    ended = run(cli, monkeypatch, name, row)
    outcome, candidate = ended.record["outcome"], ended.record["candidate"]
    assert (outcome["status"], outcome["reason"], outcome["kind"]) == (row.status, row.reason, row.kind)
    assert outcome["stage"] == (None if row.reason is None else "candidate")
    assert candidate["n_attempts"] == row.n_attempts
    assert candidate["usage"]["total_tokens"] == row.tokens
    assert ended.code == row.exit_code
    if not row.nobody_listens:
        assert len(ended.theirs) == row.n_attempts
        assert {(other["outcome"]["reason"], other["candidate"]["n_attempts"]) for other in ended.others} == {(None, 1)}
    for slept, least in zip(ended.slept, row.waits_s, strict=False):
        assert least <= slept
    if row.waits_s:
        assert len(ended.slept) == len(row.waits_s)
    if row.goes_back or row.last_holds:
        last = json.loads(ended.theirs[-1].body)
        history = last["contents"] if name == "gemini" else last["messages"]
        assert not row.goes_back or row.goes_back[name] in history
        assert row.last_holds in json.dumps(history)


class Judged(WireServer):
    """Answers a candidate well, and its judge with the bytes that it was made with."""

    def __init__(self, good: Canned, verdict: Canned) -> None:
        super().__init__(good)
        self.verdict = verdict

    def answer(self, seen: Seen) -> Canned:
        """The response to a request: the judge's instructions speak of grading."""
        return self.verdict if b"You grade one answer" in seen.body else self.next()


@pytest.mark.parametrize(
    ("name", "verdict", "reason"),
    [
        ("gemini", bare("SAFETY"), "blocked"),
        ("gemini", bare("MAX_TOKENS"), "truncated"),
        ("openai", chat("half", finish="length", usage=CHAT_USAGE), "truncated"),
    ],
)
def test_a_verdict_that_never_came_costs_the_judge_its_tokens(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, name: str, verdict: Canned, reason: str
) -> None:
    """Booked on the judge and not on the candidate, whose answer stands in the record."""
    build_small(cli.root, cases=[small_case("one")], rules=[])
    monkeypatch.setenv("GEMINI_API_KEY", "k")
    with Judged(reply({"text": GOOD}) if name == "gemini" else chat(GOOD), verdict) as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.base_url}/v1")
        model = f"{name}:x"
        cli("eval", "--model", model, "--judge-model", model, "--mode", "none")
    (record,) = records(cli.root)
    assert (record["outcome"]["reason"], record["outcome"]["stage"], record["answer"]) == (reason, "judge", GOOD)
    assert (record["judge"]["n_calls"], record["judge"]["usage"]["total_tokens"]) == (1, TOLD)
    assert record["candidate"]["usage"]["total_tokens"] is None
