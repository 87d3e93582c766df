"""How long commands take to start, against the bare imports of what they cannot do without, in the same run.

    python scripts/bench_start.py [--json] [--rounds 15]

Prints the median wall time of a Python that imports click, yaml, jsonschema and tabulate and ends (the floor), and of
`--help` and `check` on the four shipped skills, with their ratios. The target of both is 2.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
FLOOR = [sys.executable, "-c", "import click, yaml, jsonschema, tabulate"]
COMMANDS = {
    "--help": [sys.executable, "-m", "skillassay", "--help"],
    "check": [sys.executable, "-m", "skillassay", "check"],
}


def once(command: list[str]) -> float:
    """Seconds from start to end of one command."""
    started = time.perf_counter()
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main() -> None:
    """Measure in alternation, so that a slow moment of the machine hits all alike."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    times: dict[str, list[float]] = {name: [] for name in ("floor", *COMMANDS)}
    for _ in range(options.rounds):
        times["floor"].append(once(FLOOR))
        for name, command in COMMANDS.items():
            times[name].append(once(command))
    medians = {name: statistics.median(values) for name, values in times.items()}
    result = {
        name: {"median_s": round(value, 4), "ratio": round(value / medians["floor"], 2)}
        for name, value in medians.items()
    }
    if options.json:
        print(json.dumps(result, indent=2))
        return
    for name, row in result.items():
        print(f"{name:<8} {row['median_s'] * 1000:7.0f} ms   {row['ratio']:.2f} x the floor   (target 2)")


if __name__ == "__main__":
    main()
