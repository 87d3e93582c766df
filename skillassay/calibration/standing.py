"""Where the judge of a run stands: calibrated for exactly what it was and read, or why not."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillassay.calibration.certificate import (
    Certificate,
    all_compared_at,
    n_left_out,
    pairs_of,
    read_certificates,
    staleness,
)
from skillassay.calibration.coverage import coverage_shortfalls
from skillassay.calibration.judged import SECOND, Statement, answered_names, judged_points
from skillassay.calibration.labels import Labels, read_labels
from skillassay.calibration.measure import Agreement, agreement_of, shortfalls
from skillassay.calibration.pin import JudgePin, differences, pin_of_run
from skillassay.contract.terms import CalibrationTerms
from skillassay.runs.record import TrialRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What is known of a run's judge. ``why_not`` says what certifies nothing; empty where the judge is calibrated."""

    agreement: Agreement | None
    why_not: tuple[str, ...]
    made_at: str | None = None
    n_before: int = 0

    @property
    def is_calibrated(self) -> bool:
        """Whether its verdicts may certify something."""
        return not self.why_not


NEVER = Standing(agreement=None, why_not=("the judge has not been compared with people, so it certifies nothing yet",))


def load_standing(
    root: Path, header: Mapping[str, Any], records: Collection[TrialRecord], terms: CalibrationTerms
) -> Standing:
    """The standing of a stored run's judge by what the project holds now. Raises :class:`StoreError`.

    Labels are committed, so none is about a hidden case: what they say of the others has to do for these.
    """
    certificates = read_certificates(root)
    if not certificates:
        return NEVER
    hidden = (header["facts"].get("holdout") or {}).get("suite")
    open_trials = [trial for trial in header["facts"]["trials"] if trial["suite"] != hidden]
    planned = {f"{trial['suite']}/{trial['case_id']}" for trial in open_trials}
    cases = {name: digest for name, digest in header["cases"].items() if name in planned}
    judged = [point for point in judged_points(records) if point[0] in planned]
    pin = pin_of_run(header, answered_names(records), answered_names(records, SECOND))
    return build_standing(certificates, read_labels(root), pin, cases, terms, judged=judged)


def build_standing(
    certificates: Sequence[Certificate],
    labels: Labels,
    pin: JudgePin,
    cases: Mapping[str, str],
    terms: CalibrationTerms,
    *,
    judged: Collection[Statement],
) -> Standing:
    """The best that any calibration says about this judge on these cases: the newest one that is about it."""
    about = [one for one in certificates if not differences(one.pin, pin)]
    if not about:
        nearest = min(certificates, key=lambda one: len(differences(one.pin, pin)))
        return Standing(
            agreement=None,
            why_not=("no calibration is of this judge; the nearest differs", *differences(nearest.pin, pin)),
        )
    newest = max(about, key=lambda one: one.at)
    also = all_compared_at(certificates)
    agreement = agreement_of(pairs_of(newest, labels, also=also))
    other = sorted(name for name, digest in cases.items() if newest.cases.get(name) != digest)
    expired = (f"cases that are others than when it was calibrated: {', '.join(other[:3])}",) if other else ()
    why_not = (
        *staleness(newest, labels),
        *expired,
        *shortfalls(agreement, terms, n_left_out=n_left_out(newest, labels, also=also)),
        *coverage_shortfalls(newest, labels, judged, terms),
    )
    return Standing(agreement=agreement, why_not=why_not, made_at=newest.at, n_before=len(newest.before))
