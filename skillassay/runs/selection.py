"""Which cases a run asks: those that are named, and of these a seeded sample. Pure; owns the order of the draw.

A case's place in the draw is the SHA-256 of its canonical JSON ``[seed,"suite","case id"]`` (UTF-8); the
``n`` cases with the smallest digests, compared as lower-case hex, are drawn. In a shell::

    printf '%s' '[0,"quality","a"]' | sha256sum

No other case enters a case's digest: the order of the files changes nothing, one case more or less moves at most one
other, and a larger sample holds each smaller one of its seed. The seed chooses cases and nothing else. A model that
answers otherwise the second time does so under any seed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from skillassay.canonical import Json, canonical_bytes, sha256_hex
from skillassay.errors import UsageError

CaseKey = tuple[str, str]
DEFAULT_SEED = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The ``n`` cases drawn of the ``of`` that were selected. ``asked`` is how many were asked for."""

    asked: int
    n: int
    of: int
    seed: int
    cases: frozenset[CaseKey]

    @property
    def notice(self) -> str:
        """What is to be told before the run."""
        lead = f"a sample of {self.n} of {self.of} selected cases, seed {self.seed}"
        if self.asked > self.of:
            lead = f"a sample of {self.asked} was asked for and only {self.of} cases are selected: all of them run"
        return f"{lead}; a sample is no evidence and no baseline"

    def to_json(self) -> dict[str, Json]:
        """The field ``sample`` of a header."""
        return {"n": self.n, "of": self.of, "seed": self.seed}


def place_of(seed: int, key: CaseKey) -> str:
    """Where a (suite, case id) stands in the draw."""
    return sha256_hex(canonical_bytes([seed, *key]))


def draw(keys: Iterable[CaseKey], n: int | None, seed: int | None) -> Sample | None:
    """A sample of ``n`` of the selected cases, all where there are fewer; None where none is asked for."""
    if n is None:
        if seed is not None:
            raise UsageError(
                "--seed goes with --sample", hint="the seed chooses cases; it makes no model repeat itself"
            )
        return None
    seed = DEFAULT_SEED if seed is None else seed
    ordered = sorted(keys, key=lambda key: (place_of(seed, key), key))
    drawn = frozenset(ordered[:n])
    return Sample(asked=n, n=len(drawn), of=len(ordered), seed=seed, cases=drawn)


def is_named(path: str, wanted: Sequence[str]) -> bool:
    """Whether a skill is among those named by path or folder; no name means every skill."""
    return not wanted or path in wanted or path.rsplit("/", 1)[-1] in wanted


def names_of(paths: Iterable[str]) -> set[str]:
    """The names by which skills may be called: path and folder."""
    return {name for path in paths for name in (path, path.rsplit("/", 1)[-1])}


def refuse_unknown(wanted: Iterable[str], known: set[str], what: str) -> None:
    """Raise :class:`UsageError` for a name that nothing has."""
    for name in wanted:
        if name not in known:
            shown = ", ".join(sorted(known)[:20]) or "none"
            raise UsageError(f"there is no {what} {name!r}", hint=f"{what}s: {shown}")
