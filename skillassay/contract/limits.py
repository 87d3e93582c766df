"""The limits of the gate as a contract states them. Owns their exact numbers, what of them evidence binds, and how a
run keeps them; decides nothing.

Every share is a fraction of the decimal text that was written, so that k/n is compared in integers. A limit that is
None is not set: the gate shows the number and compares it with nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from skillassay.canonical import Json
from skillassay.contract.terms import READ_MIN, BudgetTerms, CalibrationTerms, JudgeTerms
from skillassay.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class GateTerms:
    """The limits of the gate. Shares are of trials, but ``quality_min`` and ``worst_case_min``: of a case's criteria.

    ``failure_corpus`` has one value: every case of a past incident passes, or the gate fails.
    """

    quality_min: Fraction = Fraction(4, 5)
    min_cases: int = 3
    lift_rule: str = "point"
    manual_block: str | None = None
    variance_max: Fraction | None = None
    worst_case_min: Fraction | None = None
    failures_max: int | None = None
    unsafe_compliance_max: Fraction = Fraction(0)
    over_refusal_max: Fraction = Fraction(0)
    failure_corpus: str = "clean"
    regression_max: Fraction = Fraction(1, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceTerms:
    """What the contract says of one slice: required, with limits of its own, or not applicable and why."""

    required: bool = True
    quality_min: Fraction | None = None
    variance_max: Fraction | None = None
    not_applicable: str | None = None


_SHARES = frozenset(
    (
        *("quality_min", "variance_max", "worst_case_min", "unsafe_compliance_max", "over_refusal_max"),
        "regression_max",
    ),
)
_WHOLE = frozenset(("min_cases", "failures_max"))
_ALWAYS_BOUND = ("quality_min", "min_cases", "lift_rule")
_NEVER_BOUND = ("manual_block",)


def read_gate(value: Mapping[str, Any]) -> GateTerms:
    """The gate's terms of a contract of sound shape."""
    return GateTerms(**_exact(value))


def read_slices(value: Mapping[str, Any]) -> dict[str, SliceTerms]:
    """The slices that a contract of sound shape lists, by name. One that is not applicable is not required."""
    return {
        name: SliceTerms(**{"required": "not_applicable" not in terms, **_exact(terms)})
        for name, terms in sorted(value.items())
    }


def _exact(terms: Mapping[str, Any]) -> dict[str, Any]:
    whole = {name: int(terms[name]) for name in _WHOLE & terms.keys()}
    return {**terms, **whole, **{name: exact_fraction(terms[name]) for name in _SHARES & terms.keys()}}


def read_calibration(value: Mapping[str, Any]) -> CalibrationTerms:
    """What a judge must reach, from a contract of sound shape or from what evidence binds."""
    exact: dict[str, Any] = {
        name: exact_fraction(given) if name in {"agreement_min", "kappa_min"} else int(given)
        for name, given in value.items()
    }
    return CalibrationTerms(**exact)


def judging_binding(terms: JudgeTerms, second: str | None) -> dict[str, Json]:
    """How often the judge is asked, who judges besides, and how much of it is read, where it is not as by default."""
    samples: dict[str, Json] = {"samples": terms.samples} if terms.samples > 1 else {}
    read: dict[str, Json] = {"read_min": terms.read_min} if terms.read_min != READ_MIN else {}
    return samples | read | ({} if second is None else {"second": second})


def raised_samples(samples: int, asked: int | None) -> int:
    """How often the judge is asked; an option may only raise it. Raises :class:`UsageError`."""
    if asked is not None and asked < samples:
        message = f"--judge-samples {asked} is below the contract's judge.samples {samples}"
        raise UsageError(message, hint="an option can ask the judge more often, never less")
    return asked or samples


