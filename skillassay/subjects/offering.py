"""What a candidate is offered in each mode, and what its arm says of it. Owns the choice; every subject asks here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from skillassay.canonical import digest_of
from skillassay.contract.contract import CandidateTerms
from skillassay.prompts import Offered, PromptSkill, user_text
from skillassay.runs.plan import Mode
from skillassay.runs.record import Arm
from skillassay.subjects.base import SubjectRequest, seen_files
from skillassay.tools import Catalog

NOTHING = Offered(catalog=Catalog(skills=()), prompt_skills=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Offering:
    """The catalog of a run. ``previous`` maps a skill's path to the catalog with that skill in its earlier state,
    ``placebo`` to the one with its placebo."""

    catalog: Catalog
    prompt_skills: tuple[PromptSkill, ...]
    eager_scope: str
    previous: Mapping[str, Offered] = field(default_factory=dict)
    placebo: Mapping[str, Offered] = field(default_factory=dict)

    @property
    def catalogs(self) -> tuple[Catalog, ...]:
        """Every catalog that a trial may be offered."""
        others = (*self.previous.values(), *self.placebo.values())
        return (self.catalog, *(offered.catalog for offered in others))

    def to(self, request: SubjectRequest) -> Offered:
        """What a trial of this mode is offered: all skills, none, the case's alone, or one as it was or a placebo."""
        if request.mode is Mode.NONE:
            return NOTHING
        if request.mode is Mode.PREVIOUS and request.skill_path in self.previous:
            return self.previous[request.skill_path]
        if request.mode is Mode.PLACEBO:
            return self.placebo[request.skill_path]  # the skill itself in its place would be a false answer
        alone = request.mode is Mode.EAGER and self.eager_scope == "skill"
        return Offered(
            catalog=Catalog(skills=tuple(s for s in self.catalog.skills if not alone or s.path == request.skill_path)),
            prompt_skills=tuple(s for s in self.prompt_skills if not alone or s.path == request.skill_path),
        )


def first_turn(request: SubjectRequest) -> str:
    """The user turn: the query and the files that came with it."""
    return user_text(request.query, [(file.name, file.text) for file in request.files])


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenTools:
    """The names of all tools at hand, and of those that exist for the sake of skills."""

    all: tuple[str, ...]
    of_skills: tuple[str, ...]


def arm_of(
    request: SubjectRequest, terms: CandidateTerms, offered: Offered, tools: SeenTools, *, said: Sequence[str]
) -> Arm:
    """What a candidate could see. ``said`` is what it was told apart from the skills, as it was told."""
    parameters = [terms.temperature, terms.seed, request.max_output_tokens or terms.max_output_tokens]
    return Arm(
        skills=tuple(skill.name for skill in offered.catalog.skills),
        files=seen_files(request.files),
        tools=tools.all,
        skill_tools=tools.of_skills,
        prompt=digest_of([*said, request.response_schema, *parameters]),
    )
