"""A check that reads a file of the workspace instead of the answer."""

from __future__ import annotations

import pytest

from skillassay.checks import CHECK_TYPES, build_check, evaluate_file, verify_samples
from skillassay.checks.base import CheckFault, SpecProblem, Verdict
from skillassay.isolation.produced import Produced
from tests.checks.test_registry import MINIMAL

SPEC = {"id": "rows", "type": "line_count", "min": 2, "max": 2, "file": "out/report.csv"}


@pytest.mark.parametrize("name", CHECK_TYPES)
def test_every_type_reads_a_file(name: str) -> None:
    """The field belongs to no type: any of them can be pointed at a file."""
    check = build_check({**MINIMAL[name], "type": name, "file": "out/report.csv"}, where="here")
    assert check.file == "out/report.csv"


def test_a_check_without_the_field_reads_the_answer() -> None:
    """The default."""
    assert build_check({"type": "line_count", "min": 1}, where="here").file is None


@pytest.mark.parametrize(("text", "verdict"), [("a\nb\n", Verdict.PASS), ("a\n", Verdict.FAIL), ("", Verdict.FAIL)])
def test_the_text_of_the_file_decides(text: str, verdict: Verdict) -> None:
    """As an answer would."""
    assert evaluate_file(build_check(SPEC, where="here"), Produced(text=text)).verdict is verdict


@pytest.mark.parametrize("name", CHECK_TYPES)
def test_a_file_that_cannot_be_read_never_passes(name: str) -> None:
    """Not even a check that asks for something to be absent; the evidence is what is wrong with the file."""
    check = build_check({**MINIMAL[name], "type": name, "file": "f"}, where="here")
    result = evaluate_file(check, Produced(problem="no file f in the workspace"))
    assert (result.verdict, result.evidence) == (Verdict.FAIL, "no file f in the workspace")


def test_a_limit_met_on_a_file_is_a_fault() -> None:
    """What cannot be decided is no verdict, whatever was read."""
    check = build_check({"type": "regex", "pattern": "(a+)+$", "file": "f"}, where="here")
    with pytest.raises(CheckFault):
        evaluate_file(check, Produced(text="a" * 60_000 + "b"))


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../report.csv", "out/../../x", "out\\report.csv", "./x"])
def test_a_path_that_leaves_the_workspace_is_refused_before_anything_runs(path: str) -> None:
    """With the path in the message."""
    with pytest.raises(SpecProblem, match="file: "):
        build_check({**SPEC, "file": path}, where="here")


def test_a_path_that_is_no_text_is_refused() -> None:
    """A list of files is not one."""
    with pytest.raises(SpecProblem, match="file: "):
        build_check({**SPEC, "file": ["a", "b"]}, where="here")


def test_samples_are_texts_of_the_file() -> None:
    """They are tried without any workspace."""
    good = build_check({**SPEC, "samples": {"pass": ["a\nb"], "fail": ["a"]}}, where="here")
    assert verify_samples(good) == []
    assert len(verify_samples(build_check({**SPEC, "samples": {"pass": ["a"]}}, where="here"))) == 1
