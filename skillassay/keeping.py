"""What of a run's traffic may be kept, for a replay or for another run. Owns the refusals and a recording's usual name.

A recording holds what a live model said: authored answers are a file already, and a recording of a recording would only
hide whose answers they are. A cache answers a request with what it got before, so repeats, which are there to show how
much answers vary, would show nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from skillassay.canonical import Json, short_digest
from skillassay.contract import Models
from skillassay.errors import UsageError
from skillassay.models.naming import OFFLINE, REPLAY, parse_model

RECORDINGS = "evals/recordings"


def refuse_keeping(models: Models, subject: str, *, repeats: int, cache: bool, to: str | None) -> None:
    """Raise :class:`UsageError` where a cache, or a recording written ``to`` a file, would be wrong."""
    if cache and repeats > 1:
        message = f"--cache with {repeats} repeats: they show how answers vary, and a kept answer does not"
        raise UsageError(message, hint="leave out --cache, or --repeats")
    if to is None:
        return
    if cache:
        raise UsageError("a recording holds what a model says now, so nothing of it can come from the cache")
    parse_model(f"{REPLAY}:{to}")  # what cannot be named cannot be replayed
    if parse_model(models.candidate)[0] in OFFLINE or parse_model(models.judge)[0] == REPLAY:
        message = f"there is nothing to record of candidate {models.candidate} and judge {models.judge}"
        raise UsageError(message, hint="name a live model with --model, as gemini:NAME")
    if subject != "loop":
        message = f"the subject {subject} asks the candidate by itself, where nobody can record it"
        raise UsageError(message, hint="record with the subject loop")


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
