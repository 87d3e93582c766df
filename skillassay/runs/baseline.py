"""Which run a new one is compared with: the pinned one, else the newest that is comparable. Owns that choice.

Comparable is a run of the same contract by its id, the same candidate but for the skill's bytes, the same judge, scorer
and machine, that ended whole over the same skills, was no tuning, and neither regressed nor is ``inconclusive_noise``
itself: what was refused is no yardstick. A pinned baseline is a committed file, ``evals/baseline.json``:

    {"baseline": 1, "frozen": {FIELD: value}, "run": ID, "pinned": true, "cases": [...]}
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skillassay.canonical import JsonProblem, parse_json, pretty_text
from skillassay.contract.frozen import frozen_differences
from skillassay.errors import InputError, StoreError
from skillassay.inside import write_inside
from skillassay.runs.store import RUNS, list_runs, read_header, read_records, read_result
from skillassay.scoring.assessment import facts_from_json
from skillassay.scoring.regression import Baseline, baseline_from_json, baseline_json, case_states
from skillassay.scoring.scores import score_run

Header = Mapping[str, Any]

BASELINE_PATH = "evals/baseline.json"
BASELINE_VERSION = 1
LINE = "no_regression"
AGREE = (
    "identity.id",
    *("candidate.config_id", "candidate.provider", "candidate.surface"),
    *("scoring.scorer_version", "scoring.code_digest", "scoring.metric", "scoring.error_policy"),
    *("judgment.judge_id", "judgment.judge_version", "judgment.judge_prompt_digest", "judgment.order_policy"),
    "environment.surface",
)
"""Fields of the frozen contract in which a baseline must be as the run."""


def find_baseline(root: Path, header: Header) -> Baseline | None:
    """The baseline of the run that begins with ``header``. Raises for a pinned one that does not compare."""
    pinned = load_pinned(root)
    if pinned is not None:
        frozen, baseline = pinned
        _refuse_incomparable(frozen, header, baseline)
        return baseline
    for run_id in reversed(list_runs(root)):
        folder = root / RUNS / run_id
        then = read_header(folder)
        if _is_comparable(then, header) and _is_yardstick(read_result(folder)):
            return freeze_baseline(folder, then, pinned=False)
    return None


def freeze_baseline(folder: Path, header: Header, *, pinned: bool) -> Baseline:
    """The states of a stored run's cases as recorded."""
    rows = score_run(facts_from_json(header["facts"]).plan, read_records(folder), slices={}).rows
    return Baseline(run=header["id"], pinned=pinned, cases=case_states(rows, header["cases"]))


def _is_comparable(then: Header, now: Header) -> bool:
    if "groups" not in then.get("contract", {}) or then["settings"].get("purpose") != now["settings"].get("purpose"):
        return False
    mine, theirs = (set(header["facts"]["whole_skills"]) for header in (now, then))
    wanted = mine | set(now["facts"]["partial_skills"])
    try:
        return wanted <= theirs and not _differences(then["contract"]["groups"], now)
    except (KeyError, TypeError):
        return False  # an older or damaged record is no yardstick


def _differences(groups: Mapping[str, Any], now: Header) -> tuple[str, ...]:
    return frozen_differences(groups, now["contract"]["groups"], AGREE)


def _is_yardstick(result: Mapping[str, Any] | None) -> bool:
    """Whether a run ended whole and neither regressed nor moved within noise."""
    if result is None or result["interrupted"]:
        return False
    lines = [line for line in result["decision"]["lines"] if line["name"] == LINE]
    return all(line["status"] != "failed" and not line["counts"].get("noise") for line in lines)


def pin_baseline(root: Path, folder: Path) -> Baseline:
    """Write a stored run as the pinned baseline. Raises :class:`InputError` for one that proves nothing."""
    header, result = read_header(folder), read_result(folder)
    if result is None or result["interrupted"]:
        raise InputError(f"run {header['id']} did not end, so it is no baseline", hint="go on with it: --resume")
    baseline = freeze_baseline(folder, header, pinned=True)
    if not baseline.cases:
        raise InputError(f"run {header['id']} scored no case whole in progressive", hint="pin another run")
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
    if not path.is_file():
        return None
    hint = "restore it from git, or pin a run again"
    try:
        value = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, JsonProblem) as error:
        raise StoreError(f"{BASELINE_PATH} cannot be read: {error}", hint=hint) from error
    version = value.get("baseline") if isinstance(value, dict) else None
    if not isinstance(value, dict) or type(version) is not int or version < 1:
        raise StoreError(f"{BASELINE_PATH} is no baseline", hint=hint)
    if version > BASELINE_VERSION:
        raise StoreError(
            f"{BASELINE_PATH} has format {version}, newer than {BASELINE_VERSION}", hint="update skillassay"
        )
    frozen, baseline = value.get("frozen"), baseline_from_json(value)
    if not isinstance(frozen, dict) or set(frozen) != set(AGREE) or baseline is None:
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
