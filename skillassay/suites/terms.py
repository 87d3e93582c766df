"""What a suite demands as a whole, beside what its cases do. Owns these terms and how they are kept; decides nothing.

A share is a fraction of the decimal text that was written. A term that is not written is None and in no digest, so that
a suite without terms has the digest that it had before there were any.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from skillassay.canonical import Json
from skillassay.contract.limits import exact_fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteTerms:
    """``pass_threshold`` is the least share of the suite's trials in progressive that pass."""

    pass_threshold: Fraction | None = None


NO_TERMS = SuiteTerms()


def read_terms(head: Mapping[str, Any]) -> SuiteTerms:
    """The terms in a suite's head of sound shape."""
    written = head.get("pass_threshold")
    return SuiteTerms(pass_threshold=None if written is None else exact_fraction(written))


def terms_json(terms: SuiteTerms) -> dict[str, Json]:
    """The terms that are set, as headers, digests and evidence keep them: a share as ``4/5``."""
    return {} if terms.pass_threshold is None else {"pass_threshold": str(terms.pass_threshold)}


def all_terms_json(terms: Iterable[tuple[str, SuiteTerms]]) -> dict[str, Json]:
    """The field ``suites`` of what evidence binds, by suite; empty where no suite demands anything."""
    found = {name: terms_json(of) for name, of in sorted(terms, key=lambda pair: pair[0]) if of != NO_TERMS}
    return {"suites": found} if found else {}


def terms_from_json(value: Mapping[str, Any]) -> dict[str, SuiteTerms]:
    """The terms of a stored run by suite. Raises as its fields do."""
    return {name: SuiteTerms(pass_threshold=Fraction(of["pass_threshold"])) for name, of in value.items()}
