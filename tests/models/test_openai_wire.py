"""Chat completions as they come over the wire, and the messages that a conversation becomes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from skillassay.errors import Reason, Stage, TrialError
from skillassay.judging.judge import judge_schema
from skillassay.models.openai_wire import (
    NOTE_REFUSAL,
    NOTE_UNFLAGGED_THOUGHT,
    build_messages,
    build_response_format,
    read_reply,
    told_error,
)
from skillassay.schema import schema_problems
from skillassay.suites.case import Criterion
from skillassay.transcript import ModelTurn, ToolCall, ToolResult, ToolTurn, Usage, UserTurn
from tests.models.wire_server import Canned, chat

LOAD = {"name": "f", "arguments": '{"a": 1}'}


def called(*functions: Any, **message: Any) -> Canned:
    """A reply that calls these functions."""
    calls = [{"id": f"c{index}", "type": "function", "function": function} for index, function in enumerate(functions)]
    return chat(tool_calls=calls, finish="tool_calls", **message)


ANSWERS: dict[str, tuple[Canned, str, tuple[ToolCall, ...], tuple[str, ...]]] = {
    "text": (chat("a"), "a", (), ()),
    "null is the answer ''": (chat(None), "", (), ()),
    "no message is the answer ''": (Canned(body=b'{"choices":[{"finish_reason":"stop"}]}'), "", (), ()),
    "parts are joined": (chat([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]), "ab", (), ()),
    "parts that are thoughts are left out": (
        chat([{"type": "thinking", "thinking": [{"type": "text", "text": "9"}]}, {"type": "text", "text": "10"}]),
        "10",
        (),
        (),
    ),
    "a part of another kind is noted": (
        chat([{"type": "image_url"}, {"type": "text", "text": "a"}]),
        "a",
        (),
        ("a part of kind image_url is not read",),
    ),
    "reasoning fields are left out": (chat("10", reasoning_content="9", reasoning="9"), "10", (), ()),
    "unflagged thoughts are kept and noted": (
        chat("<think>9</think>10"),
        "<think>9</think>10",
        (),
        (NOTE_UNFLAGGED_THOUGHT,),
    ),
    "a refusal": (chat(None, refusal="I will not."), "I will not.", (), (NOTE_REFUSAL,)),
    "a refusal as a part": (chat([{"type": "refusal", "refusal": "No."}]), "No.", (), ()),
    "text goes before a refusal": (chat("a", refusal="No."), "a", (), ()),
    "a call": (called(LOAD), "", (ToolCall(name="f", args={"a": 1}, id="c0"),), ()),
    "text and calls": (
        called(LOAD, {"name": "g", "arguments": "{}"}, content="I look."),
        "I look.",
        (ToolCall(name="f", args={"a": 1}, id="c0"), ToolCall(name="g", args={}, id="c1")),
        (),
    ),
    "calls that end with stop": (
        chat(tool_calls=[{"id": "c", "function": LOAD}]),
        "",
        (ToolCall(name="f", args={"a": 1}, id="c"),),
        (),
    ),
    "a call without arguments": (called({"name": "f"}), "", (ToolCall(name="f", args={}, id="c0"),), ()),
    "a call with the empty text": (
        called({"name": "f", "arguments": " "}),
        "",
        (ToolCall(name="f", args={}, id="c0"),),
        (),
    ),
    "a call without an id": (
        chat(tool_calls=[{"id": "", "function": LOAD}]),
        "",
        (ToolCall(name="f", args={"a": 1}),),
        (),
    ),
    "the form of one function": (
        chat(function_call=LOAD, finish="function_call"),
        "",
        (ToolCall(name="f", args={"a": 1}),),
        (),
    ),
}


@pytest.mark.parametrize(("canned", "text", "calls", "notes"), ANSWERS.values(), ids=ANSWERS)
def test_an_answer_is_read(canned: Canned, text: str, calls: tuple[ToolCall, ...], notes: tuple[str, ...]) -> None:
    """What may be graded, what is called, and what was seen beside it."""
    turn = read_reply(canned.body, stage=Stage.CANDIDATE).turn
    assert (turn.text, turn.calls, turn.notes) == (text, calls, notes)


MALFORMED = (Reason.CONTRACT_ERROR, "malformed_function_call")
BROKEN: dict[str, tuple[Canned, tuple[Reason, str]]] = {
    "arguments as a list": (called({"name": "f", "arguments": "[1]"}), MALFORMED),
    "arguments as a number": (called({"name": "f", "arguments": 0}), MALFORMED),
    "arguments as an empty list, unquoted": (called({"name": "f", "arguments": []}), MALFORMED),
    "arguments as a false": (called({"name": "f", "arguments": False}), MALFORMED),
    "arguments as the text of a null": (called({"name": "f", "arguments": "null"}), MALFORMED),
    "arguments that hold NaN": (called({"name": "f", "arguments": '{"a": NaN}'}), MALFORMED),
    "arguments with a key twice": (called({"name": "f", "arguments": '{"a": 1, "a": 2}'}), MALFORMED),
    "arguments and more": (called({"name": "f", "arguments": "{} {}"}), MALFORMED),
    "a name that is no text": (called({"name": 1, "arguments": "{}"}), MALFORMED),
    "a call of no function": (chat(tool_calls=[{"id": "c", "type": "custom", "custom": {}}]), MALFORMED),
    "a call that is text": (chat(tool_calls=["f()"]), MALFORMED),
    "calls that are no list": (chat(tool_calls={"f": 1}), (Reason.PROVIDER_ERROR, "non_json")),
    "content that is a number": (chat(1), (Reason.PROVIDER_ERROR, "non_json")),
    "a part that is text": (chat(["a"]), (Reason.PROVIDER_ERROR, "non_json")),
    "a message that is text": (
        Canned(body=b'{"choices":[{"message":"a","finish_reason":"stop"}]}'),
        (Reason.PROVIDER_ERROR, "non_json"),
    ),
    "choices that are an object": (Canned(body=b'{"choices":{"0":1}}'), (Reason.PROVIDER_ERROR, "non_json")),
    "usage that is a list": (chat("a", usage=[1]), (Reason.PROVIDER_ERROR, "non_json")),
    "upper case": (chat("a", finish="CONTENT_FILTER"), (Reason.BLOCKED, "content_filter")),
    "a cut call": (chat(tool_calls=[{"function": LOAD}], finish="length"), (Reason.TRUNCATED, "max_tokens")),
}


@pytest.mark.parametrize(("canned", "expected"), BROKEN.values(), ids=BROKEN)
def test_a_reply_without_an_answer_is_classified(canned: Canned, expected: tuple[Reason, str]) -> None:
    """By its finish reason and its shape; nothing is repaired."""
    with pytest.raises(TrialError) as caught:
        read_reply(canned.body, stage=Stage.JUDGE)
    assert (caught.value.reason, caught.value.kind, caught.value.stage) == (*expected, Stage.JUDGE)


USAGES: dict[str, tuple[Any, Usage]] = {
    "nothing told": (None, Usage(n_calls=1)),
    "an empty object": ({}, Usage(n_calls=1)),
    "thoughts within the completion": (
        {
            "prompt_tokens": 10,
            "completion_tokens": 7,
            "total_tokens": 17,
            "prompt_tokens_details": {"cached_tokens": 4},
            "completion_tokens_details": {"reasoning_tokens": 5},
        },
        Usage(input_tokens=10, output_tokens=2, thought_tokens=5, cached_tokens=4, total_tokens=17, n_calls=1),
    ),
    "thoughts beside the completion": (
        {
            "prompt_tokens": 10,
            "completion_tokens": 2,
            "total_tokens": 17,
            "completion_tokens_details": {"reasoning_tokens": 5},
        },
        Usage(input_tokens=10, output_tokens=2, thought_tokens=5, total_tokens=17, n_calls=1),
    ),
    "more thoughts than words, and no total": (
        {"completion_tokens": 2, "completion_tokens_details": {"reasoning_tokens": 5}},
        Usage(thought_tokens=5, n_calls=1),
    ),
    "no details": (
        {"prompt_tokens": 10, "completion_tokens": 7, "total_tokens": 17},
        Usage(input_tokens=10, output_tokens=7, total_tokens=17, n_calls=1),
    ),
    "no thoughts": (
        {"completion_tokens": 7, "completion_tokens_details": {"reasoning_tokens": 0}},
        Usage(output_tokens=7, thought_tokens=0, n_calls=1),
    ),
    "null details and what is no count": (
        {"prompt_tokens": -1, "completion_tokens": "7", "total_tokens": True, "prompt_tokens_details": None},
        Usage(n_calls=1),
    ),
}


@pytest.mark.parametrize(("told", "usage"), USAGES.values(), ids=USAGES)
def test_usage_means_the_same_as_with_every_provider(told: Any, usage: Usage) -> None:
    """Thoughts are no output; what is not told stays unknown."""
    assert read_reply(chat("a", usage=told).body, stage=Stage.CANDIDATE).usage == usage


def test_a_conversation_becomes_messages_in_order() -> None:
    """One message each, results in the order of the calls, what the model said as it came."""
    raw = {"role": "assistant", "content": None, "tool_calls": [{"id": "c0"}, {"id": "c1"}], "novel": [None]}
    turns = (
        UserTurn(text="été"),
        ModelTurn(text="", raw=raw),
        ToolTurn(
            results=(
                ToolResult(name="f", response={"output": "é"}, id="c0"),
                ToolResult(name="g", response={}, id="c1"),
            )
        ),
    )
    messages = build_messages("Be brief.", turns)
    assert messages == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "été"},
        raw,
        {"role": "tool", "tool_call_id": "c0", "content": '{"output": "é"}'},
        {"role": "tool", "tool_call_id": "c1", "content": "{}"},
    ]
    assert build_messages("", turns[:1]) == messages[1:2]


def test_calls_without_ids_are_told_by_their_place() -> None:
    """In a turn that no provider made, call and result have the same id."""
    calls = (ToolCall(name="f", args={"a": "é"}), ToolCall(name="g", args={}, id="own"))
    results = (ToolResult(name="f", response={}), ToolResult(name="g", response={}, id="own"))
    assistant, *told = build_messages("", (ModelTurn(text="I look.", calls=calls), ToolTurn(results=results)))
    assert assistant["content"] == "I look."
    assert [call["id"] for call in assistant["tool_calls"]] == [result["tool_call_id"] for result in told]
    assert assistant["tool_calls"][0]["function"] == {"name": "f", "arguments": '{"a": "é"}'}
    assert build_messages("", (ModelTurn(text=""),)) == [{"role": "assistant", "content": ""}]


def test_the_form_of_one_function_gets_its_result_in_that_form() -> None:
    """An endpoint that answers in the older form knows no tool messages."""
    turn = read_reply(chat(function_call=LOAD, finish="function_call").body, stage=Stage.CANDIDATE).turn
    *_, result = build_messages("", (turn, ToolTurn(results=(ToolResult(name="f", response={}),))))
    assert result == {"role": "function", "name": "f", "content": "{}"}


def test_a_message_without_a_role_goes_back_as_the_models() -> None:
    """It must not come back as the user's."""
    body = b'{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}'
    assert read_reply(body, stage=Stage.CANDIDATE).turn.raw == {"role": "assistant", "content": "a"}


