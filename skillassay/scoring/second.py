"""On how much a second judge had its say, of what the first judge was heard on, and why not on the rest. Pure.

A criterion counts where every sample of the first judge has words. The second judge has its word on it where all of its
samples have: PASS, FAIL or an abstention, which is told as a disagreement. A PASS on words that do not stand in the
answer is none. What has no score at all, for the first judge gave no words, is missing elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from skillassay.judging.samples import UNGROUNDED
from skillassay.runs.record import Sample, TrialRecord

FIRST, SECOND = "judge", "second"


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondWords:
    """``n`` of ``of`` criteria have the second judge's word; ``missing`` counts the others by reason."""

    n: int
    of: int
    missing: Mapping[str, int]


def second_words(records: Iterable[TrialRecord]) -> SecondWords | None:
    """What the second judge of a run had a word on; None where none was asked about anything."""
    sampled = [record.samples for record in records]
    if not any(sample.side == SECOND for samples in sampled for sample in samples):
        return None
    whys = [why for samples in sampled for why in _whys(samples)]
    missing = Counter(why for why in whys if why is not None)
    return SecondWords(n=whys.count(None), of=len(whys), missing=dict(sorted(missing.items())))


def _whys(samples: Sequence[Sample]) -> Iterator[str | None]:
    """For each criterion that the first judge was heard on: None, or why the second judge has no word on it."""
    for part in dict.fromkeys(sample.part for sample in samples):
        first, second = ([one for one in samples if (one.part, one.side) == (part, side)] for side in (FIRST, SECOND))
        if any(one.reason is not None for one in first):
            continue
        failed = next((one for one in second if one.reason is not None), None)
        for name in dict.fromkeys(word.id for one in first for word in one.words):
            words = [word.verdict for one in second for word in one.words if word.id == name]
            if failed is not None and failed.reason is not None:
                yield failed.reason.value + (f" ({failed.kind})" if failed.kind else "")
            elif len(words) < len(first):
                yield "not asked"
            else:
                yield "ungrounded" if UNGROUNDED in words else None
