"""What stored trials say of a suite: which cases and criteria tell anything apart. Pure; decides nothing.

Looked at are scored trials, as a report counts them, of cases that are today what they were then; those of a hidden
holdout and of cases edited since are counted and set aside. A trial without a score is neither a pass nor a failure. A
share of all or nothing is told with its Wilson interval and from ``MIN_TRIALS`` trials on: with fewer the interval
reaches past one half, and there is too little to say. That two repeats differ is a fact from two of them on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from skillassay.errors import Stage
from skillassay.findings import Severity, register
from skillassay.runs.plan import Mode
from skillassay.scoring.scores import Row, rate_of
from skillassay.statistics.rates import wilson
from skillassay.suites.controls import CONTROLS
from skillassay.suites.facts import FAILURE_CORPUS
from skillassay.suites.lints.base import Doubt, LintedCase, doubt

SATURATED = register("suite.saturated", "Every scored trial of a case passed, with the skill and without it.")
NEVER_PASSED = register("suite.never-passed", "No scored trial of a case passed, in whatever mode.")
NO_DIFFERENCE = register("suite.no-difference", "With the skill a case scores as without it, repeat by repeat.")
NONE_BETTER = register("suite.none-better", "Without the skill a case never scores lower, and sometimes higher.")
FLAKY = register("suite.flaky", "Repeats of one case, mode and skill differ in the verdict on a check or criterion.")
ALWAYS_PASSES = register("suite.always-passes", "A check or criterion never failed in any stored trial.")
ALWAYS_FAILS = register("suite.always-fails", "A check or criterion never passed in any stored trial.")
OFTEN_UNJUDGED = register(
    "suite.often-unjudged", "The judge often gave no verdict that counts on the trials of a case."
)

MIN_TRIALS = 4
"""From here on the Wilson interval of n of n begins above one half: n / (n + 1.96²) > 0.5."""
UNJUDGED_SHARE = Fraction(1, 5)

GUARDS = (*CONTROLS, FAILURE_CORPUS)
"""Parts of which nobody expects a lift."""

MODES = (Mode.PROGRESSIVE, Mode.NONE, Mode.EAGER, Mode.PREVIOUS)
"""Other arms are there to be held against, and enter nothing here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTrials:
    """The trials of one run. ``bytes_of`` tells for each skill which bytes of it and which candidate answered."""

    run_id: str
    rows: tuple[Row, ...]
    cases: Mapping[str, str]
    hidden_suite: str | None
    bytes_of: Mapping[str, tuple[str, ...]]
    is_fixture: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialLint:
    """What the trials of ``runs`` say. ``too_few`` are the cases with scored trials, and fewer than needed; ``unseen``
    those without any; ``edited`` those whose trials are of another text of them; ``n_told`` have enough."""

    runs: tuple[str, ...]
    doubts: tuple[Doubt, ...]
    n_trials: int
    n_scored: int
    n_hidden: int
    n_told: int
    too_few: tuple[str, ...]
    unseen: tuple[str, ...]
    edited: tuple[str, ...]
    is_fixture: bool

    @property
    def n_unscored(self) -> int:
        """Trials that are in no count."""
        return self.n_trials - self.n_scored


@dataclass(frozen=True, slots=True)
class _Seen:
    """A trial of a case with its run, and what it ran on."""

    run_id: str
    row: Row
    on: tuple[str, ...]

    @property
    def mode(self) -> Mode:
        return self.row.planned.mode

    @property
    def is_scored(self) -> bool:
        return self.row.record.outcome.scored

    @property
    def passed(self) -> bool:
        return self.row.record.outcome.status == "PASS"


def stored_trials(header: Mapping[str, Any], rows: Iterable[Row]) -> StoredTrials:
    """The trials of an assessed run, by its header."""
    use, candidate = header["facts"].get("holdout"), header["models"]["candidate"]
    who = (candidate["label"], str(header["contract"]["groups"]["candidate"].get("config_digest")))
    return StoredTrials(
        run_id=header["id"],
        rows=tuple(rows),
        cases=header["cases"],
        hidden_suite=None if use is None else use["suite"],
        bytes_of={path: (skill["digest"], *who) for path, skill in header["skills"].items()},
        is_fixture=bool(header["facts"]["is_fixture"]),
    )