def test_the_schema_is_asked_for_and_its_long_bounds_are_told_in_words() -> None:
    """Engines that compile a schema refuse large repetitions; whatever fits the schema fits what is sent."""
    schema = judge_schema([Criterion(id="c", text="t")])
    sent = build_response_format(schema)
    assert (sent["type"], sent["json_schema"]["strict"]) == ("json_schema", False)
    body = sent["json_schema"]["schema"]
    entry = body["properties"]["criteria"]["items"]
    assert "maxLength" not in json.dumps(body)
    assert entry["properties"]["evidence"] == {
        "type": "string",
        "minLength": 1,
        "description": "At most 4000 characters.",
    }
    assert list(entry["properties"]) == ["id", "reasoning", "evidence", "verdict"]
    assert schema_problems({"criteria": []}, body) != []


def test_a_property_named_like_a_keyword_is_kept() -> None:
    """Names below `properties` are the author's."""
    schema = {
        "properties": {"maxLength": {"type": "string", "maxLength": 3, "description": "A word."}},
        "enum": [{"maxLength": 1}],
    }
    assert build_response_format(schema)["json_schema"]["schema"] == {
        "properties": {"maxLength": {"type": "string", "description": "A word. At most 3 characters."}},
        "enum": [{"maxLength": 1}],
    }


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b'{"error": {"code": 502}}', {"code": 502}),
        (b'{"error": "busy"}', "busy"),
        (b'[{"error": {"code": 429}}]', {"code": 429}),
        (b'{"error": null, "choices": [{}]}', None),
        (b'{"error": {"code": 1}, "choices": [{}]}', None),
        (b'{"choices": []}', None),
        (b"[]", None),
        (b"<html>", None),
        (b"\xff", None),
        (b"", None),
    ],
)
def test_an_error_is_found_where_there_is_no_choice(body: bytes, told: Any) -> None:
    """Beside an answer it is none, and a body of another kind is no trouble."""
    assert told_error(body) == told
