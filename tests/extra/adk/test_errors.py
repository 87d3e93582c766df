"""What is no answer never becomes one: each failure of a model behind ADK has its reason, as in our own loop."""

from __future__ import annotations

import gzip
import time
from dataclasses import replace
from pathlib import Path

import pytest

from skillassay.errors import InputError, Reason, Stage
from tests.extra.adk.engine import DONE, FAST, LOAD, call, engine
from tests.models.wire_server import KEY, OK, Canned, refusal, reply

BLOCKED = Canned(body=b'{"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 5}}')
PACKED = Canned(body=gzip.compress(OK.body), headers={"Content-Encoding": "gzip"})
ODD = Canned(body=b'{"candidates": [{"content": {"parts": 5}, "finishReason": "STOP"}]}')


@pytest.mark.parametrize(
    ("canned", "reason", "kind", "n_attempts"),
    [
        (BLOCKED, Reason.BLOCKED, "prompt", 1),
        (reply(finish="SAFETY"), Reason.BLOCKED, "safety", 1),
        (reply({"text": "half an answer"}, finish="SAFETY"), Reason.BLOCKED, "safety", 1),
        (reply({"text": "half an ans"}, finish="MAX_TOKENS"), Reason.TRUNCATED, "max_tokens", 1),
        (reply(finish="MAX_TOKENS"), Reason.TRUNCATED, "max_tokens", 1),
        (reply(finish="MALFORMED_FUNCTION_CALL"), Reason.CONTRACT_ERROR, "malformed_function_call", 1),
        (reply({"text": "x"}, finish="CONTINUATION"), Reason.PROVIDER_ERROR, "finish", 1),
        (reply({"text": "x"}, finish="OTHER"), Reason.PROVIDER_ERROR, "finish", 1),
        (reply({"text": "x"}, finish="NEVER_SEEN"), Reason.PROVIDER_ERROR, "finish", 1),
        (Canned(body=b"{}"), Reason.PROVIDER_ERROR, "empty", 1),
        (Canned(body=b"<html>busy</html>"), Reason.PROVIDER_ERROR, "non_json", 1),
        (Canned(body=b""), Reason.PROVIDER_ERROR, "non_json", 1),
        (ODD, Reason.PROVIDER_ERROR, "non_json", 1),
        (PACKED, Reason.PROVIDER_ERROR, "non_json", 1),
        (refusal(429, "RESOURCE_EXHAUSTED", "slow down"), Reason.PROVIDER_ERROR, "quota", 4),
        (refusal(503, "UNAVAILABLE", "busy"), Reason.PROVIDER_ERROR, "server", 4),
        (refusal(401, "UNAUTHENTICATED", "who"), Reason.PROVIDER_ERROR, "auth", 1),
        (refusal(400, "INVALID_ARGUMENT", "no"), Reason.PROVIDER_ERROR, "request", 1),
        (refusal(404, "FIXTURE_MISS", "no rule"), Reason.PROVIDER_ERROR, "fixture_miss", 1),
        (Canned(status=502, body=b"<html>bad gateway</html>"), Reason.PROVIDER_ERROR, "server", 4),
        (Canned(status=302, headers={"Location": "http://127.0.0.1:9/"}), Reason.PROVIDER_ERROR, "request", 1),
        (Canned(drop=True), Reason.PROVIDER_ERROR, "connection", 4),
    ],
    ids=lambda value: None if isinstance(value, Canned) else str(value),
)
def test_a_failure_has_its_reason(tmp_path: Path, canned: Canned, reason: Reason, kind: str, n_attempts: int) -> None:
    """Right activation first, then the failure: unscored with reason, kind and attempts, and no answer."""
    with engine(tmp_path, reply(LOAD), canned) as adk:
        result = adk.ask()
        assert len(adk.server.seen) == 1 + n_attempts
    assert result.error is not None
    assert (result.error.reason, result.error.stage, result.error.kind) == (reason, Stage.CANDIDATE, kind)
    assert (result.answer, result.turn_limit) == (None, False)
    assert (result.spent.n_calls, result.spent.n_attempts) == (2, 1 + n_attempts)
    assert result.activated == ("greeter",)


def test_a_busy_server_is_asked_again(tmp_path: Path) -> None:
    """A 503 and then an answer: the answer, and both attempts are counted; no request differs from the first one."""
    with engine(tmp_path, refusal(503, "UNAVAILABLE"), refusal(503, "UNAVAILABLE"), DONE) as adk:
        result = adk.ask()
        requests = {(seen.body, *sorted(seen.headers.items())) for seen in adk.server.seen}
    assert result.answer == "hello hello"
    assert (result.spent.n_calls, result.spent.n_attempts) == (1, 3)
    assert len(requests) == 1


