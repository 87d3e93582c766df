"""The report on each slice: what an average over all cases would hide. Pure.

Decides nothing. What the contract declares not applicable is listed with its reason and counted nowhere. A trial that
this machine could not run (``missing_required_capability``) is something else: it was asked for and has no score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from skillassay.contract.contract import SliceTerms
from skillassay.errors import Reason
from skillassay.runs.plan import Mode
from skillassay.runs.record import TrialRecord
from skillassay.scoring.repeats import PassK, pass_k, repeats_of
from skillassay.scoring.scores import Rate, Row, rate_of
from skillassay.suites.traits import Traits

CaseKey = tuple[str, str]
UNRATED = "unrated"
"""The severity of a case that states none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMode:
    """One mode of a group of cases. ``histogram`` counts scored trials by k and n, ``failures`` failed ones.

    ``judge_disagreement`` counts trials on which words of judges differ; None where one judge was asked once, which
    measures nothing of the kind.
    """

    mode: Mode
    trials: Rate
    n_attempts: int
    histogram: tuple[tuple[int, int, int], ...]
    rates: tuple[PassK, ...]
    failures: tuple[tuple[str, int], ...]
    n_missing_capability: int
    judge_disagreement: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The planned cases of one slice, with what they are and what each mode got."""

    name: str
    n_cases: int
    severities: tuple[tuple[str, int], ...]
    oracles: tuple[tuple[str, int], ...]
    modes: tuple[GroupMode, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceReport:
    """A slice that the contract lists, or that a case is in. ``n_authored`` counts its cases, planned now or not.

    ``rows`` are its progressive trials.
    """

    group: Group
    n_authored: int
    terms: SliceTerms | None
    rows: tuple[Row, ...]

    @property
    def name(self) -> str:
        """The slice's name."""
        return self.group.name

    @property
    def required(self) -> bool:
        """Whether a run without a score in it is incomplete."""
        return self.terms is not None and self.terms.required and self.not_applicable is None

    @property
    def not_applicable(self) -> str | None:
        """Why the slice does not concern what is tested; None when it does."""
        return None if self.terms is None else self.terms.not_applicable


def build_slices(
    rows: Sequence[Row],
    *,
    slices: Mapping[CaseKey, str],
    terms: Mapping[str, SliceTerms],
    traits: Mapping[CaseKey, Traits],
) -> tuple[SliceReport, ...]:
    """One report for each slice of the contract or of a planned case, by name."""
    authored = Counter(slices.values())
    planned = {slices[key] for row in rows if (key := _key(row)) in slices}
    found = []
    for name in sorted({*planned, *terms}):
        part = [row for row in rows if slices.get(_key(row)) == name]
        progressive = tuple(row for row in part if row.planned.mode is Mode.PROGRESSIVE)
        group = build_group(name, part, traits)
        found.append(SliceReport(group=group, n_authored=authored[name], terms=terms.get(name), rows=progressive))
    return tuple(found)


def build_group(name: str, rows: Sequence[Row], traits: Mapping[CaseKey, Traits]) -> Group:
    """The numbers of one group of trials, by mode in the order of the plan."""
    keys = sorted({_key(row) for row in rows})
    modes = tuple(dict.fromkeys(row.planned.mode for row in rows))
    return Group(
        name=name,
        n_cases=len(keys),
        severities=_counted(_severity(traits, key) for key in keys),
        oracles=_counted(traits[key].oracle_type for key in keys if key in traits),
        modes=tuple(_group_mode(mode, [row for row in rows if row.planned.mode is mode], traits) for mode in modes),
    )


def _disagreement(rows: Sequence[Row]) -> int | None:
    sampled = [row.record for row in rows if row.record.samples]
    return sum(_differs(record) for record in sampled) if sampled else None


def _differs(record: TrialRecord) -> bool:
    said: dict[str, set[str]] = {}
    for sample in record.samples:
        for word in sample.words:
            said.setdefault(word.id, set()).add(word.verdict)
    return any(len(words) > 1 for words in said.values())


def _group_mode(mode: Mode, rows: Sequence[Row], traits: Mapping[CaseKey, Traits]) -> GroupMode:
    scored = [row for row in rows if row.record.outcome.scored]
    cases = repeats_of(rows)
    n_repeats = max(case.planned for case in cases)
    shares = Counter((row.record.k, row.planned.n_criteria) for row in scored)
    return GroupMode(
        mode=mode,
        trials=rate_of(rows),
        n_attempts=sum(row.n_attempts for row in rows),
        histogram=tuple((k, n, shares[k, n]) for k, n in sorted(shares, key=lambda kn: (Fraction(*kn), kn[1]))),
        rates=tuple(pass_k(cases, k) for k in range(1, n_repeats + 1)) if n_repeats > 1 else (),
        failures=_counted(_severity(traits, _key(row)) for row in scored if row.record.outcome.status == "FAIL"),
        judge_disagreement=_disagreement(rows),
        n_missing_capability=sum(row.record.outcome.reason is Reason.MISSING_CAPABILITY for row in rows),
    )


def _key(row: Row) -> CaseKey:
    return (row.planned.suite, row.planned.case_id)


def _severity(traits: Mapping[CaseKey, Traits], key: CaseKey) -> str:
    return (traits[key].severity if key in traits else None) or UNRATED


def _counted(words: Iterable[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(Counter(words).items()))
