"""Where the judge of a run stands: calibrated for exactly what it was and read, or why not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillassay.calibration.certificate import Certificate, n_left_out, pairs_of, read_certificates, staleness
from skillassay.calibration.labels import Labels, read_labels
from skillassay.calibration.measure import Agreement, agreement_of, shortfalls
from skillassay.calibration.pin import JudgePin, differences, pin_of_run
from skillassay.contract.terms import CalibrationTerms


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What is known of a run's judge. ``why_not`` says what certifies nothing; empty where the judge is calibrated."""

    agreement: Agreement | None
    why_not: tuple[str, ...]
    made_at: str | None = None

    @property
    def is_calibrated(self) -> bool:
        """Whether its verdicts may certify something."""
        return not self.why_not


NEVER = Standing(agreement=None, why_not=("the judge has not been compared with people, so it certifies nothing yet",))


def load_standing(
    root: Path, header: Mapping[str, Any], answered: Iterable[str | None], terms: CalibrationTerms
) -> Standing:
    """The standing of a stored run's judge by what the project holds now. Raises :class:`StoreError`."""
    certificates = read_certificates(root)
    if not certificates:
        return NEVER
    judged = {f"{trial['suite']}/{trial['case_id']}" for trial in header["facts"]["trials"]}
    cases = {name: digest for name, digest in header["cases"].items() if name in judged}
    return build_standing(certificates, read_labels(root), pin_of_run(header, answered), cases, terms)


def build_standing(
    certificates: Sequence[Certificate],
    labels: Labels,
    pin: JudgePin,
    cases: Mapping[str, str],
    terms: CalibrationTerms,
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
    agreement = agreement_of(pairs_of(newest, labels))
    other = sorted(name for name, digest in cases.items() if newest.cases.get(name) != digest)
    expired = (f"cases that are others than when it was calibrated: {', '.join(other[:3])}",) if other else ()
    why_not = (
        *staleness(newest, labels),
        *expired,
        *shortfalls(agreement, terms, n_left_out=n_left_out(newest, labels)),
    )
    return Standing(agreement=agreement, why_not=why_not, made_at=newest.at)
