"""What models cost: ``evals/prices.yaml``, a dated list of prices that people write down. Owns its format and sums.

    prices: 1
    as_of: 2026-11-01                      # the day on which somebody looked
    currency: USD
    source: the provider's page of prices
    models:
      "gemini:NAME": {input_per_million: "0.10", output_per_million: "0.40", cached_input_per_million: "0.025"}

Amounts are decimals, quoted or plain, and stay the decimals that were written. A model is priced under the name that is
asked for. No price comes with the program: a model that is not in the list has none, and what it costs is not known.
Thoughts are billed as output, and so is whatever a provider counts in its total without saying what it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from skillassay.canonical import Json
from skillassay.contract.terms import BudgetTerms
from skillassay.documents import load_document
from skillassay.findings import Finding, Severity, register
from skillassay.models.money import add, amount_text, for_tokens, parse_amount
from skillassay.models.naming import OFFLINE
from skillassay.schema import document_findings
from skillassay.transcript import Usage

NOT_READ = register("prices.unreadable", "The list of prices cannot be read: no amount of money is known.")
NO_PRICE = register("prices.unknown", "Money is limited and a judge has no known price: nothing would be spent.")
IN_FUTURE = register(
    "prices.in-future", "The list of prices is dated in the future: nobody can have looked on that day."
)

PRICES_PATH = "evals/prices.yaml"
PRICES_VERSION = 1
NO_PRICES = "no list of prices is set up"


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a million tokens of one model cost. None for cached input: it is billed as any other."""

    input_per_million: Decimal
    output_per_million: Decimal
    cached_input_per_million: Decimal | None = None

    def cost(self, usage: Usage) -> Decimal | None:
        """What a usage costs; 0 for none at all, None where input or output was not told."""
        if usage.is_empty:
            return Decimal(0)
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        cached, cached_price = usage.cached_tokens or 0, self.cached_input_per_million
        if cached_price is None or cached > usage.input_tokens:
            cached, cached_price = 0, self.input_per_million
        output = usage.output_tokens + (usage.thought_tokens or 0)
        told = usage.input_tokens + output
        rest = max(0, (usage.total_tokens or 0) - told)
        return add(
            (
                for_tokens(usage.input_tokens - cached, self.input_per_million),
                for_tokens(cached, cached_price),
                for_tokens(output + rest, self.output_per_million),
            )
        )

    def highest(self, input_tokens: int, output_tokens: int) -> Decimal:
        """The most that so many tokens can cost, cached or not."""
        dearest = max(self.input_per_million, self.cached_input_per_million or Decimal(0))
        return add((for_tokens(input_tokens, dearest), for_tokens(output_tokens, self.output_per_million)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """A list of prices with its day, or without one: ``why_none`` says then why nothing is known."""

    as_of: str = ""
    currency: str = ""
    source: str = ""
    models: Mapping[str, Price]
    why_none: str | None = None

    def of(self, label: str) -> Price | None:
        """The price of a model as it is asked; None where nobody wrote one down."""
        return self.models.get(label)

    def why_unknown(self, label: str) -> str:
        """Why a model has no price."""
        return self.why_none or f"{label} is not in the list of prices as of {self.as_of}"

    def amount(self, amount: Decimal) -> str:
        """An amount with its currency."""
        return f"{amount_text(amount)} {self.currency}"

    def text(self, amount: Decimal) -> str:
        """An amount with its currency and the day of its price."""
        return f"{self.amount(amount)} (prices as of {self.as_of})"


def load_prices(root: Path, terms: BudgetTerms) -> Prices:
    """The list of prices of a project. One that is missing or damaged is none and says why; nothing is raised."""
    name = terms.prices or PRICES_PATH
    if terms.prices is None and not (root / name).exists() and not (root / name).is_symlink():
        return Prices(models={}, why_none=f"{NO_PRICES} ({name})")
    document, findings = load_document(root / name, shown_as=name, keep_decimals=True)
    if document is not None:
        findings = document_findings(document, "prices")
    if document is None or findings:
        first = findings[0]
        return Prices(models={}, why_none=f"{first.path}{f':{first.line}' if first.line else ''}: {first.message}")
    try:
        return build_prices(document.value)
    except ValueError as problem:
        return Prices(models={}, why_none=f"{name}: {problem}")


def prices_findings(root: Path, terms: BudgetTerms, judges: Iterable[str], *, on: date) -> tuple[Finding, ...]:
    """Warnings on a list that is damaged or dated after ``on``, and on judges that a limit of money would refuse."""
    prices, path = load_prices(root, terms), terms.prices or PRICES_PATH
    found = []
    is_there = terms.prices is not None or (root / path).exists() or (root / path).is_symlink()
    if prices.why_none is not None and is_there:
        found.append((NOT_READ, prices.why_none, "mend it (docs/reference/prices.md)"))
    if prices.as_of and date.fromisoformat(prices.as_of) > on:
        hint = "write the day on which somebody looked"
        found.append((IN_FUTURE, f"as_of is {prices.as_of}, and today is {on}", hint))
    unknown = [
        f"money is limited, and {prices.why_unknown(label)}"
        for label in sorted(set(judges))
        if terms.limits_money and label.partition(":")[0] not in OFFLINE and prices.of(label) is None
    ]
    found += [(NO_PRICE, message, f"write its price into {path}") for message in unknown]
    return tuple(
        Finding(code=code, severity=Severity.WARNING, path=path, message=message, hint=hint)
        for code, message, hint in found
    )


def build_prices(value: Any) -> Prices:
    """The prices of a document of sound shape. Raises :class:`ValueError` for a day or an amount that is none."""
    day = date.fromisoformat(value["as_of"])  # 2026-02-30 fits every pattern and is no day
    return Prices(
        as_of=day.isoformat(),
        currency=value["currency"],
        source=value["source"],
        models={label: _price(price) for label, price in value["models"].items()},
    )


def _price(value: Mapping[str, Any]) -> Price:
    # Integers are exact; a JSON file's float is not the decimal that was written, and is refused with its text.
    return Price(**{name: parse_amount(str(v) if type(v) is int else v) for name, v in value.items()})


def prices_to_json(prices: Prices, labels: tuple[str, ...]) -> dict[str, Json]:
    """What a run keeps of the list: the prices of the models that it asks."""
    if prices.why_none is not None:
        return {"why_none": prices.why_none}
    known = {label: price for label in labels if (price := prices.of(label)) is not None}
    return {
        "as_of": prices.as_of,
        "currency": prices.currency,
        "source": prices.source,
        "models": {label: _price_json(price) for label, price in known.items()},
    }


def _price_json(price: Price) -> Json:
    cached = price.cached_input_per_million
    return {
        "input_per_million": amount_text(price.input_per_million),
        "output_per_million": amount_text(price.output_per_million),
        **({} if cached is None else {"cached_input_per_million": amount_text(cached)}),
    }


def prices_from_json(value: Mapping[str, Any] | None) -> Prices:
    """The prices that a stored run was made under; one from before there were any has none."""
    if value is None or "why_none" in value:
        return Prices(models={}, why_none=NO_PRICES if value is None else str(value["why_none"]))
    try:
        return build_prices(value)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        return Prices(models={}, why_none=f"the prices in the record are damaged: {error}")
