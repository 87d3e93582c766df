"""The list of prices: how it is read, what a usage costs by it, and what is not known."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from skillassay.contract.terms import BudgetTerms
from skillassay.models.prices import Price, Prices, load_prices, prices_findings, prices_from_json, prices_to_json
from skillassay.transcript import Usage

HEAD = "prices: 1\nas_of: 2026-11-01\ncurrency: USD\nsource: made up\nmodels:\n"
ONE = HEAD + "  'gemini:m': {input_per_million: %s, output_per_million: %s}\n"
PRICE = Price(input_per_million=Decimal("0.10"), output_per_million=Decimal("0.40"))


NOT_LIMITED = BudgetTerms()


def loaded(root: Path, text: str, terms: BudgetTerms = NOT_LIMITED) -> Prices:
    """The list that a text is read as."""
    path = root / (terms.prices or "evals/prices.yaml")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return load_prices(root, terms)


def test_a_plain_decimal_is_the_one_that_is_written(tmp_path: Path) -> None:
    """0.1 is a tenth and not the nearest binary float, quoted or not; so is one of twelve decimals."""
    prices = loaded(tmp_path, ONE % ("0.1", '"123456789.123456789012"'))
    assert prices.of("gemini:m") == Price(
        input_per_million=Decimal("0.1"), output_per_million=Decimal("123456789.123456789012")
    )
    plain = loaded(tmp_path, ONE % ("3", "123456789.123456789012")).of("gemini:m")
    assert plain == Price(input_per_million=Decimal(3), output_per_million=Decimal("123456789.123456789012"))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (ONE % ("1e-1", "1"), "must match"),
        (ONE % ("-1", "1"), "minimum"),
        (ONE % ("free", "1"), "must match"),
        (ONE % ("null", "1"), "must be string or number"),
        (HEAD.replace("11-01", "02-30") + "  {}\n", "day"),
        (HEAD.replace("2026-11-01", "last week") + "  {}\n", "must match"),
        (HEAD.replace("USD", "dollars") + "  {}\n", "must match"),
        (HEAD.replace("prices: 1", "prices: 2") + "  {}\n", "must be 1"),
        (HEAD + "  'm': {input_per_million: 1, output_per_million: 1}\n", "must match"),
        (HEAD + "  'gemini:m': {input_per_million: 1}\n", "output_per_million"),
        ("prices: [", "not YAML"),
    ],
)
def test_a_list_that_is_none_is_none_and_says_why(tmp_path: Path, text: str, why: str) -> None:
    """No price is taken from a list of which a part cannot be read."""
    prices = loaded(tmp_path, text)
    assert prices.models == {}
    assert prices.why_none is not None
    assert why in prices.why_none


def test_a_json_float_is_refused(tmp_path: Path) -> None:
    """JSON's reader makes binary floats of it; written as text it is exact."""
    terms = BudgetTerms(prices="p.json")
    entry = '{"prices": 1, "as_of": "2026-11-01", "currency": "USD", "source": "s", "models": {"gemini:m": %s}}'
    assert loaded(tmp_path, entry % '{"input_per_million": 0.1, "output_per_million": 1}', terms).why_none is not None
    sound = loaded(tmp_path, entry % '{"input_per_million": "0.1", "output_per_million": 1}', terms)
    assert sound.of("gemini:m") == Price(input_per_million=Decimal("0.1"), output_per_million=Decimal(1))


def test_without_a_list_nothing_is_known(tmp_path: Path) -> None:
    """In the usual place and where one is named; a link to nothing is no list either."""
    assert "no list of prices" in (load_prices(tmp_path, BudgetTerms()).why_none or "")
    assert "cannot be read" in (load_prices(tmp_path, BudgetTerms(prices="a.yaml")).why_none or "")
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals/prices.yaml").symlink_to("nowhere")
    assert "cannot be read" in (load_prices(tmp_path, BudgetTerms()).why_none or "")


def test_an_unknown_model_has_no_price(tmp_path: Path) -> None:
    """And the day of the list is named in the reason."""
    prices = loaded(tmp_path, ONE % (1, 1))
    assert prices.of("gemini:other") is None
    assert prices.why_unknown("gemini:other") == "gemini:other is not in the list of prices as of 2026-11-01"


