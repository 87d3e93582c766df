"""Knowing when asking a model again is of no use. Owns the count of calls in a row that said so; asks nobody.

A key that was refused, and a quota that is spent for the day, do not mend while a run goes on. After ``LIMIT`` calls in
a row of one of these kinds nothing more is sent: each further call fails at once, which is quicker, and kinder to the
provider. It is never a score. A call that ends in any other way, with an answer or another error, begins the count
anew: a service that says something else in between is not yet sure.
"""

from __future__ import annotations

import threading

from skillassay.errors import Reason, Stage, TrialError

LIMIT = 3

_NEXT = {
    "quota_day": "go on when the quota is new, tomorrow",
    "auth": "set the right key and go on",
}
"""The kinds of ``provider_error`` that do not mend by waiting a minute, and what then helps."""


class Breaker:
    """The count for one model at one endpoint. Safe to call from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kind: str | None = None
        self._n_in_a_row = 0
        self._open: tuple[str, str] | None = None

    @property
    def is_open(self) -> bool:
        """Whether nothing more is sent. Once open it stays so for this process."""
        return self._open is not None

    def check(self, stage: Stage) -> None:
        """Raise the error of a call that is not sent, if it is not to be sent."""
        broken = self._open
        if broken is not None:
            kind, said = broken
            message = (
                f"not sent: {LIMIT} calls in a row ended with {kind}; {_NEXT[kind]} with "
                f"`skillassay eval --retry-unscored RUN` (the last one: {said})"
            )
            raise TrialError(message, reason=Reason.PROVIDER_ERROR, stage=stage, kind=kind)

    def answered(self) -> None:
        """A call brought a reply."""
        with self._lock:
            self._kind = None

    def failed(self, error: TrialError) -> None:
        """A call that was sent brought none."""
        kind = error.kind if error.reason is Reason.PROVIDER_ERROR and error.kind in _NEXT else None
        with self._lock:
            self._n_in_a_row = self._n_in_a_row + 1 if kind == self._kind else 1
            self._kind = kind
            if kind is not None and self._n_in_a_row >= LIMIT and self._open is None:
                self._open = (kind, error.message)
