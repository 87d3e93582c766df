"""What holds for the client of every provider: one for all threads, made when it is needed, released when told."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from skillassay.errors import TrialError
from skillassay.models.gemini import GeminiModel
from skillassay.models.openai_chat import OpenAIModel
from tests.models.wire_server import ASK, CHAT_OK, OK, Canned, WireServer, chatting, opened, talking

BOTH = pytest.mark.parametrize(("talk", "canned"), [(talking, OK), (chatting, CHAT_OK)], ids=["gemini", "openai"])


@BOTH
def test_threads_share_one_model(talk: Any, canned: Canned) -> None:
    """The client is made once, whoever comes first."""
    answers: list[str] = []
    with talk(canned) as (model, server):
        threads = [threading.Thread(target=lambda: answers.append(model.generate(ASK).turn.text)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert (answers, len(server.seen)) == (["ok"] * 8, 8)


@BOTH
def test_closing_twice_is_fine(talk: Any, canned: Canned) -> None:
    """Close is idempotent, also before the first call, and a later call opens a new client."""
    with talk(canned) as (model, _):
        model.close()
        model.generate(ASK)
        first = model._opened()
        model.close()
        model.close()
        assert model._opened() is not first


@pytest.mark.parametrize("kind", [GeminiModel, OpenAIModel])
def test_no_error_holds_what_is_secret_in_the_address(kind: type[GeminiModel | OpenAIModel]) -> None:
    """A gateway's page may repeat the address with its password and its token."""
    page = b'{"error": {"message": "no route: pass%2Fword pass/word token-of-a-gateway"}}'
    with WireServer(Canned(status=404, body=page)) as server:
        url = server.base_url.replace("//", "//user:pass%2Fword@") + "/v1?token=token-of-a-gateway"
        with opened(kind, url) as model, pytest.raises(TrialError) as caught:
            model.generate(ASK)
    assert "no route: [key] [key] [key]" in caught.value.message
