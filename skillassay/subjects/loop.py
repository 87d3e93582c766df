"""Our own agent loop: a model, the skills in one of the modes, and tools until it answers. Owns turns and their limit.

The candidate's request is made from the query, its files and the mode; the loop is never handed a case. The last turn
without tool calls is the answer; text beside a call is not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from skillassay.contract.contract import CandidateTerms
from skillassay.errors import Stage, TrialError
from skillassay.isolation.process import Isolation, Limits
from skillassay.models.base import Model, ModelReply, ModelRequest
from skillassay.prompts import Offered, system_instruction
from skillassay.runs.plan import Mode
from skillassay.runs.record import Arm, Spent
from skillassay.subjects.base import SubjectRequest, SubjectResult, lay_out
from skillassay.subjects.offering import Offering, SeenTools, arm_of, first_turn
from skillassay.tools import ScriptPolicy, ToolBox, ToolSet, tool_declarations
from skillassay.transcript import Tool, ToolResult, ToolTurn, Transcript, Turn, Usage, UserTurn


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopSubject:
    """The agent loop over one model and one catalog. Holds no state of a trial."""

    model: Model
    terms: CandidateTerms
    offering: Offering
    isolation: Isolation
    policy: ScriptPolicy
    limits: Limits

    def answer(self, request: SubjectRequest, workspace: Path) -> SubjectResult:
        """Answer one request; see :class:`skillassay.subjects.base.Subject`."""
        said = _Said(turns=[UserTurn(text=first_turn(request))])
        offered = self.offering.to(request)
        tools = ToolBox(
            catalog=offered.catalog,
            tools=ToolSet.EAGER if request.mode is Mode.EAGER else ToolSet.PROGRESSIVE,
            workspace=workspace,
            isolation=self.isolation,
            policy=self.policy,
            limits=self.limits,
        )
        try:
            lay_out(request.files, workspace)
            answer = self._converse(request, offered, tools, said)
        except TrialError as error:
            said.n_attempts += error.n_attempts
            said.waited_s += error.waited_s
            said.usage = said.usage.plus(error.usage or Usage())
            return said.result(tools, error=error)
        return said.result(tools, answer=answer, turn_limit=answer is None)

    def _arm(self, request: SubjectRequest, offered: Offered, declared: Sequence[Tool], *, system: str) -> Arm:
        """From what is sent: of the system text all but what stands behind the general instructions for skills."""
        general = system if request.mode is Mode.NONE else system[: len(self.terms.instructions)]
        names = tuple(tool.name for tool in declared)  # none is offered but for the sake of skills
        tools = SeenTools(all=names, of_skills=names)
        return arm_of(request, self.terms, offered, tools, said=[general, first_turn(request)])

    def _converse(self, request: SubjectRequest, offered: Offered, tools: ToolBox, said: _Said) -> str | None:
        system = system_instruction(
            request.mode,
            general=self.terms.instructions,
            skills=offered.prompt_skills,
            eager_scope=self.offering.eager_scope,
            skill_path=request.skill_path,
        )
        declared = tool_declarations(offered.catalog, mode_tools=tools.tools)
        said.arm = self._arm(request, offered, declared, system=system)
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
