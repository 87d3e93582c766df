"""Versions: what is SemVer, what comes next, what was probably meant."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.versions import Part, compare_versions, is_semver, next_version, parse_version, suggest_version

NUMBERS = st.integers(0, 10**6)
IDENTIFIERS = st.from_regex(r"(?:0|[1-9][0-9]{0,5}|[0-9]*[A-Za-z-][0-9A-Za-z-]{0,5})", fullmatch=True)
SUFFIXES = st.lists(IDENTIFIERS, min_size=1, max_size=3).map(lambda ids: "-" + ".".join(ids))
VERSIONS = st.builds(
    lambda numbers, suffix: ".".join(map(str, numbers)) + suffix,
    st.tuples(NUMBERS, NUMBERS, NUMBERS),
    st.one_of(st.just(""), SUFFIXES),
)


@pytest.mark.parametrize("text", ["0.0.0", "1.2.3", "1.0.0-alpha.1", "1.0.0+build.5", "2.8.13-canary.8", "1.0.0-0a"])
def test_semver_is_accepted(text: str) -> None:
    """Versions of the SemVer grammar are versions, and stay as written."""
    assert str(parse_version(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "1.0",
        "v1.0.0",
        "01.2.3",
        "1.2.3-01",
        "1.2.3\n",
        " 1.2.3",
        "1.٢.3",
        "1.2.3.4",
        "2.x.x",
        "1.2.3-",
        "9" * 300,
    ],
)
def test_everything_else_is_not_a_version(text: str) -> None:
    """Blanks, a leading v, missing numbers, leading zeros and other scripts' digits are no SemVer."""
    assert not is_semver(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.0", "1.0.0"),
        ("1.10", "1.10.0"),
        ("v1", "1.0.0"),
        ("V0.9.0", "0.9.0"),
        ("3", "3.0.0"),
        ("2026.06.03", "2026.6.3"),
        ("26.08.00", "26.8.0"),
        ("v4.0-commercial", "4.0.0-commercial"),
        (" 1.2 ", "1.2.0"),
        ("2.x.x", None),
        ("245b3bbb", None),
        ("1.2.3.4", None),
        ("latest", None),
        ("", None),
        ("1.٢", None),
        ("1.0-01", None),
    ],
)
def test_suggestions_for_forms_met_in_public_skills(text: str, expected: str | None) -> None:
    """Two-part, prefixed and calendar versions have one reading; words and hashes have none."""
    assert suggest_version(text) == expected


@pytest.mark.parametrize(
    ("text", "patch", "minor", "major"),
    [
        ("1.2.3", "1.2.4", "1.3.0", "2.0.0"),
        ("0.1.0", "0.1.1", "0.2.0", "1.0.0"),
        ("1.2.3+b5", "1.2.4", "1.3.0", "2.0.0"),
        ("1.2.3-rc.1", "1.2.3", "1.3.0", "2.0.0"),
        ("2.0.0-rc.1", "2.0.0", "2.0.0", "2.0.0"),
    ],
)
def test_next_version(text: str, patch: str, minor: str, major: str) -> None:
    """The lower numbers are reset, and a pre-release leads to the number it names."""
    assert (next_version(text, Part.PATCH), next_version(text, Part.MINOR), next_version(text, Part.MAJOR)) == (
        patch,
        minor,
        major,
    )


def test_precedence_follows_the_example_of_the_specification() -> None:
    """SemVer 2.0.0, section 11.4: the published chain is strictly rising."""
    suffixes = ("-alpha", "-alpha.1", "-alpha.beta", "-beta", "-beta.2", "-beta.11", "-rc.1", "")
    chain = [f"1.0.0{suffix}" for suffix in suffixes]
    assert all(compare_versions(low, high) == -1 for low, high in itertools.pairwise(chain))


def test_build_metadata_has_no_rank() -> None:
    """SemVer 2.0.0, section 10."""
    assert compare_versions("1.0.0+a", "1.0.0+b") == 0


@pytest.mark.parametrize("text", ["1.0", "", "v1.0.0"])
def test_arithmetic_on_other_text_is_refused(text: str) -> None:
    """A non-version is never compared or raised."""
    with pytest.raises(ValueError, match="not a SemVer version"):
        next_version(text, Part.PATCH)
    with pytest.raises(ValueError, match="not a SemVer version"):
        compare_versions("1.0.0", text)


@given(VERSIONS, st.sampled_from(Part))
def test_the_next_version_is_higher(text: str, part: Part) -> None:
    """Law: raising any part gives a SemVer version of higher precedence."""
    following = next_version(text, part)
    assert is_semver(following)
    assert compare_versions(following, text) == 1


@given(st.text(max_size=20))
def test_a_suggestion_is_always_semver(text: str) -> None:
    """Law: what is suggested can be taken as is, and for SemVer text it is that text."""
    suggestion = suggest_version(text)
    assert suggestion is None or is_semver(suggestion)
    if is_semver(text):
        assert suggestion == text
