"""From the stored runs of a project to its scorecard. Owns which runs are read, which are skipped, which compare.

Runs are read one at a time, and of each its figures stay. One that cannot be read, or is of an older format, is skipped
with its reason and hides no other. The trend of a row is against the newest earlier run that compares by the rules of
``skillassay compare``; where none does it says why the one before does not, and is no number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skillassay.contract.frozen import require_whole
from skillassay.errors import SkillassayError, StoreError
from skillassay.report.base import RunView
from skillassay.runs.evaluation import load_view
from skillassay.runs.record import RECORDS_CHANGED
from skillassay.runs.selection import is_named, names_of, refuse_unknown
from skillassay.runs.store import RUNS, list_runs, read_header
from skillassay.scoring.comparison import incompatibilities, other_judges
from skillassay.scoring.scorecard import NO_EARLIER, Scorecard, ScoreRow, SkillRun, Trend, build_trend, skill_runs

_DAMAGED = (SkillassayError, KeyError, TypeError, AttributeError, ValueError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """The rows, how many runs they are of, and why each other run was skipped, by its id."""

    rows: tuple[ScoreRow, ...]
    n_runs: int
    skipped: tuple[tuple[str, str], ...]


def read_scorecard(root: Path, *, skills: Sequence[str] = (), last: int | None = None) -> Read:
    """The scorecard of the newest ``last`` runs (all for None), of the skills that are named (all for none).

    Raises :class:`StoreError` where no run can be read, :class:`UsageError` for a skill that none of them planned.
    """
    every = list_runs(root)
    if not every:
        raise StoreError(f"no run in {root / RUNS}", hint="run `skillassay eval` first")
    card, skipped, paths, n_runs = Scorecard(), [], set[str](), 0
    for run_id in every[-last:] if last else every:
        try:
            found = _of(load_view(root, run_id))
        except _DAMAGED as error:
            skipped.append((run_id, _why(error)))
            continue
        n_runs += 1
        paths |= {one.skill_path for one in found}
        card.add(one for one in found if is_named(one.skill_path, skills))
    if n_runs:
        refuse_unknown(skills, names_of(paths), "skill")
    rows = tuple(replace(row, trend=_trend(root, row.newest, every)) for row in card.rows)
    return Read(rows=rows, n_runs=n_runs, skipped=tuple(skipped))


def _of(view: RunView) -> tuple[SkillRun, ...]:
    if view.is_changed:
        raise StoreError(RECORDS_CHANGED, hint="restore the folder of the run")
    return skill_runs(view.header, view.facts, view.assessment, date=view.occurred_at)


def _why(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"it lacks {error}: it was made by an older version, or damaged"
    return error.message if isinstance(error, SkillassayError) else f"it is damaged: {error}"


def _trend(root: Path, now: SkillRun, every: Sequence[str]) -> Trend:
    """Against the newest earlier run of the skill that compares; else the first reason why the one before does not."""
    header = read_header(root / RUNS / now.run)
    first: Trend | None = None
    for run_id in reversed(every[: every.index(now.run)]):
        try:
            found = _against(root, header, now, run_id)
        except _DAMAGED:
            continue  # a run that cannot be read is no yardstick, and is told as skipped
        if found is not None and found.difference is not None:
            return found
        first = first or found
    return first or Trend(why=NO_EARLIER)


def _against(root: Path, header: dict[str, Any], now: SkillRun, run_id: str) -> Trend | None:
    """The trend against one earlier run; None where it is about other skills."""
    older = read_header(root / RUNS / run_id)
    require_whole(older, None)
    if not any(trial["skill_path"] == now.skill_path for trial in older["facts"]["trials"]):
        return None
    if reasons := incompatibilities(older, header):
        return Trend(why=f"not comparable with {run_id}: {reasons[0]}")
    then, newest = (load_view(root, each) for each in (run_id, now.run))
    if reasons := other_judges((then.header, then.assessment), (newest.header, newest.assessment)):
        return Trend(why=f"not comparable with {run_id}: {reasons[0]}")
    return build_trend(now, next(one for one in _of(then) if one.skill_path == now.skill_path))
