"""Lines of the gate about groups of cases: required slices, their limits, spread of repeats, failure corpus. Pure.

A line stands only where the contract or a case asks for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from skillassay.contract.contract import GateTerms
from skillassay.gate.lines import Cause, GateLine, Status, decimal_text
from skillassay.gate.rows import below, causes_of, failed_marks, progressive_rows, scored_rows, status_of, where
from skillassay.gate.trials import Critical
from skillassay.runs.plan import Mode
from skillassay.scoring.repeats import CaseRepeats, RepeatReport
from skillassay.scoring.scores import Row
from skillassay.scoring.slices import SliceReport
from skillassay.suites.facts import FAILURE_CORPUS
from skillassay.suites.traits import Traits

CaseKey = tuple[str, str]


def required_slices_line(slices: Sequence[SliceReport]) -> list[GateLine]:
    """Each required slice has cases, planned and all scored; one declared not applicable has none."""
    listed = [part for part in slices if part.terms is not None]
    if not listed:
        return []
    required = [part for part in listed if part.required]
    excused = [part for part in listed if part.not_applicable is not None]
    states = {part.name: _presence(part) for part in (*required, *excused)}
    good = sum(states[part.name][0] is Status.PASSED for part in required)
    return [
        GateLine(
            name="required_slices",
            status=_gravest([status for status, _ in states.values()]),
            number=f"{good} of {len(required)} required slices complete, {len(excused)} not applicable",
            limit="every required slice",
            detail=tuple(words for _, words in states.values() if words),
            counts={"complete": good, "required": len(required), "not_applicable": len(excused)},
        )
    ]


def _presence(part: SliceReport) -> tuple[Status, str]:
    """Whether a required slice was looked at, or one declared not applicable has nothing to look at; why not."""
    if part.not_applicable is not None:
        if part.n_authored:
            return Status.FAILED, f"{part.name}: declared not applicable, and {part.n_authored} cases are in it"
        return Status.PASSED, f"{part.name}: not applicable: {part.not_applicable}"
    if not part.n_authored:
        return Status.FAILED, f"{part.name}: required, and no case of the suites is in it"
    if not part.rows:
        return Status.UNDECIDED, f"{part.name}: none of its {part.n_authored} cases is planned in progressive"
    n_open = len(part.rows) - len(scored_rows(part.rows))
    if n_open:
        lacking = sum(mode.n_missing_capability for mode in part.group.modes if mode.mode is Mode.PROGRESSIVE)
        more = f", {lacking} of them for a missing_required_capability" if lacking else ""
        return Status.UNDECIDED, f"{part.name}: {n_open} of {len(part.rows)} trials have no score{more}"
    return Status.PASSED, ""


def slice_quality_line(slices: Sequence[SliceReport]) -> list[GateLine]:
    """Each trial of a slice reaches the slice's own limit; no line where no slice has one."""
    limited = [(part, limit) for part in slices if (limit := _quality_min(part)) is not None]
    if not limited:
        return []
    looked = [row for part, _ in limited for row in part.rows]
    low = [(part, limit, row) for part, limit in limited for row in below(scored_rows(part.rows), limit)]
    return [
        GateLine(
            name="slice_quality",
            status=status_of(looked, failed=bool(low)),
            number=f"{len(low)} of {len(scored_rows(looked))} scored trials below the limit of their slice",
            limit=", ".join(f"{part.name} >= {decimal_text(limit)}" for part, limit in limited),
            detail=tuple(
                f"{part.name}: {where(row)}: {row.record.k}/{row.planned.n_criteria}, limit {decimal_text(limit)}"
                f"{failed_marks(row)}"
                for part, limit, row in low
            ),
            counts={"low": len(low), "scored": len(scored_rows(looked)), "planned": len(looked)},
            causes=causes_of([row for _, _, row in low]),
            otherwise=status_of(looked, failed=False),
        )
    ]


def _quality_min(part: SliceReport) -> Fraction | None:
    return None if part.terms is None else part.terms.quality_min


def variance_line(repeats: RepeatReport, slices: Sequence[SliceReport], terms: GateTerms) -> list[GateLine]:
    """The spread of each case's repeats stays within its limits; no line where neither gate nor slice has one."""
    limits = _variance_limits(repeats, slices, terms)
    named = [f"{part.name} <= {decimal_text(limit)}" for part in slices if (limit := _variance_max(part)) is not None]
    if terms.variance_max is not None:
        named.insert(0, f"<= {decimal_text(terms.variance_max)} for every case")
    if not named:
        return []
    wide = [case for case, limit in limits.items() if case.variance is not None and case.variance > limit]
    untold = [case for case in limits if case.scored < case.planned or case.variance is None]
    known = [case.variance for case in limits if case.variance is not None]
    open_ = tuple(
        f"{case.case_id}: {case.scored} of {case.planned} repeats scored"
        + (", a spread needs two" if case.variance is None else "")
        for case in untold
    )
    return [
        GateLine(
            name="variance",
            status=Status.FAILED if wide else Status.UNDECIDED if untold or not limits else Status.PASSED,
            number=f"largest {decimal_text(max(known))} of {len(known)} cases" if known else "no case has two scores",
            limit=", ".join(named),
            detail=(*(_spread_words(case, limits[case]) for case in wide), *open_),
            counts={"wide": len(wide), "measured": len(known), "cases": len(limits)},
            causes=tuple(Cause(skill_path=case.skill_path, case=f"{case.suite}/{case.case_id}") for case in wide),
            otherwise=Status.UNDECIDED if untold else Status.PASSED,
        )
    ]


