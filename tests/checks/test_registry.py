"""The registry: what a specification may say, what is told about a wrong one, plug-ins, samples, limits."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

from skillassay import checks
from skillassay.checks import CHECK_TYPES, build_check, evaluate, has_both_samples, verify_samples
from skillassay.checks.base import CheckFault, SpecProblem, Verdict
from skillassay.patterns import MAX_TEXT_CHARS

MINIMAL: dict[str, dict[str, Any]] = {
    "exact": {"text": "a"},
    "contains": {"text": "a"},
    "not_contains": {"text": "a"},
    "regex": {"pattern": "a"},
    "not_regex": {"pattern": "a"},
    "json_valid": {},
    "json_equal": {"value": 1},
    "numeric_range": {"min": 1, "decimal": "."},
    "line_count": {"min": 1},
}


def test_every_type_is_in_the_table() -> None:
    """The table below covers all built-in types."""
    assert MINIMAL.keys() == CHECK_TYPES.keys()


@pytest.mark.parametrize("name", MINIMAL)
def test_every_type_takes_the_common_fields(name: str) -> None:
    """Id, samples and note are fields of every type, and the id is the result's."""
    spec = {"id": "one", "type": name, "note": "n", "samples": {"pass": [], "fail": []}, **MINIMAL[name]}
    check = build_check(spec, where="case")
    assert (check.check_id, check.type, evaluate(check, "1").check_id) == ("one", name, "one")


@pytest.mark.parametrize("name", MINIMAL)
def test_every_type_refuses_an_unknown_key(name: str) -> None:
    """A misspelt field is told with the fields that exist."""
    with pytest.raises(SpecProblem, match=r"^case 'c': unknown key 'colour', known are id, type, note, samples"):
        build_check({"type": name, "colour": "red", **MINIMAL[name]}, where="case 'c'")


@pytest.mark.parametrize(("name", "key"), [(name, key) for name, fields in MINIMAL.items() for key in fields])
def test_a_missing_field_is_told(name: str, key: str) -> None:
    """No type can do without any field of its minimal specification; bounds are asked for in words."""
    fields = {other: value for other, value in MINIMAL[name].items() if other != key}
    with pytest.raises(SpecProblem, match=f"missing key '{key}'|give min, max or both"):
        build_check({"type": name, **fields}, where="case")


def test_the_id_defaults_to_the_type() -> None:
    """A lone check needs no name of its own."""
    assert build_check({"type": "contains", "text": "a"}, where="case").check_id == "contains"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({}, "missing key 'type'"),
        ({"type": 5}, "type: 5 is not a text"),
        ({"type": "contain"}, "unknown type 'contain', known are contains, exact, .* did you mean 'contains'"),
        ({"type": "llm_judge", "text": "x"}, "rubric"),
        ({"type": "exact", "text": 5}, "text: 5 is not of type 'string'"),
        ({"type": "exact", "text": None}, "text: None is not of type 'string'"),
        ({"type": "line_count", "min": True}, "min: True is not of type 'integer'"),
        ({"type": "exact", "text": "a", "samples": {"pass": "a"}}, "samples.pass: 'a' is not of type 'array'"),
        ({"type": "exact", "text": "a", "samples": {"good": []}}, "samples: Additional properties"),
        ({"type": "exact", "text": "a", "id": ""}, "id: '' should be non-empty"),
        ({"type": "exact", "text": "a", 5: "x"}, "unknown key '5'"),
    ],
)
def test_a_wrong_specification_is_refused(spec: dict[str, Any], message: str) -> None:
    """Each problem names key and value."""
    with pytest.raises(SpecProblem, match=message):
        build_check(spec, where="case")


def test_all_problems_are_told_at_once() -> None:
    """Unknown, missing and wrongly typed keys come in one message."""
    with pytest.raises(SpecProblem) as caught:
        build_check({"type": "regex", "patern": "x", "unless": 1, "normalize": "yes"}, where="case 'c', check 2")
    for part in (
        "case 'c', check 2: ",
        "unknown key 'patern'",
        "missing key 'pattern'",
        "unless: 1",
        "normalize: 'yes'",
    ):
        assert part in str(caught.value)


def test_samples_that_come_out_otherwise_are_told() -> None:
    """A pattern that misses its sample, and one that hits the counter-sample; right ones are not mentioned."""
    samples = {"pass": ["do not run", 'do not "run"'], "fail": ["run", "is not dead"]}
    check = build_check({"type": "regex", "pattern": r"\bnot\s\b", "samples": samples}, where="case")
    messages = verify_samples(check)
    assert len(messages) == 2
    assert messages[0].startswith("pass sample 'do not \"run\"' comes out as FAIL: no match")
    assert messages[1].startswith("fail sample 'is not dead' comes out as PASS: is [not ]dead")


