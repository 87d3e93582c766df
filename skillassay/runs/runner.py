"""Running a plan: trials in threads, one record each, until all are done or someone stops it. Owns order and progress.

Reports to a listener and never prints. The record on disk is the only truth: scores are made from it, not from memory.
On Ctrl-C no new trial begins, those under way are finished and recorded; a second Ctrl-C drops them. One that still
waits to send its first request has not begun: it leaves no record and is run on resume.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Protocol

from skillassay.errors import Reason
from skillassay.holdout.withholding import both
from skillassay.runs.attempts import Todo
from skillassay.runs.plan import PlannedTrial
from skillassay.runs.record import TrialRecord
from skillassay.runs.store import RunWriter
from skillassay.runs.trial import TrialParts, run_trial

_THREADS = "trial-of-a-run"


class Listener(Protocol):
    """Somebody who watches a run, called from one thread."""

    def trial_done(self, record: TrialRecord, n_done: int, n_planned: int) -> None:
        """A trial has its record."""

    def warn(self, text: str) -> None:
        """Something that the run cannot do; it goes on without."""

    def stopping(self, n_under_way: int) -> None:
        """The run was asked to stop; so many trials are still under way."""


@dataclass(slots=True)
class _Pool:
    """Trials under way. At most ``2 * jobs`` are submitted at a time, whatever the plan's size."""

    todo: Todo
    parts: TrialParts
    jobs: int
    keep: Callable[[TrialRecord], TrialRecord]
    stop: threading.Event = field(default_factory=threading.Event)
    under_way: set[Future[TrialRecord | None]] = field(default_factory=set)

    def work(self, trial: PlannedTrial) -> TrialRecord | None:
        if self.stop.is_set():
            return None
        record = run_trial(trial, self.parts, self.todo.earlier.get(trial.trial_id))
        # What the run's retention does not keep ends here, in the thread that saw it.
        return None if record.outcome.reason is Reason.INTERRUPTED else self.keep(record)

    def fill(self, threads: ThreadPoolExecutor, waiting: Iterator[PlannedTrial]) -> None:
        while len(self.under_way) < 2 * self.jobs and not self.stop.is_set():
            trial = next(waiting, None)
            if trial is None:
                return
            self.under_way.add(threads.submit(self.work, trial))

    def next_finished(self) -> Iterator[TrialRecord]:
        finished, _ = wait(self.under_way, return_when=FIRST_COMPLETED)
        for future in finished:
            # Taken out one by one, so that an interrupt in between leaves the rest to the next round.
            self.under_way.discard(future)
            record = future.result()
            if record is not None:
                yield record


def is_trial_running() -> bool:
    """Whether a trial of this process still runs: one that was dropped, once its run is over."""
    return any(thread.name.startswith(_THREADS) for thread in threading.enumerate())


def _keep(writer: RunWriter, record: TrialRecord) -> None:
    writer.append(record)
    status, attempt = record.outcome.status, record.attempt
    writer.event("trial_done", trial=record.trial_id, status=status, attempt=attempt)


def execute(
    todo: Todo,
    parts: TrialParts,
    writer: RunWriter,
    *,
    jobs: int,
    listener: Listener,
    on_stop: Callable[[], None],
) -> bool:
    """Run what is to do. Returns whether it was interrupted; ``on_stop`` is called when it is to be.

    Raises :class:`StoreError` when the record cannot be written; what was written before stays whole.
    """
    waiting, n_done = iter(todo.trials), todo.n_planned - len(todo.trials)
    pool = _Pool(todo=todo, parts=parts, jobs=jobs, keep=both(parts.withholding, writer.retention.keep))
    threads = ThreadPoolExecutor(max_workers=jobs, thread_name_prefix=_THREADS)
    try:
        pool.fill(threads, waiting)
        while pool.under_way:
            try:
                for record in pool.next_finished():
                    _keep(writer, record)
                    n_done += 1
                    listener.trial_done(record, n_done, todo.n_planned)
                pool.fill(threads, waiting)
            except KeyboardInterrupt:
                if pool.stop.is_set():
                    threads.shutdown(wait=False, cancel_futures=True)
                    raise
                pool.stop.set()
                on_stop()
                writer.event("interrupted")
                listener.stopping(sum(future.running() for future in pool.under_way))
    except BaseException:
        # Nobody waits for trials whose records nobody can write.
        pool.stop.set()
        threads.shutdown(wait=False, cancel_futures=True)
        raise
    threads.shutdown(wait=True)
    return pool.stop.is_set()
