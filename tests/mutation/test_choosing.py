"""Which mutants are run: by kind, by id, and a seeded sample over kinds."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.errors import UsageError
from skillassay.mutation.choosing import Wanted, choose
from skillassay.mutation.mutants import Kind, derive_mutants
from tests.mutation.sample import SOURCE

VIABLE = derive_mutants(SOURCE).mutants
N_KINDS = len({one.kind for one in VIABLE})


def test_everything_unless_told_otherwise() -> None:
    """All of them in their order, and no part."""
    chosen = choose(VIABLE, Wanted())
    assert chosen.mutants == VIABLE
    assert not chosen.is_part
    assert chosen.kinds[Kind.LIST_ITEM] == (4, 4)


def test_kinds_and_ids() -> None:
    """Only what is named; an id by its first four digits."""
    wanted = Wanted(kinds=(Kind.LIST_ITEM, Kind.NUMBER))
    assert {one.kind for one in choose(VIABLE, wanted).mutants} == {Kind.LIST_ITEM, Kind.NUMBER}
    chosen = choose(VIABLE, Wanted(only=(VIABLE[3].id[:4],)))
    assert chosen.mutants == (VIABLE[3],)
    assert (chosen.n_viable, chosen.is_part) == (len(VIABLE), True)


@pytest.mark.parametrize("name", ["zzzz", "", VIABLE[0].id[:3]])
def test_an_id_that_names_none(name: str) -> None:
    """Neither a foreign id nor one shorter than four digits."""
    with pytest.raises(UsageError, match="no mutant is named"):
        choose(VIABLE, Wanted(only=(name,)))


def test_an_id_that_names_several() -> None:
    """Two ids with the same beginning."""
    twins = [replace(VIABLE[0], id="abcd00000000"), replace(VIABLE[1], id="abcd11111111")]
    with pytest.raises(UsageError, match="2 mutants are named"):
        choose(twins, Wanted(only=("abcd",)))


@given(st.integers(min_value=0, max_value=2**63 - 1), st.integers(min_value=1, max_value=len(VIABLE) + 3))
def test_a_sample_takes_turns(seed: int, most: int) -> None:
    """So many, in their order, the same each time; every kind has one before any kind has two."""
    chosen = choose(VIABLE, Wanted(most=most, seed=seed))
    assert len(chosen.mutants) == min(most, len(VIABLE))
    assert list(chosen.mutants) == [one for one in VIABLE if one in chosen.mutants]
    assert chosen == choose(VIABLE, Wanted(most=most, seed=seed))
    counts = {kind: n for kind, (n, _) in chosen.kinds.items()}
    full = max(counts.values())
    assert all(n >= full - 1 or n == chosen.kinds[kind][1] for kind, n in counts.items())


def test_a_larger_sample_holds_the_smaller_one() -> None:
    """Of one seed; and another seed draws others."""
    samples = [{one.id for one in choose(VIABLE, Wanted(most=most, seed=3)).mutants} for most in range(1, len(VIABLE))]
    assert all(small < large for small, large in pairwise(samples))
    drawn = {frozenset(one.id for one in choose(VIABLE, Wanted(most=N_KINDS, seed=seed)).mutants) for seed in range(20)}
    assert len(drawn) > 1


def test_a_mutant_more_moves_no_other_kind() -> None:
    """One list item less in the skill: of the other kinds the sample has what it had."""
    before = choose(VIABLE, Wanted(most=N_KINDS, seed=1)).mutants
    gone = next(one for one in VIABLE if one.kind is Kind.LIST_ITEM)
    after = choose([one for one in VIABLE if one is not gone], Wanted(most=N_KINDS, seed=1)).mutants
    assert [one for one in before if one.kind is not Kind.LIST_ITEM] == [
        one for one in after if one.kind is not Kind.LIST_ITEM
    ]
