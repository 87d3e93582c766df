"""A command-line agent as a judge (``agent:NAME[/MODEL]``), for authors who have no key but an agent that is logged in.

It runs with the user's own home, because the login lies there, from an empty folder, and with its tools and skills off
as far as its options go. Its final answer is the reply as it stands, read by the same strict reader as any other: a
fence around it, or a word before it, is a ``contract_error``. A judge that called a tool has judged something else.

An agent that puts files in where its prompt says ``@path`` would do so for a judged answer that says it. So the
document has ``\\u0040`` for each ``@``, which is the same document.

It has no schema of its own to hand over, so the schema is part of the prompt. It is a judge and nothing else: a request
with tools or with several turns is refused.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from skillassay.agents.base import Agent, Ask, Launch
from skillassay.agents.ending import final_answer
from skillassay.agents.known import AGENTS
from skillassay.agents.launching import (
    Access,
    Program,
    access_from_environment,
    find_program,
    run_judge,
    temporary_folder,
)
from skillassay.canonical import JsonProblem, parse_json
from skillassay.errors import EnvironmentFault, Reason, Stage, TrialError, UsageError
from skillassay.models.base import ModelIdentity, ModelReply, ModelRequest
from skillassay.models.naming import AGENT
from skillassay.transcript import ModelTurn, ToolTurn, UserTurn

FORM = """\
Your whole reply must be one JSON object that is valid under the JSON Schema below. Its first character is {{ and its
last is }}: no Markdown fence, no heading, no remark, nothing before it and nothing after it. Use no tool, open no file.

JSON Schema: {schema}"""


def load_agent_model(name: str) -> AgentModel:
    """Open the agent ``NAME[/MODEL]``. Raises :class:`UsageError` for one that cannot judge, :class:`EnvironmentFault`
    where its program is missing.
    """
    agent_name, _, model = name.partition("/")
    agent = AGENTS.get(agent_name)
    if agent is None or agent.judge is None:
        judges = ", ".join(f"agent:{item.name}" for item in AGENTS.values() if item.judge)
        raise UsageError(f"there is no judge agent:{agent_name}", hint=f"judges: {judges}, each also with /MODEL")
    access = access_from_environment(agent.login_variables)
    return AgentModel(agent=agent, name=name, model=model or None, program=find_program(agent), access=access)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentModel:
    """See the module. ``name`` is as written behind ``agent:``; ``model`` is what the agent is told, if anything."""

    agent: Agent
    name: str
    model: str | None
    program: Program
    access: Access = field(repr=False)

    @property
    def identity(self) -> ModelIdentity:
        """The agent, and its model where one is named. Where it asks is the agent's affair."""
        return ModelIdentity(provider=AGENT, name=self.name, endpoint=None, is_fixture=False)

    @property
    def notice(self) -> str:
        """What must be said before a run with it; "" for nothing."""
        text = self.agent.personal_text
        if text is None or not (Path.home() / text).is_file():
            return self.agent.note
        return f"the judge {self.agent.name} also reads ~/{text}, which it cannot be told to leave out"

    def generate(self, request: ModelRequest) -> ModelReply:
        """Answer ``request``; see :meth:`skillassay.models.base.Model.generate`."""
        stage = request.stage
        query = _only_text(request)
        if self.agent.imports_at:
            query = _without_at(query, stage)
        with temporary_folder() as folder:
            try:
                launch = self._launch(request, query, settings=str(folder))
                result = run_judge(self.program, launch, folder, access=self.access, timeout_s=request.timeout_s)
            except EnvironmentFault as fault:
                raise TrialError(fault.message, reason=Reason.MISSING_CAPABILITY, stage=stage) from fault
        told = self.agent.read(result.stdout)
        text = final_answer(self.agent, result, told, stage=stage, model=self.model)
        if any(isinstance(turn, ToolTurn) or (isinstance(turn, ModelTurn) and turn.calls) for turn in told.turns):
            raise TrialError(
                f"{self.agent.name} called a tool instead of judging by the text alone",
                reason=Reason.CONTRACT_ERROR, stage=stage, kind="unexpected_tool_call",
            )  # fmt: skip
        return ModelReply(turn=ModelTurn(text=text), usage=told.usage, model=told.model)

    def _launch(self, request: ModelRequest, query: str, *, settings: str) -> Launch:
        assert self.agent.judge is not None
        system = request.system
        if request.response_schema is not None:
            schema = json.dumps(request.response_schema, ensure_ascii=False)
            system = f"{system}\n\n{FORM.format(schema=schema)}"
        return self.agent.judge(
            Ask(
                query=query,
                system=system,
                settings=settings,
                model=self.model,
                temperature=request.temperature,
                max_output_tokens=request.max_output_tokens,
                seed=request.seed,
            )
        )

    def close(self) -> None:
        """Nothing stays open between two calls."""


def _only_text(request: ModelRequest) -> str:
    turn = request.turns[0] if len(request.turns) == 1 and not request.tools else None
    if not isinstance(turn, UserTurn):
        message = "a command-line agent as a model takes one text and no tools: it can only be the judge"
        raise TrialError(message, reason=Reason.MISSING_CAPABILITY, stage=request.stage)
    return turn.text


def _without_at(text: str, stage: Stage) -> str:
    """The same JSON document without the sign. Raises :class:`TrialError` for a text that is none."""
    if "@" in text:
        try:
            parse_json(text)
        except JsonProblem as problem:
            message = "the agent would take an @ in what it is asked as the name of a file to put in"
            raise TrialError(message, reason=Reason.MISSING_CAPABILITY, stage=stage) from problem
    return text.replace("@", "\\u0040")
