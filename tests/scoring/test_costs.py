"""What a run was billed for: attempts, the cache, what is not known. Amounts are recomputed by hand."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from skillassay.calibration.references import REFERENCES_FILE, read_verdicts, references_spent
from skillassay.errors import StoreError
from skillassay.runs.plan import Mode, PlannedTrial
from skillassay.runs.record import Outcome, Spent, TrialRecord
from skillassay.scoring.costs import RunCosts, costs_json, costs_of
from skillassay.scoring.scores import Row
from skillassay.transcript import Usage

PLANNED = PlannedTrial(
    trial_id="t", suite="s", case_id="c", skill_path="k", mode=Mode.NONE, repeat=1, n_criteria=1, n_judge_calls=1
)
PRICE = {"input_per_million": "1", "output_per_million": "2"}
HEADER: dict[str, Any] = {
    "models": {side: {"label": f"gemini:{side}", "is_fixture": False} for side in ("candidate", "judge")},
    "prices": {
        "as_of": "2026-11-01",
        "currency": "USD",
        "source": "made up",
        "models": {"gemini:candidate": PRICE, "gemini:judge": PRICE},
    },
}


def spent(n_input: int | None = 10, *, n_calls: int = 1, n_cached: int = 0, n_kept: int = 0) -> Spent:
    """So much input, as much output; of it ``n_kept`` each from the cache."""
    usage = Usage(input_tokens=n_input, output_tokens=n_input, n_calls=n_calls)
    kept = Usage(input_tokens=n_kept, output_tokens=n_kept, n_calls=n_cached) if n_cached else Usage()
    return Spent(n_calls=n_calls, n_attempts=n_calls, usage=usage, n_cached=n_cached, cached_usage=kept)


def record(candidate: Spent, judge: Spent, **more: Any) -> TrialRecord:
    """A scored record of the planned trial."""
    return TrialRecord(
        trial_id="t",
        suite="s",
        case_id="c",
        skill_path="k",
        mode="none",
        repeat=1,
        n_criteria=1,
        outcome=Outcome(status="PASS"),
        candidate=candidate,
        judge=judge,
        **more,
    )


def costs(*records: TrialRecord, references: tuple[Spent, ...] = (), header: dict[str, Any] = HEADER) -> RunCosts:
    """The costs of a run of one trial with these attempts."""
    *earlier, last = records
    return costs_of([Row(planned=PLANNED, record=last, earlier=tuple(earlier))], references, header)


def test_input_and_output_have_their_prices() -> None:
    """10 * 1 + 10 * 2, for a million."""
    side = costs(record(spent(), spent())).sides["judge"]
    assert (side.whole.n_calls, side.whole.tokens, side.whole.money) == (1, 20, Decimal("0.00003"))


def test_an_answer_that_is_judged_again_is_paid_for_once() -> None:
    """The second attempt repeats what the candidate spent, and says so."""
    found = costs(record(spent(), spent()), record(spent(), spent(), attempt=2, answer_attempt=1))
    assert (found.sides["candidate"].whole.n_calls, found.sides["judge"].whole.n_calls) == (1, 2)


def test_a_trial_that_ran_again_is_paid_for_twice() -> None:
    """With an answer of its own."""
    found = costs(record(spent(), spent()), record(spent(), spent(), attempt=2))
    assert found.sides["candidate"].whole.money == Decimal("0.00006")


def test_what_the_cache_answered_is_not_billed() -> None:
    """Of three calls with 30 tokens each way, two with 12 are from the cache: 18 each way are billed, one call."""
    whole = costs(record(spent(30, n_calls=3, n_cached=2, n_kept=12), spent(n_cached=1, n_kept=10))).sides
    assert (whole["candidate"].whole.n_calls, whole["candidate"].whole.money) == (1, Decimal("0.000054"))
    assert (whole["judge"].whole.n_calls, whole["judge"].whole.tokens, whole["judge"].whole.money) == (0, 0, Decimal(0))


def test_a_call_that_told_nothing_leaves_the_sum_unknown() -> None:
    """And the reason is said; what was told elsewhere is no sum."""
    side = costs(record(spent(), spent()), record(spent(), spent(None), attempt=2)).sides["judge"]
    assert (side.whole.tokens, side.whole.money, side.why) == (None, None, "a provider did not tell all tokens")


def test_a_second_judge_is_a_side_of_its_own() -> None:
    """Where the header names one."""
    models = HEADER["models"] | {"second": {"label": "gemini:judge", "is_fixture": False}}
    one = replace(record(spent(), spent()), second=spent(20))
    assert costs(one, header=HEADER | {"models": models}).sides["second"].whole.tokens == 40
    assert "second" not in costs(one).sides


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ({"is_fixture": True}, "authored answers, nothing is billed"),
        ({"is_fixture": True, "is_replay": True}, "recorded answers, nothing was billed"),
        ({"is_fixture": False, "own_model": True}, "an agent asked a model of its own"),
        ({"is_fixture": False}, "gemini:x is not in the list of prices as of 2026-11-01"),
    ],
)
def test_why_there_is_no_amount(model: dict[str, Any], why: str) -> None:
    """Four reasons, none of them a zero."""
    models = HEADER["models"] | {"candidate": {"label": "gemini:x"} | model}
    side = costs(record(spent(), spent()), header=HEADER | {"models": models}).sides["candidate"]
    assert (side.why, side.whole.money, side.whole.tokens) == (why, None, 20)


def test_a_run_from_before_there_were_prices_reads() -> None:
    """Its tokens are there and its money is not known."""
    header = {"models": HEADER["models"]}
    found = costs_json(costs(record(spent(), spent()), header=header), header)
    assert (found["prices"], found["why_no_prices"]) == (None, "no list of prices is set up")
    judge: Any = found["judge"]
    assert (judge["tokens"], judge["money"]) == (20, None)


def test_references_are_a_part_of_the_judge() -> None:
    """Beside the modes, and in the whole."""
    side = costs(record(spent(), spent()), references=(spent(), spent(5))).sides["judge"]
    assert (side.parts["references"].tokens, side.parts["none"].tokens, side.whole.tokens) == (30, 20, 50)


LINE = (
    '{"reference": 1, "suite": "s", "case": "c", "side": "positive", "index": 0, "verdict": "right", "why": null%s}\n'
)


def test_lines_from_before_say_nothing_of_what_they_used(tmp_path: Path) -> None:
    """They still have their verdict."""
    (tmp_path / REFERENCES_FILE).write_text(LINE % "", encoding="utf-8")
    assert [one.verdict for one in read_verdicts(tmp_path)] == ["right"]
    assert references_spent(tmp_path) == (Spent(),)


def test_every_call_about_a_reference_counts(tmp_path: Path) -> None:
    """The one that was asked again too; a line of another form is damage."""
    told = ', "spent": {"n_calls": 1, "n_attempts": 1, "usage": {"input_tokens": 7, "n_calls": 1}}'
    (tmp_path / REFERENCES_FILE).write_text(LINE % told * 2, encoding="utf-8")
    assert [one.usage.input_tokens for one in references_spent(tmp_path)] == [7, 7]
    assert len(read_verdicts(tmp_path)) == 1
    (tmp_path / REFERENCES_FILE).write_text(LINE % ', "spent": {"n": 1}', encoding="utf-8")
    with pytest.raises(StoreError, match="of another form"):
        references_spent(tmp_path)
