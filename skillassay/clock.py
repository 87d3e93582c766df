"""The day it is. Owns the only place that asks where a verdict depends on it: what judges an expiry is told a day."""

from __future__ import annotations

from datetime import UTC, date, datetime


def today() -> date:
    """The date in UTC, so that one waiver ends at the same moment for everybody."""
    return datetime.now(UTC).date()
