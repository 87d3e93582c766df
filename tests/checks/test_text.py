"""Literal text: exact, contains, not_contains."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.checks import build_check, evaluate
from skillassay.checks.base import SpecProblem, Verdict


def passes(answer: str, **spec: Any) -> bool:
    """Whether the check passes on the answer."""
    return evaluate(build_check(spec, where="case"), answer).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("text", "answer", "options", "passed"),
    [
        ("a b", " a b\n", {}, True),
        ("a b\n", "a b", {}, True),
        ("a b", "a  b", {}, False),
        ("a b", "a  b", {"normalize": True}, True),
        ("a", "A", {}, False),
        ("Straße", "STRASSE", {"ignore_case": True}, True),
        ("« Oui »", "*oui*", {"normalize": True, "ignore_case": True}, True),
        ("", " \n", {}, True),
        ("", "a", {}, False),
        ("e\u0301", "é", {}, False),
        ("e\u0301", "é", {"normalize": True}, True),
    ],
)
def test_exact(text: str, answer: str, options: dict[str, bool], passed: bool) -> None:
    """The whole answer is the text, white space around it aside."""
    assert passes(answer, type="exact", text=text, **options) is passed


@pytest.mark.parametrize(
    ("text", "answer", "options", "found"),
    [
        ("a.b", "xa.by", {}, True),
        ("a.b", "xaXby", {}, False),
        ("Tool", "the tool", {}, False),
        ("Tool", "the tool", {"ignore_case": True}, True),
        ("ss", "Fuß", {"ignore_case": True}, True),
        ("l'été", "dans l’été", {}, False),
        ("l'été", "dans l’été", {"normalize": True}, True),
        ("un deux", "- un\n- **deux**", {"normalize": True}, True),
        ("a ", "a", {}, False),
    ],
)
def test_contains_and_its_opposite(text: str, answer: str, options: dict[str, bool], found: bool) -> None:
    """Literal, case counts unless asked otherwise; not_contains is the exact opposite."""
    assert passes(answer, type="contains", text=text, **options) is found
    assert passes(answer, type="not_contains", text=text, **options) is not found


@pytest.mark.parametrize("name", ["contains", "not_contains"])
@pytest.mark.parametrize("spec", [{"text": ""}, {"text": "`” >", "normalize": True}, {"text": "-", "normalize": True}])
def test_a_text_that_stands_in_every_answer_is_refused(name: str, spec: dict[str, Any]) -> None:
    """An empty text, or one that folding leaves nothing of, checks nothing."""
    with pytest.raises(SpecProblem, match=r"stands? in every answer"):
        build_check({"type": name, **spec}, where="case")


@pytest.mark.parametrize(
    ("spec", "answer", "evidence"),
    [
        ({"type": "contains", "text": "b"}, "a b c", "a [b] c"),
        ({"type": "contains", "text": "x"}, "a b c", "'x' stands nowhere"),
        ({"type": "not_contains", "text": "b"}, "a b c", "a [b] c"),
        ({"type": "contains", "text": "SS", "ignore_case": True}, "ßa Fuß!", "[ß]a Fuß!"),
        ({"type": "contains", "text": "FUSS!", "ignore_case": True}, "ßa Fuß!", "ßa [Fuß!]"),
        ({"type": "exact", "text": "abc"}, "abd", "the answer is not 'abc': ab[d]"),
        ({"type": "exact", "text": "abc"}, "abcd", "the answer is not 'abc': abc[d]"),
        ({"type": "exact", "text": "abc"}, "ab", "the answer is not 'abc': ab[]"),
        ({"type": "exact", "text": "ABC", "ignore_case": True}, "abd", "the answer is not 'ABC': ab[d]"),
    ],
)
def test_evidence_shows_the_deciding_span(spec: dict[str, Any], answer: str, evidence: str) -> None:
    """The span stands between brackets in its surroundings, spelled as in the answer."""
    assert evaluate(build_check(spec, where="case"), answer).evidence == evidence


@given(st.text(), st.text(min_size=1))
def test_contains_agrees_with_python(answer: str, text: str) -> None:
    """Without options the check is Python's ``in``; with ignore_case it is ``in`` on case folds."""
    assert passes(answer, type="contains", text=text) is (text in answer)
    assert passes(answer, type="contains", text=text, ignore_case=True) is (text.casefold() in answer.casefold())
