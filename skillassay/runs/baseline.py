"""Which run a new one is compared with: the pinned one, else the newest that is comparable. Owns that choice.

Each case is looked up by itself (see :func:`find_baseline`). Comparable is a run of the same contract by its id, the
same candidate but for the skill's bytes, the same judge, scorer and machine, that ended whole over the same skills, was
no tuning, was not compared with a pin, and neither regressed nor is ``inconclusive_noise`` itself: what was refused is
no yardstick, and neither is what its own result does not answer for. A pinned baseline is a committed file,
``evals/baseline.json``:

    {"baseline": 1, "frozen": {FIELD: value}, "run": ID, "pinned": true, "cases": [...]}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from skillassay.calibration.judged import answered_names
from skillassay.canonical import pretty_text
from skillassay.contract.frozen import frozen_differences
from skillassay.errors import InputError, StoreError
from skillassay.formats import read_object
from skillassay.gate.regression import is_regression_line
from skillassay.holdout.doubts import TUNING
from skillassay.inside import write_inside
from skillassay.runs.store import RUNS, list_runs, read_header, read_records, read_result, records_changed
from skillassay.scoring.facts import facts_from_json
from skillassay.scoring.regression import Baseline, CaseState, baseline_from_json, baseline_json, case_states
from skillassay.scoring.scores import score_run

Header = Mapping[str, Any]

BASELINE_PATH = "evals/baseline.json"
BASELINE_VERSION = 1
AGREE = (
    "identity.id",
    *("candidate.config_id", "candidate.provider", "candidate.surface"),
    *("scoring.scorer_version", "scoring.code_digest", "scoring.metric", "scoring.error_policy"),
    *("judgment.judge_id", "judgment.judge_version", "judgment.judge_prompt_digest", "judgment.order_policy"),
    "environment.surface",
)
"""Fields of the frozen contract in which a baseline must be as the run."""


def find_baseline(root: Path, header: Header) -> Baseline | None:
    """The baseline of the run that begins with ``header``. Raises for a pinned one that does not compare.

    Each planned case is looked up in the newest yardstick that scored it word for word as it is, and as often: a run
    that lost an answer to an error, asked another number of times, or for which a case was edited and put back, hides
    nothing that an older one knows.
    """
    pinned = load_pinned(root)
    if pinned is not None:
        frozen, baseline = pinned
        _refuse_incomparable(frozen, header, baseline)
        return baseline
    wanted = _wanted(header)
    newest: Baseline | None = None
    states: dict[str, CaseState] = {}
    for run_id in reversed(list_runs(root)):
        found = _yardstick(root / RUNS / run_id, header)
        if found is None or (newest is not None and found.judges != newest.judges):
            continue
        newest = newest or found
        # The newest also tells which cases are gone or edited since; of older ones what is still asked counts.
        for state in found.cases:
            is_asked = wanted.get(state.name) == (state.digest, state.n)
            known = states.get(state.name)
            if (known is None and (found is newest or is_asked)) or (
                known is not None and is_asked and (known.digest, known.n) != (state.digest, state.n)
            ):
                states[state.name] = state
        if all(name in states and (states[name].digest, states[name].n) == word for name, word in wanted.items()):
            break
    return None if newest is None else replace(newest, cases=tuple(states.values()))


def _wanted(header: Header) -> dict[str, tuple[str, int]]:
    """Each planned case as it is, and over how many criteria: those of all its repeats in progressive."""
    n_criteria: dict[str, int] = {}
    for trial in header["facts"]["trials"]:
        name = f"{trial['suite']}/{trial['case_id']}"
        n_criteria[name] = n_criteria.get(name, 0) + (trial["n_criteria"] if trial["mode"] == "progressive" else 0)
    return {name: (header["cases"][name], n) for name, n in n_criteria.items() if name in header["cases"]}


def _yardstick(folder: Path, header: Header) -> Baseline | None:
    """A stored run as a yardstick for the run of ``header``; None for one that is none, or is older or damaged."""
    try:
        then = read_header(folder)
        if not _is_comparable(then, header) or (then.get("baseline") or {}).get("pinned"):
            return None
        found = None if why_none(folder, then) else freeze_baseline(folder, then, pinned=False)
    except (KeyError, TypeError, AttributeError, ValueError, StoreError):
        return None
    return found if found is not None and found.cases else None


def why_none(folder: Path, header: Header) -> str | None:
    """Why a stored run is no yardstick; None where it is one."""
    result = read_result(folder)
    if result is None or result["interrupted"]:
        return "it did not end"
    if records_changed(result, read_records(folder)):
        return "its records are not those that it ended with"
    if header["settings"].get("purpose") == TUNING:
        return "it was for tuning"
    lines = [line for line in result["decision"]["lines"] if is_regression_line(line["name"])]
    if any(line["status"] == "failed" for line in lines):
        return "it regressed itself"
    return "it moved within noise itself" if any(line["counts"].get("noise") for line in lines) else None


def freeze_baseline(folder: Path, header: Header, *, pinned: bool) -> Baseline:
    """The states of a stored run's cases as recorded, and the names under which its judge answered."""
    records = tuple(read_records(folder))
    rows = score_run(facts_from_json(header["facts"]).plan, records, slices={}).rows
    judges = () if header["models"]["judge"]["is_fixture"] else tuple(sorted(answered_names(records)))
    return Baseline(run=header["id"], pinned=pinned, cases=case_states(rows, header["cases"]), judges=judges)


