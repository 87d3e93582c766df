"""Several words of a judge on one criterion, and those of a second judge, made one ruling or none. Pure.

Unanimous words are the verdict. Where they differ, nothing is averaged away: a critical criterion has no verdict then,
another one has that of a strict majority of all samples, and the ruling says that they differed. A tie is no verdict. A
PASS without grounds is no vote: whatever the other samples say, the criterion has no verdict. An abstention is one only
where every sample abstains; among other words it is a disagreement.

A second judge never decides alone. What it says otherwise leaves a critical criterion without a verdict; elsewhere the
first one's verdict stands, and the ruling says that they differed. No order of the samples changes a ruling's verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from skillassay.errors import Reason

PASS, FAIL, ABSTAIN, UNGROUNDED = WORDS = ("PASS", "FAIL", "ABSTAIN", "UNGROUNDED")
"""What a sample may come to on a criterion. UNGROUNDED is a PASS on words that do not stand in the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One sample's word on one criterion."""

    verdict: str
    evidence: str

    def __post_init__(self) -> None:
        if self.verdict not in WORDS:
            raise ValueError(f"verdict {self.verdict!r} is none of {', '.join(WORDS)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What a criterion comes to: PASS or FAIL with its evidence, or None and why. ``differed`` says that words did.

    ``words`` counts them in the order of :data:`WORDS`, for whoever reads why.
    """

    verdict: str | None
    evidence: str = ""
    why: Reason | None = None
    differed: bool = False
    words: str = ""

    def __post_init__(self) -> None:
        if (self.verdict in {PASS, FAIL}) != (self.why is None):
            raise ValueError(f"verdict {self.verdict} with reason {self.why}")


def combine(words: Sequence[Word], *, critical: bool) -> Ruling:
    """The ruling of one judge's samples on one criterion."""
    counts = Counter(word.verdict for word in words)
    if not counts:
        raise ValueError("a ruling without a word")
    told = ", ".join(f"{counts[word]} {word}" for word in WORDS if counts[word])
    if counts[UNGROUNDED]:
        return Ruling(verdict=None, why=Reason.UNGROUNDED, differed=len(counts) > 1, words=told)
    first, n_first = counts.most_common(1)[0]
    if len(counts) == 1 and first == ABSTAIN:
        return Ruling(verdict=None, why=Reason.JUDGE_ABSTAINED, words=told)
    differed = len(counts) > 1
    if differed and (critical or first == ABSTAIN or 2 * n_first <= len(words)):
        return Ruling(verdict=None, why=Reason.JUDGE_DISAGREED, differed=True, words=told)
    evidence = next(word.evidence for word in words if word.verdict == first)
    return Ruling(verdict=first, evidence=evidence, differed=differed, words=told)


def beside(first: Ruling, second: Ruling | Reason, *, critical: bool) -> Ruling:
    """The first judge's ruling beside the second's, or beside the reason for which the second has none at all."""
    if first.verdict is None:
        return first
    why = second if isinstance(second, Reason) else second.why
    if why is not None and why not in {Reason.JUDGE_ABSTAINED, Reason.JUDGE_DISAGREED}:
        # An error is no vote: it says nothing against the verdict, and on what is critical one judge is not enough.
        return Ruling(verdict=None, why=why, words=first.words) if critical else first
    assert isinstance(second, Ruling)
    differed = second.verdict != first.verdict
    if critical and (differed or second.differed):
        return Ruling(verdict=None, why=Reason.JUDGE_DISAGREED, differed=True, words=_beside(first, second))
    if differed or second.differed:
        return replace(first, differed=True, words=_beside(first, second))
    return first


def _beside(first: Ruling, second: Ruling) -> str:
    return f"{first.words}; the second judge {second.words}"
