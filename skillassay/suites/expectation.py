"""What a request should lead to: skills activated, scripts run. Owns the comparison; nothing here enters a score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """Expected skills and scripts; None: nothing is expected of them, empty: there should be none."""

    skills: tuple[str, ...] | None = None
    scripts: tuple[str, ...] | None = None

    def difference(self, *, activated: Sequence[str], scripts: Sequence[str]) -> str | None:
        """What a run did otherwise, in words; None when it did as expected.

        Activated must be exactly the expected skills, in any order; each expected script must have run, and with an
        empty list none may have.
        """
        if self.skills is not None and set(activated) != set(self.skills):
            return f"activated {_names(activated)}, expected {_names(self.skills)}"
        if self.scripts is None:
            return None
        missing = [script for script in self.scripts if script not in scripts]
        if missing:
            return f"did not run {', '.join(missing)}"
        if not self.scripts and scripts:
            return f"ran {', '.join(scripts)}, expected none"
        return None


def _names(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"
