"""Answers that were made elsewhere, as a subject: looks up the trial's own, asks nobody. Owns what such an answer is.

A trial is known by its slot, which names it and says nothing of what is expected. Where no answer was brought for it,
or none of the files that its case looks at, it has no score (``missing_required_capability``): nothing here could
answer. What the candidate was shown is not known, so no arm is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from skillassay.canonical import Json, digest_of, sha256_hex
from skillassay.errors import Reason, Stage, TrialError
from skillassay.regular import NotRegular, read_regular
from skillassay.runs.plan import Mode
from skillassay.runs.record import Spent
from skillassay.subjects.base import SubjectRequest, SubjectResult
from skillassay.transcript import Usage

MAX_OUTPUT_BYTES = 16 * 1024 * 1024
"""How large a file may be that was made beside an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """A file that was made beside an answer: its name below the workspace, where it lies, its SHA-256 when read."""

    name: str
    source: Path
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeAnswer:
    """An answer as it came, with what was told of it. ``outputs`` is None where nobody tells of files."""

    text: str
    model: str | None = None
    usage: Usage = field(default_factory=Usage)
    outputs: tuple[Output, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The answers of a run by the slot of their trial. ``source`` is the name of the file or folder.

    ``need_files`` are the slots of which the case looks at files of the workspace.
    """

    source: str
    by_slot: Mapping[str, MadeAnswer]
    need_files: frozenset[str] = frozenset()
    modes: tuple[Mode, ...] = ()
    repeats: int = 1

    @property
    def digest(self) -> str:
        """One digest over all answers and what was told of them."""
        return digest_of(
            {
                slot: {
                    "answer": sha256_hex(made.text.encode()),
                    "model": made.model,
                    "usage": asdict(made.usage),
                    "outputs": None if made.outputs is None else {one.name: one.sha256 for one in made.outputs},
                }
                for slot, made in self.by_slot.items()
            }
        )

    def to_json(self, *, with_digest: bool) -> dict[str, Json]:
        """What a header says of them. Where no text may be kept it has no digest: of one short answer that is a text
        to whoever tries a list."""
        return {"source": self.source, "n": len(self.by_slot), "digest": self.digest if with_digest else None}


class AnswersSubject:
    """The subject that answers with what was brought."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers

    def answer(self, request: SubjectRequest, workspace: Path) -> SubjectResult:
        """The answer that was made for this trial; its files are laid into the workspace."""
        made = self._answers.by_slot.get(request.slot)
        if made is None:
            return SubjectResult(error=_missing("no answer was brought for this trial"))
        if made.outputs is None and request.slot in self._answers.need_files:
            return SubjectResult(error=_missing("the case looks at a file, and no files came with its answer"))
        try:
            for output in made.outputs or ():
                _lay_out(output, workspace)
        except TrialError as error:
            return SubjectResult(error=error)
        # One call stands for whatever made the answer: with none, tokens that nobody told would count as 0.
        return SubjectResult(answer=made.text, spent=Spent(n_calls=1, usage=made.usage, model=made.model))


def _lay_out(output: Output, workspace: Path) -> None:
    """Copy a file into the workspace, if it still is the one that was read."""
    target = workspace / output.name
    try:
        data = read_regular(output.source, max_bytes=MAX_OUTPUT_BYTES)
        if sha256_hex(data) != output.sha256:
            raise NotRegular("changed since it was read")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    except (OSError, NotRegular) as error:
        message = f"{output.name} cannot be laid out: {error}"
        raise TrialError(message, reason=Reason.HARNESS_ERROR, stage=Stage.HARNESS) from error


def _missing(why: str) -> TrialError:
    return TrialError(why, reason=Reason.MISSING_CAPABILITY, stage=Stage.CANDIDATE)
