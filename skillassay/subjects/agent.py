"""A command-line agent as the candidate: a fresh home and workspace a trial, skills laid out by mode, its output read.

The agent brings its own loop, tools and retries; what is ours is what it finds and what it is asked. The contract's
instructions stand in its context file and the query on its command line, the same bytes in every mode. The user's
files lie in the workspace and are named in the query. A trial may take ``timeout_s`` for each of its ``turn_limit``
turns; an agent that can be told the limit is told. Attempts are those seen: what it retried by itself it does not tell.

A script counts as run when a command calls it (see :mod:`skillassay.agents.commands`) and the agent tells no failure.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

from skillassay.agents.base import Agent, Ask, Told, text_of
from skillassay.agents.commands import called_paths
from skillassay.agents.ending import final_answer, refuse_other_model
from skillassay.agents.launching import (
    HOME,
    Access,
    Place,
    Program,
    access_from_environment,
    build_access,
    find_program,
    run_trial,
    temporary_folder,
)
from skillassay.contract.contract import CandidateTerms
from skillassay.errors import EnvironmentFault, Reason, Stage, TrialError, UsageError
from skillassay.isolation.process import Isolation
from skillassay.models.base import Addressed, Model
from skillassay.models.endpoint import PUBLIC_ENDPOINTS
from skillassay.models.naming import AGENT
from skillassay.prompts import Offered, user_text
from skillassay.runs.plan import BY_TOOLS, Mode
from skillassay.runs.record import Arm, Spent
from skillassay.subjects.base import SubjectRequest, SubjectResult
from skillassay.subjects.equipment import equip, laid_apart, refuse_imports
from skillassay.subjects.offering import Offering, SeenTools, arm_of
from skillassay.tools import Catalog
from skillassay.transcript import ModelTurn, ToolCall, ToolTurn, Transcript, UserTurn

SCHEMA_FORM = """\


Your whole answer must be one JSON object that is valid under this JSON Schema, with nothing before or after it:
{schema}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """An agent that can be started here: its program, what it is told as its model, and its access to that."""

    agent: Agent
    program: Program
    model: str | None
    access: Access
    is_estimated: bool

    @property
    def expected(self) -> str | None:
        """The model that must answer; authored answers have a name of their own."""
        return None if self.is_estimated else self.model


