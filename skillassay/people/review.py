"""The human queue of a run: what must be held, not averaged. Pure; owns what enters it and what holds the gate.

An entry is what a person must look at: a trial on which the judge abstained, disagreed with itself or with a second
judge, or invented its evidence, a verdict that a reader calls wrong, repeats that do not agree, a case under suspicion,
an oracle somebody doubts, people who disagree. An entry stays open until everybody who spoke says the same; how many
say so is never counted. What is scored keeps its score: an adjudication decides what was left open and cannot make a
failure a pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from skillassay.canonical import short_digest
from skillassay.errors import Reason
from skillassay.gate.lines import GateLine, Status
from skillassay.people.adjudication import (
    FAIL,
    HOLD,
    ORACLE_INVALID,
    PASS,
    Adjudication,
    Target,
    can_pass,
    is_decidable,
    trial_target,
    voices,
)
from skillassay.people.names import same_name
from skillassay.runs.plan import Mode
from skillassay.runs.record import TrialRecord, content_digest
from skillassay.scoring.scores import Row

ABSTAINED, UNGROUNDED, FLAKY, CONTAMINATION, ORACLE_DOUBT, HELD, DISAGREEMENT, DIFFERED, VERDICT_WRONG = KINDS = (
    *("judge_abstained", "ungrounded", "flaky", "contamination", "oracle_doubt", "held", "disagreement"),
    *("judge_disagreed", "verdict_wrong"),
)
HOLDING = frozenset((CONTAMINATION, ORACLE_DOUBT, HELD, DISAGREEMENT, VERDICT_WRONG))
"""Kinds that hold the gate while they are open; ``flaky`` does in progressive on a critical case. An abstention or an
ungrounded pass leaves its trial without a score, which the line ``complete`` says."""

_OF_REASON = {
    Reason.JUDGE_ABSTAINED: ABSTAINED,
    Reason.JUDGE_DISAGREED: DIFFERED,
    Reason.UNGROUNDED: UNGROUNDED,
    Reason.HELD: HELD,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing to look at. ``record`` is the digest of what is to be seen, ``said`` each person's last word on it.

    ``wrong`` has each criterion whose verdict a reader calls wrong, with the reader.
    """

    target: Target
    kind: str
    why: str
    record: str
    said: tuple[Adjudication, ...] = ()
    is_open: bool = True
    holds: bool = False
    wrong: tuple[tuple[str, str], ...] = ()

    @property
    def id(self) -> str:
        """The same in every listing of the run."""
        target = self.target
        return short_digest([target.suite, target.case_id, target.mode, target.repeat])[:8]


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspects:
    """What of a run is known besides its records.

    Critical cases, cases that may have been seen, with why, and by id the trials of which somebody calls a verdict
    wrong, each criterion with who does.
    """

    critical: frozenset[tuple[str, str]] = frozenset()
    contaminated: Mapping[tuple[str, str], str] = field(default_factory=dict)
    wrong: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)


