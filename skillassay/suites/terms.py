"""What a suite demands as a whole, beside what its cases do. Owns these terms and how they are kept; decides nothing.

A share is a fraction of the decimal text that was written. A term that is not written is None and in no digest, so that
a suite without terms has the digest that it had before there were any. A suite may demand more than the contract, never
less.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from skillassay.canonical import Json
from skillassay.contract.limits import exact_fraction
from skillassay.findings import Finding, Severity, register
from skillassay.gate.lines import decimal_text

LOOSER = register("suite.looser-than-contract", "A suite's regression_threshold is above gate.regression_max.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteTerms:
    """``pass_threshold`` is the least share of the suite's trials in progressive that pass, ``regression_threshold`` by
    how much the share of its passing cases may fall against the baseline."""

    pass_threshold: Fraction | None = None
    regression_threshold: Fraction | None = None


NO_TERMS = SuiteTerms()
_NAMES = tuple(field.name for field in fields(SuiteTerms))


def read_terms(head: Mapping[str, Any]) -> SuiteTerms:
    """The terms in a suite's head of sound shape."""
    return SuiteTerms(**{name: exact_fraction(head[name]) for name in _NAMES if head.get(name) is not None})


def terms_findings(path: str, terms: SuiteTerms, *, regression_max: Fraction) -> tuple[Finding, ...]:
    """What of a suite's terms would ask less than the contract does."""
    own = terms.regression_threshold
    if own is None or own <= regression_max:
        return ()
    numbers = f"regression_threshold {decimal_text(own)} is above the contract's gate.regression_max"
    message = f"{numbers} {decimal_text(regression_max)}: a suite may only be stricter"
    hint = "write a smaller one, or leave it out"
    return (Finding(code=LOOSER, severity=Severity.ERROR, path=path, message=message, hint=hint),)


def terms_json(terms: SuiteTerms) -> dict[str, Json]:
    """The terms that are set, as headers, digests and evidence keep them: a share as ``4/5``."""
    return {name: str(value) for name in _NAMES if (value := getattr(terms, name)) is not None}


def all_terms_json(terms: Iterable[tuple[str, SuiteTerms]]) -> dict[str, Json]:
    """The field ``suites`` of what evidence binds, by suite; empty where no suite demands anything."""
    found = {name: terms_json(of) for name, of in sorted(terms, key=lambda pair: pair[0]) if of != NO_TERMS}
    return {"suites": found} if found else {}


def terms_from_json(value: Mapping[str, Any]) -> dict[str, SuiteTerms]:
    """The terms of a stored run by suite. Raises as its fields do, and for a term that is not known."""
    return {name: SuiteTerms(**{term: Fraction(share) for term, share in of.items()}) for name, of in value.items()}
