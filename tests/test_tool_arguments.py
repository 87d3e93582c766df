"""What a model may say in a tool call, and what it is told when it says something else."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.tool_arguments import (
    ARGUMENT_BYTES,
    N_ARGUMENTS,
    Refusal,
    build_script_schema,
    read_command_line,
    read_text,
)

LINES: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    ({}, ()),
    ({"args": None, "short_options": None, "positional_args": None}, ()),
    ({"args": {"title": "A B", "n": 3, "ratio": 0.5}}, ("--title", "A B", "--n", "3", "--ratio", "0.5")),
    ({"args": {"fast": True, "slow": False, "other": None}}, ("--fast",)),
    ({"args": {"v": ""}}, ("--v", "")),
    ({"args": ["-x", "a;b", "$(c)"]}, ("-x", "a;b", "$(c)")),
    ({"args": [1, 2.5]}, ("1", "2.5")),
    ({"short_options": {"n": 1, "q": True}}, ("-n", "1", "-q")),
    ({"positional_args": ["--not-an-option"]}, ("--", "--not-an-option")),
    ({"args": {"k": "v"}, "short_options": {"n": 1}, "positional_args": ["p"]}, ("--k", "v", "-n", "1", "--", "p")),
]


@pytest.mark.parametrize(("args", "line"), LINES)
def test_arguments_become_a_list(args: dict[str, Any], line: tuple[str, ...]) -> None:
    """Objects give options, lists are taken as they are, nothing is split or expanded."""
    assert read_command_line(args) == line


@pytest.mark.parametrize("args", [args for args, _ in LINES if None not in args.values()])
def test_what_is_understood_is_what_is_declared(args: dict[str, Any]) -> None:
    """The declared schema admits what the reader reads (numbers in a list are a kindness)."""
    if args == {"args": [1, 2.5]}:
        return
    jsonschema.validate({"skill_name": "a", "file_path": "x.py", **args}, build_script_schema(["a"]))


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"args": "--k v"}, "'args' must be a JSON object"),
        ({"args": 3}, "'args' must be a JSON object"),
        ({"args": ["a"], "short_options": {"n": 1}}, "when 'args' is a list"),
        ({"args": ["a"], "positional_args": ["b"]}, "when 'args' is a list"),
        ({"short_options": ["n"]}, "'short_options' must be a JSON object"),
        ({"positional_args": "p"}, "'positional_args' must be a list"),
        ({"args": {"k": ["a"]}}, "'args.k' must be a string or a number"),
        ({"args": {"k": {"a": 1}}}, "'args.k' must be a string or a number"),
        ({"args": [None]}, r"'args\[0\]' must be a string or a number"),
        ({"args": [True]}, r"'args\[0\]' must be a string or a number"),
        ({"args": {"--k": "v"}}, "without dashes"),
        ({"args": {"": "v"}}, "not an option's name"),
        ({"args": {"a b": "v"}}, "not an option's name"),
        ({"args": {"k\n": "v"}}, "not an option's name"),
        ({"args": {1: "v"}}, "not an option's name"),
        ({"args": ["a\0b"]}, "NUL"),
        ({"args": {"k": "a\0b"}}, "NUL"),
        ({"args": ["\ud800"]}, "lone surrogate"),
        ({"args": ["x"] * (N_ARGUMENTS + 1)}, "too many"),
        ({"args": ["é" * (ARGUMENT_BYTES // 2 + 1)]}, "too long"),
        ({"args": {"k": 10**5000}}, "bits"),
    ],
)
def test_wrong_arguments_are_refused_in_words(args: dict[str, Any], words: str) -> None:
    """Each mistake is named; all have one code."""
    with pytest.raises(Refusal, match=words) as refusal:
        read_command_line(args)
    assert refusal.value.code == "INVALID_ARGUMENTS"


@pytest.mark.parametrize(
    ("args", "words"),
    [({}, "is required"), ({"name": None}, "is required"), ({"name": ""}, "is required"), ({"name": 1}, "got int")],
)
def test_required_text_is_asked_for(args: dict[str, Any], words: str) -> None:
    """Missing, null, empty and not text are refused."""
    with pytest.raises(Refusal, match=words):
        read_text(args, "name")


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(["args", "short_options", "positional_args"]), anything))
def test_any_arguments_give_a_safe_list_or_a_refusal(args: dict[str, Any]) -> None:
    """No value a model can send raises anything else, or yields what no program can be given."""
    try:
        line = read_command_line(args)
    except Refusal:
        return
    assert all("\0" not in word and word.encode() is not None for word in line)
