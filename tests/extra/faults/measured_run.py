"""A program: one evaluation through the core in this process, and what it leaves behind. Prints one JSON object.

python measured_run.py ROOT JOBS
"""

from __future__ import annotations

import gc
import json
import sys
import threading
from pathlib import Path

from skillassay.runs.evaluation import evaluate
from skillassay.runs.preparation import EvalRequest, prepare
from skillassay.runs.record import TrialRecord

EVERY = 250


def rss_kib() -> int:
    """Resident memory now."""
    for line in Path("/proc/self/status").read_text("ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError


def open_files() -> list[str]:
    """What the descriptors of this process lead to."""
    found = []
    for link in Path("/proc/self/fd").iterdir():
        try:
            found.append(str(link.readlink()))
        except FileNotFoundError:
            continue  # the listing's own
    return sorted(found)


class Meter:
    """A listener that measures now and then."""

    def __init__(self) -> None:
        self.rss: dict[int, int] = {}
        self.n_threads = 0
        self.n_files = 0

    def trial_done(self, record: TrialRecord, n_done: int, n_planned: int) -> None:  # noqa: ARG002 - the port's
        """Measure after each so many trials."""
        if n_done % EVERY == 0 or n_done == n_planned:
            self.rss[n_done] = rss_kib()
            self.n_threads = max(self.n_threads, threading.active_count())
            self.n_files = max(self.n_files, len(open_files()))

    def warn(self, text: str) -> None:
        """A warning would be something else than what is measured."""
        raise AssertionError(text)

    def stopping(self, n_under_way: int) -> None:
        """Nobody stops this."""


def main() -> None:
    """Run, measure, print."""
    request = EvalRequest(root=Path(sys.argv[1]), model="gemini:faulty", jobs=int(sys.argv[2]))
    prepared = prepare(request)
    threads, files = threading.enumerate(), open_files()
    meter = Meter()
    view = evaluate(prepared, meter)
    scored = sum(row.record.outcome.scored for row in view.assessment.scores.rows)
    after = rss_kib()
    del view
    gc.collect()
    print(
        json.dumps(
            {
                "rss": meter.rss,
                "rss_assessed": after,
                "scored": scored,
                "most_threads": meter.n_threads,
                "most_files": meter.n_files,
                "threads_left": [thread.name for thread in threading.enumerate() if thread not in threads],
                "files_left": [name for name in open_files() if name not in files],
            }
        )
    )


if __name__ == "__main__":
    main()