def read_budget(value: Mapping[str, Any]) -> BudgetTerms:
    """What judges may spend, from a contract of sound shape: whole tokens, money as the decimal that was written."""
    limits: dict[str, Any] = {
        name: Decimal(given) if name.startswith("money") else int(given)
        for name, given in value.get("judge", {}).items()
    }
    return BudgetTerms(**limits, prices=value.get("prices"))


def budget_to_json(terms: BudgetTerms) -> dict[str, Json]:
    """The budget as a run keeps it: what is limited, money as text."""
    limits = {name: getattr(terms, name) for name in ("tokens", "money", "tokens_per_day", "money_per_day")}
    return {name: str(v) if isinstance(v, Decimal) else v for name, v in limits.items() if v is not None}


def calibration_binding(terms: CalibrationTerms) -> dict[str, Json]:
    """What evidence binds of it: the targets that are not at their defaults, as decimals that read back exactly."""
    default = asdict(CalibrationTerms())
    raised = {name: value for name, value in asdict(terms).items() if value != default[name]}
    texts = {
        name: str(Decimal(v.numerator) / v.denominator) if isinstance(v, Fraction) else v for name, v in raised.items()
    }
    return {"calibration": texts} if texts else {}


def gate_binding(gate: GateTerms, slices: Mapping[str, SliceTerms]) -> dict[str, Json]:
    """What evidence binds of the gate. A rule that is at its default was none when older evidence was made."""
    terms, default = gate_to_json(gate), gate_to_json(GateTerms())
    changed = {name: value for name, value in terms.items() if value != default[name] and name not in _NEVER_BOUND}
    bound = {name: terms[name] for name in _ALWAYS_BOUND} | changed
    return {**bound, **({"slices": slices_to_json(slices)} if slices else {})}


def gate_to_json(gate: GateTerms) -> dict[str, Json]:
    """The gate's terms as a run keeps them: a share as ``4/5``, a limit that is not set as null."""
    return {name: _json(value) for name, value in asdict(gate).items()}


def gate_from_json(value: Mapping[str, Any]) -> GateTerms:
    """The gate's terms of a stored run; one that an older run does not have was not set. Raises as its fields do."""
    return GateTerms(**_from_json(value))


def slices_to_json(slices: Mapping[str, SliceTerms]) -> dict[str, Json]:
    """The slices as a run keeps them."""
    return {name: {field: _json(value) for field, value in asdict(terms).items()} for name, terms in slices.items()}


def slices_from_json(value: Mapping[str, Any]) -> dict[str, SliceTerms]:
    """The slices of a stored run."""
    return {name: SliceTerms(**_from_json(terms)) for name, terms in value.items()}


def _json(value: Any) -> Json:
    return str(value) if isinstance(value, Fraction) else value


def _from_json(value: Mapping[str, Any]) -> dict[str, Any]:
    shares = {name: Fraction(value[name]) for name in _SHARES & value.keys() if value[name] is not None}
    return {**value, **shares}


def exact_fraction(number: float | str) -> Fraction:
    """The fraction that the decimal text of ``number`` says: 0.8 is 4/5, not the nearest binary float."""
    return Fraction(Decimal(str(number)))


_DECIMAL = re.compile(r"[0-9]{0,9}(?:[0-9]|\.[0-9]{1,30})", re.ASCII)


def raised_quality_min(terms: GateTerms, wanted: str | None) -> Fraction:
    """``gate.quality_min``, or the higher value a command asks for. A lower one is refused: a gate is not loosened."""
    if wanted is None:
        return terms.quality_min
    if not _DECIMAL.fullmatch(wanted):
        raise UsageError(f"QUALITY_MIN {wanted!r} is not a number", hint="give a number from 0 to 1, as 0.9")
    value = exact_fraction(wanted)
    if not terms.quality_min <= value <= 1:
        raise UsageError(
            f"QUALITY_MIN {wanted} is not between the contract's {float(terms.quality_min):g} and 1",
            hint="a command may only raise the limit; lower gate.quality_min in evals/contract.yaml",
        )
    return value
