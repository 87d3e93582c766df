"""When a snapshot is ageing and when it is stale, and what a run makes of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from skillassay.clock import today
from skillassay.errors import Reason
from skillassay.findings import Severity
from skillassay.suites.case import Case, Suite
from skillassay.suites.facts import SourceSnapshot
from skillassay.suites.freshness import AGEING, AHEAD, MAX_AGE_DAYS, STALE, freshness_findings, stale_outcome
from tests.project import Cli, build_small, records, small_case

DAY = today()


def aged(days: int, part: str = "freshness") -> Case:
    """A case whose facts were taken so many days ago."""
    snapshot = SourceSnapshot(source="price list", taken_at=DAY - timedelta(days=days))
    return Case(id="f", skill="s", query="q", part=part, source_snapshot=snapshot)


@pytest.mark.parametrize(
    ("days", "code"),
    [(-9, AHEAD), (-2, AHEAD), (-1, None), (0, None), (15, None), (16, AGEING), (30, AGEING), (31, STALE)],
)
def test_half_the_limit_warns_and_the_limit_ends(days: int, code: str | None) -> None:
    """Of a limit of 30 days: 15 are fresh, 16 to 30 ageing, 31 stale; a day ahead is today somewhere, two are nowhere.
    What is stale or of a day to come has no score in a run.
    """
    case = aged(days)
    suite = Suite(name="q", version="1", path="evals/q.json", cases=(case,))
    found = freshness_findings([suite], on=DAY, max_age_days=30)
    assert [finding.code for finding in found] == ([] if code is None else [code])
    outcome = stale_outcome(case, on=DAY, max_age_days=30)
    assert (outcome is not None) == (code in {STALE, AHEAD})


def test_the_limit_is_a_year_where_none_is_stated() -> None:
    """365 days hold, 366 do not."""
    assert MAX_AGE_DAYS == 365
    assert stale_outcome(aged(365), on=DAY, max_age_days=None) is None
    assert stale_outcome(aged(366), on=DAY, max_age_days=None) is not None


@pytest.mark.parametrize(
    ("days", "severity", "words"),
    [(-2, Severity.ERROR, "lies 2 days ahead, so it would never go stale"), (31, Severity.WARNING, "is 31 days old")],
)
def test_a_day_to_come_is_an_error_and_age_a_warning(days: int, severity: Severity, words: str) -> None:
    """A fresh date that nobody can have written truly would hide every age; the finding says so."""
    suite = Suite(name="q", version="1", path="evals/q.json", cases=(aged(days),))
    (found,) = freshness_findings([suite], on=DAY, max_age_days=30)
    assert found.severity is severity
    assert words in found.message


def test_a_day_to_come_is_stale_with_its_own_words() -> None:
    """UNSCORED(stale) says the day and how far ahead it lies."""
    outcome = stale_outcome(aged(-40), on=DAY, max_age_days=None)
    assert outcome is not None
    assert (outcome.status, outcome.reason) == ("UNSCORED", Reason.STALE)
    ahead = (DAY + timedelta(days=40)).isoformat()
    assert outcome.detail == (
        f"the snapshot of {ahead} lies 40 days ahead on {DAY.isoformat()}, so nobody can have taken it"
    )


def test_other_parts_do_not_age() -> None:
    """A representative case with a snapshot says where it comes from, and asks nothing that changes."""
    assert stale_outcome(aged(4000, "representative"), on=DAY, max_age_days=1) is None


def fresh_case(days: int) -> dict[str, Any]:
    """An authored freshness case that no authored answer fits: asking about it would be an error of its own."""
    day = (DAY - timedelta(days=days)).isoformat()
    snapshot = {"source": "https://example.org/prices", "taken_at": day}
    return small_case("old", part="freshness", source_snapshot=snapshot, effective_date=day)


def test_a_stale_case_is_unscored_and_nobody_is_asked(cli: Cli) -> None:
    """Past the limit: UNSCORED(stale) with its day in every mode, no model call, exit 3; `check` warns."""
    cases = [small_case(name) for name in ("one", "two", "three")] + [fresh_case(31)]
    build_small(cli.root, cases=cases, freshness={"max_age_days": 30})
    ran = cli("eval")
    assert ran.code == 3
    own = [record for record in records(cli.root) if record["case_id"] == "old"]
    day = (DAY - timedelta(days=31)).isoformat()
    assert [(r["outcome"]["reason"], r["candidate"]["n_calls"]) for r in own] == [("stale", 0)] * 3
    assert {r["outcome"]["detail"] for r in own} == {
        f"the snapshot of {day} is 31 days old on {DAY.isoformat()}, the limit is 30"
    }
    assert f"the snapshot of {day}" in ran.out
    assert "suite.snapshot-stale" in cli("check").out
    assert "suite.snapshot-stale" in cli("check", "--format", "json").out
    assert cli("suite", "show").code == 0  # a retired snapshot stays readable


def test_an_ageing_case_is_asked_as_ever(cli: Cli) -> None:
    """Within the limit the case runs; only `check` says that it ages."""
    build_small(cli.root, cases=[fresh_case(20)], freshness={"max_age_days": 30})
    cli("eval")
    assert {record["outcome"]["reason"] for record in records(cli.root)} == {
        "provider_error"
    }  # no rule fits: it was asked
    assert "suite.snapshot-ageing" in cli("check").out
