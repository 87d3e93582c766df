"""Whether a skill got worse than it was: the cases of a run against those of its baseline. Pure.

The unit is the case, its repeats collapsed alike on both sides: it passes when all of them pass. Leaving out the cases
whose repeats disagreed on one side alone would choose the others for their luck, and they would fall back by chance.
Cases that both runs asked equally often and scored whole, word for word the same, are compared: to pass seven times is
harder than to pass once. Removed, added, edited and otherwise repeated ones are listed and count for neither side. The
share of passing cases regressed when it fell by more than the threshold and Newcombe's 95 % interval of the difference
excludes zero, that for the same cases twice (R. G. Newcombe, "Improved confidence intervals for the difference between
binomial proportions based on paired data", Statistics in Medicine 17, 1998, method 10). A drop over the threshold whose
interval holds zero is ``inconclusive_noise``. A critical case that got worse is a regression by itself, however the
average moved.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from skillassay.canonical import Json
from skillassay.errors import StoreError
from skillassay.runs.plan import Mode
from skillassay.scoring.scores import Row
from skillassay.statistics.interval import Interval
from skillassay.statistics.rates import PairedCounts, newcombe_paired

CaseKey = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseState:
    """What became of one case in progressive: criteria ``k`` of ``n`` over its repeats; passed when all of them did,
    flaky when some did."""

    suite: str
    case_id: str
    digest: str
    k: int
    n: int
    passed: bool
    is_flaky: bool = False

    @property
    def name(self) -> str:
        """``suite/id``."""
        return f"{self.suite}/{self.case_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The run that another is compared with, as its header keeps it: the states of the cases that it scored whole, and
    the names under which its judge answered, if any were told."""

    run: str
    pinned: bool
    cases: tuple[CaseState, ...]
    judges: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Regression:
    """A run against its baseline. ``worse`` are the cases with a smaller share of criteria, ``critical`` those of them
    that are critical; ``removed``, ``edited``, ``added`` and ``repeated`` (another number of times) name cases that
    could not be compared, ``flaky`` those whose repeats did not agree in the baseline: they count as not passed there,
    and make no critical case worse.
    """

    baseline: str
    pinned: bool
    old_passed: int
    new_passed: int
    both_passed: int
    n: int
    threshold: Fraction
    worse: tuple[tuple[CaseState, CaseState], ...]
    critical: tuple[str, ...]
    removed: tuple[str, ...]
    edited: tuple[str, ...]
    added: tuple[str, ...]
    repeated: tuple[str, ...]
    flaky: tuple[str, ...]
    judges: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    suite: str | None = None

    @property
    def other_judge(self) -> bool:
        """Whether the judge answered under other names than in the baseline, both of which are known."""
        return all(self.judges) and self.judges[0] != self.judges[1]

    @property
    def drop(self) -> Fraction:
        """By how much the share of passing cases fell; negative where it rose, 0 where nothing was compared."""
        return Fraction(self.old_passed - self.new_passed, self.n) if self.n else Fraction(0)

    @property
    def interval(self) -> Interval | None:
        """Newcombe 95 % of the difference new minus old over the same cases; None where nothing was compared."""
        new_only, old_only = self.new_passed - self.both_passed, self.old_passed - self.both_passed
        neither = self.n - self.both_passed - new_only - old_only
        return newcombe_paired(
            PairedCounts(both=self.both_passed, first_only=new_only, second_only=old_only, neither=neither)
        )

    @property
    def rate_fell(self) -> bool:
        """Over the threshold, and by more than noise."""
        return self.drop > self.threshold and self.interval is not None and self.interval.high < 0

    @property
    def is_noise(self) -> bool:
        """Over the threshold, and it may be chance."""
        return self.drop > self.threshold and not self.rate_fell

    @property
    def regressed(self) -> bool:
        """Whether the run may not pass for it."""
        return self.rate_fell or bool(self.critical)


def case_states(rows: Iterable[Row], digests: Mapping[str, str]) -> tuple[CaseState, ...]:
    """The cases of which every progressive trial has a score. ``digests`` are those of all cases by ``suite/id``."""
    by_case: dict[CaseKey, list[Row]] = {}
    for row in rows:
        if row.planned.mode is Mode.PROGRESSIVE:
            by_case.setdefault((row.planned.suite, row.planned.case_id), []).append(row)
    return tuple(
        CaseState(
            suite=suite,
            case_id=case_id,
            digest=digests.get(f"{suite}/{case_id}", ""),
            k=sum(row.record.k for row in found),
            n=sum(row.planned.n_criteria for row in found),
            passed=all(statuses),
            is_flaky=any(statuses) and not all(statuses),
        )
        for (suite, case_id), found in by_case.items()
        if all(row.record.outcome.scored for row in found)
        for statuses in ([row.record.outcome.status == "PASS" for row in found],)
    )


