"""Versions of a skill: SemVer 2.0.0 as text. Owns what counts as a version, their order and the next one.

A version is ASCII text of the form ``MAJOR.MINOR.PATCH[-pre][+build]`` without leading zeros, blanks or a ``v``. Order
is SemVer precedence (build metadata does not count). What is not SemVer is never silently read as if it were; a
suggestion is offered instead.
"""

from __future__ import annotations

import re
from enum import StrEnum

import semver

MAX_CHARS = 256
"""Longer text is no version; the limit also keeps integers in versions of a sane size."""


class Part(StrEnum):
    """Which number a new version raises."""

    PATCH = "patch"
    MINOR = "minor"
    MAJOR = "major"


_ALMOST = re.compile(r"[vV]?(\d{1,18})(?:\.(\d{1,18}))?(?:\.(\d{1,18}))?([-+][0-9A-Za-z.+-]+)?", re.ASCII)


def parse_version(text: str) -> semver.Version | None:
    """The version written in ``text``, or None when it is not SemVer."""
    if len(text) > MAX_CHARS or not text.isascii():
        return None
    try:
        return semver.Version.parse(text)
    except ValueError:
        return None


def is_semver(text: str) -> bool:
    """Whether ``text`` is a SemVer 2.0.0 version, character for character."""
    return parse_version(text) is not None


def compare_versions(left: str, right: str) -> int:
    """-1, 0 or 1 by SemVer precedence. Raises ``ValueError`` when one of the two is not SemVer."""
    return _parsed(left).compare(_parsed(right))


def next_version(text: str, part: Part) -> str:
    """The version after ``text``. Raises ``ValueError`` when ``text`` is not SemVer.

    Pre-release and build metadata are dropped; a pre-release already names the number it leads to, so that the patch
    after ``1.2.3-rc.1`` is ``1.2.3``, and the major after ``2.0.0-rc.1`` is ``2.0.0``.
    """
    return str(_parsed(text).next_version(part.value))


def suggest_version(text: str) -> str | None:
    """The SemVer version that ``text`` was probably meant to be: ``1.0`` and ``v1`` give ``1.0.0``; else None.

    Leading zeros go (``2026.06.03`` gives ``2026.6.3``), a suffix stays. Four numbers or words have no reading.
    """
    match = _ALMOST.fullmatch(text.strip())
    if match is None:
        return None
    major, minor, patch, suffix = match.groups()
    candidate = f"{int(major)}.{int(minor or 0)}.{int(patch or 0)}{suffix or ''}"
    return candidate if is_semver(candidate) else None


def _parsed(text: str) -> semver.Version:
    version = parse_version(text)
    if version is None:
        raise ValueError(f"{text[:MAX_CHARS]!r} is not a SemVer version")
    return version
