"""The shape of a decision: its lines and what they come to. Owns the words passed, failed, undecided, not applicable.

A line is one condition with its number, its limit and what broke it; what looks at a run to make one lies elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from skillassay.errors import Exit


class Status(StrEnum):
    """What one line, or the whole decision, came to. ``not_applicable`` is no pass: the line had nothing to look at."""

    PASSED = "passed"
    FAILED = "failed"
    UNDECIDED = "undecided"
    NOT_APPLICABLE = "not_applicable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """What makes a line fail: a skill as a whole, or one of its cases as ``suite/id``."""

    skill_path: str
    case: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateLine:
    """One condition. ``number`` against ``limit`` in words, ``detail`` names what broke it, ``counts`` holds the
    integers that were compared, by name.

    ``live_only`` marks a condition that certifies a judge or an approval: a run that fails on these alone is
    ``declared``, which a lock may accept and always shows. ``causes`` are the skills or cases that a failure rests on
    (a failure that names none can never be waived), and ``otherwise`` what the line would be without them.
    """

    name: str
    status: Status
    number: str
    limit: str
    detail: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    live_only: bool = False
    causes: tuple[Cause, ...] = ()
    otherwise: Status = Status.PASSED


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The gate's name, its lines, and what they come to. ``slices`` says what each slice by itself came to, ``seen`` is
    the digest of what an approver sees of it."""

    gate: str
    lines: tuple[GateLine, ...]
    slices: tuple[tuple[str, Status], ...] = ()
    seen: str = ""

    @property
    def status(self) -> Status:
        """Failed if a line failed on what was scored, else undecided if a line is, else passed.

        A lack of certification (``live_only``) fails a run that is decided otherwise; it cannot make a failure out of a
        run in which nothing could be scored.
        """
        measured = {line.status for line in self.lines if not line.live_only}
        for status in (Status.FAILED, Status.UNDECIDED):
            if status in measured:
                return status
        return Status.FAILED if Status.FAILED in {line.status for line in self.lines} else Status.PASSED

    @property
    def declared(self) -> bool:
        """Whether everything but the certification of judge and approver passed."""
        return all(line.status in {Status.PASSED, Status.NOT_APPLICABLE} for line in self.lines if not line.live_only)

    @property
    def exit_code(self) -> Exit:
        """0 passed, 1 failed, 3 undecided."""
        return {Status.PASSED: Exit.PASSED, Status.FAILED: Exit.FAILED}.get(self.status, Exit.UNDECIDED)


def count_status(n: int, n_open: int, *, of: int, limit: Fraction) -> Status:
    """Whether ``n`` of ``of`` stays within a share: failed where it cannot any more, open while ``n_open`` decide."""
    if n * limit.denominator > limit.numerator * of:
        return Status.FAILED
    return Status.UNDECIDED if (n + n_open) * limit.denominator > limit.numerator * of else Status.PASSED


def decimal_text(number: Fraction) -> str:
    """A limit as the shortest decimal that is exactly it, or as a fraction where none is."""
    text = f"{float(number):.10g}"
    return text if Fraction(text) == number else f"{number.numerator}/{number.denominator}"