def doubts_by_case(doubts: Sequence[str], hidden: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """What speaks against each hidden case: what names it (``case ID: …``), and what names none."""
    found = {}
    for suite, case_id in hidden:
        about = [words for words in doubts if not words.startswith("case ") or words.startswith(f"case {case_id}: ")]
        if about:
            found[suite, case_id] = "; ".join(about)
    return found


def build_queue(rows: Sequence[Row], adjudications: Iterable[Adjudication], suspects: Suspects) -> tuple[Entry, ...]:
    """The queue of a run from the last records of its trials, as they were recorded, and what people said of them."""
    adjudications = tuple(adjudications)
    spoken = {item.target for item in adjudications}
    found = [*_of_cases(rows, adjudications, suspects), *_of_repeats(rows, adjudications, suspects)]
    for row in rows:
        wrong = suspects.wrong.get(row.record.trial_id, ())
        if wrong or _kind(row.record) is not None or trial_target(row.record) in spoken:
            found += _of_trial(row, adjudications, wrong)
    order = {key: index for index, key in enumerate(dict.fromkeys(map(_key, rows)))}
    return tuple(sorted(found, key=lambda e: (order[e.target.suite, e.target.case_id], str(e.target))))


def _key(row: Row) -> tuple[str, str]:
    return (row.planned.suite, row.planned.case_id)


def _kind(record: TrialRecord) -> str | None:
    """Why a trial is in the queue by itself; None where it is not."""
    if record.outcome.scored:
        return DIFFERED if _differed(record) else None
    return _OF_REASON.get(record.outcome.reason or Reason.INTERRUPTED)


def _differed(record: TrialRecord) -> tuple[str, ...]:
    """The criteria of a trial on which its judge, or its judges, did not all say what counts."""
    return tuple(mark.id for mark in record.marks if mark.differed)


def _of_trial(row: Row, adjudications: Sequence[Adjudication], wrong: tuple[tuple[str, str], ...]) -> Iterator[Entry]:
    record, target = row.record, trial_target(row.record)
    digest = content_digest((record,))
    said = voices(adjudications, target, digest)
    kind = VERDICT_WRONG if wrong else _kind(record)
    if kind is None and not said:
        return  # people spoke about an earlier attempt
    verdicts = {item.verdict for item in said}
    # A score is a word too: who contradicts it does not replace it.
    if record.outcome.scored and verdicts & {PASS, FAIL}:
        verdicts.add({"PASS": PASS, "FAIL": FAIL}[record.outcome.status])
    decides = is_decidable(record) and (can_pass(record) or verdicts != {PASS})
    # Who calls a verdict wrong has spoken too: nobody else can say that the trial's score stands all the same.
    readers = {by for _, by in wrong if not any(same_name(by, item.by) for item in said)}
    settled = len(verdicts) == 1 and verdicts <= {PASS, FAIL} and (record.outcome.scored or decides) and not readers
    seen = record.outcome.detail or ("scored " + record.outcome.status if record.outcome.scored else "no score")
    if record.outcome.scored and _differed(record):
        seen += f"; the judge's words differ on {', '.join(_differed(record))}"
    seen += "".join(f"; {by} calls the verdict on {criterion} wrong" for criterion, by in wrong)
    entry = Entry(target=target, kind=kind or HELD, why=seen, record=digest, said=said, wrong=wrong)
    yield _judged(entry, verdicts, settled=settled)


def _of_repeats(rows: Sequence[Row], adjudications: Sequence[Adjudication], suspects: Suspects) -> Iterator[Entry]:
    """Repeats of a case in a mode that do not agree. Only an agreed PASS of people closes it; no score changes."""
    groups: dict[Target, list[Row]] = {}
    for row in rows:
        planned = row.planned
        target = Target(suite=planned.suite, case_id=planned.case_id, mode=planned.mode.value)
        groups.setdefault(target, []).append(row)
    for target, group in groups.items():
        statuses = [row.record.outcome.status for row in group if row.record.outcome.scored]
        if len(set(statuses)) < 2:
            continue
        digest = content_digest(row.record for row in group)
        said = voices(adjudications, target, digest)
        verdicts = {item.verdict for item in said}
        why = f"{statuses.count('PASS')} of {len(statuses)} scored repeats passed"
        critical = (target.suite, target.case_id) in suspects.critical and target.mode == Mode.PROGRESSIVE.value
        entry = Entry(target=target, kind=FLAKY, why=why, record=digest, said=said, holds=critical)
        yield _judged(entry, verdicts, settled=verdicts == {PASS})


def _of_cases(rows: Sequence[Row], adjudications: Sequence[Adjudication], suspects: Suspects) -> Iterator[Entry]:
    """Cases that may have been seen, and cases somebody spoke about as a whole."""
    spoken = {item.target for item in adjudications if item.target.mode is None}
    for suite, case_id in dict.fromkeys(map(_key, rows)):
        target = Target(suite=suite, case_id=case_id)
        why = suspects.contaminated.get((suite, case_id))
        if why is None and target not in spoken:
            continue
        digest = content_digest(row.record for row in rows if _key(row) == (suite, case_id))
        said = voices(adjudications, target, digest)
        if why is None and not said:
            continue
        verdicts = {item.verdict for item in said}
        kind = HELD if why is None else CONTAMINATION
        entry = Entry(target=target, kind=kind, why=why or "the case as a whole", record=digest, said=said)
        yield _judged(entry, verdicts, settled=verdicts == {PASS})


def _judged(entry: Entry, verdicts: set[str], *, settled: bool) -> Entry:
    """The entry after what was said of it. ``holds`` of the one given says that its own kind holds the gate here."""
    kind = entry.kind
    if len(verdicts) > 1:
        kind = DISAGREEMENT
    elif verdicts == {ORACLE_INVALID}:
        kind = ORACLE_DOUBT
    elif verdicts == {HOLD}:
        kind = HELD
    holds = not settled and (entry.holds or kind in HOLDING)
    return replace(entry, kind=kind, is_open=not settled, holds=holds)


def nothing_held_line(queue: Sequence[Entry]) -> GateLine:
    """No entry that must be held is open. An abstention alone is not counted here: its trial has no score already."""
    held = [entry for entry in queue if entry.holds]
    n_open = sum(entry.is_open for entry in queue)
    return GateLine(
        name="nothing_held",
        status=Status.UNDECIDED if held else Status.PASSED,
        number=f"{len(held)} held, {n_open} of {len(queue)} in the queue open",
        limit="0 held",
        detail=tuple(f"{entry.target}: {entry.kind}, {entry.why}" for entry in held),
    )
