"""Sums of token counts: what one call did not tell, no sum tells."""

from __future__ import annotations

from dataclasses import asdict

from hypothesis import given
from hypothesis import strategies as st

from skillassay.transcript import Usage

COUNT = st.none() | st.integers(0, 10**9)
CALL = st.builds(Usage, input_tokens=COUNT, output_tokens=COUNT, estimated=st.booleans(), n_calls=st.integers(1, 3))
USAGE = CALL | st.just(Usage())


@given(st.lists(CALL, min_size=1))
def test_a_sum_is_known_only_where_every_part_is(calls: list[Usage]) -> None:
    """Law: the sum, or None where one call told nothing, never a sum with a gap."""
    total = Usage()
    for call in calls:
        total = total.plus(call)
    told = [call.input_tokens for call in calls if call.input_tokens is not None]
    assert total.input_tokens == (sum(told) if len(told) == len(calls) else None)
    assert total.n_calls == sum(call.n_calls for call in calls)
    assert total.estimated == any(call.estimated for call in calls)


@given(USAGE, USAGE, USAGE)
def test_adding_has_its_laws(one: Usage, two: Usage, three: Usage) -> None:
    """Law: no call adds nothing, and neither order nor grouping counts."""
    assert one.plus(Usage()) == Usage().plus(one) == one
    assert one.plus(two) == two.plus(one)
    assert one.plus(two).plus(three) == one.plus(two.plus(three))


def test_counts_from_before_calls_were_counted_are_complete() -> None:
    """An old record tells counts and no calls."""
    assert Usage(input_tokens=3).plus(Usage(input_tokens=4, n_calls=1)).input_tokens == 7


@given(USAGE)
def test_a_usage_reads_back(usage: Usage) -> None:
    """Law: what a record stores of it is all of it; and a record from before has no ``n_calls``."""
    stored = asdict(usage)
    assert Usage(**stored) == usage
    del stored["n_calls"]
    assert Usage(**stored).n_calls == 0
