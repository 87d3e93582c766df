"""The digests of the fixed prompts are those of the texts."""

from __future__ import annotations

from skillassay import prompts
from skillassay.canonical import digest_of
from skillassay.contract.contract import Prompts
from skillassay.judging import behavior, judge
from skillassay.locks.binding import FIXED_PROMPTS


def test_the_written_digests_are_those_of_the_texts() -> None:
    """Changing a prompt without its digest would let old evidence stand for a new experiment."""
    both = digest_of([judge.prompt_digest(), behavior.prompt_digest()])
    assert Prompts(candidate=prompts.prompt_digest(), judge=both) == FIXED_PROMPTS