def _spread_words(case: CaseRepeats, limit: Fraction) -> str:
    shares = ", ".join(decimal_text(share) for share in case.shares)
    variance = decimal_text(case.variance or Fraction(0))
    return f"{case.case_id}: variance {variance} of {shares}, limit {decimal_text(limit)}"


def _variance_max(part: SliceReport) -> Fraction | None:
    return None if part.terms is None else part.terms.variance_max


def _variance_limits(
    repeats: RepeatReport, slices: Sequence[SliceReport], terms: GateTerms
) -> dict[CaseRepeats, Fraction]:
    """The limit of each progressive case that has one: the stricter of the gate's and its slice's."""
    of_slice = {
        (row.planned.suite, row.planned.case_id): limit
        for part in slices
        if (limit := _variance_max(part)) is not None
        for row in part.rows
    }
    found = {}
    for case in repeats.cases:
        given = [limit for limit in (terms.variance_max, of_slice.get(_key(case))) if limit is not None]
        if given and case.mode is Mode.PROGRESSIVE:
            found[case] = min(given)
    return found


def _key(case: CaseRepeats) -> CaseKey:
    return (case.suite, case.case_id)


def failure_corpus_line(
    rows: Sequence[Row], parts: Mapping[CaseKey, str], traits: Mapping[CaseKey, Traits]
) -> list[GateLine]:
    """No case of a past incident fails, whatever the rest comes to; no line without such a case."""
    corpus = {key for key, part in parts.items() if part == FAILURE_CORPUS}
    looked = [row for row in progressive_rows(rows) if (row.planned.suite, row.planned.case_id) in corpus]
    if not looked:
        return []
    scored = scored_rows(looked)
    back = [row for row in scored if row.record.outcome.status == "FAIL"]
    return [
        GateLine(
            name="failure_corpus",
            status=status_of(looked, failed=bool(back)),
            number=f"{len(back)} of {len(scored)} scored trials failed again",
            limit="0",
            detail=tuple(f"{where(row)}: {_incident(row, traits)}{failed_marks(row)}" for row in back),
            counts={"failed": len(back), "scored": len(scored), "planned": len(looked)},
            causes=causes_of(back),
            otherwise=status_of(looked, failed=False),
        )
    ]


def _incident(row: Row, traits: Mapping[CaseKey, Traits]) -> str:
    known = traits.get((row.planned.suite, row.planned.case_id))
    if known is None or known.incident is None:
        return "an incident without an id is back"
    return f"incident {known.incident} is back (root cause: {known.root_cause})"


def slice_statuses(
    slices: Sequence[SliceReport], *, terms: GateTerms, critical: Critical, repeats: RepeatReport
) -> tuple[tuple[str, Status], ...]:
    """What each slice by itself came to: presence, quality, critical failures and spread of its own trials."""
    return tuple((part.name, _slice_status(part, terms=terms, critical=critical, repeats=repeats)) for part in slices)


def _slice_status(part: SliceReport, *, terms: GateTerms, critical: Critical, repeats: RepeatReport) -> Status:
    if part.not_applicable is not None:
        return Status.FAILED if part.n_authored else Status.NOT_APPLICABLE
    if part.required and not part.rows:
        return _presence(part)[0]
    scored = scored_rows(part.rows)
    limit = max(terms.quality_min, _quality_min(part) or Fraction(0))
    low = bool(below(scored, limit)) or any(critical.covers(row) and critical.broken_in(row) for row in scored)
    keys = {(row.planned.suite, row.planned.case_id) for row in part.rows}
    own = [case for case in repeats.cases if case.mode is Mode.PROGRESSIVE and _key(case) in keys]
    spread = variance_line(RepeatReport(n_repeats=repeats.n_repeats, cases=tuple(own), rates=()), [part], terms)
    return _gravest([status_of(part.rows, failed=low), *(line.status for line in spread)])


def _gravest(statuses: Sequence[Status]) -> Status:
    order = (Status.FAILED, Status.UNDECIDED, Status.PASSED)
    return next((status for status in order if status in statuses), Status.NOT_APPLICABLE)
