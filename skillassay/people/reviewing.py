"""A stored run before the eyes of a person: what there is to see, and how a word of theirs gets into its file.

Refuses what could not stand: a name that is nobody's, a verdict that overrules a score, a verdict about another record
than the one that was seen, any verdict on a run that keeps no texts. Changes no record and no result.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from skillassay.errors import InputError, Reason, UsageError
from skillassay.people.adjudication import (
    MIN_REASON_CHARS,
    PASS,
    SCORING,
    Adjudication,
    Target,
    append_adjudication,
    can_pass,
    is_decidable,
)
from skillassay.people.names import name_problem
from skillassay.people.review import Entry
from skillassay.runs.evaluation import load_view
from skillassay.runs.keeping import refuse_without_texts
from skillassay.runs.record import content_digest
from skillassay.runs.retention import FULL
from skillassay.runs.store import now_utc, read_records, run_folder
from skillassay.scoring.scores import Row, score_run

MIN_DIGEST_CHARS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a person says. ``record`` begins the digest of what they looked at; None takes what is there now."""

    verdict: str
    by: str
    reason: str
    record: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """A run with its queue and the last record of each trial as it was recorded."""

    root: Path
    run_id: str
    retention: str
    repeats: int
    queue: tuple[Entry, ...]
    rows: tuple[Row, ...]

    def rows_of(self, target: Target) -> tuple[Row, ...]:
        """The trials that a target is about."""
        return tuple(
            row
            for row in self.rows
            if (row.planned.suite, row.planned.case_id) == (target.suite, target.case_id)
            and target.mode in {None, row.planned.mode.value}
            and target.repeat in {None, row.planned.repeat}
        )

    def digest_of(self, target: Target) -> str:
        """The content digest of what there is to see of a target."""
        return content_digest(row.record for row in self.rows_of(target))

    def entry_of(self, target: Target) -> Entry | None:
        """The target's place in the queue; None when it has none."""
        return next((entry for entry in self.queue if entry.target == target), None)


def load_reviewed(root: Path, run: str | None) -> Reviewed:
    """A stored run by id or prefix, the newest for None. Raises :class:`StoreError`."""
    view = load_view(root, run)
    run_id = view.header["id"]
    records = read_records(run_folder(root, run_id))
    return Reviewed(
        root=root,
        run_id=run_id,
        retention=view.header.get("retention", FULL),
        repeats=view.facts.plan.repeats,
        queue=view.assessment.queue,
        rows=score_run(view.facts.plan, records, slices={}).rows,
    )


def target_of(reviewed: Reviewed, *, case: str, mode: str | None, repeat: int | None) -> Target:
    """What options name. Raises :class:`UsageError` for what the run does not have."""
    suite = next((row.planned.suite for row in reviewed.rows if row.planned.case_id == case), None)
    if suite is None:
        known = ", ".join(list(dict.fromkeys(row.planned.case_id for row in reviewed.rows))[:20])
        raise UsageError(f"the run has no case {case!r}", hint=f"cases: {known}")
    if mode is None and repeat is not None:
        raise UsageError("--repeat goes with --mode", hint="name the mode too")
    if mode is not None and repeat is None and reviewed.repeats == 1:
        repeat = 1
    target = Target(suite=suite, case_id=case, mode=mode, repeat=repeat)
    if not reviewed.rows_of(target):
        raise UsageError(f"the run has no trial {target}", hint="`skillassay report` lists them")
    return target


def adjudicate(reviewed: Reviewed, target: Target, said: Said) -> Entry:
    """Append one person's word and return where the target then stands. Raises for what is refused."""
    _refuse(reviewed, target, said)
    append_adjudication(
        run_folder(reviewed.root, reviewed.run_id),
        Adjudication(
            target=target,
            verdict=said.verdict,
            by=" ".join(said.by.split()),
            reason=" ".join(said.reason.split()),
            record=reviewed.digest_of(target),
            at=now_utc(),
        ),
    )
    entry = load_reviewed(reviewed.root, reviewed.run_id).entry_of(target)
    assert entry is not None
    return entry


def _refuse(reviewed: Reviewed, target: Target, said: Said) -> None:
    nobody = name_problem(said.by)
    if nobody is not None:
        raise UsageError(f"--by {nobody}", hint="a person decides, under a name of their own")
    if len(" ".join(said.reason.split())) < MIN_REASON_CHARS:
        raise UsageError(f"--reason {said.reason.strip()!r} is too short", hint="say what you saw and why it decides")
    refuse_without_texts(reviewed.retention, f"a verdict on run {reviewed.run_id}")
    digest = reviewed.digest_of(target)
    if said.record is not None and (len(said.record) < MIN_DIGEST_CHARS or not digest.startswith(said.record)):
        message = f"{target} has the record {digest[:12]} now, not {said.record[:12]}"
        raise InputError(message, hint="look at it again, and give the digest that is shown")
    if target.repeat is not None:
        _refuse_trial(reviewed.rows_of(target)[0], target, said.verdict)
    elif target.mode is not None and reviewed.entry_of(target) is None:
        hint = "name one with --repeat, or the case without --mode"
        raise UsageError(f"the repeats of {target} agree", hint=hint)


def _refuse_trial(row: Row, target: Target, verdict: str) -> None:
    record, outcome = row.record, row.record.outcome
    if outcome.reason is Reason.INTERRUPTED:
        raise UsageError(f"{target} did not run, so nobody can have seen it", hint="go on with the run: --resume")
    if verdict not in SCORING:
        return
    if outcome.status == "FAIL" and verdict == PASS:
        hint = "who accepts the failure waives it: docs/reference/waivers.md; who doubts the case says oracle-invalid"
        raise UsageError(f"{target} has a score, FAIL, which nobody makes a pass", hint=hint)
    if not outcome.scored and not is_decidable(record):
        why = outcome.reason.value if outcome.reason else "no score"
        hint = "--retry-unscored tries again what may be; a person decides only what the judge left open"
        raise UsageError(f"{target} is unscored ({why}): there is no answer to decide about", hint=hint)
    if not outcome.scored and verdict == PASS and not can_pass(record):
        failed = ", ".join(mark.id for mark in record.marks if not mark.passed)
        raise UsageError(f"{target} cannot pass: it failed {failed}", hint="say fail, or hold")