def lint_trials(cases: Sequence[LintedCase], runs: Sequence[StoredTrials]) -> TrialLint:
    """Hold the stored trials of these cases against each other."""
    by_case: dict[tuple[str, str], list[_Seen]] = {linted.key: [] for linted in cases}
    digests = {linted.key: linted.case.digest for linted in cases}
    edited: dict[str, None] = {}
    n_hidden = 0
    for run in runs:
        for row in run.rows:
            key = (row.planned.suite, row.planned.case_id)
            if run.hidden_suite == key[0]:
                n_hidden += 1
            elif digests.get(key) is not None and run.cases.get("/".join(key)) != digests[key]:
                edited["/".join(key)] = None
            elif key in by_case and row.planned.mode in MODES:
                by_case[key].append(_Seen(run.run_id, row, run.bytes_of.get(row.planned.skill_path, ())))
    trials = [seen for group in by_case.values() for seen in group]
    n_scored = {key: sum(seen.is_scored for seen in group) for key, group in by_case.items()}
    return TrialLint(
        runs=tuple(run.run_id for run in runs),
        doubts=tuple(found for linted in cases for found in _of_case(linted, by_case[linted.key])),
        n_trials=len(trials),
        n_scored=sum(n_scored.values()),
        n_hidden=n_hidden,
        n_told=sum(n >= MIN_TRIALS for n in n_scored.values()),
        too_few=tuple("/".join(key) for key, n in n_scored.items() if 0 < n < MIN_TRIALS),
        unseen=tuple("/".join(key) for key, n in n_scored.items() if n == 0),
        edited=tuple(edited),
        is_fixture=any(run.is_fixture for run in runs),
    )


def _of_case(linted: LintedCase, trials: Sequence[_Seen]) -> Iterator[Doubt]:
    scored = [seen for seen in trials if seen.is_scored]
    n_passed = sum(seen.passed for seen in scored)
    yield from _unjudged(linted, trials)
    yield from _flaky(linted, scored)
    if len(scored) < MIN_TRIALS:
        return
    arms = {seen.mode for seen in scored}
    if n_passed == len(scored):
        if {Mode.PROGRESSIVE, Mode.NONE} <= arms:
            message = f"{_rates(trials)}: it passes whether the skill is there or not"
            hint = "ask for what only the skill knows, or keep it as a regression case and write another"
            yield doubt(SATURATED, _severity(linted), linted, message, hint=hint)
        return
    if n_passed == 0:
        message = f"{_rates(trials)}: no trial met all of it"
        hint = "read the failures: the case may ask for more than anybody can give, or a check may be wrong"
        yield doubt(NEVER_PASSED, Severity.WARNING, linted, message, hint=hint)
    else:
        yield from _against_none(linted, scored)
    yield from _constant_items(linted, scored)


def _severity(linted: LintedCase) -> Severity:
    """A case that is there to guard against something is sound where both arms pass it."""
    return Severity.NOTE if linted.case.part in GUARDS else Severity.WARNING


def _rates(trials: Sequence[_Seen]) -> str:
    """``progressive 0 of 6, none 0 of 6 (95 % 0 to 24 %)``: passed of scored by mode, and what has no score."""
    parts = []
    for mode in MODES:
        rate = rate_of([seen.row for seen in trials if seen.mode is mode])
        if rate.planned:
            more = f", {rate.unscored} unscored" if rate.unscored else ""
            parts.append(f"{mode.value} {rate.passed} of {rate.scored}{more}")
    whole = rate_of([seen.row for seen in trials])
    return f"passed {'; '.join(parts)} ({_interval(whole.passed, whole.scored)})"


def _interval(passed: int, n: int) -> str:
    interval = wilson(passed, n)
    return "no interval" if interval is None else f"95 % {interval.low:.0%} to {interval.high:.0%}"


def _against_none(linted: LintedCase, scored: Sequence[_Seen]) -> Iterator[Doubt]:
    """Progressive against none, in pairs of one run and repeat, by the criteria that both can meet."""
    arms: dict[Mode, dict[tuple[str, int], int]] = {Mode.PROGRESSIVE: {}, Mode.NONE: {}}
    for seen in scored:
        if seen.mode in arms:
            arms[seen.mode][seen.run_id, seen.row.planned.repeat] = seen.row.k_answer
    with_skill, without = arms[Mode.PROGRESSIVE], arms[Mode.NONE]
    pairs = [(with_skill[key], without[key]) for key in with_skill if key in without]
    if len(pairs) < MIN_TRIALS or any(k > k_none for k, k_none in pairs):
        return
    n_lower = sum(k < k_none for k, k_none in pairs)
    if n_lower:
        message = f"without the skill it scores higher in {n_lower} of {len(pairs)} repeats, and lower in none"
        hint = "read both answers: the skill misleads here, or the case punishes what it teaches"
        yield doubt(NONE_BETTER, Severity.WARNING, linted, message, hint=hint)
    else:
        message = f"with the skill it scores as without it in {len(pairs)} of {len(pairs)} repeats"
        hint = "ask for what only the skill knows: the case adds nothing to the lift"
        yield doubt(NO_DIFFERENCE, _severity(linted), linted, message, hint=hint)


