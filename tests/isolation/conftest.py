"""Fixtures that several tests of isolation share."""

from __future__ import annotations

import pytest

from skillassay.isolation.process import Isolation
from tests.isolation.room import LEVELS


@pytest.fixture(params=LEVELS, ids=lambda level: level.name.lower())
def level(request: pytest.FixtureRequest) -> Isolation:
    """Every level this machine has."""
    value = request.param
    assert isinstance(value, Isolation)
    return value
