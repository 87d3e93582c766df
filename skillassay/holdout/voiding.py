"""Voiding a holdout's version: what rested on it stops counting. Owns what is written; un-voids nothing.

The committed file says that the version is void, so that every stored run that planned it is assessed without its
trials and its gate fails; every committed evidence that used it gets the reason, which a lock refuses from then on. The
runs themselves are not touched.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from skillassay.errors import Reason, Stage, StoreError
from skillassay.holdout.sealed import HoldoutUse, Sealed, sealed_bytes
from skillassay.inside import write_inside
from skillassay.locks.evidence import EVIDENCE_FOLDER, EvidenceProblem, evidence_bytes, parse_evidence
from skillassay.regular import NotRegular, read_regular
from skillassay.runs.record import Outcome, TrialRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Voided:
    """What was voided: the evidence files that rested on the version."""

    evidence: tuple[str, ...]


def void_holdout(root: Path, path: str, sealed: Sealed, *, reason: str) -> Voided:
    """Void the sealed version, for the first reason that was given. Raises :class:`StoreError`."""
    reason = sealed.void_reason or reason
    used = [(file, data) for file, data in _resting(root, sealed, reason)]
    marked = replace(sealed, voided={**sealed.voided, sealed.version: reason})
    try:
        # The mark that all runs read comes first: a kill in between leaves evidence that is voided the next time.
        for file, data in ((path, sealed_bytes(marked)), *used):
            write_inside(root, file, data)
    except OSError as error:
        raise StoreError(f"the holdout cannot be voided: {error}", hint="free space or fix permissions") from error
    return Voided(evidence=tuple(file for file, _ in used))


def _resting(root: Path, sealed: Sealed, reason: str) -> Iterable[tuple[str, bytes]]:
    """The evidence that used this version, with its new bytes."""
    for path in sorted((root / EVIDENCE_FOLDER).rglob("*.json")):
        try:
            evidence = parse_evidence(read_regular(path))
        except (OSError, NotRegular, EvidenceProblem):
            continue  # what cannot be read proves nothing, and a check of the lock says so
        used = evidence.body.get("holdout")
        if isinstance(used, dict) and (used.get("suite"), used.get("version")) == (sealed.suite, sealed.version):
            voided = f"holdout {sealed.suite} {sealed.version}: {reason}"
            yield path.relative_to(root).as_posix(), evidence_bytes({**evidence.body, "voided": voided})


def void_outcome(doubt: str) -> Outcome:
    """What a trial of a void holdout comes to."""
    return Outcome(status="UNSCORED", reason=Reason.VOIDED, stage=Stage.HARNESS, detail=doubt)


def void_records(records: Iterable[TrialRecord], use: HoldoutUse, doubt: str) -> tuple[TrialRecord, ...]:
    """The records of a run with the holdout's own taken out of every score; what was observed stays on the disk."""
    outcome = void_outcome(doubt)
    return tuple(replace(one, outcome=outcome, marks=()) if one.suite == use.suite else one for one in records)
