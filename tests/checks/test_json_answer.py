"""Answers that are JSON: json_valid and json_equal."""

from __future__ import annotations

import json
import random
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from skillassay.checks import build_check, evaluate, verify_samples
from skillassay.checks.base import CheckFault, SpecProblem, Verdict

SCALARS = st.one_of(
    st.sampled_from([None, True, False, 0, 1, 2, -1, 1.0, 0.5, 0.0, 10**20, "", "1", "a"]), st.integers(), st.text()
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
)


def passes(answer: str, **spec: Any) -> bool:
    """Whether the check passes on the answer."""
    return evaluate(build_check(spec, where="case"), answer).verdict is Verdict.PASS


@pytest.mark.parametrize("answer", ["{}", ' [1, "a"]\n', "null", "5", '"text"', "1e5", '{"a": {"b": [true]}}'])
def test_a_whole_answer_that_is_json_is_valid(answer: str) -> None:
    """Any JSON value will do, white space around it too."""
    assert passes(answer, type="json_valid")


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "text",
        "Here: {}",
        "{} {}",
        '{"a": 1,}',
        "{'a': 1}",
        '{"a": 1, "a": 2}',
        "NaN",
        "[Infinity]",
        "1e999",
        '"\\ud800"',
        "[" * 70 + "]" * 70,
        "[" * 100_000,
        "01",
        "```json\n{}\n```",
        "\ufeff{}",
        "1e-99999999999999999999999 x",
    ],
)
def test_what_is_not_strict_json_fails(answer: str) -> None:
    """Nothing is cut out, nothing repaired; and what cannot be read is equal to nothing."""
    assert not passes(answer, type="json_valid")
    assert not passes(answer, type="json_equal", value={})


@pytest.mark.parametrize(
    ("answer", "passed"),
    [
        ("{}", True),
        ("```json\n{}\n```", True),
        ("```\r\n{}\r\n```\r\n", True),
        ("~~~\n{\n}\n~~~", True),
        ("Here:\n```json\n{}\n```", False),
        ("```json\n{}\n```\nDone.", False),
        ("```json\n{}\n```\n```json\n{}\n```", False),
        ("```json\n```", False),
        ("```json\n{}", False),
    ],
)
def test_a_fence_is_allowed_only_around_the_whole_answer(answer: str, passed: bool) -> None:
    """Allowing it salvages no prose."""
    assert passes(answer, type="json_valid", fence="allow") is passed
    assert passes(answer, type="json_equal", value={}, fence="allow") is passed


@pytest.mark.parametrize(
    ("schema", "answer", "passed"),
    [
        ({"type": "integer"}, "1.0", True),
        ({"type": "integer"}, "true", False),
        ({"pattern": r"^\p{Lu}"}, '"Été"', True),
        ({"pattern": r"^\p{Lu}"}, '"été"', False),
        ({"pattern": "x"}, "5", True),
        ({"propertyNames": {"pattern": "^a"}}, '{"b": 1}', False),
        ({"uniqueItems": True}, "[1, true, [1], {}]", True),
        ({"uniqueItems": True}, "[1, 1.0]", False),
        ({"uniqueItems": True}, '[{"a": [1]}, {"a": [1]}]', False),
        ({"$defs": {"n": {"type": "number"}}, "items": {"$ref": "#/$defs/n"}}, "[1]", True),
        ({"$defs": {"n": {"type": "number"}}, "items": {"$ref": "#/$defs/n"}}, '["1"]', False),
        ({"properties": {"a": {"$ref": "#"}}, "type": "object"}, '{"a": {"a": 5}}', False),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"const": 1}]}, "[1, 2]", True),
        (False, "1", False),
    ],
)
def test_a_schema_decides(schema: Any, answer: str, passed: bool) -> None:
    """Drafts, references inside the schema, our own dialect of patterns."""
    assert passes(answer, type="json_valid", schema=schema) is passed


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "number", "minimum": "1"}, "not a JSON Schema: at \\$.minimum"),
        ({"pattern": "[z-a]"}, "cannot be compiled"),
        ({"$ref": "https://example.org/schema.json"}, "leads nowhere in this schema; nothing is fetched"),
        ({"items": {"$ref": "#/$defs/gone"}}, "'#/\\$defs/gone' leads nowhere"),
        ({"patternProperties": {"a": {}}}, "use propertyNames"),
        ({"const": {1}}, "not JSON"),
        ({"items": {"$schema": "https://json-schema.org/draft/2020-12/schema"}}, r"\$schema below the top"),
    ],
)
def test_an_unusable_schema_is_refused(schema: Any, message: str) -> None:
    """Told when the check is built, not in the middle of a run."""
    with pytest.raises(SpecProblem, match=message):
        build_check({"type": "json_valid", "schema": schema}, where="case")