def _is_comparable(then: Header, now: Header) -> bool:
    if then["settings"].get("purpose") != now["settings"].get("purpose"):
        return False
    mine, theirs = (set(header["facts"]["whole_skills"]) for header in (now, then))
    return mine | set(now["facts"]["partial_skills"]) <= theirs and not _differences(then["contract"]["groups"], now)


def _differences(groups: Mapping[str, Any], now: Header) -> tuple[str, ...]:
    return frozen_differences(groups, now["contract"]["groups"], AGREE)


def pin_baseline(root: Path, folder: Path) -> Baseline:
    """Write a stored run as the pinned baseline. Raises :class:`InputError` for one that proves nothing."""
    header = read_header(folder)
    try:
        why = why_none(folder, header)
        baseline = freeze_baseline(folder, header, pinned=True)
        n_planned = len({(trial["suite"], trial["case_id"]) for trial in header["facts"]["trials"]})
        if header["facts"]["partial_skills"]:
            why = "it covered a part of the cases or modes of a skill"
        elif why is None and len(baseline.cases) < n_planned:
            why = f"it scored {len(baseline.cases)} of {n_planned} cases whole"
    except (KeyError, TypeError, AttributeError) as error:
        raise StoreError(f"run {folder.name} is damaged: {error}", hint="pin another run") from error
    if why is not None:
        raise InputError(f"run {header['id']} is no baseline: {why}", hint="pin a run that ended whole")
    groups = header["contract"]["groups"]
    frozen = {path: groups[path.split(".")[0]][path.split(".")[1]] for path in AGREE}
    value = {"baseline": BASELINE_VERSION, "frozen": frozen, **baseline_json(baseline)}
    try:
        write_inside(root, BASELINE_PATH, pretty_text(value).encode())
    except OSError as error:
        message = f"{BASELINE_PATH} cannot be written: {error.strerror or error}"
        raise StoreError(message, hint="nothing was changed") from error
    return baseline


def load_pinned(root: Path) -> tuple[dict[str, Any], Baseline] | None:
    """The pinned baseline with the fields that it was made under; None without a file. Raises :class:`StoreError`."""
    path = root / BASELINE_PATH
    if not path.is_symlink() and not path.exists():
        return None
    hint = "restore it from git, or pin a run again"
    value = read_object(path, "baseline", BASELINE_VERSION, where=BASELINE_PATH, what="no baseline", hint=hint)
    frozen, baseline = value.get("frozen"), baseline_from_json(value)
    if not isinstance(frozen, dict) or set(frozen) != set(AGREE) or baseline is None or not baseline.pinned:
        raise StoreError(f"{BASELINE_PATH} does not say what it was made under", hint=hint)
    return frozen, baseline


def _refuse_incomparable(frozen: Mapping[str, Any], now: Header, baseline: Baseline) -> None:
    groups: dict[str, dict[str, Any]] = {}
    for path, value in frozen.items():
        group, name = path.split(".")
        groups.setdefault(group, {})[name] = value
    found = _differences(groups, now)
    if found:
        message = f"the pinned baseline {baseline.run} does not compare with this run: {'; '.join(found)}"
        raise InputError(message, hint="pin another run (`skillassay baseline RUN --pin`), or --unpin")