def _constant_items(linted: LintedCase, scored: Sequence[_Seen]) -> Iterator[Doubt]:
    """Checks and criteria with one verdict over all modes."""
    verdicts: dict[tuple[str, str], list[bool]] = {}
    for seen in scored:
        for mark in seen.row.record.marks:
            verdicts.setdefault((mark.id, mark.by), []).append(mark.passed)
    for (item, by), passed in verdicts.items():
        if len(passed) < MIN_TRIALS or len(set(passed)) > 1:
            continue
        what = "the check" if by == "code" else "the criterion"
        n = len(passed)
        if passed[0]:
            message = f"{what} passed in {n} of {n} trials of all modes ({_interval(n, n)})"
            hint = "it tells nothing apart so far: keep it where it guards against a regression"
            yield doubt(ALWAYS_PASSES, Severity.NOTE, linted, message, hint=hint, item=item)
        else:
            message = f"{what} passed in 0 of {n} trials of all modes ({_interval(0, n)})"
            hint = "read the evidence of its failures: it may ask for what nobody can know, or be wrong"
            yield doubt(ALWAYS_FAILS, Severity.WARNING, linted, message, hint=hint, item=item)


def _flaky(linted: LintedCase, scored: Sequence[_Seen]) -> Iterator[Doubt]:
    """Items whose verdict differs between trials of one mode on the same bytes of the skill by the same candidate."""
    groups: dict[tuple[Mode, tuple[str, ...]], list[_Seen]] = {}
    for seen in scored:
        groups.setdefault((seen.mode, seen.on), []).append(seen)
    told: dict[str, list[str]] = {}
    same_answer: set[str] = set()
    for (mode, _), group in groups.items():
        for item, (n_passed, n) in _counts(group).items():
            if 0 < n_passed < n:
                told.setdefault(item, []).append(f"{mode.value} {n_passed} of {n}")
                same_answer |= {item} if _differs_on_one_answer(item, group) else set()
    for item, modes in told.items():
        more = "; of one and the same answer" if item in same_answer else ""
        message = f"the verdict differs between repeats: passed {', '.join(modes)}{more}"
        who = "the judge wavers: word it so that it can be seen" if more else "the answers vary: run more repeats"
        yield doubt(FLAKY, Severity.WARNING, linted, message, hint=who, item=item)


def _counts(group: Sequence[_Seen]) -> dict[str, tuple[int, int]]:
    counts: dict[str, tuple[int, int]] = {}
    for mark in (mark for seen in group for mark in seen.row.record.marks):
        passed, n = counts.get(mark.id, (0, 0))
        counts[mark.id] = (passed + mark.passed, n + 1)
    return counts


def _differs_on_one_answer(item: str, group: Sequence[_Seen]) -> bool:
    """Whether one answer, where answers are kept, got both verdicts."""
    found: dict[str, set[bool]] = {}
    for record in (seen.row.record for seen in group if seen.row.record.answer is not None):
        for mark in record.marks:
            if mark.id == item and mark.file is None and record.answer is not None:
                found.setdefault(record.answer, set()).add(mark.passed)
    return any(len(verdicts) > 1 for verdicts in found.values())


def _unjudged(linted: LintedCase, trials: Sequence[_Seen]) -> Iterator[Doubt]:
    """A case on which the judge often failed: of the trials it was asked about, those unscored at its stage."""
    outcomes = [seen.row.record.outcome for seen in trials]
    lost = [outcome for outcome in outcomes if outcome.stage is Stage.JUDGE and outcome.reason is not None]
    n_asked = sum(outcome.scored for outcome in outcomes) + len(lost)
    if n_asked < MIN_TRIALS or len(lost) < UNJUDGED_SHARE * n_asked:
        return
    reasons = Counter(outcome.reason.value for outcome in lost if outcome.reason is not None)
    why = ", ".join(f"{name} {n}" for name, n in sorted(reasons.items()))
    message = f"{len(lost)} of {n_asked} trials have no verdict that counts: {why} ({_interval(len(lost), n_asked)})"
    hint = "word its criteria so that a quotation can show them, or mark them `absence` or `may_abstain`"
    yield doubt(OFTEN_UNJUDGED, Severity.WARNING, linted, message, hint=hint)