def test_a_hanging_pattern_in_a_schema_is_no_verdict() -> None:
    """The time limit holds there too."""
    check = build_check({"type": "json_valid", "schema": {"pattern": "(a|aa)+$"}}, where="case")
    with pytest.raises(CheckFault, match="ran over"):
        evaluate(check, json.dumps("a" * 60 + "b"))


NODE = {
    "anyOf": [
        {"type": "object", "properties": {"left": {"$ref": "#/$defs/node"}}, "required": ["left", "kind"]},
        {"type": "object", "properties": {"left": {"$ref": "#/$defs/node"}}, "required": ["left", "op"]},
        {"type": "string"},
    ]
}


def doubling(word: str, *, n: int = 25) -> dict[str, Any]:
    """A chain of definitions, each applying the next one twice under ``word``."""
    names = [{"$ref": f"#/$defs/c{i + 1}"} for i in range(n)]
    both: Any = [lambda one: [one, one], lambda one: {"a": one, "b": one}][word in {"dependentSchemas", "dependencies"}]
    chain = {f"c{i}": {word: both(one)} for i, one in enumerate(names)}
    return {"$ref": "#/$defs/c0", "$defs": chain | {f"c{n}": {"type": "string"}}}


@pytest.mark.parametrize("draft", [None, "http://json-schema.org/draft-07/schema#"])
@pytest.mark.parametrize("root", [{"$ref": "#/$defs/node"}, NODE], ids=["by reference", "at the top"])
def test_alternatives_on_a_nested_answer_end(root: Any, draft: str | None) -> None:
    """A recursive schema takes exponential time on a hostile answer; past the budget there is no verdict."""
    schema = {**root, "$defs": {"node": NODE}} | ({"$schema": draft} if draft else {})
    check = build_check({"type": "json_valid", "schema": schema}, where="case")
    start = time.thread_time()
    with pytest.raises(CheckFault, match=r"^the schema (took over 100000 steps|ran over 1 s) on this answer"):
        evaluate(check, '{"left":' * 40 + "1" + "}" * 40)
    assert time.thread_time() - start < 5
    assert evaluate(check, '"leaf"').verdict is Verdict.PASS


