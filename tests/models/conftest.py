"""Fixtures that several tests of models share."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from skillassay.models.pacing import Pace, Paces
from tests.models.paced import Clock


@pytest.fixture
def warnings() -> list[str]:
    """What the cache told."""
    return []


@pytest.fixture
def timed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Paces]:
    """Paces on a clock of their own."""

    def build(clock: Clock, *, rpm: int | None = None, tpm: int | None = None) -> Paces:
        def pace(**limits: int | None) -> Pace:
            return Pace(**limits, clock=clock, wait=clock.wait)

        monkeypatch.setattr("skillassay.models.pacing.Pace", pace)
        return Paces(rpm=rpm, tpm=tpm)

    return build
