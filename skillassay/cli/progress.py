"""Progress of a run on stderr: one rewritten line on a terminal, plain lines now and then elsewhere."""

from __future__ import annotations

import sys
import time

from skillassay.cli.output import say
from skillassay.printable import one_line
from skillassay.runs.record import TrialRecord

PLAIN_EVERY_S = 10.0


class Progress:
    """A listener that shows trials done, tokens used and time left. ``quiet`` shows nothing."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet or sys.stderr is None
        self._live = not self._quiet and sys.stderr.isatty()
        self._started = self._shown = time.monotonic()
        self._first_done: int | None = None
        self._n_tokens = 0
        self._estimated = False
        self._n_unscored = 0

    def trial_done(self, record: TrialRecord, n_done: int, n_planned: int) -> None:
        """A trial has its record."""
        for spent in (record.candidate, record.judge):
            self._n_tokens += (spent.usage.input_tokens or 0) + (spent.usage.output_tokens or 0)
            self._estimated = self._estimated or spent.usage.estimated
        self._n_unscored += not record.outcome.scored
        if self._first_done is None:
            self._first_done = n_done - 1
        if self._quiet:
            return
        now = time.monotonic()
        line = self._line(n_done, n_planned, now)
        if self._live:
            sys.stderr.write(f"\r\x1b[K{line}")
            if n_done == n_planned:
                sys.stderr.write("\r\x1b[K")
        elif n_done == n_planned or now - self._shown >= PLAIN_EVERY_S:
            self._shown = now
            sys.stderr.write(line + "\n")
        sys.stderr.flush()

    def warn(self, text: str) -> None:
        """Something that the run cannot do, also told when quiet."""
        say(f"warning: {one_line(text)}")

    def stopping(self, n_under_way: int) -> None:
        """The run was asked to stop."""
        if sys.stderr is None:
            return
        end = "\n" if self._live else ""
        what = "1 trial" if n_under_way == 1 else f"{n_under_way} trials"
        text = f"stopping after {what} under way; Ctrl-C again drops what is under way\n"
        sys.stderr.write(end + text)
        sys.stderr.flush()

    def _line(self, n_done: int, n_planned: int, now: float) -> str:
        n_here = n_done - (self._first_done or 0)
        left_s = (now - self._started) / max(1, n_here) * (n_planned - n_done)
        unscored = f", {self._n_unscored} unscored" if self._n_unscored else ""
        tokens = f"{'~' if self._estimated else ''}{self._n_tokens} tokens"
        return f"{n_done}/{n_planned} trials{unscored}, {tokens}, about {left_s:.0f} s left"
