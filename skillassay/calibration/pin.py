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
    """One judge. ``answered`` holds the names as answered, none where no reply told one."""

    model: str
    answered: tuple[str, ...]
    endpoint: str | None
    address: str | None
    prompt: str
    max_output_tokens: int
    temperature: float = 0.0
    order: str = "as_written"

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
    if not all(isinstance(name, str) for name in value["answered"]) or type(value["max_output_tokens"]) is not int:
        raise TypeError("answered or max_output_tokens is of another type")
    return JudgePin(
        answered=tuple(value["answered"]),
        max_output_tokens=value["max_output_tokens"],
        temperature=float(value["temperature"]),
        **{name: value[name] for name in ("model", "endpoint", "address", "prompt", "order")},
    )


def pin_of_run(header: Mapping[str, Any], answered: Iterable[str | None]) -> JudgePin:
    """The judge of a stored run, from its header and the names that its records tell."""
    judge, terms = header["models"]["judge"], header["contract"]["binding"]["judge"]
    return JudgePin(
        model=judge["label"],
        answered=tuple(sorted({name for name in answered if name is not None})),
        endpoint=judge["endpoint"],
        address=judge.get("address"),
        prompt=terms["prompt"],
        max_output_tokens=terms["max_output_tokens"],
    )


def differences(calibrated: JudgePin, used: JudgePin) -> tuple[str, ...]:
    """In which points the judge that was used is not the one that was calibrated."""
    a, b = pin_json(calibrated), pin_json(used)
    found = [
        f"{name}: {_words(b[name])} now, calibrated as {_words(a[name])}"
        for name in a
        if name != "answered" and a[name] != b[name]
    ]
    other = sorted(set(used.answered) - set(calibrated.answered))
    if other:
        known = ", ".join(calibrated.answered) or "no name at all"
        found.append(f"answered as {', '.join(other)}, calibrated as {known}")
    if calibrated.answered and not used.answered:
        found.append(f"answered under no name, calibrated as {', '.join(calibrated.answered)}")
    return tuple(found)


def _words(value: Json) -> str:
    return "none" if value is None else str(value)[:80]
