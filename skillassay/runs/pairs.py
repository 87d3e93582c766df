"""Which answers of stored runs stand against each other. Owns the pairing, and what is left out of it and why.

With one run, two of its modes meet on each case and repeat; with two, the same mode of each, on the cases that both
asked in the same version. The last attempt of a trial counts. A case that is left out is counted under its reason; of
a hidden case nothing but the count is told, since what is compared is read by a judge and kept. Calls no model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skillassay.calibration.items import judged_criteria
from skillassay.errors import InputError, TrialError, UsageError
from skillassay.judging.behavior import parse_answer
from skillassay.judging.pairwise import PairQuestion
from skillassay.project import Project
from skillassay.runs.keeping import refuse_without_texts
from skillassay.runs.plan import Mode, PlannedTrial
from skillassay.runs.record import TrialRecord
from skillassay.runs.retention import FULL
from skillassay.runs.store import read_header, read_records, refuse_changed, run_folder
from skillassay.scoring.facts import facts_from_json
from skillassay.suites.case import Case

HIDDEN = "of a hidden holdout"
ONE_RUN = "asked in one of the runs alone"
OTHER_CASE = "another case in the other run"
CHANGED = "no longer the case that the run asked"
NO_CRITERION = "nothing in it that a judge decides"

CaseKey = tuple[str, str]
TrialKey = tuple[str, str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One side: a mode of a run. ``candidate`` is the run's header on who answered."""

    run: str
    mode: Mode
    candidate: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two answers to one case and repeat. A side without an answer has None, and ``why`` says why."""

    case: Case
    skill_path: str
    repeat: int
    a: str | None
    b: str | None
    why: str | None = None

    @property
    def slot(self) -> str:
        """What names the pair in its comparison."""
        return f"{self.case.suite}/{self.case.id}/{self.repeat}"

    @property
    def is_same(self) -> bool:
        """Whether both answers are equal, so that there is nothing to ask."""
        return self.a is not None and self.a == self.b

    @property
    def question(self) -> PairQuestion:
        """What both were asked, and what a judge decides of it."""
        criteria = tuple(item.text for item in judged_criteria(self.case))
        return PairQuestion(query=self.case.query, criteria=criteria, files=self.case.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All planned pairs, in the order of the plan of A. ``left_out`` has the cases by reason, ``n_hidden`` only a
    count; ``n_repeats`` counts trials without a partner."""

    a: Side
    b: Side
    pairs: tuple[Pair, ...]
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    n_hidden: int = 0
    n_repeats: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PairChoice:
    """What is compared. Without ``other`` the modes ``of`` and ``against`` of one run; with it ``of`` of both."""

    run: str
    other: str | None = None
    of: Mode = Mode.PROGRESSIVE
    against: Mode = Mode.NONE
    cases: Sequence[str] = ()
    skills: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    """One mode of a stored run."""

    side: Side
    digests: Mapping[str, str]
    hidden: str | None
    cases: Mapping[CaseKey, Mapping[int, PlannedTrial]]
    last: Mapping[TrialKey, TrialRecord]

    @property
    def trials(self) -> Iterator[PlannedTrial]:
        return (trial for repeats in self.cases.values() for trial in repeats.values())


def load_pairs(project: Project, choice: PairChoice) -> Comparison:
    """The pairs of stored runs. Raises :class:`UsageError` for a choice that compares nothing or a run that keeps no
    texts, :class:`InputError` where no pair is left, :class:`StoreError`.
    """
    refuse_without_texts(project.contract.retention, "pairwise")
    root = project.root
    a = _load(root, choice.run, choice.of)
    b = _load(root, choice.other or choice.run, choice.of if choice.other else choice.against)
    if (a.side.run, a.side.mode) == (b.side.run, b.side.mode):
        raise UsageError(
            f"{a.side.mode.value} of run {a.side.run} stands on both sides", hint="name two modes, or runs"
        )
    found = _pair(a, b, _chosen(a, b, choice), {(case.suite, case.id): case for case in project.cases})
    if not found.pairs:
        words = "; ".join(f"{len(names)} {reason}" for reason, names in found.left_out.items())
        message = f"no answer of {a.side.run} has a partner to be compared with ({words or 'nothing was left'})"
        raise InputError(message, hint="compare runs of one suite, with the cases as they are now")
    return found