def reach_agent(agent: Agent, direct: Model) -> Reached:
    """What ``agent`` needs to ask the candidate's model by itself.

    Raises :class:`UsageError` for a model that it cannot ask, :class:`EnvironmentFault` without its program or key.
    """
    program = find_program(agent)
    identity = direct.identity
    if not agent.providers:
        name, _, model = identity.name.partition("/")
        if (identity.provider, name) != (AGENT, agent.name):
            message = f"{agent.name} asks its own models, so it cannot be a run on {identity.label}"
            raise UsageError(message, hint=f"write --model agent:{agent.name} or --model agent:{agent.name}/MODEL")
        access = access_from_environment(name for name in (agent.key_variable, agent.url_variable) if name)
        if agent.key_variable and agent.key_variable not in access.env:
            hint = "a trial has a home of its own, without the user's login"
            raise EnvironmentFault(f"{agent.name} has no key: {agent.key_variable} is not set", hint=hint)
        if agent.url_variable and agent.public_url:  # said, so that no file of a project can say another one
            access = replace(access, env={agent.url_variable: agent.public_url, **access.env})
        return Reached(agent=agent, program=program, model=model or None, access=access, is_estimated=False)
    address = direct.address if isinstance(direct, Addressed) else None
    if address is None or address.provider not in agent.providers:
        message = f"{agent.name} cannot ask {identity.label} by itself"
        raise UsageError(message, hint=f"it asks models of {', '.join(sorted(agent.providers))}")
    own = access_from_environment(agent.variables)
    # Said even where it is the public one: a program that finds none may take it from a file of the project.
    url = address.base_url or PUBLIC_ENDPOINTS[address.provider]
    given = {agent.key_variable: address.api_key, agent.url_variable: url}
    env = {**own.env, **{name: value for name, value in given.items() if name}}
    access = build_access(env, address.api_key)
    return Reached(agent=agent, program=program, model=address.name, access=access, is_estimated=identity.is_fixture)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSubject:
    """See the module. Holds no state of a trial."""

    reached: Reached
    terms: CandidateTerms
    offering: Offering
    isolation: Isolation

    def answer(self, request: SubjectRequest, workspace: Path) -> SubjectResult:
        """Answer one request; see :class:`skillassay.subjects.base.Subject`."""
        agent, shown, query = self.reached.agent, self.offering.to(request), _query(request)
        seen = SubjectResult(transcript=Transcript(turns=(UserTurn(text=query),)))
        try:
            if agent.commands_at and query.startswith(agent.commands_at):
                message = f"{agent.name} takes a query that begins with {agent.commands_at} as a command to itself"
                raise TrialError(message, reason=Reason.MISSING_CAPABILITY, stage=Stage.HARNESS)
            refuse_imports(agent, query, request.files)
            equip(
                agent, request.mode, shown,
                instructions=self.terms.instructions, files=request.files, workspace=workspace,
            )  # fmt: skip
            # Before it runs: what it writes itself is no part of what it was given.
            laid = laid_apart(agent, request.mode, workspace, instructions=self.terms.instructions)
            return self._run(request, _Given(shown=shown, query=query, laid=tuple(laid)), workspace)
        except TrialError as error:
            return replace(seen, error=error)
        except EnvironmentFault as fault:
            unable = TrialError(fault.message, reason=Reason.MISSING_CAPABILITY, stage=Stage.HARNESS)
            return replace(seen, error=unable)

    def _run(self, request: SubjectRequest, given: _Given, workspace: Path) -> SubjectResult:
        reached, terms = self.reached, self.terms
        launch = reached.agent.trial(
            Ask(
                query=given.query,
                settings=HOME,
                model=reached.model,
                offers_skills=_offers_skills(request.mode) and bool(given.shown.catalog.skills),
                turn_limit=terms.turn_limit,
                temperature=terms.temperature,
                max_output_tokens=request.max_output_tokens or terms.max_output_tokens,
                seed=terms.seed,
            )
        )
        timeout_s = terms.timeout_s * terms.turn_limit
        with temporary_folder() as home:
            place = Place(home=home, workspace=workspace, level=self.isolation)
            result = run_trial(reached.program, launch, place, access=reached.access, timeout_s=timeout_s)
        told = reached.agent.read(result.stdout)
        seen = self._seen(request, given, told)
        # What it took counts first: a limit told by a program that was stopped for its time would be its last word.
        is_limit = told.turn_limit and not result.timed_out and not result.truncated
        try:
            if is_limit:
                refuse_other_model(reached.agent, told, reached.expected, stage=Stage.CANDIDATE)
                return replace(seen, turn_limit=True)
            answer = final_answer(reached.agent, result, told, stage=Stage.CANDIDATE, model=reached.expected)
            return replace(seen, answer=answer)
        except TrialError as error:
            return replace(seen, error=error)

    def _seen(self, request: SubjectRequest, given: _Given, told: Told) -> SubjectResult:
        usage = replace(told.usage, estimated=self.reached.is_estimated)
        done = _successful_calls(told)
        return SubjectResult(
            transcript=Transcript(turns=(UserTurn(text=given.query), *told.turns), n_calls=usage.n_calls, usage=usage),
            activated=_activated(self.reached.agent, done),
            scripts=_scripts(self.reached.agent, done, given.shown.catalog),
            spent=Spent(n_calls=usage.n_calls, n_attempts=usage.n_calls, usage=usage, model=told.model),
            arm=self._arm(request, given, told),
        )

    def _arm(self, request: SubjectRequest, given: _Given, told: Told) -> Arm:
        """What it could see: its tools where it tells them, else the tool for skills, which is all we know then."""
        tool = self.reached.agent.skill_tool
        offered = (tool[0],) if tool is not None and _offers_skills(request.mode) else ()
        tools = SeenTools(
            all=told.tools if told.tools is not None else offered,
            of_skills=tuple(name for name in offered if told.tools is None or name in told.tools),
        )
        return arm_of(request, self.terms, given.shown, tools, said=[*given.laid, given.query])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """What one trial gives the agent: the skills, the query, and what lies in its workspace apart from the skills."""

    shown: Offered
    query: str
    laid: tuple[str, ...]


def _offers_skills(mode: Mode) -> bool:
    return mode in BY_TOOLS


def _query(request: SubjectRequest) -> str:
    """What is on the command line: the query, the names of the files in the workspace, the form that is asked for."""
    text = user_text(request.query, [(file.name, None) for file in request.files])
    if request.response_schema is None:
        return text
    return text + SCHEMA_FORM.format(schema=json.dumps(request.response_schema, ensure_ascii=False))


def _successful_calls(told: Told) -> tuple[ToolCall, ...]:
    results = [result for turn in told.turns if isinstance(turn, ToolTurn) for result in turn.results]
    done = {result.id for result in results if result.response.get("status") == "success"}
    calls = [call for turn in told.turns if isinstance(turn, ModelTurn) for call in turn.calls]
    return tuple(call for call in calls if call.id in done)


def _activated(agent: Agent, calls: tuple[ToolCall, ...]) -> tuple[str, ...]:
    if agent.skill_tool is None:
        return ()
    tool, argument = agent.skill_tool
    return tuple(dict.fromkeys(str(call.args.get(argument)) for call in calls if call.name == tool))


def _scripts(agent: Agent, calls: tuple[ToolCall, ...], catalog: Catalog) -> tuple[str, ...]:
    called = [
        path
        for call in calls
        if call.name in agent.shell_tools
        for path in called_paths(text_of(call.args, "command"), folder=text_of(call.args, "dir_path"))
    ]
    return tuple(
        f"{skill.name}/{script}"
        for path in called
        for skill in catalog.skills
        for script in skill.scripts
        if f"/{path}".endswith(f"/{skill.name}/{script}")
    )
