"""Header and result without their trials: the same as the whole files, in whatever layout, and counted."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from skillassay.canonical import pretty_text
from skillassay.errors import StoreError
from skillassay.runs.slim import read_slim_header, read_slim_result

TRIALS = [{"mode": mode, "case_id": '  "trials": [', "n": 1} for mode in ("progressive", "none", "none")]
HEADER: dict[str, Any] = {"run": 1, "facts": {"modes": ["none"], "trials": TRIALS, "zone": {"trials": []}}, "id": "r"}
SHOWN = [{"attempts": 1, "marks": [{"attempts": 9}]}, {"attempts": 3, "marks": []}, {"attempts": 0}]
RESULT: dict[str, Any] = {"result": 1, "trials": SHOWN, "metrics": {"trials": [{"attempts": 5}]}, "run": "r"}
LAYOUTS = [pretty_text, json.dumps, lambda value: json.dumps(value, indent=1)]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("trials", [TRIALS, TRIALS[:1], []], ids=len)
def test_a_slim_header_is_the_header_without_its_trials(tmp_path: Path, layout: Any, trials: list[Any]) -> None:
    """Everything else stays as it is, and each mode is counted, however the file is laid out."""
    whole = {**HEADER, "facts": {**HEADER["facts"], "trials": trials}}
    (tmp_path / "run.json").write_text(layout(whole), encoding="utf-8")
    slim = read_slim_header(tmp_path)
    assert slim.value == {**HEADER, "facts": {**HEADER["facts"], "trials": []}}
    assert slim.planned == Counter(trial["mode"] for trial in trials)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_slim_result_is_the_result_without_its_trials(tmp_path: Path, layout: Any) -> None:
    """Attempts are those of the trials (1 + 3 + 0), of no other object in the file."""
    (tmp_path / "result.json").write_text(layout(RESULT), encoding="utf-8")
    slim = read_slim_result(tmp_path)
    assert slim is not None
    assert slim.value == {**RESULT, "trials": []}
    assert slim.n_attempts == 4


def test_no_result_is_none(tmp_path: Path) -> None:
    """A run that did not end has no result."""
    assert read_slim_result(tmp_path) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (pretty_text(HEADER)[:-40], "cannot be read"),
        (pretty_text({**HEADER, "run": 2}), "newer than 1"),
        (pretty_text({"run": 1, "facts": {}}), "has no plan"),
        ("[]", "is not a run file"),
    ],
    ids=["cut", "newer", "no plan", "no object"],
)
def test_what_is_no_header_is_refused(tmp_path: Path, text: str, said: str) -> None:
    """A cut, a newer or another file is an error that says so."""
    (tmp_path / "run.json").write_text(text, encoding="utf-8")
    with pytest.raises(StoreError, match=said):
        read_slim_header(tmp_path)
