"""The port of a subject: a query and its files in, an answer with its transcript out.

A subject never sees a case: no id, expectation, reference or criticality. What it could not finish comes back as
``error`` (unscored) or ``turn_limit`` (the candidate's own failure), always with what was said until then.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from skillassay.errors import TrialError
from skillassay.plan import Mode
from skillassay.record import Spent
from skillassay.transcript import Transcript


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFile:
    """A file that the user sent along. ``text`` is None for what is not UTF-8 text; ``source`` is where it lies."""

    name: str
    source: Path
    text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectRequest:
    """What a subject gets. ``skill_path`` says whose body ``eager`` shows under the scope ``skill``; it is not sent."""

    query: str
    files: tuple[InputFile, ...]
    mode: Mode
    skill_path: str
    response_schema: dict[str, Any] | None = None
    max_output_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectResult:
    """What came back. Exactly one of ``answer``, ``turn_limit`` and ``error`` says how it ended."""

    answer: str | None = None
    turn_limit: bool = False
    error: TrialError | None = None
    transcript: Transcript = field(default_factory=Transcript)
    activated: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    spent: Spent = field(default_factory=Spent)


class Subject(Protocol):
    """Something that answers. Safe to call from several threads, each with its own ``workspace``."""

    def answer(self, request: SubjectRequest, workspace: Path) -> SubjectResult:
        """Answer one request in an empty folder of its own. Raises nothing that belongs to the trial."""
