"""From answers as they were found to the answers of a run. Owns which trial each is for, and every problem with them.

An answer names its case, its mode and its repeat. All problems are found before anything is asked: an unknown case, two
answers for one trial, a file that cannot be used. Nothing is guessed and nothing is dropped; an answer for a case that
is not selected is counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from skillassay.errors import InputError, StoreError
from skillassay.findings import Finding, Severity, register, sort_findings
from skillassay.inside import refuse_links
from skillassay.regular import NotRegular, read_regular
from skillassay.runs.plan import ALL_MODES, Mode
from skillassay.subjects.answers import Answers, MadeAnswer

UNKNOWN = register("answers.unknown-case", "An answer that was made elsewhere is for a case that no suite has.")
TWICE = register("answers.duplicate", "Two answers that were made elsewhere are for the same case, mode and repeat.")
UNUSABLE = register("answers.unusable", "An answer that was made elsewhere, or its place, cannot be used.")

MAX_ANSWER_BYTES = 4 * 1024 * 1024
MAX_REPEATS = 1000
MODE_FOLDERS = {
    "with_skill": Mode.PROGRESSIVE,
    "without_skill": Mode.NONE,
    **{mode.value: mode for mode in ALL_MODES},
}
"""What a folder of one mode may be called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a project asks: of each case its suite, its skill's name, and whether a check reads a file for it."""

    suites: Mapping[str, str]
    skills: Mapping[str, str]
    need_files: frozenset[str]
    selected: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One answer where it lies: ``place`` is a file, with its line in a list."""

    place: str
    line: int | None = None
    case: str
    suite: str | None = None
    mode: Mode = Mode.PROGRESSIVE
    repeat: int = 1
    made: MadeAnswer


@dataclass(slots=True)
class Heap:
    """Answers and problems while a source is read. ``told`` is what is no problem and must be said."""

    found: list[Found] = field(default_factory=list)
    problems: list[Finding] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def problem(self, place: str, message: str, hint: str, *, line: int | None = None, code: str = UNUSABLE) -> None:
        """Add a problem with its place."""
        severity = Severity.ERROR
        self.problems.append(Finding(code=code, severity=severity, path=place, line=line, message=message, hint=hint))


def read_inside(base: Path, name: str, *, max_bytes: int = MAX_ANSWER_BYTES) -> bytes:
    """The bytes of a regular file below ``base``, through no link. Raises :class:`ValueError` that says why not."""
    try:
        if Path(name).is_absolute():
            raise NotRegular("is an absolute path")
        refuse_links(base, base / name)
        return read_regular(base / name, max_bytes=max_bytes)
    except StoreError as error:
        raise ValueError(error.message) from error
    except OSError as error:
        raise ValueError(f"{name}: {error.strerror or error}") from error
    except ValueError as error:  # a NUL in the name, no regular file, too large
        raise ValueError(f"{name} {error}") from error


def answer_text(data: bytes, name: str) -> str:
    """An answer from a file: UTF-8, byte for byte but for a byte order mark. Raises :class:`ValueError`."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} is not UTF-8 text") from error


def build_answers(heap: Heap, asked: Asked, *, source: str, modes: Sequence[Mode] = ()) -> Answers:
    """The answers of the selected cases. ``modes`` are planned besides those that an answer is for.

    Raises :class:`InputError` with every problem.
    """
    by_slot: dict[str, MadeAnswer] = {}
    places: dict[tuple[str, Mode, int], Found] = {}
    for one in heap.found:
        suite = asked.suites.get(one.case)
        if suite is None or one.suite not in {None, suite}:
            where = "" if suite is None else f" of suite {one.suite!r}; it is in {suite!r}"
            hint = f"cases: {', '.join(sorted(asked.suites)[:20]) or 'none'}"
            heap.problem(one.place, f"there is no case {one.case!r}{where}", hint, line=one.line, code=UNKNOWN)
            continue
        before = places.setdefault((one.case, one.mode, one.repeat), one)
        if before is not one:
            what = f"{one.case}, {one.mode.value} #{one.repeat}: the same trial is answered at {_place(before)}"
            heap.problem(one.place, what, "keep one, or number the repeats", line=one.line, code=TWICE)
        elif one.case in asked.selected:
            by_slot[f"{suite}/{one.case}/{one.mode.value}/{one.repeat}"] = one.made
    _refuse(heap, source, n_selected=len(by_slot))
    planned = {*modes, *(found.mode for key, found in places.items() if key[0] in asked.selected)}
    repeats = max(repeat for case, _, repeat in places if case in asked.selected)
    if n_other := len(places) - len(by_slot):
        heap.told.append(f"not selected: the cases of {n_other} answer{'' if n_other == 1 else 's'}")
    return Answers(
        source=source,
        by_slot=by_slot,
        need_files=frozenset(
            f"{asked.suites[case]}/{case}/{mode.value}/{repeat}"
            for case in asked.need_files
            for mode in planned
            for repeat in range(1, repeats + 1)
        ),
        modes=tuple(mode for mode in ALL_MODES if mode in planned),
        repeats=repeats,
    )


def _refuse(heap: Heap, source: str, *, n_selected: int) -> None:
    if heap.problems:
        n = len(heap.problems)
        raise InputError(
            f"{source}: {n} problem{'' if n == 1 else 's'} with the answers",
            hint="mend them and call again; nothing was scored",
            findings=sort_findings(heap.problems),
        )
    if not n_selected:
        raise InputError(
            f"{source} holds no answer for a selected case",
            hint="the forms are described at docs/guides/score-elsewhere.md",
        )


def _place(found: Found) -> str:
    return found.place + (f":{found.line}" if found.line else "")
