"""Header and result of a stored run without their lists of trials. Owns reading them in memory that no trial fills.

Both files are the pretty form (see :mod:`skillassay.canonical`), in which no text holds a line feed: a list of trials
is the lines between two that are known. A file in another layout is read whole, and its list left out afterwards. Of
the header's list is kept how many trials were planned in each mode, of the result's how often they were tried.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillassay.canonical import JsonProblem, parse_json
from skillassay.errors import StoreError
from skillassay.runs.store import HEADER_VERSION, RESULT_VERSION, require_version

_MODE = re.compile(r'        "mode": "([a-z]+)",?')
_ATTEMPTS = re.compile(r'      "attempts": ([0-9]+),?')
"""What is counted of a trial: in the header's list it stands four levels deep, in the result's three."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlimHeader:
    """A header with an empty list of trials, and how many there are by mode."""

    value: dict[str, Any]
    planned: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class SlimResult:
    """A result with an empty list of trials, and how many attempts at them it counts."""

    value: dict[str, Any]
    n_attempts: int


def read_slim_header(folder: Path) -> SlimHeader:
    """The header of a run. Raises :class:`StoreError`."""
    path = folder / "run.json"
    text, planned = _text_without(path, _MODE, section="facts")
    value = require_version(_parsed(path, text), path, "run", HEADER_VERSION)
    facts = value.get("facts")
    if not isinstance(facts, dict) or not isinstance(facts.get("trials"), list):
        raise StoreError(f"{path} has no plan", hint="it was damaged; run again")
    planned += Counter(str(trial.get("mode")) for trial in facts["trials"] if isinstance(trial, dict))
    return SlimHeader(value={**value, "facts": {**facts, "trials": []}}, planned=dict(sorted(planned.items())))


def read_slim_result(folder: Path) -> SlimResult | None:
    """The result of a run; None when the run did not get that far. Raises :class:`StoreError`."""
    path = folder / "result.json"
    if not path.exists():
        return None
    text, attempts = _text_without(path, _ATTEMPTS, section=None)
    value = require_version(_parsed(path, text), path, "result", RESULT_VERSION)
    attempts += Counter(str(trial["attempts"]) for trial in value.get("trials", ()) if "attempts" in trial)
    n_attempts = sum(int(number) * times for number, times in attempts.items())
    return SlimResult(value={**value, "trials": []}, n_attempts=n_attempts)


def _text_without(path: Path, counted: re.Pattern[str], *, section: str | None) -> tuple[str, Counter[str]]:
    """The file with an empty list in the place of its trials, at the top or in a section of the top.

    What ``counted`` finds in a line of the list is counted by its value.
    """
    indent = "  " if section is None else "    "
    start, ends = f'{indent}"trials": [', (f"{indent}]", f"{indent}],")
    kept, values = list[str](), Counter[str]()
    inside, at, is_pretty = False, None, False
    try:
        with path.open(encoding="utf-8", newline="\n") as lines:
            for number, line in enumerate(lines):
                bare = line.rstrip("\n")
                is_pretty = bare.startswith('  "') if number == 1 else is_pretty
                if inside:
                    if bare in ends:
                        inside = False
                        kept.append(f"{start}{bare.strip()}\n")
                    elif found := counted.fullmatch(bare):
                        values[found[1]] += 1
                    continue
                if bare.startswith('  "'):
                    at = bare.split('"', 2)[1]
                inside = is_pretty and bare == start and (section is None or at == section)
                if not inside:
                    kept.append(line)
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"{path} cannot be read: {error}", hint=f"remove the damaged run: {path.parent}") from error
    return "".join(kept), values


def _parsed(path: Path, text: str) -> Any:
    try:
        return parse_json(text)
    except JsonProblem as error:
        raise StoreError(f"{path} cannot be read: {error}", hint=f"remove the damaged run: {path.parent}") from error
