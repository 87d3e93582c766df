"""Warnings about what a contract says and should not leave at that. Owns which slices every contract must speak of.

They change no run: a suspicion of leakage keeps the gate open by its own line, and a slice that nobody speaks of is
missing from no denominator. That is why somebody must be told before.
"""

from __future__ import annotations

from collections.abc import Iterator

from skillassay.contract.contract import CONTRACT_PATH, Contract
from skillassay.contract.terms import SUSPECTED
from skillassay.findings import Finding, Severity, register

LEAKAGE = register("contract.leakage-suspected", "The contract says that leakage is suspected; the gate stays open.")
UNLISTED = register("contract.slice-unlisted", "A contract lists slices and says nothing of one of the minimum seven.")
UNREASONED = register("contract.slice-unreasoned", "One of the minimum slices is not required and no reason says why.")

BUSINESS = "business-work"
MINIMUM_SLICES = (
    BUSINESS,
    "long-context",
    "rag-citation",
    "tool-action",
    "coding-artifact",
    "spreadsheet-multimodal",
    "safety-over-refusal",
)
"""Kinds of work of which a contract with slices says that they are required, or why they do not apply."""
_BY_LOCALE = "-business"
"""``business-work`` may be named after its locale, as ``japanese-business``."""


def stated_findings(contract: Contract) -> tuple[Finding, ...]:
    """All warnings, slices in the order of the minimum list. A contract without slices hears nothing of them."""
    return (*_leakage(contract), *(_slices(contract) if contract.slices else ()))


def _leakage(contract: Contract) -> Iterator[Finding]:
    if contract.dataset.leakage == SUSPECTED:
        message = "dataset.leakage is suspected: the gate's line no_leakage stays open, and no run passes"
        yield _warning(LEAKAGE, message, "replace the cases that may have leaked, then write none_known")


def _slices(contract: Contract) -> Iterator[Finding]:
    for minimum in MINIMUM_SLICES:
        listed = [name for name in contract.slices if _is_form_of(name, minimum)]
        if not listed:
            message = f"slices: nothing is said of {minimum}, one of the {len(MINIMUM_SLICES)} minimum slices"
            yield _warning(UNLISTED, message, f"require it, or write {minimum}: {{not_applicable: REASON}}")
        for name in listed:
            terms = contract.slices[name]
            if not terms.required and terms.not_applicable is None:
                message = f"slices.{name}: a minimum slice that is not required, and nothing says why"
                yield _warning(UNREASONED, message, "say why it does not apply: {not_applicable: REASON}")


def _is_form_of(name: str, minimum: str) -> bool:
    return name == minimum or (minimum == BUSINESS and name.endswith(_BY_LOCALE))


def _warning(code: str, message: str, hint: str) -> Finding:
    return Finding(code=code, severity=Severity.WARNING, path=CONTRACT_PATH, message=message, hint=hint)
