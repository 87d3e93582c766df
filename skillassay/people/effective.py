"""The effective decision: what the gate's lines come to where somebody answers for a failure. Pure.

The recorded decision stays as it is and beside it. A failed line counts as waived only when every skill or case that it
fails on is covered by a waiver in force for exactly these bytes; what else the line would say then stands. An open line
is nobody's to waive, and neither is one that names no cause.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from skillassay.gate.lines import Cause, Decision, GateLine, Status
from skillassay.people.waiver import CASE_LINES, WAIVABLE, Tree, Waiver, over_wide, whole_words


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """One waiver that made a failure of one line count as waived, with the causes it covered."""

    line: str
    waiver: Waiver
    causes: tuple[Cause, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effective:
    """A decision and its waivers. ``decision`` is the effective one, ``unused`` says why a waiver did not count."""

    recorded: Decision
    decision: Decision
    uses: tuple[Use, ...]
    unused: tuple[tuple[Waiver, str], ...]
    day: date

    @property
    def waived(self) -> tuple[str, ...]:
        """The lines that count as waived, in the decision's order."""
        names = {use.line for use in self.uses}
        return tuple(line.name for line in self.recorded.lines if line.name in names)


def build_effective(recorded: Decision, waivers: Sequence[Waiver], measured: Tree, day: date) -> Effective:
    """Apply the waivers to a decision about the skills and cases ``measured``, as on a day."""
    refused = {waiver.id: why for waiver in waivers if (why := _refusal(waiver, measured, day)) is not None}
    whole = over_wide([waiver for waiver in waivers if waiver.id not in refused], measured)
    refused |= {w.id: whole_words(w, measured) for w in waivers if (w.line, w.skill) in whole}
    in_force = [waiver for waiver in waivers if waiver.id not in refused]
    uses: list[Use] = []
    lines: list[GateLine] = []
    for line in recorded.lines:
        new = _uses_of(line, in_force)
        uses += new
        lines.append(replace(line, status=line.otherwise) if new else line)
    used = {use.waiver.id for use in uses}
    unused = [(waiver, refused.get(waiver.id) or _why_idle(waiver, recorded)) for waiver in waivers]
    return Effective(
        recorded=recorded,
        decision=replace(recorded, lines=tuple(lines)),
        uses=tuple(uses),
        unused=tuple((waiver, why) for waiver, why in unused if waiver.id not in used),
        day=day,
    )


def _refusal(waiver: Waiver, measured: Tree, day: date) -> str | None:
    """Why a waiver says nothing about what was measured."""
    lapse = waiver.lapse(day)
    if lapse is not None:
        return lapse
    if measured.skills.get(waiver.skill) != waiver.skill_digest:
        return f"the run measured other bytes of {waiver.skill}"
    cases = measured.cases.get(waiver.skill, {})
    other = [name for name, digest in waiver.cases.items() if cases.get(name) != digest]
    return f"the run did not measure {', '.join(other)} as it was waived" if other else None


def _uses_of(line: GateLine, waivers: Sequence[Waiver]) -> list[Use]:
    """The waivers that cover a failed line whole; none where one of its causes is left."""
    if line.status is not Status.FAILED or line.live_only or line.name not in WAIVABLE or not line.causes:
        return []
    covered: dict[str, list[Cause]] = {}
    by_id = {waiver.id: waiver for waiver in waivers if waiver.line == line.name}
    for cause in line.causes:
        found = next((waiver for waiver in by_id.values() if _covers(waiver, cause)), None)
        if found is None:
            return []
        covered.setdefault(found.id, []).append(cause)
    return [Use(line=line.name, waiver=by_id[name], causes=tuple(causes)) for name, causes in covered.items()]


def _covers(waiver: Waiver, cause: Cause) -> bool:
    if waiver.skill != cause.skill_path:
        return False
    return cause.case in waiver.cases if waiver.line in CASE_LINES else cause.case is None


def _why_idle(waiver: Waiver, recorded: Decision) -> str:
    statuses: Mapping[str, Status] = {line.name: line.status for line in recorded.lines}
    if waiver.line not in statuses:
        return f"the gate has no line {waiver.line} here"
    if statuses[waiver.line] is not Status.FAILED:
        return f"{waiver.line} is {statuses[waiver.line].value.replace('_', ' ')}"
    return f"{waiver.line} also fails on what no waiver covers"