@pytest.mark.parametrize("total", [1500, None])
def test_a_usage_costs_input_output_and_thoughts(total: int | None) -> None:
    """1000 * 0.10 + (200 + 300) * 0.40, for a million, whether or not a total is told."""
    usage = Usage(input_tokens=1000, output_tokens=200, thought_tokens=300, total_tokens=total, n_calls=1)
    assert PRICE.cost(usage) == Decimal("0.0003")


def test_cached_input_has_its_price_where_it_has_one() -> None:
    """400 of 1000 at a quarter: 600 * 0.10 + 400 * 0.025; without a price of its own all 1000 at 0.10."""
    usage = Usage(input_tokens=1000, output_tokens=0, cached_tokens=400, n_calls=1)
    cached = Price(**{name: getattr(PRICE, name) for name in ("input_per_million", "output_per_million")},
                   cached_input_per_million=Decimal("0.025"))  # fmt: skip
    assert cached.cost(usage) == Decimal("0.00007")
    assert PRICE.cost(usage) == Decimal("0.0001")


def test_what_a_total_holds_besides_is_billed_as_output() -> None:
    """1500 in all, 1200 told: 300 more at the price of output."""
    usage = Usage(input_tokens=1000, output_tokens=200, total_tokens=1500, n_calls=1)
    assert PRICE.cost(usage) == Decimal("0.0003")


@pytest.mark.parametrize("usage", [Usage(n_calls=1), Usage(input_tokens=5, n_calls=1), Usage(output_tokens=5)])
def test_a_usage_with_a_gap_has_no_cost(usage: Usage) -> None:
    """Not known, and never 0."""
    assert PRICE.cost(usage) is None


def test_no_call_costs_nothing() -> None:
    """That is known."""
    assert PRICE.cost(Usage()) == 0


def test_the_most_is_the_dearer_input() -> None:
    """Cached input may be billed higher than other (writing into a cache): 10 * 2 + 5 * 3, for a million."""
    price = Price(input_per_million=Decimal(1), output_per_million=Decimal(3), cached_input_per_million=Decimal(2))
    assert price.highest(10, 5) == Decimal("0.000035")


def test_a_run_keeps_the_prices_of_its_models(tmp_path: Path) -> None:
    """And reads back what it kept; an older run has none and says so."""
    text = ONE % ("0.10", "0.40") + "  'gemini:n': {input_per_million: 9, output_per_million: 9}\n"
    prices = loaded(tmp_path, text)
    kept = prices_to_json(prices, ("gemini:m", "gemini:x"))
    assert kept["models"] == {"gemini:m": {"input_per_million": "0.1", "output_per_million": "0.4"}}
    back = prices_from_json(kept)
    assert (back.of("gemini:m"), back.of("gemini:n"), back.as_of) == (PRICE, None, "2026-11-01")
    assert prices_from_json(None).why_none == "no list of prices is set up"
    assert "damaged" in (prices_from_json({"as_of": "2026-11-01"}).why_none or "")


DOCUMENTED = Path(__file__).parents[2] / "docs/reference/prices.md"


def test_the_documented_list_is_a_list(tmp_path: Path) -> None:
    """The example of the page is read as it stands, and its amounts are what it says."""
    block = re.search(r"```yaml\n(.*?)```", DOCUMENTED.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert block is not None
    prices = loaded(tmp_path, block[1])
    assert prices.why_none is None
    assert prices.of("openai:NAME") == Price(input_per_million=Decimal(2), output_per_million=Decimal(8))


def test_the_shipped_template_has_no_price(tmp_path: Path) -> None:
    """Nobody looked, so nothing is known."""
    template = Path(__file__).parents[2] / "evals/prices.template.yaml"
    prices = loaded(tmp_path, template.read_text(encoding="utf-8"))
    assert (prices.models, prices.why_none) == ({}, None)


def test_a_list_of_a_day_to_come_is_told(tmp_path: Path) -> None:
    """Nobody can have looked on the day after today; the day itself is no finding, nor is a list that is not there."""
    loaded(tmp_path, ONE % ("1", "2"))
    found = [
        [one.code for one in prices_findings(tmp_path, NOT_LIMITED, (), on=date(2026, month, day))]
        for month, day in ((10, 31), (11, 1))
    ]
    assert found == [["prices.in-future"], []]
    assert prices_findings(tmp_path / "nowhere", NOT_LIMITED, (), on=date(2000, 1, 1)) == ()
