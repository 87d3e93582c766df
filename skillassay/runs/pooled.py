"""The stored runs that ask one question: the newest and every earlier one that compares with it. Owns that choice.

Runs compare by the rules of ``skillassay compare``. One that does not, or cannot be read, is set aside with the reason;
only a run that was asked for by name must be readable. Nothing is written and no model is asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from skillassay.errors import SkillassayError
from skillassay.report.base import RunView
from skillassay.runs.evaluation import load_view
from skillassay.runs.record import RECORDS_CHANGED
from skillassay.runs.store import list_runs, read_header, run_folder
from skillassay.scoring.comparison import incompatibilities, other_judges

MOST_RUNS = 20
"""Each run is scored anew from its records: more of them would make everybody wait for little."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Runs to be looked at together, the newest first, and those set aside, each with the reason."""

    views: tuple[RunView, ...] = ()
    set_aside: tuple[tuple[str, str], ...] = ()


def pool_runs(root: Path, run: str | None) -> Pool:
    """The run that is named, alone; without a name the newest readable one and what compares with it."""
    if run is not None:
        return Pool(views=(load_view(root, run),))
    views: list[RunView] = []
    aside: list[tuple[str, str]] = []
    for run_id in reversed(list_runs(root)):
        try:
            why = _why_not(root, run_id, views)
        except SkillassayError as error:
            why = error.message
        if why is not None:
            aside.append((run_id, why))
    return Pool(views=tuple(views), set_aside=tuple(aside))


def _why_not(root: Path, run_id: str, views: list[RunView]) -> str | None:
    """Why a run is set aside; one that is not is added to ``views``."""
    if len(views) >= MOST_RUNS:
        return f"more than {MOST_RUNS} runs compare, and the newest are taken"
    if views:
        differences = incompatibilities(views[0].header, read_header(run_folder(root, run_id)))
        if differences:
            return differences[0]
    view = load_view(root, run_id)
    if view.is_changed:
        return RECORDS_CHANGED
    judges = other_judges(*((one.header, one.assessment) for one in (views[0], view))) if views else ()
    if judges:
        return judges[0]
    views.append(view)
    return None
