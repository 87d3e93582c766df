"""How long commands take to start, against the bare imports of what they cannot do without, in the same run.

    python scripts/bench_start.py [--json] [--rounds 15]

Prints the median wall time of a Python that imports click, yaml, jsonschema and tabulate and ends (the floor), and with
their ratios: `--help`, and `check` on the five shipped skills alone (target of both: 2); then, without a target,
`check` on this whole repository, which also validates its suites and some 130 fixture rules.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
FLOOR = [sys.executable, "-c", "import click, yaml, jsonschema, tabulate"]
SKILLASSAY = [sys.executable, "-m", "skillassay"]


def once(command: list[str], folder: Path) -> float:
    """Seconds from start to end of one command. `check` may exit 1: five skills without a lock are not clean."""
    started = time.perf_counter()
    done = subprocess.run(command, cwd=folder, check=False, stdout=subprocess.DEVNULL)
    if done.returncode not in {0, 1}:
        sys.exit(f"{command} ended with {done.returncode}")
    return time.perf_counter() - started


def main() -> None:
    """Measure in alternation, so that a slow moment of the machine hits all alike."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as bare_folder:
        bare = Path(bare_folder)
        shutil.copytree(ROOT / "skills", bare / "skills")
        commands = {
            "floor": (FLOOR, ROOT),
            "--help": ([*SKILLASSAY, "--help"], ROOT),
            "check, five skills": ([*SKILLASSAY, "check"], bare),
            "check, repository": ([*SKILLASSAY, "check"], ROOT),
        }
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(options.rounds):
            for name, (command, folder) in commands.items():
                times[name].append(once(command, folder))
    medians = {name: statistics.median(values) for name, values in times.items()}
    result = {
        name: {"median_s": round(value, 4), "ratio": round(value / medians["floor"], 2)}
        for name, value in medians.items()
    }
    if options.json:
        print(json.dumps(result, indent=2))
        return
    for name, row in result.items():
        target = "   (target 2)" if name in {"--help", "check, five skills"} else ""
        print(f"{name:<20} {row['median_s'] * 1000:7.0f} ms   {row['ratio']:.2f} x the floor{target}")


if __name__ == "__main__":
    main()
