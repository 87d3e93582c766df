"""Calibrating the judge of a project: labels and verdicts from disk, the comparison, and the file that keeps it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from skillassay.calibration.certificate import (
    Certificate,
    all_compared_at,
    changed_words,
    following,
    n_left_out,
    pairs_of,
    read_certificates,
    settled_points,
)
from skillassay.calibration.coverage import coverage_shortfalls
from skillassay.calibration.items import statements_of
from skillassay.calibration.judged import SECOND, Statement, answered_names, judged_points, told_names
from skillassay.calibration.labels import HUMAN, Labels, Point, read_labels
from skillassay.calibration.measure import Agreement, Pair, Verbosity, agreement_of, shortfalls, verbosity_of
from skillassay.calibration.pin import JudgePin, pin_of_run
from skillassay.calibration.verdicts import Verdicts, asked_verdicts, recorded_verdicts
from skillassay.contract.terms import CalibrationTerms, JudgeTerms
from skillassay.errors import InputError
from skillassay.locks.binding import FIXED_PROMPTS
from skillassay.models.base import Model
from skillassay.runs.store import now_utc, read_header, read_records, refuse_changed, run_folder
from skillassay.suites.case import Case

NO_LABELS_HINT = "label answers of a run first: `skillassay label --by NAME`"


@dataclass(frozen=True, slots=True, kw_only=True)
class BetweenPeople:
    """How often two people who both decided a point say the same."""

    one: str
    other: str
    agreement: Agreement


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A comparison of one judge with people. ``why_not`` is why it certifies nothing; empty where it does."""

    certificate: Certificate
    origin: str
    pairs: tuple[Pair, ...]
    agreement: Agreement
    verbosity: Verbosity
    n_disputed: int
    n_changed: int
    between: tuple[BetweenPeople, ...]
    why_not: tuple[str, ...]

    @property
    def wrong(self) -> tuple[Pair, ...]:
        """The pairs on which judge and people differ: the first thing to read."""
        return tuple(pair for pair in self.pairs if pair.human is not pair.judge)


def calibrate_run(root: Path, run: str | None, labels: Labels, terms: CalibrationTerms, *, origin: str) -> Calibration:
    """Compare the verdicts of a stored run with the labels on its answers. Raises :class:`StoreError`."""
    folder = run_folder(root, run)
    header, records = read_header(folder), list(read_records(folder))
    refuse_changed(folder, records)
    cases: Mapping[str, str] = header["cases"]
    settled = _settled(labels, cases, origin)
    verdicts = recorded_verdicts(records, cases, settled)
    if not verdicts.said and not verdicts.unanswered:
        message = f"run {header['id']} has none of the labelled answers, so there is nothing to compare"
        raise InputError(message, hint="ask the judge about them: skillassay calibrate --ask")
    unread = [point for point in settled if point not in verdicts.said and point not in verdicts.unanswered]
    verdicts.unanswered |= dict.fromkeys(unread, "not in the run")
    pin = pin_of_run(header, answered_names(records), answered_names(records, SECOND))
    compared = _Compared(root=root, labels=labels, cases=cases, judged=judged_points(records), terms=terms)
    return _compare(compared, verdicts, pin=pin, origin=origin)


def calibrate_by_asking(
    root: Path,
    judge: Model,
    cases: Mapping[str, Case],
    terms: JudgeTerms,
    *,
    origin: str,
    tell: Callable[[int, int], None],
) -> Calibration:
    """Ask ``judge`` about every labelled answer to ``cases`` (by ``suite/id``), and compare. Raises ``StoreError``."""
    labels = read_labels(root)
    digests = {name: case.digest for name, case in cases.items()}
    settled = _settled(labels, digests, origin)
    wanted: dict[str, set[str]] = {}
    for answer_id, criterion in settled:
        wanted.setdefault(answer_id, set()).add(criterion)
    material = []
    for answer_id, criteria in wanted.items():
        answer = labels.answers[answer_id]
        material.append((answer, cases[f"{answer.suite}/{answer.case_id}"], frozenset(criteria)))
    verdicts = asked_verdicts(judge, material, terms, tell=lambda done: tell(done, len(material)))
    identity = judge.identity
    pin = JudgePin(
        model=identity.label,
        answered=tuple(sorted(told_names(verdicts.answered))),
        endpoint="embedded" if identity.is_fixture else identity.endpoint,
        address=identity.address,
        prompt=FIXED_PROMPTS.judge,
        max_output_tokens=terms.max_output_tokens,
        samples=terms.samples,
    )
    judged = statements_of(cases.values())
    compared = _Compared(root=root, labels=labels, cases=digests, judged=judged, terms=terms.calibration)
    return _compare(compared, verdicts, pin=pin, origin=origin)


def _settled(labels: Labels, cases: Mapping[str, str], origin: str) -> dict[Point, bool]:
    settled = settled_points(labels, cases, origin=origin)
    if not settled:
        n_all = len(labels.settled(origin=origin))
        message = f"no {origin} label is about an answer to a case as it is now ({n_all} labels in all are settled)"
        raise InputError(message, hint=NO_LABELS_HINT)
    return settled


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compared:
    """What a judge is compared on. ``judged`` is everything that it decides, labelled or not."""

    root: Path
    labels: Labels
    cases: Mapping[str, str]
    judged: Collection[Statement]
    terms: CalibrationTerms


def _compare(compared: _Compared, verdicts: Verdicts, *, pin: JudgePin, origin: str) -> Calibration:
    labels, terms = compared.labels, compared.terms
    settled = settled_points(labels, compared.cases, origin=origin)
    certificate = Certificate(
        at=now_utc(),
        pin=pin,
        cases=dict(compared.cases),
        verdicts={point: (settled[point], said) for point, said in verdicts.said.items()},
        unanswered=verdicts.unanswered,
    )
    also = frozenset[str]()
    if origin == HUMAN:
        certificate = following(compared.root, certificate)
        also = all_compared_at(read_certificates(compared.root))
    pairs = pairs_of(certificate, labels, also=also)
    agreement = agreement_of(pairs)
    authored = () if origin == HUMAN else ("authored labels show a tool at work and certify no judge",)
    return Calibration(
        certificate=certificate,
        origin=origin,
        pairs=pairs,
        agreement=agreement,
        verbosity=verbosity_of(pairs),
        n_disputed=len(labels.disputed(origin=origin)),
        n_changed=len(changed_words(certificate, labels, origin=origin, also=also)),
        between=between_people(labels, origin=origin),
        why_not=(
            *authored,
            *shortfalls(agreement, terms, n_left_out=n_left_out(certificate, labels, origin=origin, also=also)),
            *coverage_shortfalls(certificate, labels, compared.judged, terms),
        ),
    )


def between_people(labels: Labels, *, origin: str = HUMAN) -> tuple[BetweenPeople, ...]:
    """The agreement of each two people on what both decided, passing being the positive class of both."""
    said = labels.said(origin=origin)
    names = sorted({one.by for words in said.values() for one in words})
    found = []
    for one, other in combinations(names, 2):
        both = [
            (mine.verdict == "pass", theirs.verdict == "pass")
            for words in said.values()
            for mine in words
            for theirs in words
            if (mine.by, theirs.by) == (one, other)
        ]
        if both:
            pairs = [Pair(point=("", ""), human=a, judge=b, n_chars=0) for a, b in both]
            found.append(BetweenPeople(one=one, other=other, agreement=agreement_of(pairs)))
    return tuple(found)
