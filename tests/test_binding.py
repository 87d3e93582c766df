"""The digests of the fixed prompts are those of the texts."""

from __future__ import annotations

from skillassay import judge, prompts
from skillassay.binding import FIXED_PROMPTS
from skillassay.contract import Prompts


def test_the_written_digests_are_those_of_the_texts() -> None:
    """Changing a prompt without its digest would let old evidence stand for a new experiment."""
    assert Prompts(candidate=prompts.prompt_digest(), judge=judge.prompt_digest()) == FIXED_PROMPTS
