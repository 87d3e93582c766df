"""How often the validation part of a trigger suite was looked at: ``.skillassay/triggers.jsonl``, appended to only.

    {"look": 1, "at", "suite", "version", "skill", "skill_digest", "cases": {ID: DIGEST}, "model", "subjects"}

One line for each suite and skill of a run on validation, written before its first request is sent: who stopped half way
has looked as well. A description that is changed after a look and tried again is tuned on what should only try it, so
the number of different states of the skill is shown beside the number of looks. Like run records the file belongs to
one checkout: looks made elsewhere, and in a job of a CI service, are not in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from skillassay.canonical import Json
from skillassay.errors import StoreError
from skillassay.inside import refuse_links
from skillassay.ledger import append_line, read_lines
from skillassay.runs.store import keep_out_of_git, now_utc
from skillassay.suites.triggers import TriggerCase

LOOKS_PATH = ".skillassay/triggers.jsonl"
LOOK_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Looks:
    """The looks at one skill's validation cases of one suite, this one counted; ``n_states`` of the skill's files."""

    suite: str
    skill: str
    n_looks: int
    n_states: int


def record_looks(
    root: Path, cases: Iterable[TriggerCase], *, digests: Mapping[str, str], model: str, subjects: Iterable[str]
) -> tuple[Looks, ...]:
    """Write down a look at these cases, and say how often there was one. Raises :class:`StoreError`.

    ``digests`` are those of the skills by folder.
    """
    refuse_links(root, root / LOOKS_PATH)
    groups: dict[tuple[str, str], list[TriggerCase]] = {}
    for case in cases:
        groups.setdefault((case.suite, str(case.skill_path)), []).append(case)
    at, names = now_utc(), list(subjects)
    for (suite, skill), group in groups.items():
        line: dict[str, Json] = {
            "look": LOOK_VERSION,
            "at": at,
            "suite": suite,
            "version": group[0].suite_version,
            "skill": skill,
            "skill_digest": digests[skill],
            "cases": {case.id: case.digest for case in group},
            "model": model,
            "subjects": list(names),
        }
        append_line(root / LOOKS_PATH, line)
    keep_out_of_git(root)
    counted = _count(root / LOOKS_PATH)
    return tuple(
        Looks(suite=suite, skill=skill, n_looks=len(counted[suite, skill]), n_states=len(set(counted[suite, skill])))
        for suite, skill in groups
    )


def _count(path: Path) -> dict[tuple[str, str], list[str]]:
    """The skill's digests at each look, by suite and skill."""
    found: dict[tuple[str, str], list[str]] = {}
    for number, line in read_lines(path):
        version = line.get("look")
        if type(version) is not int or version > LOOK_VERSION:
            raise StoreError(
                f"{path}, line {number}: look {version!r} is of a newer format", hint="use a newer version"
            )
        key = (str(line.get("suite")), str(line.get("skill")))
        found.setdefault(key, []).append(str(line.get("skill_digest")))
    return found
