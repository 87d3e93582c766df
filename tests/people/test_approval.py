"""Approvals: the file to the byte, what they are of, and which lines are none."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from skillassay.errors import StoreError
from skillassay.gate.approval import approved_line
from skillassay.gate.lines import GateLine, Status
from skillassay.people.approval import (
    APPROVALS,
    Approval,
    append_approval,
    in_force,
    read_approvals,
    seen_digest,
)

APPROVAL = Approval(at="2026-01-01T00:00:00Z", by="Aiko Mori", note="read every failure", seen="5" * 64)
LINE = GateLine(name="complete", status=Status.PASSED, number="1 of 1", limit="all", detail=("d",))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run's folder."""
    path = tmp_path / ".skillassay" / "runs" / "r"
    path.mkdir(parents=True)
    return path


def test_an_approval_is_read_as_it_was_written(folder: Path) -> None:
    """In their order, each with its id."""
    second = replace(APPROVAL, by="Bo Lind")
    append_approval(folder, APPROVAL)
    append_approval(folder, second)
    assert read_approvals(folder) == (APPROVAL, second)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"approval": 2}, "newer than 1"),
        ({"approval": None}, "is no approval"),
        ({"by": "Bo Lind"}, "it was edited"),
        ({"seen": "6" * 64}, "it was edited"),
        ({"note": 3}, "note is no text"),
        ({"by": "the judge"}, "no person|a role"),
    ],
)
def test_a_line_that_is_none_is_named(folder: Path, changed: dict[str, object], words: str) -> None:
    """With its number; nothing of the file counts then."""
    append_approval(folder, APPROVAL)
    path = folder / APPROVALS
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | changed) + "\n", encoding="utf-8")
    with pytest.raises(StoreError, match=f"line 1: .*({words})"):
        read_approvals(folder)


@pytest.mark.parametrize(
    "other",
    [
        replace(LINE, status=Status.FAILED),
        replace(LINE, number="2 of 2"),
        replace(LINE, limit="most"),
        replace(LINE, detail=("e",)),
        replace(LINE, name="completed"),
    ],
)
def test_whatever_a_line_says_is_part_of_what_was_seen(other: GateLine) -> None:
    """Each field changes the digest, and so do another line, other records and another run."""
    seen = seen_digest([LINE], (), run_id="r", content_digest="c")
    assert seen_digest([other], (), run_id="r", content_digest="c") != seen
    assert seen_digest([LINE, LINE], (), run_id="r", content_digest="c") != seen
    assert seen_digest([LINE], (), run_id="r", content_digest="d") != seen
    assert seen_digest([LINE], (), run_id="s", content_digest="c") != seen


def test_an_approval_of_another_state_is_told_and_counts_for_nothing() -> None:
    """The line fails, and names whom to ask again."""
    assert in_force([APPROVAL], "6" * 64) is None
    line = approved_line([APPROVAL], "6" * 64)
    assert line.status is Status.FAILED
    assert line.detail == ("Aiko Mori approved another state of this run on 2026-01-01",)
    assert approved_line([APPROVAL], APPROVAL.seen).status is Status.PASSED
