"""What an average hides, taken apart: slices, repeats, behaviour matrices. Puts them together, computes none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from skillassay.contract.contract import SliceTerms
from skillassay.scoring.matrices import Matrix, over_refusal, unsafe_compliance
from skillassay.scoring.repeats import RepeatReport, build_repeats
from skillassay.scoring.scores import Row
from skillassay.scoring.slices import SliceReport, build_slices
from skillassay.suites.traits import Traits

CaseKey = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """Facts about the cases, by (suite, case id), and what the contract says of slices, by name.

    ``slices`` has every case of the suites that is in one, planned now or not.
    """

    slices: Mapping[CaseKey, str] = field(default_factory=dict)
    parts: Mapping[CaseKey, str] = field(default_factory=dict)
    traits: Mapping[CaseKey, Traits] = field(default_factory=dict)
    slice_terms: Mapping[str, SliceTerms] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdown:
    """A run, taken apart. A matrix is None without a case for it."""

    slices: tuple[SliceReport, ...]
    repeats: RepeatReport
    unsafe_compliance: Matrix | None
    over_refusal: Matrix | None

    @property
    def matrices(self) -> tuple[Matrix, ...]:
        """Those that there are."""
        return tuple(matrix for matrix in (self.unsafe_compliance, self.over_refusal) if matrix is not None)


def build_breakdown(rows: Sequence[Row], about: About, *, n_repeats: int) -> Breakdown:
    """Take a run apart."""
    return Breakdown(
        slices=build_slices(rows, slices=about.slices, terms=about.slice_terms, traits=about.traits),
        repeats=build_repeats(rows, n_repeats),
        unsafe_compliance=unsafe_compliance(rows, about.traits, about.parts),
        over_refusal=over_refusal(rows, about.traits, about.parts),
    )
