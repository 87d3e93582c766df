"""What of a run was answered from the cache, and so not billed. Pure: rows in, counts out; prices are nobody's here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from skillassay.scoring.scores import Row
from skillassay.transcript import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Billing:
    """Model calls of candidate and judges together, those of them from the cache, and what these had used."""

    n_calls: int
    n_cached: int
    saved: Usage

    @property
    def tokens_saved(self) -> int | None:
        """The tokens that were not billed: 0 without a hit, None where a provider had not told them."""
        if not self.n_cached:
            return 0
        if self.saved.total_tokens is not None:
            return self.saved.total_tokens
        told = (self.saved.input_tokens, self.saved.output_tokens)
        return None if None in told else sum(count or 0 for count in (*told, self.saved.thought_tokens))


def billing_of(rows: Iterable[Row]) -> Billing:
    """Count over the records that stand for the planned trials."""
    n_calls = n_cached = 0
    saved = Usage()
    for row in rows:
        for spent in filter(None, (row.record.candidate, row.record.judge, row.record.second)):
            n_calls += spent.n_calls
            n_cached += spent.n_cached
            saved = saved.plus(spent.cached_usage)
    return Billing(n_calls=n_calls, n_cached=n_cached, saved=saved)
