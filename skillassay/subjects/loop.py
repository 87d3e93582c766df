"""Our own agent loop: a model, the skills in one of the modes, and tools until it answers. Owns turns and their limit.

The candidate's request is made from the query, its files and the mode; the loop is never handed a case. The last turn
without tool calls is the answer; text beside a call is not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from skillassay.canonical import digest_of
from skillassay.contract import CandidateTerms
from skillassay.errors import Stage, TrialError
from skillassay.models.base import Model, ModelReply, ModelRequest
from skillassay.plan import Mode
from skillassay.process import Isolation, Limits
from skillassay.prompts import OlderCatalog, PromptSkill, system_instruction, user_text
from skillassay.record import Arm, Spent
from skillassay.subjects.base import SubjectRequest, SubjectResult, lay_out, seen_files
from skillassay.tools import Catalog, ScriptPolicy, ToolBox, ToolSet, tool_declarations
from skillassay.transcript import Tool, ToolResult, ToolTurn, Transcript, Turn, Usage, UserTurn


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopSubject:
    """The agent loop over one model and one catalog. Holds no state of a trial.

    ``previous`` maps a skill's path to the catalog of the mode ``previous`` for its cases.
    """

    model: Model
    terms: CandidateTerms
    catalog: Catalog
    prompt_skills: tuple[PromptSkill, ...]
    eager_scope: str
    isolation: Isolation
    policy: ScriptPolicy
    limits: Limits
    previous: Mapping[str, OlderCatalog] = field(default_factory=dict)

    def answer(self, request: SubjectRequest, workspace: Path) -> SubjectResult:
        """Answer one request; see :class:`skillassay.subjects.base.Subject`."""
        said = _Said(turns=[UserTurn(text=_first_turn(request))])
        catalog = self._catalog(request)
        tools = ToolBox(
            catalog=catalog,
            tools=ToolSet.EAGER if request.mode is Mode.EAGER else ToolSet.PROGRESSIVE,
            workspace=workspace,
            isolation=self.isolation,
            policy=self.policy,
            limits=self.limits,
        )
        try:
            lay_out(request.files, workspace)
            answer = self._converse(request, catalog, tools, said)
        except TrialError as error:
            said.n_attempts += error.n_attempts
            said.waited_s += error.waited_s
            said.usage = said.usage.plus(error.usage or Usage())
            return said.result(tools, error=error)
        return said.result(tools, answer=answer, turn_limit=answer is None)

    def _arm(self, request: SubjectRequest, catalog: Catalog, declared: Sequence[Tool]) -> Arm:
        terms = self.terms
        said = [terms.instructions, _first_turn(request), request.response_schema]
        parameters = [terms.temperature, terms.seed, request.max_output_tokens or terms.max_output_tokens]
        names = tuple(tool.name for tool in declared)
        return Arm(
            skills=tuple(skill.name for skill in catalog.skills),
            files=seen_files(request.files),
            tools=names,
            skill_tools=names,  # the loop offers none but for the sake of skills
            prompt=digest_of([*said, *parameters]),
        )

    def _catalog(self, request: SubjectRequest) -> Catalog:
        if request.mode is Mode.NONE:
            return Catalog(skills=())
        if request.mode is Mode.EAGER and self.eager_scope == "skill":
            return Catalog(skills=tuple(skill for skill in self.catalog.skills if skill.path == request.skill_path))
        return self._catalogs(request)[0]

    def _catalogs(self, request: SubjectRequest) -> tuple[Catalog, tuple[PromptSkill, ...]]:
        """The catalog and its texts, in ``previous`` with the older skill in the place of the one that it was."""
        older = self.previous.get(request.skill_path) if request.mode is Mode.PREVIOUS else None
        return (self.catalog, self.prompt_skills) if older is None else (older.catalog, older.prompt_skills)

    def _converse(self, request: SubjectRequest, catalog: Catalog, tools: ToolBox, said: _Said) -> str | None:
        system = system_instruction(
            request.mode,
            general=self.terms.instructions,
            skills=self._catalogs(request)[1],
            eager_scope=self.eager_scope,
            skill_path=request.skill_path,
        )
        declared = () if request.mode is Mode.NONE else tool_declarations(catalog, mode_tools=tools.tools)
        said.arm = self._arm(request, catalog, declared)
        for _ in range(self.terms.turn_limit):
            said.n_calls += 1
            reply = self.model.generate(
                ModelRequest(
                    system=system,
                    turns=tuple(said.turns),
                    tools=declared,
                    response_schema=request.response_schema,
                    temperature=self.terms.temperature,
                    max_output_tokens=request.max_output_tokens or self.terms.max_output_tokens,
                    seed=self.terms.seed,
                    timeout_s=self.terms.timeout_s,
                    stage=Stage.CANDIDATE,
                    slot=request.slot,
                    is_valid=_validity(request),
                )
            )
            said.add(reply)
            if not reply.turn.calls:
                return reply.turn.text
            results = tuple(
                ToolResult(name=call.name, id=call.id, response=tools.call(call.name, call.args))
                for call in reply.turn.calls
            )
            said.turns.append(ToolTurn(results=results))
        return None


@dataclass(slots=True)
class _Said:
    """What one trial has said and spent so far. ``n_calls`` counts calls begun, also those that never answered."""

    turns: list[Turn]
    n_calls: int = 0
    n_attempts: int = 0
    usage: Usage = field(default_factory=Usage)
    model: str | None = None
    n_cached: int = 0
    cached_usage: Usage = field(default_factory=Usage)
    waited_s: float = 0.0
    arm: Arm | None = None

    def add(self, reply: ModelReply) -> None:
        self.turns.append(reply.turn)
        self.n_attempts += reply.n_attempts
        self.waited_s += reply.waited_s
        self.usage = self.usage.plus(reply.usage)
        self.model = reply.model or self.model
        if reply.cached:
            self.n_cached += 1
            self.cached_usage = self.cached_usage.plus(reply.usage)

    def result(
        self, tools: ToolBox, *, answer: str | None = None, turn_limit: bool = False, error: TrialError | None = None
    ) -> SubjectResult:
        return SubjectResult(
            answer=answer,
            turn_limit=turn_limit,
            error=error,
            transcript=Transcript(turns=tuple(self.turns), n_calls=self.n_calls, usage=self.usage),
            activated=tuple(tools.activated),
            scripts=tuple(tools.scripts),
            spent=Spent(
                n_calls=self.n_calls,
                n_attempts=self.n_attempts,
                usage=self.usage,
                model=self.model,
                n_cached=self.n_cached,
                cached_usage=self.cached_usage,
                waited_s=round(self.waited_s, 3),
            ),
            arm=self.arm,
        )


def _validity(request: SubjectRequest) -> Callable[[ModelReply], bool] | None:
    """Whether a reply may be kept: a call always, an answer when it is one of the asked form."""
    asked = request.is_valid
    return None if asked is None else lambda reply: bool(reply.turn.calls) or asked(reply.turn.text)


def _first_turn(request: SubjectRequest) -> str:
    return user_text(request.query, [(file.name, file.text) for file in request.files])
