"""What several words on one criterion come to: by hand where it is few, as a property over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product

import pytest

from skillassay.errors import Reason
from skillassay.judging.samples import WORDS, Ruling, Word, beside, combine

P, F, A, U = WORDS


def words(*verdicts: str) -> list[Word]:
    """Words whose evidence says which sample they are."""
    return [Word(verdict=verdict, evidence=str(number)) for number, verdict in enumerate(verdicts)]


def come_to(verdicts: Sequence[str], *, critical: bool) -> tuple[str | None, Reason | None, bool]:
    """Verdict, reason and whether the words differed."""
    found = combine(words(*verdicts), critical=critical)
    return found.verdict, found.why, found.differed


OPEN = (None, Reason.JUDGE_DISAGREED, True)


@pytest.mark.parametrize(
    ("verdicts", "critical", "expected"),
    [
        ((P,), True, (P, None, False)),
        ((F, F, F), True, (F, None, False)),
        ((A, A), False, (None, Reason.JUDGE_ABSTAINED, False)),
        ((P, P, F), False, (P, None, True)),
        ((P, F, F), False, (F, None, True)),
        ((P, P, F), True, OPEN),
        ((F, F, P), True, OPEN),
        ((P, F), False, OPEN),
        ((P, P, F, F), False, OPEN),
        ((P, P, F, A), False, OPEN),  # two of four are no strict majority
        ((P, P, P, A), False, (P, None, True)),
        ((A, A, P), False, OPEN),  # most abstain, and not all
        ((P, A), True, OPEN),
        ((U, P, P), False, (None, Reason.UNGROUNDED, True)),
        ((U,), False, (None, Reason.UNGROUNDED, False)),
    ],
)
def test_what_words_come_to(verdicts: tuple[str, ...], critical: bool, expected: object) -> None:
    """Unanimous, split, tied, abstaining, invented."""
    assert come_to(verdicts, critical=critical) == expected


def test_no_word_is_no_ruling() -> None:
    """Nobody passes by being asked about nothing."""
    with pytest.raises(ValueError, match="without a word"):
        combine([], critical=False)


EVERY = [verdicts for n in range(1, 6) for verdicts in product(WORDS, repeat=n)]


def test_only_unanimous_words_pass_or_fail_what_is_critical() -> None:
    """Over all words of up to five samples: PASS exactly where all say PASS, and FAIL where all say FAIL."""
    for verdicts in EVERY:
        verdict, *_ = come_to(verdicts, critical=True)
        assert (verdict == P) == (set(verdicts) == {P})
        assert (verdict == F) == (set(verdicts) == {F})


def test_elsewhere_a_verdict_has_more_than_half_of_all_samples() -> None:
    """And none of them is invented; whatever has so many is the verdict."""
    for verdicts in EVERY:
        verdict, *_ = come_to(verdicts, critical=False)
        most = [word for word in (P, F) if 2 * verdicts.count(word) > len(verdicts) and U not in verdicts]
        assert verdict == (most[0] if most else None)


@pytest.mark.parametrize("critical", [True, False])
def test_the_order_of_samples_changes_nothing(critical: bool) -> None:
    """Every order of every multiset of up to four samples comes to the same."""
    for verdicts in (one for one in EVERY if len(one) < 5):
        found = {come_to(order, critical=critical) for order in permutations(verdicts)}
        assert len(found) == 1


def ruling(*verdicts: str, critical: bool = False) -> Ruling:
    """One judge's ruling."""
    return combine(words(*verdicts), critical=critical)


def test_two_judges_pass_what_is_critical_only_where_every_word_does() -> None:
    """Over all words of up to three samples each."""
    few = [verdicts for n in range(1, 4) for verdicts in product(WORDS, repeat=n)]
    for first, second in product(few, repeat=2):
        found = beside(ruling(*first, critical=True), ruling(*second, critical=True), critical=True)
        assert (found.verdict == P) == ({*first, *second} == {P})
        assert (found.verdict == F) == ({*first, *second} == {F})


def test_a_second_judge_never_decides_alone() -> None:
    """On what is not critical the first one's verdict is never another for it, and never made where there was none."""
    few = [verdicts for n in range(1, 4) for verdicts in product(WORDS, repeat=n)]
    for first, second in product(few, repeat=2):
        alone = ruling(*first)
        assert beside(alone, ruling(*second), critical=False).verdict == alone.verdict


@pytest.mark.parametrize("reason", [Reason.PROVIDER_ERROR, Reason.MISSING_CAPABILITY, Reason.CONTRACT_ERROR])
def test_a_second_judge_without_a_word(reason: Reason) -> None:
    """Its own reason leaves what is critical open; elsewhere the first verdict stands, and nobody differed."""
    assert beside(ruling(P, critical=True), reason, critical=True).why is reason
    assert beside(ruling(P), reason, critical=False) == ruling(P)


def test_a_difference_of_judges_is_told() -> None:
    """In counts of words, for whoever looks at it."""
    found = beside(ruling(P, P), ruling(F, F), critical=False)
    assert (found.verdict, found.differed, found.words) == (P, True, "2 PASS; the second judge 2 FAIL")
