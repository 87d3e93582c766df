"""The file of verdicts that people read: its lines, whose word counts, what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillassay.calibration.verdicts_read import (
    VERDICTS_READ_PATH,
    VerdictRead,
    append_verdict_read,
    read_verdicts_read,
    standing_words,
    wrong_in,
)
from skillassay.errors import StoreError


def word(said: str, **fields: str) -> VerdictRead:
    """What Mika says of a failed greeting in the run r1."""
    given = {
        "at": "2026-12-01T05:00:00Z",
        "by": "Mika Sato",
        "run": "r1",
        "suite": "quality",
        "case_id": "one",
        "case_digest": "c" * 64,
        "criterion": "says-hello",
        "rubric": "b" * 64,
        "verdict": "FAIL",
        "answer": "a" * 64,
    }
    return VerdictRead(said=said, **(given | fields))


def write(root: Path, *words: VerdictRead) -> Path:
    """Append these."""
    for one in words:
        append_verdict_read(root, one)
    return root / VERDICTS_READ_PATH


def test_a_word_is_a_line_with_these_fields(tmp_path: Path) -> None:
    """And reads back as it was."""
    path = write(tmp_path, word("right"))
    assert json.loads(path.read_text("utf-8")) == {
        "verdicts_read": 1,
        "at": "2026-12-01T05:00:00Z",
        "by": "Mika Sato",
        "run": "r1",
        "suite": "quality",
        "case": "one",
        "case_digest": "c" * 64,
        "criterion": "says-hello",
        "rubric": "b" * 64,
        "verdict": "FAIL",
        "said": "right",
        "answer": "a" * 64,
    }
    assert read_verdicts_read(tmp_path) == (word("right"),)


@pytest.mark.parametrize(
    ("said", "counts"),
    [
        (("wrong", "right"), ["right"]),
        (("right", "undone"), []),
        (("wrong", "undone", "unsure"), ["unsure"]),
    ],
)
def test_the_last_word_of_a_person_counts(said: tuple[str, ...], counts: list[str]) -> None:
    """One that was taken back is none."""
    assert [one.said for one in standing_words(word(each) for each in said)] == counts


@pytest.mark.parametrize("field", ["by", "run", "rubric", "answer", "criterion", "verdict"])
def test_words_on_something_else_stand_beside_each_other(field: str) -> None:
    """Of another person, run, rubric, answer, criterion or verdict."""
    other = {"by": "Jo Berg", "verdict": "PASS"}.get(field, "other")
    assert len(standing_words([word("wrong"), word("right", **{field: other})])) == 2


def test_what_is_wrong_in_a_run_is_of_that_run() -> None:
    """And stands while the person says so."""
    assert wrong_in([word("wrong"), word("wrong", run="r2"), word("right", answer="o")], "r1") == (word("wrong"),)
    assert wrong_in([word("wrong"), word("right")], "r1") == ()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"verdicts_read": 2}, "newer than 1"),
        ({"verdicts_read": True}, "is no verdict that somebody read"),
        ({"verdict": "ABSTAIN"}, "verdict 'ABSTAIN'"),
        ({"said": "fine"}, "said 'fine'"),
        ({"by": "the judge"}, "the judge"),
        ({"rubric": None}, "rubric is no text"),
    ],
)
def test_a_line_that_is_none_is_named(tmp_path: Path, changed: dict[str, Any], words: str) -> None:
    """With its number; nothing of the file counts then."""
    path = write(tmp_path, word("right"), word("wrong"))
    first, second = path.read_text("utf-8").splitlines()
    path.write_text(f"{first}\n{json.dumps(json.loads(second) | changed)}\n", encoding="utf-8")
    with pytest.raises(StoreError, match=f"line 2.*{words}"):
        read_verdicts_read(tmp_path)


def test_no_word_goes_through_a_link(tmp_path: Path) -> None:
    """A project that leads the file elsewhere writes nothing there."""
    (tmp_path / "evals").mkdir()
    (tmp_path / VERDICTS_READ_PATH).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="is a link"):
        append_verdict_read(tmp_path, word("right"))
    assert not (tmp_path / "elsewhere").exists()
