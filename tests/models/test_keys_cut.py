"""A key that a service repeats where its message is cut is not left over in part."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import cycle
from typing import Any
from urllib.parse import quote

import pytest

from skillassay.errors import TrialError
from skillassay.models.gemini import GeminiModel
from skillassay.models.openai_chat import OpenAIModel
from skillassay.models.retry import RetryPolicy
from skillassay.models.wire import MAX_MESSAGE_CHARS
from tests.models.wire_server import ASK, Canned, WireServer, chat, chat_refusal, refusal, reply

KEY = "QXK\"WJ\\VZ'/HGQ+%41&PYK"
"""What a header can carry, with all that formats escape."""

Place = Callable[[str], Canned]
FORMS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "percent": lambda key: quote(key, safe=""),
    "json": lambda key: json.dumps(key)[1:-1],
    "all escaped": lambda key: "".join(f"\\u{ord(sign):04X}" for sign in key),
    "repr": lambda key: repr(key)[1:-1],
}
GEMINI: dict[str, Place] = {
    "refusal": lambda text: refusal(400, "INVALID_ARGUMENT", text),
    "status": lambda text: refusal(400, text),
    "page": lambda text: Canned(status=403, body=text.encode()),
    "not json": lambda text: Canned(body=text.encode()),
    "not utf-8": lambda text: Canned(body=text.encode() + b"\xff"),
    "duplicate key": lambda text: Canned(body=b"{%b:1,%b:1}" % ((json.dumps(text).encode(),) * 2)),
    "block reason": lambda text: Canned(body=json.dumps({"promptFeedback": {"blockReason": text}}).encode()),
    "finish message": lambda text: Canned(
        body=json.dumps({"candidates": [{"finishReason": "SAFETY", "finishMessage": text}]}).encode()
    ),
    "finish reason": lambda text: reply({"text": "a"}, finish=text),
    "broken call": lambda text: reply({"functionCall": {"name": 3, "args": {"a": text}}}),
    "packing": lambda text: Canned(headers={"Content-Encoding": text}),
}
OPENAI: dict[str, Place] = {
    "refusal": lambda text: chat_refusal(400, "some", text),
    "blocked": lambda text: chat_refusal(400, "content_filter", text),
    "page": lambda text: Canned(status=403, body=text.encode()),
    "not json": lambda text: Canned(body=text.encode()),
    "refusal in a 200": lambda text: Canned(body=json.dumps({"error": {"message": text}}).encode()),
    "finish reason": lambda text: chat("a", finish=text),
    "broken call": lambda text: chat(tool_calls=[{"function": {"name": "f", "arguments": f"[{json.dumps(text)}"}}]),
}
PLACES: dict[str, tuple[type[Any], Place]] = {f"gemini, {name}": (GeminiModel, place) for name, place in GEMINI.items()}
PLACES |= {f"openai, {name}": (OpenAIModel, place) for name, place in OPENAI.items()}
ASKED = list(zip([0, 1, *range(10, 82, 6), *range(310, MAX_MESSAGE_CHARS + 4, 3)], cycle(FORMS)))
"""What stands in front of the key, around each place in which a text of a service was or is cut, and the key's form."""


@pytest.mark.parametrize(("kind", "place"), PLACES.values(), ids=PLACES)
def test_no_part_of_a_key_is_in_a_message(kind: type[Any], place: Place) -> None:
    """Wherever it stands and however it is written: no three of its characters in a row, in any spelling."""
    if kind is OpenAIModel:
        pytest.importorskip("openai", reason="needs the extra openai")
    answers = [place("." * n + FORMS[form](KEY) + "." * 600) for n, form in ASKED]
    with WireServer(*answers) as server:
        model = kind(name="m", api_key=KEY, base_url=server.base_url, retry=RetryPolicy(max_attempts=1))
        try:
            for n, form in ASKED:
                with pytest.raises(TrialError) as caught:
                    model.generate(ASK)
                message = caught.value.message
                assert len(message) <= MAX_MESSAGE_CHARS
                assert parts_in(message, KEY, n_chars=3) == [], (n, form, message)
                assert parts_in(message, FORMS[form](KEY), n_chars=6) == [], (n, form, message)
        finally:
            model.close()


def parts_in(message: str, secret: str, *, n_chars: int) -> list[str]:
    """Each run of characters of a secret that stands in a message, whatever case a service's word was turned into."""
    parts = {secret[i : i + n_chars].lower() for i in range(len(secret) - n_chars + 1)}
    return sorted(part for part in parts if part in message.lower())
