"""Writing down what models are asked and what comes back. Owns when a recording is written and what it may replace.

A recording is kept in memory and written once, whole, when the run is over: one that was interrupted or that fell over
leaves no file and touches none. One that is whole but in which the provider failed (a quota, a time-out) has its use
too, but not in the place of one that may be better: it is written beside it.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from skillassay.errors import Reason, StoreError, TrialError
from skillassay.inside import write_inside
from skillassay.models.base import Model, ModelIdentity, ModelReply, ModelRequest
from skillassay.models.tape import TapeBuilder

_PROVIDERS = frozenset({Reason.PROVIDER_ERROR, Reason.TIMEOUT, Reason.MISSING_CAPABILITY})


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Where a recording lies below the project, None for nowhere; and why it is not where it was asked for."""

    path: str | None
    why: str | None = None


@dataclass(slots=True, kw_only=True)
class Recorder:
    """One recording in the making. Safe to call from several threads."""

    builder: TapeBuilder = field(default_factory=TapeBuilder)
    n_failed: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def count_failure(self) -> None:
        """One more call to which the provider gave nothing."""
        with self._lock:
            self.n_failed += 1

    def keep(
        self, root: Path, name: str, models: Mapping[str, ModelIdentity], *, recorded_on: str, otherwise: str
    ) -> Kept:
        """As :meth:`save`, but to ``otherwise`` where ``name`` cannot be written: what was paid for is not lost."""
        try:
            written = self.save(root, name, models, recorded_on=recorded_on)
        except StoreError as error:
            try:
                return Kept(path=self.save(root, otherwise, models, recorded_on=recorded_on), why=error.message)
            except StoreError as further:
                return Kept(path=None, why=f"{error.message}; {further.message}")
        return Kept(path=written, why=None if written == name else f"not every call was answered, so {name} stays")

    def save(self, root: Path, name: str, models: Mapping[str, ModelIdentity], *, recorded_on: str) -> str:
        """Write the recording to ``root / name`` and return the path, below ``root``, where it lies now.

        Raises :class:`StoreError` when it cannot be written; whatever was there before is still there then.
        """
        if self.n_failed and (root / name).exists():
            name = f"{name.removesuffix('.jsonl')}.failed.jsonl"
        try:
            write_inside(root, name, self.builder.render(models, recorded_on=recorded_on))
        except (OSError, ValueError) as error:
            told = error.strerror if isinstance(error, OSError) else None
            raise StoreError(f"the recording {name} cannot be written: {told or error}") from error
        return name


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingModel:
    """A model whose every call is written down, success and failure alike, as the run is told it."""

    model: Model
    side: str
    recorder: Recorder

    @property
    def identity(self) -> ModelIdentity:
        """Who is asked: a recorder answers nothing."""
        return self.model.identity

    def generate(self, request: ModelRequest) -> ModelReply:
        """Ask the model and write it down."""
        try:
            reply = self.model.generate(request)
        except TrialError as error:
            if error.reason in _PROVIDERS:
                self.recorder.count_failure()
            self.recorder.builder.add(self.side, request, error)
            raise
        except BaseException:
            self.recorder.count_failure()
            raise
        self.recorder.builder.add(self.side, request, reply)
        return reply

    def close(self) -> None:
        """Close the model; the recording is written by :meth:`Recorder.save` alone."""
        self.model.close()
