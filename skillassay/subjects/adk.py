"""Google's ADK as a subject: its Runner, its LlmAgent and its SkillToolset, in this process. Owns what a mode is there.

progressive   SkillToolset as an ADK user gets it: the catalog through ``list_skills`` (LAZY), scripts in our isolation
previous      the same with one skill as it was
none          the agent without a toolset
eager         our eager text as the instruction, and of the toolset ``run_skill_script`` alone, where a script is there

What is told of a trial comes from the replies' bytes (:mod:`adk_model`) and from ADK's function responses. An answer
without text is the answer "", as in our own loop, though ADK calls it an error of its own. ADK is asynchronous: each
answer has an event loop of its own, so that any number of threads may ask.
"""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from google.adk.agents import LlmAgent, RunConfig
from google.adk.agents.invocation_context import LlmCallsLimitExceededError
from google.adk.runners import InMemoryRunner
from google.adk.tools import BaseTool
from google.adk.tools.skill_toolset import RunSkillScriptTool, SkillToolset
from google.genai import types

from skillassay.canonical import digest_of
from skillassay.contract import CandidateTerms
from skillassay.errors import Reason, Stage, TrialError
from skillassay.gemini_wire import ordered_schema
from skillassay.isolation import Isolation, Limits
from skillassay.plan import Mode
from skillassay.prompts import OlderCatalog, PromptSkill, system_instruction, user_text
from skillassay.record import Arm, Spent
from skillassay.subjects.adk_model import Line, Watch, WatchedGemini, broken_harness
from skillassay.subjects.adk_scripts import IsolatedExecutor, ScriptRoom
from skillassay.subjects.adk_skills import AdkCatalog
from skillassay.subjects.base import SubjectRequest, SubjectResult, lay_out, seen_files
from skillassay.tools import LOAD_SKILL, RUN_SCRIPT, Catalog, ScriptPolicy
from skillassay.transcript import ModelTurn, ToolResult, ToolTurn, Transcript, UserTurn

AGENT = "assistant"
"""The agent's name, which ADK tells the model; a word that says nothing of skills."""
_APP, _USER = "skillassay", "user"
_OWN_IDS = "adk-"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdkSubject:
    """ADK over one model and one catalog. Holds no state of a trial."""

    line: Line
    terms: CandidateTerms
    catalog: Catalog
    loaded: AdkCatalog
    prompt_skills: tuple[PromptSkill, ...]
    eager_scope: str
    isolation: Isolation
    policy: ScriptPolicy
    limits: Limits
    previous: Mapping[str, OlderCatalog] = field(default_factory=dict)

    def answer(self, request: SubjectRequest, workspace: Path) -> SubjectResult:
        """Answer one request; see :class:`skillassay.subjects.base.Subject`."""
        catalog, _ = self._offered(request)
        said = _Said(catalog=catalog, watch=Watch(turns=[UserTurn(text=_first_turn(request))]))
        try:
            lay_out(request.files, workspace)
            asyncio.run(self._converse(request, workspace, said))
        except LlmCallsLimitExceededError:
            said.turn_limit = True
        except TrialError as error:
            said.watch.fail(error)
        except Exception as error:  # noqa: BLE001 - ADK may raise anything, and none of it belongs to another trial
            said.watch.fail(broken_harness(error))
        return said.result(self._arm(request, said))

    async def _converse(self, request: SubjectRequest, workspace: Path, said: _Said) -> None:
        runner = InMemoryRunner(agent=self._agent(request, workspace, said), app_name=_APP)
        try:
            session = await runner.session_service.create_session(app_name=_APP, user_id=_USER)
            events = runner.run_async(
                user_id=_USER,
                session_id=session.id,
                new_message=types.Content(role="user", parts=[types.Part(text=_first_turn(request))]),
                run_config=RunConfig(max_llm_calls=self.terms.turn_limit),
            )
            async for event in events:
                said.hear(event)
        finally:
            await runner.close()

    def _agent(self, request: SubjectRequest, workspace: Path, said: _Said) -> Any:
        catalog, prompt_skills = self._offered(request)
        instruction = self.terms.instructions
        if request.mode is Mode.EAGER:
            instruction = system_instruction(
                request.mode,
                general=instruction,
                skills=prompt_skills,
                eager_scope=self.eager_scope,
                skill_path=request.skill_path,
            )
        room = ScriptRoom(
            workspace=workspace,
            isolation=self.isolation,
            policy=self.policy,
            limits=self.limits,
            fail=said.watch.fail,
        )
        return LlmAgent(
            name=AGENT,
            model=WatchedGemini.over(self.line, said.watch),
            instruction=lambda _: instruction,  # a plain text would be a template, in which {braces} are looked up
            tools=self._tools(request.mode, catalog, room),
            generate_content_config=self._config(request),
            on_tool_error_callback=said.tool_failed,
        )

    def _tools(self, mode: Mode, catalog: Catalog, room: ScriptRoom) -> list[Any]:
        if not catalog.skills:
            return []
        toolset = SkillToolset(
            self.loaded.skills_of(catalog),
            code_executor=IsolatedExecutor.over(room),
            # Of a shell script, inside the program: a second less, so that ADK tells of it and not its killer.
            script_timeout=max(1, int(self.limits.timeout_s) - 1),
        )
        if mode is not Mode.EAGER:
            return [toolset]
        # A tool without its toolset brings no instruction about skills: that stands in our text already.
        has_script = any(skill.resources.list_scripts() for skill in toolset.skills)
        return [RunSkillScriptTool(toolset)] if has_script else []

    def _config(self, request: SubjectRequest) -> Any:
        settings: dict[str, Any] = {
            "temperature": self.terms.temperature,
            "seed": self.terms.seed,
            "max_output_tokens": request.max_output_tokens or self.terms.max_output_tokens,
            "automatic_continuation": False,  # the SDK would send further requests that nobody counted
        }
        if request.response_schema is not None:
            # Not as the agent's output_schema: ADK would put a tool of its own in its place.
            settings["response_mime_type"] = "application/json"
            settings["response_json_schema"] = ordered_schema(request.response_schema)
        known = types.GenerateContentConfig.model_fields
        return types.GenerateContentConfig(**{key: value for key, value in settings.items() if key in known})

    def _offered(self, request: SubjectRequest) -> tuple[Catalog, tuple[PromptSkill, ...]]:
        """The catalog of a request and its texts, as in our own loop."""
        if request.mode is Mode.NONE:
            return Catalog(skills=()), ()
        if request.mode is Mode.EAGER and self.eager_scope == "skill":
            alone = tuple(skill for skill in self.catalog.skills if skill.path == request.skill_path)
            return Catalog(skills=alone), self.prompt_skills
        older = self.previous.get(request.skill_path) if request.mode is Mode.PREVIOUS else None
        return (self.catalog, self.prompt_skills) if older is None else (older.catalog, older.prompt_skills)

    def _arm(self, request: SubjectRequest, said: _Said) -> Arm | None:
        tools = said.watch.tools
        if tools is None:
            return None
        terms = self.terms
        text = [terms.instructions, _first_turn(request), request.response_schema]
        parameters = [terms.temperature, terms.seed, request.max_output_tokens or terms.max_output_tokens]
        return Arm(
            skills=tuple(skill.name for skill in said.catalog.skills),
            files=seen_files(request.files),
            tools=tools,
            skill_tools=tools,  # none is offered but for the sake of skills
            prompt=digest_of([*text, *parameters]),
        )


