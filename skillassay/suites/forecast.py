"""How large a lift the cases of each skill would show, and how many cases a lift of a given size would take. Pure.

Owns the questions that ``skillassay plan`` asks of ``statistics.power``, and the base rates that a stored run measured.
It simulates, and so nothing that must be quick or decides may rest on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from skillassay.project import CaseKey, Project
from skillassay.runs.plan import Mode
from skillassay.scoring.scores import Row, mean_shares
from skillassay.statistics.power import Question, cases_needed, least_alike, least_lift
from skillassay.suites.reach import cases_in_lift

MOST_CASES = 200
"""No larger suite is tried."""
REPEATS = (1, 3, 5)
N_SIMULATED = 1_000
ROUNDING = 1e-9

_Least = Callable[[Question, int], float | None]
_Needed = Callable[[Question], int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """What shall be shown: a mean ``lift`` with the chance ``wanted``, each case asked ``repeats`` times.

    ``measured`` has the share that each case reached without the skill; the others pass with ``base_rate``.
    """

    wanted: float = 0.8
    lift: float = 0.2
    repeats: int = 1
    base_rate: float = 0.5
    measured: Mapping[CaseKey, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """How many cases the lift takes at so many repeats; None where more than MOST_CASES, or the lift is impossible."""

    repeats: int
    n_cases: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What one skill's cases can show. ``n_measured`` of them were measured; their mean is then the ``base_rate``.

    ``least_possible``: the mean lift above which the interval can lie above zero at all, each case gaining as much.
    ``least_lift``: the least that is shown with the power asked for, the cases alike; ``least_as_measured``: with their
    measured difficulty, where each case has one. None where no lift is shown so. ``is_possible``: whether the base rate
    leaves room for the lift asked for.
    """

    skill_path: str
    n_cases: int
    base_rate: float
    n_measured: int
    is_possible: bool
    least_possible: float | None
    least_lift: float | None
    least_as_measured: float | None
    needs: tuple[Need, ...]


def measured_shares(rows: Sequence[Row]) -> dict[CaseKey, float]:
    """What each case of a run reached without the skill, as its lift counts it."""
    return {case: float(share) for case, share in mean_shares([r for r in rows if r.n_answer > 0], Mode.NONE).items()}


def build_forecasts(project: Project, aim: Aim, *, skills: Sequence[str] = ()) -> tuple[Forecast, ...]:
    """A forecast for each usable skill, or for those of these paths. Skills that are alike are simulated once."""

    @cache
    def least(question: Question, n_cases: int) -> float | None:
        return least_lift(question, n_cases=n_cases, wanted=aim.wanted)

    @cache
    def needed(question: Question) -> int | None:
        missing = 1 - question.base_rates[0]
        if aim.lift > missing + ROUNDING:
            return None
        return cases_needed(question, lift=aim.lift, wanted=aim.wanted, most=MOST_CASES)

    return tuple(
        _forecast(path, keys, aim, least, needed)
        for path, keys in cases_in_lift(project).items()
        if not skills or path in skills
    )


def _forecast(path: str, keys: Sequence[CaseKey], aim: Aim, least: _Least, needed: _Needed) -> Forecast:
    shares = sorted(aim.measured[key] for key in keys if key in aim.measured)
    base_rate = round(sum(shares) / len(shares), 2) if shares else aim.base_rate
    alike = Question(base_rates=(base_rate,), repeats=aim.repeats, n_simulated=N_SIMULATED)
    is_whole = bool(shares) and len(shares) == len(keys)
    return Forecast(
        skill_path=path,
        n_cases=len(keys),
        base_rate=base_rate,
        n_measured=len(shares),
        is_possible=aim.lift <= 1 - base_rate + ROUNDING,
        least_possible=least_alike(len(keys)),
        least_lift=least(alike, len(keys)),
        least_as_measured=least(replace(alike, base_rates=tuple(shares)), len(keys)) if is_whole else None,
        needs=tuple(
            Need(repeats=repeats, n_cases=needed(replace(alike, repeats=repeats)))
            for repeats in sorted({*REPEATS, aim.repeats})
        ),
    )
