"""Public bug reports of kind ``regex``, one table row a test; inputs under ``tests/data/public/regex``.

Each test's name carries the report. Where our rules differ from the wish of a report, the test says which rule.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillassay.checks import CHECK_TYPES, build_check, evaluate, has_both_samples, verify_samples
from skillassay.checks.base import CheckFault, SpecProblem, Verdict

DATA = Path(__file__).parent.parent / "data" / "public" / "regex"


def rows(case_id: str) -> list[Any]:
    """The rows of one report, each under its own label."""
    (path,) = (DATA / case_id).iterdir()
    entries = json.loads(path.read_text(encoding="utf-8"))
    return [pytest.param(entry, id=f"{case_id}-{index}") for index, entry in enumerate(entries)]


def judge(answer: str, **spec: Any) -> tuple[bool, str]:
    """Whether the check passes, and its evidence."""
    result = evaluate(build_check(spec, where="case"), answer)
    return result.verdict is Verdict.PASS, result.evidence


def test_every_report_is_used() -> None:
    """No folder of inputs lies here unread."""
    used = {"aca-1737", "adk-6080", "cuopt-1166", "evoskill-55", "inspect-1622", "inspect-4742", "pinchy-731"}
    assert {path.name for path in DATA.iterdir()} == used | {"promptfoo-2116", "promptfoo-9756", "skillsaw-316"}


@pytest.mark.parametrize("row", rows("aca-1737"))
def test_aca_1737_evidence_shows_the_span_and_case_counts_when_asked(row: dict[str, Any]) -> None:
    """A warning against a forbidden text still fails, with the span in context; literals respect case by default."""
    if "must_not" in row:
        assert judge(row["text"], type="not_regex", pattern=row["must_not"]) == (
            False,
            "Never type plain `[foo login]` on this host.",
        )
    elif row.get("literal"):
        assert judge(row["text"], type="contains", text=row["must"])[0] is False
        assert judge(row["text"], type="contains", text=row["must"], ignore_case=True)[0] is True
    else:
        assert judge(row["text"], type="regex", pattern=row["must"])[0] is True


@pytest.mark.parametrize("row", rows("adk-6080"))
def test_adk_6080_decoration_is_folded_when_asked(row: dict[str, Any]) -> None:
    """With normalize the texts are equal; without, they are equal only as they stand."""
    assert judge(row["got"], type="exact", text=row["want"], normalize=True)[0] is row["match_normalised"]
    assert judge(row["got"], type="exact", text=row["want"])[0] is (row["got"] == row["want"])


@pytest.mark.parametrize("row", rows("cuopt-1166"))
def test_cuopt_1166_a_pattern_matches_as_in_re(row: dict[str, Any]) -> None:
    """Our dialect agrees with re here."""
    assert judge(row["text"], type="regex", pattern=row["pattern"])[0] is row["python_re"]


def test_cuopt_1166_samples_show_a_dead_pattern() -> None:
    """The pattern that never matches before a quote is found out by its sample, before any run."""
    spec = {"type": "not_regex", "pattern": r"\b(no\s|not\s)\b", "samples": {"pass": ["call rm"], "fail": ['not "x"']}}
    assert has_both_samples(spec)
    assert len(verify_samples(build_check(spec, where="case"))) == 1


NOTATIONS: dict[str, dict[str, str]] = {
    "de": {"decimal": ",", "group": "."},
    "de_CH": {"decimal": ".", "group": "'"},
    "en": {"decimal": ".", "group": ","},
    "en_IN": {"decimal": ".", "group": ",", "grouping": "indian"},
    "fr": {"decimal": ",", "group": " "},
    "ar": {"decimal": ","},
    "ja": {"decimal": "."},
}


@pytest.mark.parametrize("row", rows("evoskill-55"))
def test_evoskill_55_numbers_are_read_as_declared(row: dict[str, Any]) -> None:
    """Each locale of the report as a declared notation; without one the check cannot be built."""
    spec = {"type": "numeric_range", "min": row["number"], "max": row["number"]}
    assert judge(row["text"], **spec, **NOTATIONS[row["locale"]])[0] is row["match"]
    with pytest.raises(SpecProblem, match="missing key 'decimal'"):
        build_check(spec, where="case")


@pytest.mark.parametrize("row", rows("inspect-1622"))
def test_inspect_1622_a_percentage_is_no_plain_number(row: dict[str, Any]) -> None:
    """``percent`` reads percentages and nothing else; rows marked policy (60 for 60 %, 0.6 for 60 %, the word) fail."""
    wanted = str(row.get("expect") or row["number"])
    percent, number = wanted.endswith("%"), int(wanted.rstrip("%"))
    spec = {"type": "numeric_range", "min": number, "max": number, "decimal": "."}
    assert judge(row["text"], **spec, percent=percent)[0] is row.get("match", False)


def test_inspect_1622_no_other_number_is_used() -> None:
    """Asked for a percentage, 240 is not there; asked for a number, 15 % is not there."""
    for number, percent in ((240, True), (15, False)):
        spec = {"type": "numeric_range", "min": number, "max": number, "decimal": ".", "percent": percent}
        assert judge("It is 15% of 240", **spec)[0] is False


@pytest.mark.parametrize("row", rows("inspect-4742"))
@pytest.mark.parametrize("group", ["", " ", ","])
def test_inspect_4742_edge_punctuation_does_not_matter(row: dict[str, Any], group: str) -> None:
    """Around the number it is ignored, inside it is not."""
    spec = {"type": "numeric_range", "min": row["number"], "max": row["number"], "decimal": ".", "group": group}
    assert judge(row["text"], **spec)[0] is row["match"]


@pytest.mark.parametrize("row", rows("pinchy-731"))
def test_pinchy_731_a_claim_may_have_an_excuse(row: dict[str, Any]) -> None:
    """The bare pattern finds the hedge too; ``unless`` excuses it, and both spans are shown."""
    assert judge(row["text"], type="regex", pattern=row["pattern"])[0] is row["python_re"]
    spec = {"type": "regex", "pattern": row["pattern"], "unless": r"\bnot\b|\bcan't\b"}
    found, evidence = judge(row["text"], **spec)
    assert found is row["wanted"]
    assert "nvoice was" in evidence
    assert " but for " in evidence


IN_OUR_DIALECT = {"(?P<n>a)(?P<n>b)", "(?<=a+)b", r"\p{L}+", "(?<name>x)"}


@pytest.mark.parametrize("pattern", rows("promptfoo-2116"))
def test_promptfoo_2116_a_broken_pattern_is_refused_when_built(pattern: str) -> None:
    """With place and position. The report counts four more as broken: they are valid in the dialect of ``regex``."""
    spec = {"type": "regex", "pattern": pattern}
    if pattern in IN_OUR_DIALECT:
        assert build_check(spec, where="case 'c', check 3").type == "regex"
        return
    with pytest.raises(SpecProblem, match=r"^case 'c', check 3: pattern: .* at position \d+$"):
        build_check(spec, where="case 'c', check 3")


@pytest.mark.parametrize("row", rows("promptfoo-9756"))
def test_promptfoo_9756_no_type_guesses_a_refusal(row: dict[str, Any]) -> None:
    """An author's own phrase decides, and a curly apostrophe equals a straight one when folded."""
    spec = {"type": "contains", "text": "I can't assist with", "normalize": True}
    assert judge(row["text"], **spec)[0] is row["refusal"]
    assert not [name for name in CHECK_TYPES if "refus" in name]


@pytest.mark.parametrize("row", rows("skillsaw-316"))
@pytest.mark.parametrize("name", ["regex", "not_regex"])
def test_skillsaw_316_nested_quantifiers_end(row: dict[str, Any], name: str) -> None:
    """A right verdict (the text does not match) or none; and the next check on the same text decides."""
    try:
        passed = judge(row["text"], type=name, pattern=row["pattern"])[0]
    except CheckFault as fault:
        assert "ran over" in str(fault)  # noqa: PT017 - either end is right, and this is one of them
    else:
        assert passed is (name == "not_regex")
    assert judge(row["text"], type="contains", text=row["text"])[0] is True