def test_a_schema_that_comes_back_to_its_own_draft_stays_bounded() -> None:
    """``$schema`` at the top must not hand a reference to the top over to a validator without limits."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "properties": {"a": {"$ref": "#"}}}
    check = build_check({"type": "json_valid", "schema": {**schema, "pattern": "(a|aa)+$"}}, where="case")
    with pytest.raises(CheckFault, match="ran over"):
        evaluate(check, json.dumps({"a": "a" * 60 + "b"}))


@pytest.mark.parametrize(
    "schema",
    [
        *(doubling(word) for word in ("anyOf", "oneOf", "allOf", "dependentSchemas")),
        {"$schema": "http://json-schema.org/draft-07/schema#"} | doubling("dependencies"),
        {"unevaluatedProperties": False} | doubling("dependentSchemas"),
        {"unevaluatedItems": False} | doubling("allOf"),
    ],
    ids=lambda schema: "-".join(word for word in [*schema, *schema["$defs"]["c0"]] if word.isalpha()),
)
def test_schemas_that_multiply_end(schema: Any) -> None:
    """Whatever keyword doubles the work, there is no verdict, in time; and a sample says so."""
    start = time.thread_time()
    samples = {"pass": ['{"a": 1, "b": 1}']}
    (message,) = verify_samples(build_check({"type": "json_valid", "schema": schema, "samples": samples}, where="case"))
    assert time.thread_time() - start < 5
    assert "cannot be decided: the schema" in message


def test_many_unevaluated_values_are_no_verdict() -> None:
    """Each is compared with all the others."""
    check = build_check({"type": "json_valid", "schema": {"unevaluatedProperties": {"type": "integer"}}}, where="case")
    assert evaluate(check, json.dumps(dict.fromkeys(map(str, range(2_000)), 1))).verdict is Verdict.PASS
    with pytest.raises(CheckFault, match="unevaluatedProperties is applied to 2001 values"):
        evaluate(check, json.dumps(dict.fromkeys(map(str, range(2_001)), 1)))


def test_a_large_plain_answer_is_within_the_budget() -> None:
    """Five thousand records of three fields."""
    fields = {"id": {"type": "integer"}, "name": {"type": "string"}, "tags": {"maxItems": 3}}
    schema = {"items": {"type": "object", "properties": fields, "required": ["id"]}}
    answer = json.dumps([{"id": i, "name": "x", "tags": ["y"]} for i in range(5_000)])
    assert passes(answer, type="json_valid", schema=schema)


def test_evidence_names_the_place() -> None:
    """Where the schema, the syntax or the equality breaks."""
    schema = {"properties": {"a": {"items": {"type": "number"}}}}
    valid = build_check({"type": "json_valid", "schema": schema}, where="case")
    assert evaluate(valid, '{"a": [1, "x"]}').evidence == "at $.a[1]: 'x' is not of type 'number'"
    assert "not one JSON value: line 2: " in evaluate(valid, "{\n,}").evidence


@pytest.mark.parametrize(
    ("value", "answer", "evidence"),
    [
        ({"a": [1, {"b": 2}]}, '{"a": [1, {"b": 3}]}', "at $.a[1].b: 3, wanted 2"),
        ({"a": 1}, '{"b": 1}', "at $: missing keys ['a'], extra keys ['b']"),
        ([1, 2], "[1]", "at $: 1 items, wanted 2"),
        (True, "1", "at $: 1, wanted true"),
        (None, "[]", "at $: an array, wanted null"),
        ("a", '"b"', 'at $: "b", wanted "a"'),
    ],
)
def test_the_first_difference_is_shown(value: Any, answer: str, evidence: str) -> None:
    """With its path and both sides."""
    assert evaluate(build_check({"type": "json_equal", "value": value}, where="case"), answer).evidence == evidence


@pytest.mark.parametrize(
    ("value", "answer", "equal"),
    [
        (1, "1.0", True),
        (1, "1e0", True),
        (196.80, "196.8", True),
        (0.1, "0.10000000000000000001", False),
        (0.0, "-0.0", True),
        (2**53, "9007199254740993", False),
        (2**53, "9007199254740992.0", True),
        (True, "1", False),
        (0, "false", False),
        (1, '"1"', False),
        (0, "1e-400", False),
        (0, "1e-99999999999999999999999", False),
    ],
)
def test_numbers_are_exact_decimals(value: Any, answer: str, equal: bool) -> None:
    """As written: no rounding to a float, no truth value as a number."""
    assert passes(answer, type="json_equal", value=value) is equal


@given(VALUES, VALUES)
def test_equality_agrees_with_json_schema(value: Any, other: Any) -> None:
    """``const`` of an independent implementation says the same of any two values, and of a value and itself."""
    assert passes(json.dumps(value), type="json_equal", value=value)
    oracle = Draft202012Validator({"const": value}).is_valid(other)
    assert passes(json.dumps(other), type="json_equal", value=value) is oracle


@given(st.lists(VALUES, max_size=5), st.randoms(use_true_random=False))
def test_order_counts_only_without_ignore_order(items: list[Any], chance: random.Random) -> None:
    """A shuffled array is equal, at depth too; one item fewer or twice is not."""
    shuffled = chance.sample(items, len(items))
    assert passes(json.dumps({"a": [shuffled]}), type="json_equal", value={"a": [items]}, ignore_order=True)
    assert not passes(json.dumps([*shuffled, 7]), type="json_equal", value=items, ignore_order=True)


def test_ignoring_order_counts_items() -> None:
    """A multiset, not a set; and 1 is not true there either."""
    assert not passes("[1, 1, 2]", type="json_equal", value=[1, 2, 2], ignore_order=True)
    assert not passes("[true, 2]", type="json_equal", value=[1, 2], ignore_order=True)
    assert not passes("[2, 1]", type="json_equal", value=[1, 2])


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, {5: 1}])
def test_a_value_that_is_not_json_is_refused(value: Any) -> None:
    """YAML knows values that JSON does not."""
    with pytest.raises(SpecProblem, match="value is not a JSON value"):
        build_check({"type": "json_equal", "value": value}, where="case")
