"""A real model behind llama.cpp's server, asked through :class:`OpenAIModel`."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from scripts import local_engine
from scripts.local_engine import Engine
from skillassay.errors import Reason, Stage, TrialError
from skillassay.models.base import ModelRequest
from skillassay.models.openai_chat import OpenAIModel
from skillassay.transcript import Tool, UserTurn
from tests.extra.local.conftest import metered

ROSE = ModelRequest(
    system="Answer in one short sentence.",
    turns=(UserTurn(text="What is the colour of a rose?"),),
    max_output_tokens=60,
    seed=7,
)
WELCOME = replace(ROSE, turns=(UserTurn(text="Write two lines that welcome a guest of a hotel."),))
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "shade": {"type": "string", "enum": ["shade-17", "shade-42"]},
        "words": {"type": "array", "items": {"type": "string", "maxLength": 8}, "minItems": 2, "maxItems": 2},
    },
    "required": ["shade", "words"],
    "additionalProperties": False,
}
LOAD_SKILL = Tool(
    name="load_skill",
    description="Loads a skill by its name.",
    parameters={"type": "object", "properties": {"skill_name": {"type": "string"}}, "required": ["skill_name"]},
)


def is_under_schema(text: str) -> bool:
    """Whether the whole text is JSON under SCHEMA, by the standard library and jsonschema alone."""
    try:
        jsonschema.validate(json.loads(text), SCHEMA)
    except (ValueError, jsonschema.ValidationError):
        return False
    return True


def test_a_plain_reply(model: OpenAIModel) -> None:
    """An answer comes back as text, without calls, in one attempt, with the name that the engine gave itself."""
    reply = model.generate(ROSE)
    assert reply.turn.text.strip()
    assert reply.turn.calls == ()
    assert (reply.model, reply.n_attempts) == (local_engine.MODEL_NAME, 1)


def test_usage_is_what_the_engine_metered(model: OpenAIModel, engine: Engine) -> None:
    """The token counts of a reply are told, not estimated, and equal to the engine's own meter."""
    before = metered(engine)
    usage = model.generate(ROSE).usage
    after = metered(engine)
    assert {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens} == {
        name: after[name] - before[name] for name in before
    }
    assert not usage.estimated


def test_a_reply_under_a_schema_is_json_under_it(model: OpenAIModel) -> None:
    """With a response schema the reply is JSON under it; the same question without one is answered otherwise."""
    assert not is_under_schema(model.generate(ROSE).turn.text)
    assert is_under_schema(model.generate(replace(ROSE, response_schema=SCHEMA, max_output_tokens=200)).turn.text)


@pytest.mark.parametrize("asked", [WELCOME, replace(WELCOME, response_schema=SCHEMA)], ids=["text", "json"])
def test_the_same_request_has_the_same_answer(model: OpenAIModel, asked: ModelRequest) -> None:
    """At temperature 0 with a seed two equal requests get one text, though another stood between them."""
    asked = replace(asked, max_output_tokens=200)
    first = model.generate(asked)
    model.generate(ROSE)
    assert model.generate(asked).turn.text == first.turn.text


def test_a_long_answer_is_cut_and_named_so(model: OpenAIModel) -> None:
    """An answer over the token limit is no answer: truncated, with what it cost."""
    with pytest.raises(TrialError) as caught:
        model.generate(replace(WELCOME, max_output_tokens=5))
    assert (caught.value.reason, caught.value.stage) == (Reason.TRUNCATED, Stage.CANDIDATE)
    assert caught.value.usage is not None
    assert caught.value.usage.output_tokens == 5


def test_a_prompt_over_the_context_is_refused_once(model: OpenAIModel) -> None:
    """What does not fit into the engine's context is an error of the request: named, and not tried again."""
    too_long = replace(ROSE, turns=(UserTurn(text="rose " * (local_engine.N_CONTEXT + 1)),))
    with pytest.raises(TrialError) as caught:
        model.generate(too_long)
    error = caught.value
    assert (error.reason, error.kind, error.n_attempts) == (Reason.PROVIDER_ERROR, "request", 1)
    assert str(local_engine.N_CONTEXT) in error.message


def test_this_model_is_shown_no_tools(model: OpenAIModel) -> None:
    """Its chat template drops the tools of a request without a word, which is why progressive can load no skill here.

    The example's page says so. If this fails, a newer model or engine does show them: correct the page.
    """
    with_tools, without = model.generate(replace(ROSE, tools=(LOAD_SKILL,))), model.generate(ROSE)
    assert with_tools.usage.input_tokens == without.usage.input_tokens