@pytest.mark.parametrize(
    "slow", [replace(DONE, delay_s=1.5), replace(DONE, trickle_s=0.05)], ids=["silent", "trickling"]
)
def test_a_slow_answer_is_a_timeout(tmp_path: Path, slow: Canned) -> None:
    """Neither silence nor a byte now and then outlasts the contract's limit."""
    with engine(tmp_path, slow, terms=replace(FAST, timeout_s=0.4)) as adk:
        started = time.monotonic()
        result = adk.ask()
        lasted_s = time.monotonic() - started
    assert result.error is not None
    assert (result.error.reason, result.error.stage) == (Reason.TIMEOUT, Stage.CANDIDATE)
    assert lasted_s < 1.4
    assert result.spent.n_attempts == 1


def test_what_a_blocked_prompt_cost_is_kept(tmp_path: Path) -> None:
    """The usage of a reply without an answer is the trial's."""
    with engine(tmp_path, BLOCKED) as adk:
        assert adk.ask().spent.usage.input_tokens == 5


@pytest.mark.parametrize(
    "parts", [(), ({"text": ""},), ({"text": "hm", "thought": True},)], ids=["none", "", "thought"]
)
def test_an_empty_stop_is_an_answer(tmp_path: Path, parts: tuple[dict[str, object], ...]) -> None:
    """The model ended normally and said nothing: the answer is "", as in our own loop; ADK calls it an error."""
    with engine(tmp_path, reply(*parts)) as adk:
        result = adk.ask()
    assert (result.answer, result.error) == ("", None)


def test_turns_have_a_limit(tmp_path: Path) -> None:
    """A model that only calls: as many calls as the contract allows, then the candidate's own failure."""
    with engine(tmp_path, reply(call("list_skills")), terms=replace(FAST, turn_limit=3)) as adk:
        result = adk.ask()
        assert len(adk.server.seen) == 3
    assert (result.turn_limit, result.answer, result.error) == (True, None, None)
    assert result.spent.n_calls == 3


def test_an_answer_at_the_limit_is_one(tmp_path: Path) -> None:
    """The last allowed call answers."""
    with engine(tmp_path, reply(LOAD), DONE, terms=replace(FAST, turn_limit=2)) as adk:
        assert adk.ask().answer == "hello hello"


def test_an_invented_tool_is_answered_by_adk(tmp_path: Path) -> None:
    """ADK tells the model its tools, and the trial goes on."""
    with engine(tmp_path, reply(call("no_such_tool", x=1)), DONE) as adk:
        result = adk.ask()
        assert "no_such_tool" in str(adk.sent[1]["contents"][-1])
    assert (result.answer, result.error) == ("hello hello", None)


def test_a_skill_that_is_not_there_is_not_activated(tmp_path: Path) -> None:
    """load_skill with an unknown name fails in ADK, and counts for nothing."""
    with engine(tmp_path, reply(call("load_skill", skill_name="none")), DONE) as adk:
        result = adk.ask()
    assert (result.answer, result.activated) == ("hello hello", ())


def test_arguments_that_break_adk_are_the_candidates(tmp_path: Path) -> None:
    """A number in the place of a path: ADK's tool raises, and the call was malformed."""
    with engine(tmp_path, reply(call("load_skill_resource", skill_name="greeter", file_path=5)), DONE) as adk:
        result = adk.ask()
        assert len(adk.server.seen) == 1
    assert result.error is not None
    assert (result.error.reason, result.error.stage) == (Reason.CONTRACT_ERROR, Stage.CANDIDATE)
    assert result.error.kind == "malformed_function_call"


def test_no_message_holds_the_key(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A server that repeats the key in its words: the message has another word there, and nothing is printed."""
    with engine(tmp_path, refusal(400, "INVALID_ARGUMENT", f"bad key {KEY}")) as adk:
        result = adk.ask()
    assert result.error is not None
    assert "bad key [key]" in result.error.message
    assert KEY not in str(result)
    assert capfd.readouterr() == ("", "")


def test_a_skill_that_adk_refuses_stops_before_any_call(tmp_path: Path) -> None:
    """Each one is named with ADK's own reason, and the model is never asked."""
    body = "---\nname: {name}\ndescription: A skill.\n{line}\nmetadata:\n  version: '1.0.0'\n---\nText.\n"
    files = {
        "skills/first/SKILL.md": body.format(name="first", line="allowed-tools: [Read]"),
        "skills/second/SKILL.md": body.format(name="second", line="license: 2.0"),
    }
    with pytest.raises(InputError) as caught, engine(tmp_path, DONE, files=files) as adk:
        assert adk.server.seen == []
    assert caught.value.message == "ADK does not load skills/first, skills/second"
    messages = [finding.message for finding in caught.value.findings]
    assert [finding.path for finding in caught.value.findings] == ["skills/first", "skills/second"]
    assert "allowed-tools: Input should be a valid string" in messages[0]
    assert "license: Input should be a valid string" in messages[1]
