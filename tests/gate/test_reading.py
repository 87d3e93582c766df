"""The gate's line on read verdicts, from what was read and what was judged."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from skillassay.calibration.verdicts_read import VerdictRead
from skillassay.gate.lines import Decision, GateLine, Status
from skillassay.gate.reading import ReadFacts, verdicts_read_line
from skillassay.scoring.scores import Row, score_run
from tests.trials import plan_of, planned_case, scored

RUBRICS = {"skills/s": "b" * 64, "skills/t": "d" * 64}


def rows_of(*skills: str, n: int = 5) -> tuple[Row, ...]:
    """One case of each skill, in three modes with an answer each: ``3 * n`` verdicts."""
    plan = plan_of(*(planned_case(f"c{i}", n=n, skill=skill) for i, skill in enumerate(skills)))
    return score_run(plan, [scored(trial, n) for trial in plan.trials], slices={}).rows


def word(number: int, said: str = "right", *, rubric: str = RUBRICS["skills/s"], by: str = "Mika Sato") -> VerdictRead:
    """A word on the verdict of this number."""
    texts = dict.fromkeys(("at", "run", "suite", "case_id", "case_digest", "criterion"), "x")
    return VerdictRead(by=by, rubric=rubric, verdict="PASS", said=said, answer=f"answer {number}", **texts)


def line(reads: Iterable[VerdictRead], rows: tuple[Row, ...], *, read_min: int = 5) -> GateLine:
    """The line."""
    (found,) = verdicts_read_line(ReadFacts(rubrics=RUBRICS, reads=tuple(reads), read_min=read_min), rows)
    return found


ONE = rows_of("skills/s")


@pytest.mark.parametrize(
    ("reads", "status", "counts"),
    [
        ([word(i) for i in range(4)], Status.FAILED, (4, 0, 0)),
        ([word(i) for i in range(5)], Status.PASSED, (5, 0, 0)),
        ([word(0)] * 5, Status.FAILED, (1, 0, 0)),
        ([word(0, by=by) for by in ("Mika Sato", "Jo Berg", "Ada Roy", "Bo Lind", "Kim Oh")], Status.FAILED, (1, 0, 0)),
        ([word(i, rubric="another") for i in range(5)], Status.FAILED, (0, 0, 0)),
        ([word(i, "wrong") for i in range(5)], Status.PASSED, (5, 5, 0)),
        ([word(i, "unsure") for i in range(5)], Status.PASSED, (5, 0, 5)),
        ([*(word(i) for i in range(5)), word(4, "undone")], Status.FAILED, (4, 0, 0)),
        ([*(word(i) for i in range(5)), word(0, "wrong", by="Jo Berg")], Status.PASSED, (5, 1, 0)),
        ([*(word(i) for i in range(4)), word(4, "unsure"), word(4, by="Jo Berg")], Status.PASSED, (5, 0, 0)),
    ],
    ids=[
        "four",
        "five",
        "one five times",
        "one by five",
        "other rubric",
        "wrong",
        "unsure",
        "undone",
        "two",
        "settled",
    ],
)
def test_it_counts_verdicts_not_words(reads: list[VerdictRead], status: Status, counts: tuple[int, ...]) -> None:
    """Five distinct ones under exactly this rubric; wrong where anybody says so, unsure where nobody decides."""
    found = line(reads, ONE)
    assert found.status is status
    assert dict(found.counts) == dict(zip(("read", "wrong", "unsure"), counts, strict=True)) | {"needed": 5}


def test_each_skill_is_read_for_itself() -> None:
    """Five of one do not count for the other; the line names that one."""
    found = line([word(i) for i in range(9)], rows_of("skills/s", "skills/t"))
    assert (found.status, found.number) == (Status.FAILED, "read of 1 of 2 skills")
    (detail,) = found.detail
    assert detail.startswith("skills/t: 0 of 5 verdicts read under the rubric dddddddddddd")


def test_of_fewer_judged_criteria_all_are_read() -> None:
    """Three modes with an answer each and one criterion: three verdicts, three needed; of more the contract's."""
    assert line([], rows_of("skills/s", n=1)).counts["needed"] == 3
    assert line([], ONE, read_min=7).counts["needed"] == 7
    assert line([], ONE, read_min=99).counts["needed"] == 15


def test_what_more_people_read_leaves_the_words_as_they_are() -> None:
    """An approval is of the line's words: five more of another run's change no approved state."""
    five, ten = (line([word(i) for i in range(n)], ONE) for n in (5, 10))
    assert (five.number, five.limit, five.detail) == (ten.number, ten.limit, ten.detail)


@pytest.mark.parametrize("facts", [ReadFacts(), ReadFacts(rubrics=RUBRICS, hidden="q")], ids=["older run", "hidden"])
def test_there_is_no_line_where_nothing_can_be_read(facts: ReadFacts) -> None:
    """A run from before rubrics were kept, and one whose judged cases are all hidden."""
    assert verdicts_read_line(facts, ONE) == []


def test_its_lack_fails_the_gate_and_leaves_the_run_declared() -> None:
    """Not undecided: an open certification beside measured passes would come to a pass."""
    decision = Decision(gate="model_gate", lines=(line([], ONE),))
    assert (decision.status, decision.declared) == (Status.FAILED, True)
