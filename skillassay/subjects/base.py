"""The port of a subject: a query and its files in, an answer with its transcript out.

A subject never sees a case: no id, expectation, reference or criticality. What it could not finish comes back as
``error`` (unscored) or ``turn_limit`` (the candidate's own failure), always with what was said until then.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from skillassay.canonical import sha256_hex
from skillassay.errors import Reason, Stage, TrialError
from skillassay.runs.plan import Mode
from skillassay.runs.record import Arm, Spent
from skillassay.transcript import Transcript


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFile:
    """A file that the user sent along. ``text`` is None for what is not UTF-8 text; ``source`` is where it lies."""

    name: str
    source: Path
    text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectRequest:
    """What a subject gets. Two fields are not sent: ``skill_path`` says whose body ``eager`` shows under the scope
    ``skill`` and which skill is an older one in ``previous``; ``slot`` goes into each model request as it is."""

    query: str
    files: tuple[InputFile, ...]
    mode: Mode
    skill_path: str
    response_schema: dict[str, Any] | None = None
    max_output_tokens: int | None = None
    slot: str = ""
    is_valid: Callable[[str], bool] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectResult:
    """What came back. Exactly one of ``answer``, ``turn_limit`` and ``error`` says how it ended.

    ``arm`` is what the candidate could see; None when it was not known yet. ``activated`` and ``scripts`` are None
    nowhere: an agent whose stream does not tell them has none, and says so in its adapter.
    """

    answer: str | None = None
    turn_limit: bool = False
    error: TrialError | None = None
    transcript: Transcript = field(default_factory=Transcript)
    activated: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    spent: Spent = field(default_factory=Spent)
    arm: Arm | None = None


class Subject(Protocol):
    """Something that answers. Safe to call from several threads, each with its own ``workspace``."""

    def answer(self, request: SubjectRequest, workspace: Path) -> SubjectResult:
        """Answer one request in an empty folder of its own. Raises nothing that belongs to the trial."""


def lay_out(files: Sequence[InputFile], workspace: Path) -> None:
    """Copy the user's files into the trial's workspace, where scripts find them by the names the user gave."""
    for file in files:
        target = workspace / file.name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file.source, target)
        except OSError as error:
            message = f"{file.name} cannot be laid out: {error.strerror or error}"
            raise TrialError(message, reason=Reason.HARNESS_ERROR, stage=Stage.HARNESS) from error


def seen_files(files: Sequence[InputFile]) -> tuple[tuple[str, str], ...]:
    """The user's files by name, with the SHA-256 of what lies in the run's own copy."""
    return tuple(sorted((file.name, sha256_hex(file.source.read_bytes())) for file in files))