@dataclass(slots=True, kw_only=True)
class _Said:
    """What one trial has come to: the watch's turns and calls, and what ADK's tools did."""

    catalog: Catalog
    watch: Watch
    activated: list[str] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)
    turn_limit: bool = False

    def hear(self, event: Any) -> None:
        """Take ADK's function responses. Raises the trial's error, so that nothing further is asked."""
        results = []
        for response in event.get_function_responses():
            told: dict[str, Any] = response.response or {}
            call_id = response.id if response.id and not response.id.startswith(_OWN_IDS) else None
            results.append(ToolResult(name=response.name, response=told, id=call_id))
            if "error" not in told:
                self._count(response.name, told)
        if results:
            self.watch.turns.append(ToolTurn(results=tuple(results)))
        if self.watch.error is not None:
            raise self.watch.error

    def _count(self, tool: str, told: Mapping[str, Any]) -> None:
        skill = self.catalog.find(str(told.get("skill_name")))
        if skill is None:
            return
        if tool == LOAD_SKILL and skill.name not in self.activated:
            self.activated.append(skill.name)
        if tool == RUN_SCRIPT:
            path = posixpath.normpath(str(told.get("file_path")))
            self.scripts.append(f"{skill.name}/{skill.find_script(path) or path}")

    def tool_failed(self, tool: Any, args: Any, tool_context: Any, error: Exception) -> None:  # noqa: ARG002 - ADK's names
        """A tool raised on what the model sent. A tool that does not exist is answered by ADK itself."""
        if type(tool) is not BaseTool:
            message = f"ADK's {tool.name} cannot take the model's arguments: {type(error).__name__}"
            kind = "malformed_function_call"
            self.watch.fail(TrialError(message, reason=Reason.CONTRACT_ERROR, stage=Stage.CANDIDATE, kind=kind))

    def result(self, arm: Arm | None) -> SubjectResult:
        """How it ended: the watch's error, the turn limit, or the text of a last turn without calls."""
        watch = self.watch
        last = watch.turns[-1]
        answer = last.text if isinstance(last, ModelTurn) and not last.calls else None
        error = watch.error
        if error is None and answer is None and not self.turn_limit:
            message = "ADK ended without an answer"
            error = TrialError(message, reason=Reason.HARNESS_ERROR, stage=Stage.HARNESS)
        spent = Spent(
            n_calls=watch.n_calls,
            n_attempts=watch.n_attempts,
            usage=watch.usage,
            model=watch.model,
            waited_s=round(watch.waited_s, 3),
        )
        return SubjectResult(
            answer=answer if error is None and not self.turn_limit else None,
            turn_limit=self.turn_limit and error is None,
            error=error,
            transcript=Transcript(turns=tuple(watch.turns), n_calls=watch.n_calls, usage=watch.usage),
            activated=tuple(self.activated),
            scripts=tuple(self.scripts),
            spent=spent,
            arm=arm,
        )


def _first_turn(request: SubjectRequest) -> str:
    return user_text(request.query, [(file.name, file.text) for file in request.files])
