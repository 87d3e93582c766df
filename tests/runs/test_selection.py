"""The draw of cases: its order to the byte, and what moves it."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.errors import UsageError
from skillassay.runs.plan import ALL_MODES, build_plan
from skillassay.runs.selection import CaseKey, draw, place_of
from tests.trials import planned_case

KEYS = st.frozensets(st.tuples(st.sampled_from(["s", "t"]), st.text('abcé"', min_size=1, max_size=3)), min_size=1)
SEEDS = st.integers(0, 2**63 - 1)


def drawn(keys: frozenset[CaseKey], n: int, seed: int = 0) -> frozenset[CaseKey]:
    """The cases of a sample."""
    found = draw(keys, n, seed)
    assert found is not None
    return found.cases


def test_a_place_is_the_digest_that_a_shell_computes() -> None:
    """SHA-256 of the canonical JSON, as the module says."""
    assert place_of(0, ("quality", "a")) == hashlib.sha256(b'[0,"quality","a"]').hexdigest()
    assert place_of(7, ("s", "é")) == hashlib.sha256('[7,"s","é"]'.encode()).hexdigest()


def test_the_smallest_digests_are_drawn() -> None:
    """By definition, with hashlib alone."""
    keys = frozenset(("s", f"c{index}") for index in range(20))
    ordered = sorted(keys, key=lambda key: hashlib.sha256(f'[3,"s","{key[1]}"]'.encode()).hexdigest())
    assert drawn(keys, 4, seed=3) == frozenset(ordered[:4])


@given(keys=KEYS, n=st.integers(1, 9), seed=SEEDS)
def test_a_sample_is_never_empty_and_never_more_than_there_are(keys: frozenset[CaseKey], n: int, seed: int) -> None:
    """N, or all where there are fewer."""
    assert len(drawn(keys, n, seed)) == min(n, len(keys))
    assert drawn(keys, n, seed) <= keys


@given(keys=KEYS, n=st.integers(1, 9), seed=SEEDS)
def test_one_case_more_moves_at_most_one(keys: frozenset[CaseKey], n: int, seed: int) -> None:
    """The new case takes one place or none."""
    before, after = drawn(keys, n, seed), drawn(keys | {("u", "new")}, n, seed)
    assert len(before - after) <= 1
    assert after - before <= {("u", "new")}


@given(keys=KEYS, n=st.integers(1, 9), seed=SEEDS)
def test_a_larger_sample_holds_the_smaller(keys: frozenset[CaseKey], n: int, seed: int) -> None:
    """So that a run can be widened without leaving a case."""
    assert drawn(keys, n, seed) <= drawn(keys, n + 1, seed)


def test_another_seed_draws_others() -> None:
    """Over ten seeds not one and the same half of twenty cases."""
    keys = frozenset(("s", f"c{index}") for index in range(20))
    assert len({drawn(keys, 10, seed) for seed in range(10)}) > 1


def test_a_seed_without_a_sample_is_refused() -> None:
    """It would change nothing, and look as if it did."""
    assert draw([("s", "a")], None, None) is None
    with pytest.raises(UsageError, match="--seed goes with --sample"):
        draw([("s", "a")], None, 1)


@pytest.mark.parametrize("is_sample", [True, False])
def test_a_sample_covers_no_skill_whole(is_sample: bool) -> None:
    """Not even one of which chance drew every case."""
    cases = [planned_case("a"), planned_case("b")]
    chosen = frozenset((item.case.suite, item.case.id) for item in cases)
    plan = build_plan(cases, chosen=chosen, modes=ALL_MODES, repeats=1, is_sample=is_sample)
    assert bool(plan.whole_skills) is not is_sample
    assert bool(plan.partial_skills) is is_sample
