"""The line `no_leakage`: what a doubt, a suspicion and an unreachable holdout make of it, alone and together."""

from __future__ import annotations

import pytest

from skillassay.gate.holdout import leakage_lines
from skillassay.gate.lines import Status
from skillassay.holdout.sealed import HoldoutUse
from tests.gate.test_decide import decided, line

SUSPICION = "the contract says that leakage is suspected (dataset.leakage)"
UNREACHED = "the holdout could not be reached, so nothing looked for its texts"


def use(*doubts: str, looked: bool = True) -> HoldoutUse:
    """What a run says of a holdout that it planned."""
    return HoldoutUse(suite="h", version="1", digest="d", file="f", looked=looked, doubts=doubts)


@pytest.mark.parametrize(
    ("planned", "status", "detail"),
    [
        (use(), Status.PASSED, ()),
        (use(looked=False), Status.UNDECIDED, (UNREACHED,)),
        (use("found"), Status.FAILED, ("found",)),
        (use("found", looked=False), Status.FAILED, ("found",)),
    ],
    ids=["nothing found", "unreached", "found", "found before"],
)
def test_a_holdout_by_itself(planned: HoldoutUse, status: Status, detail: tuple[str, ...]) -> None:
    """A doubt fails, no look leaves it open, a look that found nothing passes."""
    (found,) = leakage_lines(planned, "none_known")
    assert (found.name, found.status, found.detail) == ("no_leakage", status, detail)


def test_neither_holdout_nor_suspicion_has_no_line() -> None:
    """A small project hears nothing of leakage."""
    assert leakage_lines(None, "none_known") == ()


@pytest.mark.parametrize(
    ("planned", "status", "detail"),
    [
        (None, Status.UNDECIDED, (SUSPICION,)),
        (use(), Status.UNDECIDED, (SUSPICION,)),
        (use(looked=False), Status.UNDECIDED, (UNREACHED, SUSPICION)),
        (use("found"), Status.FAILED, ("found", SUSPICION)),
    ],
    ids=["no holdout", "nothing found", "unreached", "found"],
)
def test_a_suspicion_leaves_the_line_open(planned: HoldoutUse | None, status: Status, detail: tuple[str, ...]) -> None:
    """With or without a holdout, and whatever was looked for; what was found fails all the same."""
    (found,) = leakage_lines(planned, "suspected")
    assert (found.status, found.detail) == (status, detail)
    assert found.number.endswith("leakage suspected")


def test_a_suspicion_opens_a_decision_that_is_good_otherwise() -> None:
    """Undecided and not declared, so no lock accepts it."""
    assert (decided().status, decided(leakage="none_known").status) == (Status.PASSED, Status.PASSED)
    decision = decided(leakage="suspected")
    assert (decision.status, decision.declared) == (Status.UNDECIDED, False)
    assert line(decision, "no_leakage").status is Status.UNDECIDED
