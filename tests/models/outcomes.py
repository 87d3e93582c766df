"""What may come back from a provider, and what becomes of it: the one table, for the tests and for the reference page.

Each row is one thing that happens to one trial of a run that passes without it, in the words of each provider that can
say it. ``scripts/write_reference.py`` writes docs/reference/provider-errors.md from it.
"""

from __future__ import annotations

from tests.models.answers import ANSWERS, BLOCKED, MALFORMED, TRUNCATED
from tests.models.failures import LOST, NO_REPLY, REFUSED
from tests.models.happenings import Happens

FAMILIES: dict[str, tuple[Happens, ...]] = {
    "Answers": ANSWERS,
    "Blocked": BLOCKED,
    "Truncated": TRUNCATED,
    "Malformed calls": MALFORMED,
    "Replies that are none": NO_REPLY,
    "Connections": LOST,
    "Refusals": REFUSED,
}

ROWS = tuple((name, row) for rows in FAMILIES.values() for row in rows for name in row.sends)
"""Each row once for each provider that can say it."""
