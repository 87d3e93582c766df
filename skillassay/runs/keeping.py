"""What of a run's traffic may be kept, for a replay, for another run, for a reader. Owns the refusals, the words that a
record may hold under any rule, and a recording's usual name.

A recording holds what a live model said: authored answers are a file already, and a recording of a recording would only
hide whose answers they are. A cache answers a request with what it got before, so repeats, which are there to show how
much answers vary, would show nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from skillassay.agents.known import is_agent, load_agent
from skillassay.canonical import Json, short_digest
from skillassay.contract.contract import Contract, Models
from skillassay.contract.terms import LOOP
from skillassay.errors import EnvironmentFault, UsageError
from skillassay.models.naming import OFFLINE, REPLAY, parse_model
from skillassay.runs.retention import HASH
from skillassay.tools import LOAD_RESOURCE, LOAD_SKILL, RUN_SCRIPT, Catalog

RECORDINGS = "evals/recordings"
_KEEP_HINT = "under `retention: full` in evals/contract.yaml runs keep their texts (docs/reference/retention.md)"


def refuse_without_texts(retention: str, what: str) -> None:
    """Raise :class:`UsageError` where ``what`` needs texts of models and ``retention`` keeps none."""
    if retention == HASH:
        message = f"{what} needs the texts of candidate and judge, and under retention hash none is kept"
        raise UsageError(message, hint=_KEEP_HINT)


def kept_words(catalogs: Iterable[Catalog], *, subjects: Iterable[str], models: Iterable[str]) -> frozenset[str]:
    """The names of skills, scripts and tools that exist in a run, and of ``models``: no model made them up."""
    skills = [skill for catalog in catalogs for skill in catalog.skills]
    agents = [load_agent(subject) for subject in subjects if is_agent(subject)]
    return frozenset(
        (
            *(skill.name for skill in skills),
            *(f"{skill.name}/{script}" for skill in skills for script in skill.scripts),
            *(LOAD_SKILL, LOAD_RESOURCE, RUN_SCRIPT),
            *(agent.skill_tool[0] for agent in agents if agent.skill_tool is not None),
            *(tool for agent in agents for tool in agent.shell_tools),
            *models,
        )
    )


def refuse_keeping(
    contract: Contract, models: Models, *, repeats: int, cache: bool, to: str | None, root: Path
) -> None:
    """Raise :class:`UsageError` where a cache, or a recording written ``to`` a file, would be wrong; and
    :class:`EnvironmentFault` where the file below ``root`` could not be written, which is better known before.
    """
    if cache:
        refuse_without_texts(contract.retention, "--cache")
    if to is not None:
        refuse_without_texts(contract.retention, "a recording")
    if cache and repeats > 1:
        message = f"--cache with {repeats} repeats: they show how answers vary, and a kept answer does not"
        raise UsageError(message, hint="leave out --cache, or --repeats")
    if to is None:
        return
    if cache:
        raise UsageError("a recording holds what a model says now, so nothing of it can come from the cache")
    _refuse_place(to)
    judges = {parse_model(judge)[0] for judge in (models.judge, models.second) if judge is not None}
    if parse_model(models.candidate)[0] in OFFLINE or REPLAY in judges:
        message = f"there is nothing to record of candidate {models.candidate} and judge {models.judge}"
        raise UsageError(message, hint="name a live model with --model, as gemini:NAME")
    if contract.candidate.subject != LOOP:
        message = f"the subject {contract.candidate.subject} asks the candidate by itself, where nobody can record it"
        raise UsageError(message, hint="record with the subject loop")
    _require_writable(root, to)


def _refuse_place(to: str) -> None:
    try:
        parse_model(f"{REPLAY}:{to}")  # what cannot be named cannot be replayed
    except UsageError:
        hint = f"as {RECORDINGS}/NAME.jsonl; it is a path from the project's folder on"
        raise UsageError(f"--to {to}: --to must be a path below the project", hint=hint) from None


def _require_writable(root: Path, to: str) -> None:
    """Looks and makes nothing: a run may still be refused, or be a dry one."""
    place = root / to
    if place.is_dir():
        raise UsageError(f"--to {to} is a folder", hint=f"name a file, as {to.rstrip('/')}/NAME.jsonl")
    above = next(folder for folder in place.parents if folder.exists() or folder == folder.parent)
    if not above.is_dir():
        raise UsageError(f"--to {to}: {above.relative_to(root)} is a file, and nothing lies below one")
    if not os.access(above, os.W_OK | os.X_OK):
        raise EnvironmentFault(f"the recording {to} cannot be written: {above} may not be written to")


def recording_name(models: Models, selection: Mapping[str, Json]) -> str:
    """Where the traffic of these models is recorded unless told otherwise: the same place for the same experiment.

    ``selection`` holds what was chosen besides (skills, cases, modes, repeats), so that a part never lies in the place
    of the whole.
    """
    parts = [_slug(models.candidate)]
    if models.judge != models.candidate:
        parts.append(_slug(models.judge))
    chosen = {name: value for name, value in selection.items() if value}
    if chosen:
        parts.append(short_digest(chosen)[:8])
    return f"{RECORDINGS}/{'--'.join(parts)}.jsonl"


def _slug(label: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", label).strip("-")[:80]
