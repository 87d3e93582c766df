"""The error tree and the exit codes. Owns what a failure means to the caller's shell; prints nothing.

    SkillassayError          70  a bug, when nothing more precise is raised
    ├── UsageError            2  the command was called wrongly
    ├── InputError            3  a file or a value cannot be used; findings may say more
    ├── EnvironmentFault      3  this machine lacks something the command needs
    ├── StoreError            3  a run record cannot be read or written
    └── TrialError            3  a stage of a trial could not give a verdict (never leaves the runner)

A failed gate or a drifted lock is a result, not an exception: it has an exit code and no class here.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillassay.findings import Finding
    from skillassay.transcript import Usage


class Exit(IntEnum):
    """Exit codes of every command, stable and documented in ``docs/reference/exit-codes.md``."""

    PASSED = 0
    FAILED = 1
    USAGE = 2
    UNDECIDED = 3
    BUG = 70
    INTERRUPTED = 130
    CLOSED_PIPE = 141


class Stage(StrEnum):
    """The part of a trial in which something went wrong."""

    CANDIDATE = "candidate"
    CHECK = "check"
    JUDGE = "judge"
    HARNESS = "harness"


class Reason(StrEnum):
    """Why a trial has no score. None of these is ever counted as a failure, a zero or a pass."""

    CONTRACT_ERROR = "contract_error"
    PROVIDER_ERROR = "provider_error"
    BLOCKED = "blocked"
    TRUNCATED = "truncated"
    TIMEOUT = "timeout"
    BUDGET_BLOCKED = "budget_blocked"
    CHECK_ERROR = "check_error"
    HARNESS_ERROR = "harness_error"
    UNGROUNDED = "ungrounded"
    JUDGE_ABSTAINED = "judge_abstained"
    JUDGE_DISAGREED = "judge_disagreed"
    STALE = "stale"
    VOIDED = "voided"
    HELD = "held"
    MISSING_CAPABILITY = "missing_required_capability"
    INTERRUPTED = "interrupted"


class SkillassayError(Exception):
    """Root of all errors raised on purpose.

    ``message`` says what is wrong with which value; ``hint`` says what to do about it.
    """

    exit_code: Exit = Exit.BUG

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(SkillassayError):
    """The command line asks for something impossible."""

    exit_code = Exit.USAGE


class InputError(SkillassayError):
    """A file or a value cannot be used. ``findings`` lists every problem found, not only the first."""

    exit_code = Exit.UNDECIDED

    def __init__(self, message: str, *, hint: str | None = None, findings: Sequence[Finding] = ()) -> None:
        super().__init__(message, hint=hint)
        self.findings = tuple(findings)


class EnvironmentFault(SkillassayError):
    """The machine lacks something: a key, an interpreter, isolation."""

    exit_code = Exit.UNDECIDED


REPLAY_MISS = "replay_miss"
"""The kind of an error: a recording does not hold what was asked."""
SCRIPT_REFUSED = "script_refused"
"""The kind of an error: a skill's script was asked for and not run, since nothing would have stood around it."""


class StoreError(SkillassayError):
    """A run record is missing, torn or of a newer format."""

    exit_code = Exit.UNDECIDED


class TrialError(SkillassayError):
    """A stage of a trial could not come to a verdict. The runner turns it into UNSCORED(reason).

    ``kind`` refines the reason (for a ``provider_error``: quota, auth, connection, non_json, …) and is one of a fixed
    set of words, so that it may be stored under any retention rule. ``n_attempts`` counts the HTTP attempts that were
    spent before giving up; 0 where none was made. ``waited_s`` is what was waited before them.
    ``usage`` is what a reply without an answer cost (blocked, cut off, …), None where nothing was told.
    """

    exit_code = Exit.UNDECIDED

    def __init__(
        self,
        message: str,
        *,
        reason: Reason,
        stage: Stage,
        kind: str | None = None,
        n_attempts: int = 0,
        usage: Usage | None = None,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.stage = stage
        self.kind = kind
        self.n_attempts = n_attempts
        self.usage = usage
        self.waited_s = 0.0
