"""A secret is taken out in whatever form it comes back, whole, and no cut leaves a part of it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from html import escape
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.blotting import BLOT, blot

SECRET = "QX\"y\\zK'/w+W%41&é Jü€😀<V>"
FORMS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "percent-encoded": lambda text: quote(text, safe=""),
    "percent-encoded in small letters": lambda text: quote(text, safe="").lower().replace("q", "Q"),
    "percent-encoded twice": lambda text: quote(quote(text, safe=""), safe=""),
    "as a form's value": quote_plus,
    "JSON": lambda text: json.dumps(text)[1:-1],
    "JSON of text as it is": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "JSON in JSON": lambda text: json.dumps(json.dumps(text))[3:-3],
    "JSON with escaped slashes": lambda text: json.dumps(text)[1:-1].replace("/", "\\/"),
    "JSON, all escaped": lambda text: "".join(
        f"\\u{text.encode('utf-16-be')[i : i + 2].hex()}" for i in range(0, len(text.encode("utf-16-be")), 2)
    ),
    "repr": lambda text: repr(text)[1:-1],
    "repr of bytes": lambda text: repr(text.encode())[2:-1],
    "ascii": lambda text: ascii(text)[1:-1],
    "repr of JSON": lambda text: repr(json.dumps(text))[2:-2],
    "HTML": escape,
    "HTML by numbers": lambda text: "".join(f"&#{ord(sign)};" for sign in text),
    "HTML by hexadecimals": lambda text: "".join(f"&#x{ord(sign):X};" for sign in text),
}
CASE_FOLDED = {"percent-encoded in small letters"}


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_the_secret(form: str) -> None:
    """It goes whole, and what stands around it stays."""
    secret = "ab/+%&\"'" if form in CASE_FOLDED else SECRET
    assert blot(f"key={FORMS[form](secret)}; go on", [secret]) == f"key={BLOT}; go on"


SECRETS = st.text(st.sampled_from("aZ9/+%&\\\"' -é€😀"), min_size=4, max_size=12)


@given(secret=SECRETS, forms=st.data())
def test_each_character_may_have_a_form_of_its_own(secret: str, forms: st.DataObject) -> None:
    """A text is escaped in parts: none of its characters is left."""
    each = [name for name in FORMS if name not in CASE_FOLDED]
    shown = "".join(FORMS[forms.draw(st.sampled_from(each))](sign) for sign in secret)
    assert set(blot(f"#{shown}#", [secret])) <= set(f"#{BLOT}")


@given(secret=SECRETS, form=st.sampled_from(sorted(set(FORMS) - CASE_FOLDED)), n=st.integers(0, 70))
def test_a_cut_leaves_no_part_of_a_secret(secret: str, form: str, n: int) -> None:
    """The start of the blotted text, by the definition; at most as long as asked, the last character an ellipsis."""
    text = "." * n + FORMS[form](secret) + "." * 120
    whole = "." * n + BLOT + "." * 120
    assert blot(text, [secret], max_chars=60) == whole[:59] + "…"


@pytest.mark.parametrize(
    ("text", "secrets", "blotted"),
    [
        ("a longer-key b", ["key", "longer-key"], f"a {BLOT} b"),
        ("abcXdef.", ["abcX", "Xdef"], f"{BLOT}."),
        ("abab.abab", ["abab"], f"{BLOT}.{BLOT}"),
        ("ababab.", ["abab"], f"{BLOT}."),
        ("abcd", ["ab", "cd"], f"{BLOT}{BLOT}"),
        ("none here", [], "none here"),
        ("none here", [""], "none here"),
        ("", ["key"], ""),
    ],
)
def test_secrets_that_overlap_go_together(text: str, secrets: list[str], blotted: str) -> None:
    """One in another, and one into another, leave nothing of either."""
    assert blot(text, secrets) == blotted


def test_a_short_text_is_not_cut() -> None:
    """Exactly as long as allowed, it has no ellipsis."""
    assert blot("a" * 60, ["key"], max_chars=60) == "a" * 60


@pytest.mark.parametrize(
    "text", ["\\" * 4_000_000, "%25" * 1_000_000, "a" * 4_000_000], ids=["slashes", "percent", "a"]
)
def test_a_hostile_text_takes_no_time(text: str) -> None:
    """Of what is cut off nothing is looked at."""
    began_s = time.monotonic()
    blot(text, ["ab\\%cd"], max_chars=500)
    assert time.monotonic() - began_s < 1
