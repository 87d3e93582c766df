"""Which judge a calibration is about: everything that makes another judge of it. Pure.

A pin names the model as it was asked for and every name under which it answered, where it was asked, the digest of its
instructions, and its parameters. What it was asked about, the cases with their rubrics, stands beside it as digests.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from skillassay.canonical import Json, short_digest

UNNAMED = "(no name)"
"""Stands among the names as answered for replies that told none, where others did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgePin:
    """One judge. ``answered`` holds the names as answered, none where no reply told one.

    It was asked ``samples`` times about each answer, beside the ``second`` judge, which answered under
    ``second_answered``; pins from before there were these have one sample, no second judge, and no name of one: what
    nobody kept may have been another model, so a run whose second judge tells a name has another judge than such a pin.
    """

    model: str
    answered: tuple[str, ...]
    endpoint: str | None
    address: str | None
    prompt: str
    max_output_tokens: int
    temperature: float = 0.0
    order: str = "as_written"
    samples: int = 1
    second: str | None = None
    second_answered: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """A short digest of all of it, which names its file."""
        return short_digest(pin_json(self))[:16]


def pin_json(pin: JudgePin) -> dict[str, Json]:
    """The pin as a calibration keeps it."""
    return {
        "model": pin.model,
        "answered": list(pin.answered),
        "endpoint": pin.endpoint,
        "address": pin.address,
        "prompt": pin.prompt,
        "max_output_tokens": pin.max_output_tokens,
        "temperature": pin.temperature,
        "order": pin.order,
        **({"samples": pin.samples} if pin.samples > 1 else {}),
        **({"second": pin.second} if pin.second is not None else {}),
        **({"second_answered": list(pin.second_answered)} if pin.second_answered else {}),
    }


def pin_from_json(value: Mapping[str, Any]) -> JudgePin:
    """The pin of a calibration. Raises ``KeyError``, ``TypeError`` or ``ValueError`` for anything else."""
    for name, may_be_none in (
        ("model", False),
        ("endpoint", True),
        ("address", True),
        ("prompt", False),
        ("order", False),
    ):
        if not (isinstance(value[name], str) or (may_be_none and value[name] is None)):
            raise TypeError(f"{name} is {value[name]!r}")
    samples, second = value.get("samples", 1), value.get("second")
    if type(samples) is not int or samples < 1 or not isinstance(second, (str, type(None))):
        raise TypeError(f"samples is {samples!r} and second {second!r}")
    told = [*value["answered"], *value.get("second_answered", ())]
    if not all(isinstance(name, str) for name in told) or type(value["max_output_tokens"]) is not int:
        raise TypeError("answered, second_answered or max_output_tokens is of another type")
    return JudgePin(
        answered=tuple(value["answered"]),
        max_output_tokens=value["max_output_tokens"],
        temperature=float(value["temperature"]),
        samples=samples,
        second=second,
        second_answered=tuple(value.get("second_answered", ())),
        **{name: value[name] for name in ("model", "endpoint", "address", "prompt", "order")},
    )


def pin_of_run(header: Mapping[str, Any], answered: Iterable[str], second_answered: Iterable[str] = ()) -> JudgePin:
    """The judge of a stored run, from its header and the names that its records tell."""
    judge, terms = header["models"]["judge"], header["contract"]["binding"]["judge"]
    return JudgePin(
        model=judge["label"],
        answered=tuple(sorted(set(answered))),
        endpoint=judge["endpoint"],
        address=judge.get("address"),
        prompt=terms["prompt"],
        max_output_tokens=terms["max_output_tokens"],
        samples=terms.get("samples", 1),
        second=_second(header["models"].get("second")),
        second_answered=tuple(sorted(set(second_answered))),
    )


def _second(model: Mapping[str, Any] | None) -> str | None:
    """A second judge in one word: what it is called, and where it is asked."""
    if model is None:
        return None
    return " ".join(filter(None, (model["label"], model["endpoint"], model.get("address"))))


_UNTOLD = {"samples": 1}
"""What holds where a pin says nothing."""


def differences(calibrated: JudgePin, used: JudgePin) -> tuple[str, ...]:
    """In which points the judge that was used is not the one that was calibrated."""
    a, b = pin_json(calibrated), pin_json(used)
    found = []
    for name in {**a, **b}:
        was, now = (pin.get(name, _UNTOLD.get(name)) for pin in (a, b))
        if name not in {"answered", "second_answered"} and was != now:
            found.append(f"{name}: {_words(now)} now, calibrated as {_words(was)}")
    found += _names_differ("", calibrated.answered, used.answered)
    found += _names_differ("the second judge ", calibrated.second_answered, used.second_answered)
    return tuple(found)


def _names_differ(whose: str, calibrated: tuple[str, ...], used: tuple[str, ...]) -> list[str]:
    other, known = sorted(set(used) - set(calibrated)), ", ".join(calibrated)
    if other:
        return [f"{whose}answered as {', '.join(other)}, calibrated as {known or 'no name at all'}"]
    return [f"{whose}answered under no name, calibrated as {known}"] if calibrated and not used else []


def _words(value: Json) -> str:
    return "none" if value is None else str(value)[:80]
