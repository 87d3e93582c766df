"""``benchmark.json`` of skill-creator and of the Agent Skills guide. Owns its means, deviations and deltas.

    delta = with_skill - without_skill, for pass rate, seconds and tokens alike

whatever the order of the folders; skill-creator wants it as signed text, the guide as numbers. The deviation is the
sample's (n - 1), and 0.0 of a single value, as the published reader has it. A figure that some run does not know is of
the runs that do, and a figure that no run knows is left out, with its delta.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from skillassay.canonical import Json
from skillassay.interop.gradings import CONFIGURATIONS, Graded

WITH, WITHOUT = CONFIGURATIONS.values()
_SIGNED = {"pass_rate": "+.2f", "time_seconds": "+.1f", "tokens": "+.0f"}


def figures_of(graded: Graded) -> dict[str, float]:
    """What a run is summed up by."""
    known = {} if graded.tokens is None else {"tokens": float(graded.tokens)}
    return {"pass_rate": graded.n_passed / len(graded.statements), "time_seconds": graded.seconds, **known}


def summarise(runs: Sequence[Graded], *, is_guide: bool) -> dict[str, Json]:
    """``run_summary``: each configuration that has a scored run, and the delta where both have."""
    summary: dict[str, Json] = {}
    means: dict[str, dict[str, float]] = {}
    for configuration in (WITH, WITHOUT):
        own = [figures_of(run) for run in runs if run.configuration == configuration]
        values = {name: [one[name] for one in own if name in one] for name in _SIGNED}
        summary |= {configuration: _spread(values, is_guide=is_guide)} if own else {}
        means[configuration] = {name: round(statistics.fmean(found), 4) for name, found in values.items() if found}
    both = [name for name in _SIGNED if name in means[WITH] and name in means[WITHOUT]]
    deltas = {name: round(means[WITH][name] - means[WITHOUT][name], 4) for name in both}
    return {**summary, "delta": deltas if is_guide else _signed(deltas)}


def _spread(values: Mapping[str, Sequence[float]], *, is_guide: bool) -> dict[str, Json]:
    spread: dict[str, Json] = {}
    for name, found in values.items():
        if not found:
            continue
        spread[name] = {
            "mean": round(statistics.fmean(found), 4),
            "stddev": round(statistics.stdev(found), 4) if len(found) > 1 else 0.0,
        }
        if not is_guide:
            spread[name] |= {"min": round(min(found), 4), "max": round(max(found), 4)}
    return spread


def _signed(deltas: Mapping[str, float]) -> dict[str, str]:
    return {name: format(value, _SIGNED[name]) for name, value in deltas.items()}


def run_json(graded: Graded, number: int) -> dict[str, Json]:
    """One of ``runs`` in skill-creator's form; ``number`` is its eval's."""
    known = {} if graded.tokens is None else {"tokens": graded.tokens}
    metrics = graded.metrics
    return {
        "eval_id": number,
        "eval_name": graded.case_id,
        "configuration": graded.configuration,
        "run_number": graded.repeat,
        "result": {
            **graded.summary,
            "time_seconds": round(graded.seconds, 3),
            **known,
            "tool_calls": metrics["total_tool_calls"],
            "errors": metrics["errors_encountered"],
        },
        "expectations": list(graded.statements),
        "notes": [],
    }