def _load(root: Path, run: str, mode: Mode) -> _Stored:
    folder = run_folder(root, run)
    header = read_header(folder)
    refuse_without_texts(header.get("retention", FULL), "pairwise")
    plan = facts_from_json(header["facts"]).plan
    cases: dict[CaseKey, dict[int, PlannedTrial]] = {}
    for one in plan.trials:
        if one.mode is mode:
            cases.setdefault((one.suite, one.case_id), {})[one.repeat] = one
    if not cases:
        ran = ", ".join(one.value for one in plan.modes)
        raise InputError(f"run {header['id']} has no trial in mode {mode.value}", hint=f"its modes: {ran}")
    refuse_changed(folder, read_records(folder))
    last: dict[TrialKey, TrialRecord] = {}
    for record in read_records(folder):
        key = (record.suite, record.case_id, record.repeat)
        if record.mode == mode.value and (key not in last or record.attempt >= last[key].attempt):
            last[key] = record
    return _Stored(
        side=Side(run=header["id"], mode=mode, candidate=header["models"]["candidate"]),
        digests=header["cases"],
        hidden=(header["facts"].get("holdout") or {}).get("suite"),
        cases=cases,
        last=last,
    )


def _chosen(a: _Stored, b: _Stored, choice: PairChoice) -> frozenset[CaseKey]:
    """The cases of either run that are asked for. Raises :class:`UsageError` for a name that none of them has."""
    trials = [trial for stored in (a, b) for trial in stored.trials if trial.suite != stored.hidden]
    _refuse_unknown(choice.cases, {trial.case_id for trial in trials}, "case")
    _refuse_unknown(choice.skills, {name for trial in trials for name in _called(trial.skill_path)}, "skill")
    return frozenset(
        (trial.suite, trial.case_id)
        for stored in (a, b)
        for trial in stored.trials
        if not choice.cases or trial.case_id in choice.cases
        if not choice.skills or not _called(trial.skill_path).isdisjoint(choice.skills)
    )


def _called(path: str) -> set[str]:
    return {path, path.rsplit("/", 1)[-1]}


def _refuse_unknown(wanted: Iterable[str], known: set[str], what: str) -> None:
    for name in wanted:
        if name not in known:
            shown = ", ".join(sorted(known)[:20]) or "none"
            raise UsageError(f"the runs have no {what} {name!r}", hint=f"{what}s: {shown}")


def _pair(a: _Stored, b: _Stored, chosen: frozenset[CaseKey], now: Mapping[CaseKey, Case]) -> Comparison:
    out: dict[str, list[str]] = {}
    pairs: list[Pair] = []
    n_repeats = 0
    for key in dict.fromkeys(key for key in (*a.cases, *b.cases) if key in chosen):
        reason = _why_out(key, a, b, now)
        if reason is not None:
            out.setdefault(reason, []).append("/".join(key))
            continue
        pairs += _of_case(now[key], a, b)
        n_repeats += len(a.cases[key].keys() ^ b.cases[key].keys())
    hidden = out.pop(HIDDEN, [])
    left_out = {reason: tuple(names) for reason, names in out.items()}
    return Comparison(
        a=a.side, b=b.side, pairs=tuple(pairs), left_out=left_out, n_hidden=len(hidden), n_repeats=n_repeats
    )


def _why_out(key: CaseKey, a: _Stored, b: _Stored, now: Mapping[CaseKey, Case]) -> str | None:
    if key[0] in {a.hidden, b.hidden}:
        return HIDDEN
    if key not in a.cases or key not in b.cases:
        return ONE_RUN
    name = "/".join(key)
    if a.digests.get(name) != b.digests.get(name):
        return OTHER_CASE
    case = now.get(key)
    if case is None or case.digest != a.digests.get(name):
        return CHANGED
    return None if judged_criteria(case) else NO_CRITERION


def _of_case(case: Case, a: _Stored, b: _Stored) -> Iterator[Pair]:
    key = (case.suite, case.id)
    for repeat, trial in a.cases[key].items():
        if repeat not in b.cases[key]:
            continue
        answers, why = [], []
        for name, stored in (("A", a), ("B", b)):
            text, lacking = _answer(case, stored.last.get((*key, repeat)))
            answers.append(text)
            why += [] if lacking is None else [f"{name}: {lacking}"]
        yield Pair(
            case=case,
            skill_path=trial.skill_path,
            repeat=repeat,
            a=answers[0],
            b=answers[1],
            why="; ".join(why) or None,
        )


def _answer(case: Case, record: TrialRecord | None) -> tuple[str | None, str | None]:
    """The text that a judge reads, or why there is none. Of a structured answer it is the prose, as for a rubric."""
    if record is None:
        return None, "interrupted"
    if record.answer is None:
        reason = record.outcome.reason
        return None, "no answer" if reason is None else reason.value
    if case.behavior is None:
        return record.answer, None
    try:
        return parse_answer(record.answer).response, None
    except TrialError as error:
        return None, error.reason.value
