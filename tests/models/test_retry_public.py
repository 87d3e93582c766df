"""Public reports about retries, on the bytes that they tell, through the real SDKs. Ours is said where it differs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillassay.contract.contract import JudgeTerms
from skillassay.errors import Reason, Stage, TrialError
from skillassay.judging.judge import ask_judge, parse_verdicts
from skillassay.suites.case import Case, Criterion
from tests.models.wire_server import (
    ASK,
    CHAT_OK,
    KEY,
    OK,
    Canned,
    Clock,
    chat,
    chatting,
    policy,
    refused,
    refused_chat,
    reply,
    talking,
)

PUBLIC = Path(__file__).parents[1] / "data" / "public" / "retry"
DAY = Canned(status=429, body=(PUBLIC / "omniroute-9504" / "e1.json").read_bytes())


def test_omniroute_9504_a_day_that_lasts_seconds_is_tried_once_more() -> None:
    """diegosouzapw/OmniRoute#9504: after the 36 s asked for; the same answer again ends the call."""
    clock = Clock()
    with talking(DAY, retry=policy(clock)) as (model, server), pytest.raises(TrialError) as caught:
        model.generate(ASK)
    assert (caught.value.kind, caught.value.n_attempts, len(server.seen)) == ("quota_day", 2, 2)
    (slept,) = clock.slept
    assert slept >= 36.0


def test_omniroute_9504_the_name_alone_ends_nothing() -> None:
    """An answer after the wait is an answer."""
    with talking(DAY, OK) as (model, _):
        assert model.generate(ASK).n_attempts == 2


BODIES = json.loads((PUBLIC / "promptfoo-1970" / "bodies.json").read_bytes())
STATUSES = json.loads((PUBLIC / "promptfoo-1970" / "status.json").read_bytes())
KINDS = {502: ("server", 4), 503: ("server", 4), 500: ("server", 4), 429: ("quota", 4)}


@pytest.mark.parametrize(("body", "status"), list(zip(BODIES, STATUSES, strict=True)), ids=str)
def test_promptfoo_1970_no_body_breaks_the_handling_of_an_error(body: str | None, status: int) -> None:
    """promptfoo/promptfoo#1970: the status decides. A 200 is not asked for again: half a document is `non_json`."""
    canned = Canned(status=status, body=(body or "").encode())
    kind, n_attempts = KINDS.get(status, ("empty" if body == "{}" else "non_json", 1))
    for error in (refused(canned), refused_chat(canned)):
        assert (error.reason, error.kind, error.n_attempts) == (Reason.PROVIDER_ERROR, kind, n_attempts)


def test_promptfoo_1970_the_text_is_kept_short_and_without_the_key() -> None:
    """What the server said stands in the message, whatever it is."""
    canned = Canned(status=500, body=f"<html>upstream said {KEY} {'x' * 4000}</html>".encode())
    for error in (refused(canned), refused_chat(canned)):
        assert "upstream said [key]" in error.message
        assert len(error.message) <= 500


REPLIES = json.loads((PUBLIC / "posthog-71074" / "replies.json").read_bytes())
CASE = Case(id="c", skill="s", query="q", rubric=(Criterion(id="r", text="says it"),), suite="q", digest="d")
TERMS = JudgeTerms(model="gemini:x")


def gemini_says(words: str) -> Canned:
    """An answer of Gemini."""
    return reply({"text": words})


@pytest.mark.parametrize(("talk", "says"), [(talking, gemini_says), (chatting, chat)], ids=["gemini", "openai"])
def test_posthog_71074_one_bad_verdict_is_no_verdict_and_is_not_asked_for_again(talk: Any, says: Any) -> None:
    """PostHog/posthog#71074 re-asks a judge within the run; here it is `contract_error`, told and counted, and a new
    attempt is the user's to ask for (`--retry-unscored`): a verdict is never asked for until it pleases.
    """
    with talk(says(REPLIES[0]), says(REPLIES[2])) as (model, server):
        answer = ask_judge(model, CASE, "it", TERMS)
        with pytest.raises(TrialError) as caught:
            parse_verdicts(answer.turn.text, CASE.rubric)
    assert (caught.value.reason, caught.value.stage) == (Reason.CONTRACT_ERROR, Stage.JUDGE)
    assert (answer.n_attempts, len(server.seen)) == (1, 1)


def test_a_spent_account_is_known_by_its_code() -> None:
    """OpenAI tells `insufficient_quota` under the status of a rate limit; an answer after it is one."""
    spent = Canned(
        status=429, body=b'{"error":{"message":"m","type":"insufficient_quota","code":"insufficient_quota"}}'
    )
    assert (refused_chat(spent).kind, refused_chat(spent).n_attempts) == ("quota_day", 2)
    with chatting(spent, CHAT_OK) as (model, _):
        assert model.generate(ASK).n_attempts == 2
