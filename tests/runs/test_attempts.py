"""Which trials may be tried again, how much of them, and what is left of a plan."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.errors import Reason, Stage
from skillassay.runs.attempts import Again, again_of, build_todo
from skillassay.runs.record import TrialRecord
from tests.trials import plan_of, planned_case, scored, turn_limit, unscored

PLAN = plan_of(planned_case("a"), planned_case("b"))
TRIAL = PLAN.trials[0]

OF_THE_CANDIDATE = {
    Reason.PROVIDER_ERROR: True,
    Reason.TIMEOUT: True,
    Reason.MISSING_CAPABILITY: True,
    Reason.INTERRUPTED: True,
    Reason.BUDGET_BLOCKED: True,
    Reason.HARNESS_ERROR: True,
    Reason.CONTRACT_ERROR: False,  # the candidate's own
    Reason.BLOCKED: False,  # for what it says
    Reason.TRUNCATED: False,  # it said too much
    Reason.CHECK_ERROR: False,  # the check would not decide the next time
    Reason.UNGROUNDED: False,  # cannot be at this stage
    Reason.JUDGE_ABSTAINED: False,
    Reason.JUDGE_DISAGREED: False,  # cannot be at this stage
    Reason.STALE: False,  # a person's word
    Reason.VOIDED: False,
    Reason.HELD: False,
}
OF_THE_JUDGE = OF_THE_CANDIDATE | {
    Reason.CONTRACT_ERROR: True,
    Reason.BLOCKED: True,
    Reason.TRUNCATED: True,
    Reason.UNGROUNDED: True,
    Reason.JUDGE_ABSTAINED: False,  # a verdict that the case allows
    Reason.JUDGE_DISAGREED: False,  # asked until it agrees, a judge would be a selected one
}


def test_every_reason_is_decided() -> None:
    """A new reason is put into the tables above on purpose."""
    assert set(OF_THE_CANDIDATE) == set(OF_THE_JUDGE) == set(Reason)


@pytest.mark.parametrize("reason", Reason)
def test_a_trial_without_an_answer(reason: Reason) -> None:
    """It is tried again whole, or not at all."""
    for stage in (Stage.CANDIDATE, Stage.HARNESS):
        assert again_of(unscored(TRIAL, reason, stage)) is (Again.WHOLE if OF_THE_CANDIDATE[reason] else None)


AS_IT_ANSWERED = [(Reason.PROVIDER_ERROR, "finish"), (Reason.PROVIDER_ERROR, "empty"), (Reason.TIMEOUT, "agent")]


@pytest.mark.parametrize(("reason", "kind"), AS_IT_ANSWERED)
def test_what_the_candidate_said_or_took_is_not_tried_again(reason: Reason, kind: str) -> None:
    """An answer that was ended or empty, and the time of all an agent's turns; of the judge, each says nothing."""
    for stage, again in ((Stage.CANDIDATE, None), (Stage.JUDGE, Again.JUDGE)):
        record = unscored(TRIAL, reason, stage)
        answer = "x" if stage is Stage.JUDGE else None
        told = replace(record, answer=answer, outcome=replace(record.outcome, kind=kind))
        assert again_of(told) is again


@pytest.mark.parametrize("reason", Reason)
def test_an_answer_that_the_judge_failed_on(reason: Reason) -> None:
    """The judge alone is asked again; where no text was kept, the whole trial is."""
    record = unscored(TRIAL, reason, Stage.JUDGE)
    assert again_of(replace(record, answer="x")) is (Again.JUDGE if OF_THE_JUDGE[reason] else None)
    assert again_of(record) is (Again.WHOLE if OF_THE_JUDGE[reason] else None)


@pytest.mark.parametrize("reason", Reason)
@pytest.mark.parametrize("stage", [Stage.CANDIDATE, Stage.CHECK, Stage.HARNESS])
def test_an_answer_that_something_else_failed_on(reason: Reason, stage: Stage) -> None:
    """What was observed is not asked for again."""
    assert again_of(replace(unscored(TRIAL, reason, stage), answer="x")) is None


@pytest.mark.parametrize("record", [scored(TRIAL, 5), scored(TRIAL, 0), turn_limit(TRIAL)], ids=["pass", "fail", "0/n"])
def test_a_scored_trial_is_never_tried_again(record: TrialRecord) -> None:
    """Neither is one that the candidate failed by its turns."""
    assert again_of(record) is None


@given(
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["score", "again", "never"])), max_size=20),
    st.booleans(),
)
def test_what_is_left_is_what_no_last_record_closes(said: list[tuple[int, str]], retry: bool) -> None:
    """By definition, for any order of attempts: trials without a record, and on request those whose last may be."""
    records: list[TrialRecord] = []
    last: dict[str, tuple[int, str]] = {}
    for index, what in said:
        trial = PLAN.trials[index]
        attempt = last[trial.trial_id][0] + 1 if trial.trial_id in last else 1
        last[trial.trial_id] = (attempt, what)
        records.append(
            scored(trial, 3, attempt=attempt)
            if what == "score"
            else unscored(trial, Reason.TIMEOUT if what == "again" else Reason.BLOCKED, attempt=attempt)
        )
    todo = build_todo(PLAN, records, retry_unscored=retry)
    again = {trial_id for trial_id, (_, what) in last.items() if retry and what == "again"}
    assert [trial for trial in PLAN.trials if trial.trial_id not in last or trial.trial_id in again] == [*todo.trials]
    assert {trial_id: record.attempt for trial_id, record in todo.earlier.items()} == {
        trial_id: last[trial_id][0] for trial_id in again
    }
    assert todo.n_planned == len(PLAN.trials)
