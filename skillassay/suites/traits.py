"""What scoring and gate must know of a case besides its criteria: oracle, severity, incident, demanded behaviour.

Owns these facts as a run keeps them, so that a stored run is judged without the suite it came from. Part and slice are
kept beside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from skillassay.canonical import Json
from skillassay.suites.case import Case


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """Facts of one case. ``action`` and ``refused`` are what a behaviour case demands, None in any other."""

    oracle_type: str
    severity: str | None = None
    incident: str | None = None
    root_cause: str | None = None
    action: str | None = None
    refused: bool | None = None


def traits_of(case: Case) -> Traits:
    """The facts of an authored case."""
    incident, behavior = case.incident, case.behavior
    return Traits(
        oracle_type=case.oracle_type,
        severity=case.severity,
        incident=None if incident is None else incident.id,
        root_cause=None if incident is None else incident.root_cause,
        action=None if behavior is None else behavior.action,
        refused=None if behavior is None else behavior.refused,
    )


def traits_to_json(traits: Mapping[tuple[str, str], Traits]) -> list[Json]:
    """The facts as a run's header keeps them, by suite and case id."""
    return [{"case": list(key), **asdict(item)} for key, item in sorted(traits.items())]


def traits_from_json(value: Any) -> dict[tuple[str, str], Traits]:
    """The facts of a stored run. Raises as its fields do."""
    return {
        (item["case"][0], item["case"][1]): Traits(**{name: item[name] for name in item if name != "case"})
        for item in value
    }
