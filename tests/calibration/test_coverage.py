"""Over how much labels must be spread before they certify a judge, and what a second look at them costs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.calibration.certificate import (
    Before,
    Certificate,
    following,
    n_left_out,
    pairs_of,
    read_certificates,
    write_certificate,
)
from skillassay.calibration.coverage import coverage_shortfalls
from skillassay.calibration.labels import Label, LabelledAnswer, Labels, Point
from skillassay.calibration.pin import UNNAMED, JudgePin, differences
from skillassay.contract.terms import CalibrationTerms
from skillassay.errors import StoreError

TERMS = CalibrationTerms()
PIN = JudgePin(model="openai:reader", answered=(), endpoint=None, address=None, prompt="p", max_output_tokens=9)
FIRST, LATER = "2026-01-02T00:00:00Z", "2026-02-02T00:00:00Z"


def answer(case: str, text: str) -> LabelledAnswer:
    """An answer to a case of the suite q."""
    return LabelledAnswer(suite="q", case_id=case, case_digest="1" * 64, text=text)


def label(one: LabelledAnswer, criterion: str, verdict: str, at: str, by: str = "Aiko Mori") -> Label:
    """A word on it."""
    return Label(answer=one.id, criterion=criterion, verdict=verdict, by=by, at=at)


def made(points: list[tuple[LabelledAnswer, str]], *later: Label) -> tuple[Certificate, Labels]:
    """A calibration by a judge that says what the first word on each point was."""
    said = [label(one, criterion, "pass", "2026-01-01T00:00:00Z") for one, criterion in points]
    labels = Labels(answers={one.id: one for one, _ in points}, labels=(*said, *later))
    verdicts: dict[Point, tuple[bool, bool]] = {(one.id, criterion): (True, True) for one, criterion in points}
    cases = {f"q/{one.case_id}": one.case_digest for one, _ in points}
    return Certificate(at=FIRST, pin=PIN, cases=cases, verdicts=verdicts, unanswered={}), labels


def shortfall(points: list[tuple[LabelledAnswer, str]], judged: set[tuple[str, str]]) -> tuple[str, ...]:
    """What is missing of labels on these points."""
    return coverage_shortfalls(*made(points), judged, TERMS)


def test_many_labels_on_one_criterion_certify_no_judge_of_many() -> None:
    """Forty answers to one case, whose one criterion is easy; the suite has twelve."""
    points = [(answer("easy", f"answer {i}"), "r") for i in range(40)]
    judged = {("q/easy", "r"), *((f"q/hard{i}", "r") for i in range(11))}
    assert shortfall(points, judged) == (
        "the labels are about 1 of the 12 criteria that the judge decides, 10 are needed",
    )


def test_a_small_suite_needs_a_label_on_each_of_its_criteria() -> None:
    """Of three, three; labels on what the judge does not decide here count for none of them."""
    judged = {("q/a", "r"), ("q/b", "r"), ("q/c", "r")}
    points = [(answer("abd"[i % 3], f"answer {i}"), "r") for i in range(20)]
    assert "2 of the 3 criteria" in shortfall(points, judged)[0]
    points.append((answer("c", "one"), "r"))
    assert shortfall(points, judged) == ()


def test_many_criteria_of_one_answer_are_one_answer() -> None:
    """Its faults are shared by all of them."""
    one = answer("a", "the only answer")
    judged = {("q/a", f"r{i}") for i in range(20)}
    assert shortfall([(one, f"r{i}") for i in range(20)], judged) == ("the labels are about 1 answers, 10 are needed",)


def test_labels_on_rubrics_certify_no_reader_of_prose() -> None:
    """A behaviour case is judged under other instructions: five labels on its prose are needed too."""
    prose = "behavior.required_met"
    judged = {("q/a", "r"), ("q/b", prose)}
    rubric = [(answer("a", f"answer {i}"), "r") for i in range(20)]
    four = [(answer("b", f"answer {i}"), prose) for i in range(4)]
    assert shortfall(rubric + four, judged) == (
        "4 labels are about the prose of a behaviour case, which the judge decides too: 5 are needed",
    )
    assert shortfall([*rubric, *four, (answer("b", "fifth"), prose)], judged) == ()


POINTS = [(answer("a", f"answer {i}"), "r") for i in range(20)]


@pytest.mark.parametrize(
    ("at", "verdict", "n_pairs", "left_out"),
    [
        ("2026-01-01T12:00:00Z", "fail", 20, 0),  # thought better before the judge had said anything
        (LATER, "fail", 19, 1),
        (LATER, "undone", 19, 1),
        (LATER, "pass", 20, 0),  # said again, the same
    ],
)
def test_a_word_changed_after_the_verdicts_were_seen_is_left_out(
    at: str, verdict: str, n_pairs: int, left_out: int
) -> None:
    """Who has seen where the judge differs is no witness any more; it is counted with what may be one in ten."""
    certificate, labels = made(POINTS, label(POINTS[0][0], "r", verdict, at))
    again = replace(certificate, at="2026-03-01T00:00:00Z", before=(Before(at=FIRST, agreed=20, n=20),))
    assert len(pairs_of(again, labels)) == n_pairs
    assert n_left_out(again, labels) == left_out


@given(changed=st.sets(st.integers(0, 19)), new=st.integers(0, 5))
def test_every_changed_point_is_counted_once_and_new_ones_never(changed: set[int], new: int) -> None:
    """Whatever is relabelled: pairs and left-out points are all points together."""
    later = [label(POINTS[i][0], "r", "fail", LATER) for i in changed]
    more = [answer("a", f"new {i}") for i in range(new)]
    certificate, labels = made(POINTS, *later)
    labels = Labels(
        answers={**labels.answers, **{one.id: one for one in more}},
        labels=(*labels.labels, *(label(one, "r", "pass", LATER) for one in more)),
    )
    assert labels.changed_since(FIRST) == {(POINTS[i][0].id, "r") for i in changed}
    assert len(pairs_of(certificate, labels)) + n_left_out(certificate, labels) == len(POINTS)


def test_each_comparison_of_a_judge_keeps_those_before_it(tmp_path: Path) -> None:
    """When, and on how many points they agreed; the first one dates what people could know."""
    certificate, _ = made(POINTS)
    wrong = dict(certificate.verdicts) | {(POINTS[0][0].id, "r"): (True, False)}
    write_certificate(tmp_path, following(tmp_path, replace(certificate, verdicts=wrong)))
    write_certificate(tmp_path, following(tmp_path, replace(certificate, at=LATER)))
    third = following(tmp_path, replace(certificate, at="2026-03-01T00:00:00Z"))
    assert third.before == (Before(at=FIRST, agreed=19, n=20), Before(at=LATER, agreed=20, n=20))
    assert third.compared_at == {FIRST, LATER, "2026-03-01T00:00:00Z"}
    write_certificate(tmp_path, third)
    assert read_certificates(tmp_path) == (third,)


def test_a_damaged_calibration_is_not_written_over(tmp_path: Path) -> None:
    """What it held of earlier comparisons is not forgotten by accident."""
    certificate, _ = made(POINTS)
    path = tmp_path / write_certificate(tmp_path, certificate)
    path.write_text("<<<<<<< ours\n", encoding="utf-8")
    with pytest.raises(StoreError, match="cannot be read"):
        following(tmp_path, certificate)
    assert path.read_text("utf-8") == "<<<<<<< ours\n"


def test_replies_without_a_name_among_named_ones_are_another_judge() -> None:
    """A proxy that now and then answers by something else tells no name there."""
    named = replace(PIN, answered=("reader-2026",))
    assert differences(named, replace(named, answered=("reader-2026", UNNAMED)))
    assert differences(replace(named, answered=("reader-2026", UNNAMED)), named) == ()
