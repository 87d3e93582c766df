"""The record of a mutation test on disk, ``.skillassay/mutations/ID/``. Owns its files and whether one can go on.

    mutation.json  header: that of a run (see :mod:`skillassay.runs.header`) and ``mutation``, what was asked for and
                   which mutants there are; written once, before the first trial
    trials.jsonl   one record a trial, of the unmutated skill and of all mutants, told apart by their ids
    events.jsonl   what happened when

A trial's id is made from the bytes of the skill, so that no mutant shares one with another. The folder is no run: no
command that reads runs looks there, and none of it is evidence.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skillassay.canonical import Json, pretty_text, write_atomic
from skillassay.errors import InputError, StoreError
from skillassay.formats import read_object
from skillassay.inside import refuse_links
from skillassay.mutation.mutants import Mutant
from skillassay.runs.retention import Retention
from skillassay.runs.store import RunWriter, keep_out_of_git

MUTATIONS = ".skillassay/mutations"
HEADER_FILE = "mutation.json"
MUTATION_VERSION = 1
_HINT = "begin a new one without --resume"


def create_session(root: Path, header: Mapping[str, Json], retention: Retention) -> RunWriter:
    """Make the folder of a new session and write its header."""
    folder = root / MUTATIONS / str(header["id"])
    refuse_links(root, folder)
    try:
        folder.mkdir(parents=True)
        keep_out_of_git(root)
        write_atomic(folder / HEADER_FILE, pretty_text({"mutation_format": MUTATION_VERSION, **header}).encode())
        return RunWriter(folder, retention)
    except OSError as error:
        raise StoreError(f"{folder} cannot be written: {error.strerror or error}", hint="free space") from error


def session_folder(root: Path, name: str) -> Path:
    """The folder of a session by id or unambiguous prefix. Raises :class:`StoreError`."""
    base = root / MUTATIONS
    names = sorted(entry.name for entry in os.scandir(base)) if base.is_dir() else []
    whole = [one for one in names if (base / one / HEADER_FILE).is_file()]
    found = [one for one in whole if one == name] or [one for one in whole if one.startswith(name)]
    if len(found) != 1:
        what = "no mutation test is" if not found else f"{len(found)} mutation tests are"
        raise StoreError(f"{what} named {name!r}", hint=f"there are: {', '.join(whole[-5:]) or 'none'}")
    return base / found[0]


def read_session(folder: Path) -> Mapping[str, Any]:
    """The header of a session. Raises :class:`StoreError` for another version or a damaged one."""
    where = f"{MUTATIONS}/{folder.name}/{HEADER_FILE}"
    what = "no header of a mutation test"
    header = read_object(folder / HEADER_FILE, "mutation_format", MUTATION_VERSION, where=where, what=what, hint=_HINT)
    if not isinstance(header.get("mutation"), Mapping) or not isinstance(header["mutation"].get("asked"), Mapping):
        raise StoreError(f"{where}: is damaged", hint=_HINT)
    return header


def mutants_json(mutants: Mapping[str, Mutant]) -> list[Json]:
    """The mutants of a session by the digest that the skill has as each."""
    return [
        {"id": one.id, "kind": one.kind.value, "place": one.place, "digest": digest} for digest, one in mutants.items()
    ]


def refuse_other_session(now: Mapping[str, Any], then: Mapping[str, Any], *, name: str) -> None:
    """A session goes on only with the same skill, mutants and cases. Both are the part ``mutation`` of a header."""
    labels = {"skill": "the skill", "mutants": "the mutants", "cases": "the cases", "fixture": "the authored answers"}
    differs = [label for key, label in labels.items() if now[key] != then.get(key)]
    if differs:
        hint = "bring the files back as they were, or begin a new one without --resume"
        raise InputError(f"mutation test {name} cannot go on: {', '.join(differs)} differ", hint=hint)
