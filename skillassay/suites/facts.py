"""What a case says about itself: part, severity, oracle, origin, references. Owns these words and how they are read.

None of it reaches a candidate; of it all a judge sees ``reference`` alone. A field enters the case's digest where it is
written and says something else than its default.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from skillassay.findings import register

PART_DIFFERS = register("suite.part-differs", "A case names an incident and is not of the failure corpus.")
SEVERITY_DIFFERS = register("suite.severity-differs", "A case's `severity` and its `critical` contradict each other.")
NO_ORACLE = register("suite.oracle-missing", "A case's `oracle_type` names an oracle that the case does not have.")
BAD_DATE = register("suite.bad-date", "A date of a case is in no calendar.")
UNFILLED = register("suite.todo", "A skeleton of a case was not filled in: a text of it still begins with the mark.")

UNFILLED_MARK = "TODO(case):"
"""How a text of a skeleton begins. A case that holds one is none: it is refused, never asked and never locked."""

REPRESENTATIVE = "representative"
FAILURE_CORPUS = "failure_corpus"
PARTS = (REPRESENTATIVE, FAILURE_CORPUS, "freshness", "challenge", "negative", "over_refusal")
ORACLES: Mapping[str, tuple[str, ...]] = {
    "code": ("checks", "must_match", "must_not_match", "behavior"),
    "reference": ("reference", "references"),
    "rubric": ("rubric", "behavior"),
    "human": (),
}
"""Who knows the right answer, and the fields of which a case needs one for it to be true."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """What happened in use and why, for a case that keeps it from happening again."""

    id: str
    root_cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSnapshot:
    """Where the facts of a case come from, and the day on which they were taken from there."""

    source: str
    taken_at: date | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """An authored answer to a behaviour case. ``violates`` says what is wrong with the prose of a counter-example."""

    action: str
    response: str
    refused: bool
    violates: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """Answers that a judge must accept, answers that it must reject by their prose, and who wrote them."""

    positive: tuple[Reference, ...]
    negative: tuple[Reference, ...]
    provenance: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFacts:
    """The facts of a case. A day that is in no calendar is None, and the suite has a finding."""

    reference: str | None = None
    critical: bool = False
    slice: str | None = None
    part: str = REPRESENTATIVE
    severity: str | None = None
    oracle_type: str = "rubric"
    acceptable_variants: tuple[str, ...] = ()
    incident: Incident | None = None
    source_snapshot: SourceSnapshot | None = None
    effective_date: date | None = None
    references: References | None = None


def read_facts(body: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of :class:`CaseFacts` of an authored case of sound shape."""
    critical = _is_critical(body)
    snapshot, day = body.get("source_snapshot"), body.get("effective_date")
    return {
        "reference": body.get("reference"),
        "critical": critical,
        "slice": body.get("slice"),
        "part": body.get("part", REPRESENTATIVE),
        "severity": body.get("severity", "critical" if critical else None),
        "oracle_type": body.get("oracle_type", _derived_oracle(body)),
        "acceptable_variants": tuple(body.get("acceptable_variants", ())),
        "incident": Incident(**body["incident"]) if "incident" in body else None,
        "source_snapshot": snapshot and SourceSnapshot(source=snapshot["source"], taken_at=_day(snapshot["taken_at"])),
        "effective_date": day and _day(day),
        "references": _references(body["references"]) if "references" in body else None,
    }


def digested_facts(body: Mapping[str, Any]) -> dict[str, Any]:
    """The facts in a case's normal form: what is written, without what only says a default."""
    defaults = {
        "critical": False,
        "part": REPRESENTATIVE,
        "severity": "critical" if _is_critical(body) else None,
        "oracle_type": _derived_oracle(body),
    }
    given = {name: body[name] for name in CaseFacts.__dataclass_fields__ if name in body}
    given |= {"critical": _is_critical(body)}
    return {name: value for name, value in given.items() if value != defaults.get(name)}


def fact_problems(body: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """What the schema cannot say of a case's facts: for each problem its code, field, message and next step."""
    severity, critical = body.get("severity"), body.get("critical")
    if severity is not None and critical is not None and critical != (severity == "critical"):
        message = f"severity is {severity!r} and critical is {str(critical).lower()}"
        yield SEVERITY_DIFFERS, "severity", message, "write one of the two: severity critical makes a case critical"
    oracle = body.get("oracle_type")
    needed = ORACLES[oracle or "human"]
    if needed and not any(body.get(name) for name in needed):
        message = f"oracle_type is {oracle!r} and the case has none of {', '.join(needed)}"
        yield NO_ORACLE, "oracle_type", message, "leave it out: it is derived from what the case has"
    part = body.get("part", REPRESENTATIVE)
    if "incident" in body and part != FAILURE_CORPUS:
        message = f"an incident, and the part is {part}: the gate would not look for its return"
        yield PART_DIFFERS, "incident", message, f"write part: {FAILURE_CORPUS}"
    days = (("effective_date", body.get("effective_date")), ("source_snapshot", body.get("source_snapshot")))
    for name, value in days:
        text = value["taken_at"] if isinstance(value, Mapping) else value
        if text is not None and _day(text) is None:
            yield BAD_DATE, name, f"{name}: {text} is no day", "write a day that exists, as YYYY-MM-DD"
    names = [name for name, value in body.items() if name != "note" and _is_unfilled(value)]
    if names:
        message = f"{' and '.join(names)} not filled in: a text still begins with {UNFILLED_MARK}"
        yield UNFILLED, names[0], message, "write it, or remove the case (docs/guides/first-case.md)"


def _is_unfilled(value: Any) -> bool:
    """Whether a text in a value begins with the mark, notes apart, which nobody is asked."""
    if isinstance(value, str):
        return value.lstrip().startswith(UNFILLED_MARK)
    if isinstance(value, Mapping):
        return any(_is_unfilled(item) for key, item in value.items() if key != "note")
    return isinstance(value, (list, tuple)) and any(map(_is_unfilled, value))


def _is_critical(body: Mapping[str, Any]) -> bool:
    return bool(body.get("critical", body.get("severity") == "critical"))


def _derived_oracle(body: Mapping[str, Any]) -> str:
    if not body.get("rubric") and not body.get("behavior"):
        return "code"
    return "reference" if body.get("reference") else "rubric"


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _references(value: Mapping[str, Any]) -> References:
    positive, negative = (tuple(Reference(**item) for item in value[side]) for side in ("positive", "negative"))
    return References(positive=positive, negative=negative, provenance=value["provenance"])
