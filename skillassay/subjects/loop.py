"""Our own agent loop: a model, the skills in one of the modes, and tools until it answers. Owns turns and their limit.

The candidate's request is made from the query, its files and the mode; the loop is never handed a case. The last turn
without tool calls is the answer; text beside a call is not.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

from skillassay.contract import CandidateTerms
from skillassay.errors import Reason, Stage, TrialError
from skillassay.models.base import Model, ModelReply, ModelRequest
from skillassay.plan import Mode
from skillassay.process import Isolation, Limits
from skillassay.prompts import PromptSkill, system_instruction, user_text
from skillassay.record import Spent
from skillassay.subjects.base import SubjectRequest, SubjectResult
from skillassay.tools import Catalog, ScriptPolicy, ToolBox, ToolSet, tool_declarations
from skillassay.transcript import ToolResult, ToolTurn, Transcript, Turn, Usage, UserTurn


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopSubject:
    """The agent loop over one model and one catalog. Holds no state of a trial."""

    model: Model
    terms: CandidateTerms
    catalog: Catalog
    prompt_skills: tuple[PromptSkill, ...]
    eager_scope: str
    isolation: Isolation
    policy: ScriptPolicy
    limits: Limits

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
            _lay_out(request, workspace)
            answer = self._converse(request, catalog, tools, said)
        except TrialError as error:
            said.n_attempts += error.n_attempts
            return said.result(tools, error=error)
        return said.result(tools, answer=answer, turn_limit=answer is None)

    def _catalog(self, request: SubjectRequest) -> Catalog:
        if request.mode is Mode.NONE:
            return Catalog(skills=())
        if request.mode is Mode.EAGER and self.eager_scope == "skill":
            return Catalog(skills=tuple(skill for skill in self.catalog.skills if skill.path == request.skill_path))
        return self.catalog

    def _converse(self, request: SubjectRequest, catalog: Catalog, tools: ToolBox, said: _Said) -> str | None:
        system = system_instruction(
            request.mode,
            general=self.terms.instructions,
            skills=self.prompt_skills,
            eager_scope=self.eager_scope,
            skill_path=request.skill_path,
        )
        declared = () if request.mode is Mode.NONE else tool_declarations(catalog, mode_tools=tools.tools)
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

    def add(self, reply: ModelReply) -> None:
        self.turns.append(reply.turn)
        self.n_attempts += reply.n_attempts
        self.usage = self.usage.plus(reply.usage)
        self.model = reply.model or self.model

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
            spent=Spent(n_calls=self.n_calls, n_attempts=self.n_attempts, usage=self.usage, model=self.model),
        )


def _first_turn(request: SubjectRequest) -> str:
    return user_text(request.query, [(file.name, file.text) for file in request.files])


def _lay_out(request: SubjectRequest, workspace: Path) -> None:
    """Copy the case's files into the trial's workspace, where scripts find them by the names the user gave."""
    for file in request.files:
        target = workspace / file.name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file.source, target)
        except OSError as error:
            message = f"{file.name} cannot be laid out: {error.strerror or error}"
            raise TrialError(message, reason=Reason.HARNESS_ERROR, stage=Stage.HARNESS) from error
