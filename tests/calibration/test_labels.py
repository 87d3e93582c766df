"""Labels: what counts of what people said, and which lines are none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillassay.calibration.labels import (
    LABELS_PATH,
    Label,
    LabelledAnswer,
    append_answer,
    append_label,
    read_labels,
)
from skillassay.errors import StoreError

ANSWER = LabelledAnswer(suite="q", case_id="one", case_digest="d" * 64, text="hello")
POINT = (ANSWER.id, "r1")


def label(verdict: str, by: str = "Aiko Mori", origin: str = "human") -> Label:
    """A label on the one point."""
    return Label(answer=ANSWER.id, criterion="r1", verdict=verdict, by=by, at="2026-01-01T00:00:00Z", origin=origin)


def write(root: Path, *labels: Label) -> None:
    """The answer and these labels on it."""
    append_answer(root, ANSWER)
    for one in labels:
        append_label(root, one)


def test_the_last_word_of_a_person_counts(tmp_path: Path) -> None:
    """Said pass, then fail: fail. The same name written otherwise is the same person."""
    write(tmp_path, label("pass"), label("fail", by="  AIKO  mori "))
    assert read_labels(tmp_path).settled() == {POINT: False}


@pytest.mark.parametrize(("by", "is_settled"), [("Dr. Aiko Mori, QA lead", True), ("Mori", False), ("A. Mori", False)])
def test_a_lesser_name_takes_nobodys_label_back(tmp_path: Path, by: str, is_settled: bool) -> None:
    """A title makes no second person; what may be another Mori's word is a dispute, and no dispute is silenced."""
    write(tmp_path, label("pass"), label("fail", by=by))
    assert read_labels(tmp_path).settled() == ({POINT: False} if is_settled else {})


@pytest.mark.parametrize("word", ["undone", "skip"])
def test_a_word_taken_back_or_left_to_others_decides_nothing(tmp_path: Path, word: str) -> None:
    """Undone and skipped points are not settled, and another person's word on them still counts."""
    write(tmp_path, label("pass"), label(word))
    assert read_labels(tmp_path).settled() == {}
    append_label(tmp_path, label("fail", by="Bo Lind"))
    assert read_labels(tmp_path).settled() == {POINT: False}


def test_people_who_disagree_settle_nothing_however_many_agree(tmp_path: Path) -> None:
    """Two against one is a dispute, not a majority."""
    write(tmp_path, label("pass"), label("pass", by="Bo Lind"), label("fail", by="Cleo Marsh"))
    labels = read_labels(tmp_path)
    assert labels.settled() == {}
    assert labels.disputed() == (POINT,)


def test_authored_labels_are_no_peoples_labels(tmp_path: Path) -> None:
    """The two origins are never mixed: neither settles, disputes or outdates the other."""
    write(tmp_path, label("pass"), label("fail", by="written with the answer", origin="authored"))
    labels = read_labels(tmp_path)
    assert labels.settled() == {POINT: True}
    assert labels.settled(origin="authored") == {POINT: False}
    assert labels.disputed() == ()


def test_an_answer_that_was_edited_is_refused(tmp_path: Path) -> None:
    """A label is about exactly these words: the digest tells."""
    write(tmp_path, label("pass"))
    path = tmp_path / LABELS_PATH
    path.write_text(path.read_text("utf-8").replace('"text": "hello"', '"text": "goodbye"'), encoding="utf-8")
    with pytest.raises(StoreError, match=r"line 1: the answer is .* it was edited"):
        read_labels(tmp_path)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"labels": 2}, "newer than 1"),
        ({"labels": "1"}, "neither an answer nor a label"),
        ({"verdict": "maybe"}, "verdict 'maybe'"),
        ({"origin": "model"}, "origin 'model'"),
        ({"by": "the judge"}, "write the name|names nobody|no person"),
        ({"by": None}, "by is no text"),
        ({"label": "0" * 64}, "no answer 000000000000 stands before it"),
    ],
)
def test_a_line_that_is_no_label_is_named(tmp_path: Path, changed: dict[str, object], words: str) -> None:
    """Each with its line; nothing of the file counts then."""
    write(tmp_path, label("pass"))
    path = tmp_path / LABELS_PATH
    lines = path.read_text("utf-8").splitlines()
    path.write_text(f"{lines[0]}\n{json.dumps(json.loads(lines[1]) | changed)}\n", encoding="utf-8")
    with pytest.raises(StoreError, match=f"line 2: .*({words})"):
        read_labels(tmp_path)


def test_a_torn_last_line_does_not_count(tmp_path: Path) -> None:
    """A session that was killed in the middle of a write loses that word alone."""
    write(tmp_path, label("pass"), label("fail"))
    path = tmp_path / LABELS_PATH
    path.write_bytes(path.read_bytes()[:-5])
    assert read_labels(tmp_path).settled() == {POINT: True}


def test_no_label_goes_through_a_link(tmp_path: Path) -> None:
    """A project that leads its labels elsewhere writes nothing there."""
    (tmp_path / "evals").mkdir()
    (tmp_path / LABELS_PATH).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="is a link"):
        append_answer(tmp_path, ANSWER)
    assert not (tmp_path / "elsewhere").exists()
