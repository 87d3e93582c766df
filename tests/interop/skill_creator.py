"""What skill-creator's published reader does with a workspace, written anew from its description, traps included.

Runs are `eval-*/CONFIGURATION/run-*/grading.json`; seconds come from the grading's `timing`, and only where they are 0
there from `timing.json`, which then also gives the tokens; where there are no tokens, characters of the output stand
in. The delta is the configuration met first minus the second, in the order of the alphabet within each eval.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

FIGURES = ("pass_rate", "time_seconds", "tokens")


def load(path: Path) -> Any:
    """A JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))


def read_runs(iteration: Path) -> dict[str, list[dict[str, Any]]]:
    """The runs of each configuration that has some."""
    found: dict[str, list[dict[str, Any]]] = {}
    for folder in sorted(iteration.glob("eval-*")):
        number = load(folder / "eval_metadata.json")["eval_id"]
        for configuration in sorted(one for one in folder.iterdir() if one.is_dir() and list(one.glob("run-*"))):
            own = found.setdefault(configuration.name, [])
            own += [_read_run(run, number) for run in sorted(configuration.glob("run-*")) if _is_graded(run)]
    return found


def _is_graded(run: Path) -> bool:
    return (run / "grading.json").exists()


def _read_run(run: Path, number: int) -> dict[str, Any]:
    grading = load(run / "grading.json")
    summary, metrics = grading["summary"], grading.get("execution_metrics", {})
    seconds, tokens = grading.get("timing", {}).get("total_duration_seconds", 0.0), 0
    if seconds == 0.0 and (run / "timing.json").exists():
        timing = load(run / "timing.json")
        seconds, tokens = timing.get("total_duration_seconds", 0.0), timing.get("total_tokens", 0)
    for entry in grading["expectations"]:
        assert {"text", "passed", "evidence"} <= set(entry)
    return {
        "eval_id": number,
        "run_number": int(run.name.removeprefix("run-")),
        "pass_rate": summary["pass_rate"],
        "passed": summary["passed"],
        "failed": summary["failed"],
        "total": summary["total"],
        "time_seconds": seconds,
        "tokens": tokens or metrics.get("output_chars", 0),
        "tool_calls": metrics.get("total_tool_calls", 0),
        "errors": metrics.get("errors_encountered", 0),
        "expectations": grading["expectations"],
    }


def aggregate(runs: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """The `run_summary` of these runs."""
    summary: dict[str, Any] = {
        name: {figure: spread([run[figure] for run in own]) for figure in FIGURES} for name, own in runs.items()
    }
    first, second = list(summary.values())[:2]
    gain = {figure: first[figure]["mean"] - second[figure]["mean"] for figure in FIGURES}
    signed = (f"{gain['pass_rate']:+.2f}", f"{gain['time_seconds']:+.1f}", f"{gain['tokens']:+.0f}")
    return {**summary, "delta": dict(zip(FIGURES, signed, strict=True))}


def spread(values: list[float]) -> dict[str, float]:
    """Mean, deviation of the sample, least and most, to four places."""
    mean = sum(values) / len(values)
    squares = sum((value - mean) ** 2 for value in values)
    deviation = math.sqrt(squares / (len(values) - 1)) if len(values) > 1 else 0.0
    figures = {"mean": mean, "stddev": deviation, "min": min(values), "max": max(values)}
    return {name: round(value, 4) for name, value in figures.items()}