def test_a_sample_that_cannot_be_decided_is_told() -> None:
    """A limit met on a sample is neither pass nor fail."""
    spec = {"type": "contains", "text": "a", "samples": {"pass": ["a" * (MAX_TEXT_CHARS + 1)]}}
    (message,) = verify_samples(build_check(spec, where="case"))
    assert "cannot be decided: answer of 1000001 characters is over the limit" in message


@pytest.mark.parametrize(
    ("samples", "both"),
    [
        (None, False),
        ({}, False),
        ({"pass": ["a"]}, False),
        ({"pass": ["a"], "fail": []}, False),
        ({"pass": ["a"], "fail": ["b"]}, True),
    ],
)
def test_both_kinds_of_samples(samples: Any, both: bool) -> None:
    """One kind alone notices only half of the mistakes."""
    spec = {"type": "contains", "text": "a"} | ({} if samples is None else {"samples": samples})
    assert has_both_samples(spec) is both
    assert verify_samples(build_check(spec, where="case")) == []


@pytest.mark.parametrize("name", MINIMAL)
def test_an_answer_over_the_limit_is_no_verdict(name: str) -> None:
    """The limit holds for every type."""
    check = build_check({"type": name, **MINIMAL[name]}, where="case")
    with pytest.raises(CheckFault, match="over the limit"):
        evaluate(check, "1" * (MAX_TEXT_CHARS + 1))


def test_a_hanging_pattern_is_no_verdict_and_blocks_no_other_check() -> None:
    """The fault is its own; the next check on the same answer decides."""
    answer = "a" * 60 + "b"
    with pytest.raises(CheckFault, match=r"ran over 1 s"):
        evaluate(build_check({"type": "not_regex", "pattern": "(a|aa)+$"}, where="case"), answer)
    assert evaluate(build_check({"type": "regex", "pattern": "b$"}, where="case"), answer).verdict is Verdict.PASS


def test_evidence_is_one_short_line() -> None:
    """Neither line ends nor an endless match get into a table."""
    check = build_check({"type": "regex", "pattern": r"(?s)a.*"}, where="case")
    evidence = evaluate(check, "a\n" * 5000).evidence
    assert len(evidence) == checks.MAX_EVIDENCE_CHARS
    assert "\n" not in evidence


PLUGIN = """
    from skillassay.checks.base import CheckFault, SpecProblem

    def build(spec):
        if "word" not in spec:
            raise SpecProblem("missing key 'word'")
        def run(answer):
            if answer == "limit":
                raise CheckFault("over its limit")
            if answer == "bug":
                raise KeyError("oops")
            return spec["word"] in answer, "looked for " + spec["word"]
        return run

    NOT_A_FUNCTION = 5
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed distribution that offers check types, one of them with a built-in name."""
    (tmp_path / "assay_words.py").write_text(textwrap.dedent(PLUGIN), encoding="utf-8")
    info = tmp_path / "assay_words-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: assay-words\nVersion: 1.0\n", encoding="utf-8")
    points = "word = assay_words:build", "odd = assay_words:NOT_A_FUNCTION", "gone = assay_words:missing"
    text = "\n".join(["[skillassay.checks]", *points, "exact = assay_words:missing", ""])
    (info / "entry_points.txt").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("plugin")
def test_a_plug_in_adds_a_type() -> None:
    """Its builder sees the specification; id, samples and note are ours."""
    spec = {"id": "w", "type": "word", "word": "oui", "samples": {"pass": ["oui"], "fail": ["non"]}}
    check = build_check(spec, where="case")
    assert verify_samples(check) == []
    assert evaluate(check, "oui").evidence == "looked for oui"


@pytest.mark.usefixtures("plugin")
@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"type": "word"}, "^case: missing key 'word'"),
        ({"type": "word", "word": "a", "note": 5}, "note: 5 is not of type 'string'"),
        ({"type": "odd"}, "is no function: assay_words:NOT_A_FUNCTION"),
        ({"type": "gone"}, "cannot be loaded: .*missing"),
    ],
)
def test_a_plug_in_that_cannot_be_used_is_told(spec: dict[str, Any], message: str) -> None:
    """Loading and building end in the same error as a wrong built-in specification."""
    with pytest.raises(SpecProblem, match=message):
        build_check(spec, where="case")


@pytest.mark.usefixtures("plugin")
@pytest.mark.parametrize(("answer", "message"), [("limit", "over its limit"), ("bug", "broke: KeyError: 'oops'")])
def test_a_plug_in_that_breaks_gives_no_verdict(answer: str, message: str) -> None:
    """Foreign code cannot end a run."""
    with pytest.raises(CheckFault, match=message):
        evaluate(build_check({"type": "word", "word": "a"}, where="case"), answer)


@pytest.mark.usefixtures("plugin")
def test_a_built_in_type_wins_without_a_look_at_plug_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken plug-in named ``exact`` is never met."""
    monkeypatch.setattr("importlib.metadata.entry_points", None)
    assert build_check({"type": "exact", "text": "a"}, where="case").type == "exact"
