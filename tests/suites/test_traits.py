"""The facts of cases that a run keeps for its gate."""

from __future__ import annotations

import json
from typing import Any

import pytest

from skillassay.errors import StoreError
from skillassay.runs.record import Observed, TrialRecord, content_digest, record_from_json, record_to_json
from skillassay.suites.case import Behavior, Case
from skillassay.suites.facts import Incident
from skillassay.suites.traits import Traits, traits_from_json, traits_of, traits_to_json
from tests.trials import plan_of, planned_case, scored

PLAIN = Traits(oracle_type="rubric")


@pytest.mark.parametrize(
    ("fields", "traits"),
    [
        ({}, PLAIN),
        ({"severity": "high", "oracle_type": "code"}, Traits(oracle_type="code", severity="high")),
        (
            {"incident": Incident(id="INC-1", root_cause="why")},
            Traits(oracle_type="rubric", incident="INC-1", root_cause="why"),
        ),
        (
            {"behavior": Behavior(action="refuse", refused=True, required="r", forbidden="f")},
            Traits(oracle_type="rubric", action="refuse", refused=True),
        ),
    ],
    ids=["plain", "facts", "incident", "behaviour"],
)
def test_traits_are_kept(fields: dict[str, Any], traits: Traits) -> None:
    """What is read of a case is what a stored run gives back."""
    case = Case(id="a", skill="s", query="q", **fields)
    assert traits_of(case) == traits
    assert traits_from_json(json.loads(json.dumps(traits_to_json({("q", "a"): traits})))) == {("q", "a"): traits}


def recorded(observed: Observed | None) -> TrialRecord:
    """A record with what a structured answer stated."""
    (trial, *_) = plan_of(planned_case("a")).trials
    body = record_to_json(scored(trial, 5))
    return record_from_json(body | {"observed": observed and {"action": observed.action, "refused": observed.refused}})


def test_what_was_observed_is_read_back() -> None:
    """Action and flag as stated, and nothing for other cases or records from before."""
    seen = Observed(action="abstain", refused=False)
    assert recorded(seen).observed == seen
    assert recorded(None).observed is None
    body = record_to_json(recorded(None))
    del body["observed"]
    assert record_from_json(body) == recorded(None)


@pytest.mark.parametrize("odd", [{"action": "comply", "refused": False}, {"action": "refuse", "refused": "no"}, {}])
def test_an_unknown_action_is_a_damaged_record(odd: dict[str, Any]) -> None:
    """A matrix has no cell for it."""
    with pytest.raises(StoreError):
        record_from_json(record_to_json(recorded(None)) | {"observed": odd})


def test_what_was_observed_is_content() -> None:
    """Another action is another result; records from before there were actions keep their digest."""
    seen = {
        action: content_digest([recorded(Observed(action=action, refused=False))]) for action in ("assist", "abstain")
    }
    assert len({content_digest([recorded(None)]), *seen.values()}) == 3