def build_regression(
    baseline: Baseline,
    now: Sequence[CaseState],
    *,
    planned: Iterable[str],
    existing: Mapping[str, str],
    critical: Iterable[CaseKey],
    threshold: Fraction,
) -> Regression:
    """Compare. ``planned`` names the run's cases, ``existing`` has the digests of all cases that there are."""
    names, important = set(planned), set(critical)
    old = {state.name: state for state in baseline.cases}
    same = [(old[state.name], state) for state in now if state.name in old and old[state.name].digest == state.digest]
    pairs = [(was, is_) for was, is_ in same if was.n == is_.n]
    worse = tuple((was, is_) for was, is_ in pairs if is_.k * was.n < was.k * is_.n)
    return Regression(
        baseline=baseline.run,
        pinned=baseline.pinned,
        old_passed=sum(was.passed for was, _ in pairs),
        new_passed=sum(is_.passed for _, is_ in pairs),
        both_passed=sum(was.passed and is_.passed for was, is_ in pairs),
        n=len(pairs),
        threshold=threshold,
        worse=worse,
        critical=tuple(is_.name for was, is_ in worse if (is_.suite, is_.case_id) in important and not was.is_flaky),
        removed=tuple(sorted(name for name in old if name not in existing)),
        edited=tuple(
            sorted(name for name in names & old.keys() if name in existing and existing[name] != old[name].digest)
        ),
        added=tuple(sorted(names - old.keys())),
        repeated=tuple(is_.name for was, is_ in same if was.n != is_.n),
        flaky=tuple(is_.name for was, is_ in pairs if was.is_flaky),
    )


def narrow(baseline: Baseline, now: Sequence[CaseState], suite: str) -> tuple[Baseline, tuple[CaseState, ...]]:
    """Both sides of a comparison without the cases of other suites."""
    old = tuple(state for state in baseline.cases if state.suite == suite)
    return replace(baseline, cases=old), tuple(state for state in now if state.suite == suite)


def baseline_json(baseline: Baseline) -> dict[str, Json]:
    """The baseline as a header, or a pinned file, keeps it."""
    return {
        "run": baseline.run,
        "pinned": baseline.pinned,
        "judges": list(baseline.judges),
        "cases": [
            {
                "suite": c.suite,
                "case": c.case_id,
                "digest": c.digest,
                "k": c.k,
                "n": c.n,
                "passed": c.passed,
                "flaky": c.is_flaky,
            }
            for c in baseline.cases
        ],
    }


def baseline_from_json(value: Mapping[str, Any] | None) -> Baseline | None:
    """The baseline of a stored run; None where it had none. Raises :class:`StoreError` where a field is missing."""
    if value is None:
        return None
    try:
        cases = tuple(_state_from_json(one) for one in value["cases"])
        if not cases or len({state.name for state in cases}) != len(cases):
            raise ValueError("no case, or one case twice")
        judges = value.get("judges", [])
        if not isinstance(value["run"], str) or type(value["pinned"]) is not bool or not isinstance(judges, list):
            raise TypeError("run, pinned or judges is of another type")
        return Baseline(run=value["run"], pinned=value["pinned"], cases=cases, judges=tuple(map(str, judges)))
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(f"a baseline lacks a field: {error}", hint="it was damaged; run again") from error


def _state_from_json(one: Mapping[str, Any]) -> CaseState:
    texts, numbers = [one[name] for name in ("suite", "case", "digest")], [one[name] for name in ("k", "n")]
    flags = [one[name] for name in ("passed", "flaky")]
    sound = all(isinstance(text, str) for text in texts) and all(type(flag) is bool for flag in flags)
    if not sound or any(type(number) is not int for number in numbers) or not 0 <= numbers[0] <= numbers[1]:
        raise ValueError(f"a case is of no known form: {dict(one)!r:.120}")
    if flags[0] and flags[1]:
        raise ValueError(f"{texts[1]!r:.60} is passed and flaky")
    return CaseState(
        suite=texts[0],
        case_id=texts[1],
        digest=texts[2],
        k=numbers[0],
        n=numbers[1],
        passed=flags[0],
        is_flaky=flags[1],
    )
