"""Which mutants of a skill are run. Owns the sample: seeded, over kinds, and the same for the same mutants.

Every mutant has a rank that the seed and its id alone decide, so that one more or less in the skill moves no other.
A sample takes turns: the first of each kind, then the second of each, until it is full. So it has every kind that it
has room for, and it is no simple random sample: a score over it is one of the mutants in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skillassay.canonical import digest_of
from skillassay.errors import UsageError
from skillassay.mutation.mutants import Kind, Mutant

MIN_PREFIX = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What of the mutants is asked for; empty selections mean everything."""

    kinds: tuple[Kind, ...] = ()
    only: tuple[str, ...] = ()
    most: int | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The mutants to run, in their order, of all ``n_viable``; ``kinds`` counts them by kind as (chosen, viable)."""

    mutants: tuple[Mutant, ...]
    n_viable: int
    kinds: Mapping[Kind, tuple[int, int]]

    @property
    def is_part(self) -> bool:
        """Whether some viable mutant is not run."""
        return len(self.mutants) < self.n_viable


def choose(viable: Sequence[Mutant], wanted: Wanted) -> Chosen:
    """The mutants that are asked for. Raises :class:`UsageError` for an id that none has, or several."""
    asked = [one for one in viable if not wanted.kinds or one.kind in wanted.kinds]
    if wanted.only:
        ids = {_named(viable, name) for name in wanted.only}
        asked = [one for one in asked if one.id in ids]
    if wanted.most is not None and wanted.most < len(asked):
        drawn = {one.id for one in _turns(asked, wanted.seed)[: wanted.most]}
        asked = [one for one in asked if one.id in drawn]
    counts = {kind: (_count(asked, kind), _count(viable, kind)) for kind in Kind}
    return Chosen(mutants=tuple(asked), n_viable=len(viable), kinds={k: v for k, v in counts.items() if v[1]})


def _count(mutants: Sequence[Mutant], kind: Kind) -> int:
    return sum(one.kind is kind for one in mutants)


def _named(viable: Sequence[Mutant], name: str) -> str:
    found = [one.id for one in viable if one.id == name or (len(name) >= MIN_PREFIX and one.id.startswith(name))]
    if len(found) != 1:
        what = "no mutant is" if not found else f"{len(found)} mutants are"
        raise UsageError(f"{what} named {name!r}", hint="--dry-run lists the mutants with their ids")
    return found[0]


def _turns(mutants: Sequence[Mutant], seed: int) -> list[Mutant]:
    """All of them: the first of each kind by rank, the second of each, and so on."""
    order = list(Kind)
    ranked = []
    for kind in order:
        own = sorted((one for one in mutants if one.kind is kind), key=lambda one: digest_of([seed, one.id]))
        ranked += [(turn, order.index(kind), one) for turn, one in enumerate(own)]
    return [one for _, _, one in sorted(ranked, key=lambda entry: entry[:2])]
