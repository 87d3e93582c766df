"""The line `holdout_asked`: open where a run leaves out what the contract names, and never a failure."""

from __future__ import annotations

import pytest

from skillassay.gate.asked import holdout_asked_lines
from skillassay.gate.lines import Status
from skillassay.holdout.sealed import HoldoutAsked, LeftOut
from tests.gate.test_decide import decided


def asked(n_planned: int, n_cases: int, why: LeftOut = LeftOut.SELECTION) -> HoldoutAsked:
    """What a run says of the holdout that its contract names."""
    return HoldoutAsked(suite="h", n_cases=n_cases, n_planned=n_planned, why=why)


@pytest.mark.parametrize(
    ("given", "status"),
    [
        (asked(2, 2), Status.PASSED),
        (asked(1, 2), Status.UNDECIDED),
        (asked(0, 2), Status.UNDECIDED),
        (asked(0, 0), Status.NOT_APPLICABLE),
        (asked(0, 0, LeftOut.TUNING), Status.NOT_APPLICABLE),
    ],
)
def test_all_of_it_or_open(given: HoldoutAsked, status: Status) -> None:
    """Every case about the run's skills is planned; none to plan is nothing to look at."""
    (line,) = holdout_asked_lines(given)
    assert (line.name, line.status) == ("holdout_asked", status)
    assert line.counts == {"planned": given.n_planned, "cases": given.n_cases}
    assert bool(line.detail) == (status is Status.UNDECIDED)


def test_each_reason_has_words_of_its_own() -> None:
    """An option, a run for tuning, a selection."""
    told = {holdout_asked_lines(asked(0, 1, why))[0].detail for why in LeftOut}
    assert len(told) == len(LeftOut)


def test_no_holdout_in_the_contract_is_no_line() -> None:
    """A small project hears nothing of it."""
    assert holdout_asked_lines(None) == ()


def test_it_opens_a_decision_that_is_good_otherwise() -> None:
    """Undecided and not declared, so no lock accepts it."""
    decision = decided(holdout_asked=asked(0, 1, LeftOut.OPTION))
    assert (decision.status, decision.declared) == (Status.UNDECIDED, False)
    assert decided(holdout_asked=asked(1, 1)).status is Status.PASSED
