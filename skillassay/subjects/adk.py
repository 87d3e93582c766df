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

from skillassay.contract.contract import CandidateTerms
from skillassay.errors import Reason, Stage, TrialError
from skillassay.isolation.levels import Isolation, Limits
from skillassay.models.gemini_wire import ordered_schema
from skillassay.prompts import Offered, system_instruction
from skillassay.runs.plan import Mode
from skillassay.runs.record import Arm, Spent
from skillassay.subjects.adk_model import Line, Watch, WatchedGemini, broken_harness
from skillassay.subjects.adk_scripts import IsolatedExecutor, ScriptRoom
from skillassay.subjects.adk_skills import AdkCatalog
from skillassay.subjects.base import SubjectRequest, SubjectResult, lay_out
from skillassay.subjects.offering import Offering, SeenTools, arm_of, first_turn
from skillassay.tools import LOAD_SKILL, RUN_SCRIPT, ScriptPolicy
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
    offering: Offering
    loaded: AdkCatalog
    isolation: Isolation
    policy: ScriptPolicy
    limits: Limits

    def answer(self, request: SubjectRequest, workspace: Path) -> SubjectResult:
        """Answer one request; see :class:`skillassay.subjects.base.Subject`."""
        said = _Said(offered=self.offering.to(request), watch=Watch(turns=[UserTurn(text=first_turn(request))]))
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
                new_message=types.Content(role="user", parts=[types.Part(text=first_turn(request))]),
                run_config=RunConfig(max_llm_calls=self.terms.turn_limit),
            )
            async for event in events:
                said.hear(event)
        finally:
            await runner.close()

    def _agent(self, request: SubjectRequest, workspace: Path, said: _Said) -> Any:
        instruction = self.terms.instructions
        if request.mode is Mode.EAGER:
            instruction = system_instruction(
                request.mode,
                general=instruction,
                skills=said.offered.prompt_skills,
                eager_scope=self.offering.eager_scope,
                skill_path=request.skill_path,
            )
            said.skill_words = instruction.removeprefix(self.terms.instructions)
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
            tools=self._tools(request.mode, said, room),
            generate_content_config=self._config(request),
            on_tool_error_callback=said.tool_failed,
        )

    def _tools(self, mode: Mode, said: _Said, room: ScriptRoom) -> list[Any]:
        catalog = said.offered.catalog
        if not catalog.skills:
            return []
        toolset = _TellingToolset(
            self.loaded.skills_of(catalog),
            code_executor=IsolatedExecutor.over(room),
            # Of a shell script, inside the program: a second less, so that ADK tells of it and not its killer.
            script_timeout=max(1, int(self.limits.timeout_s) - 1),
        )
        if mode is not Mode.EAGER:
            toolset.said = said
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

    def _arm(self, request: SubjectRequest, said: _Said) -> Arm | None:
        """From what was sent: of the system instruction all but what is there for the sake of skills."""
        names, sent = said.watch.tools, said.watch.sent
        if names is None or sent is None:
            return None
        tools = SeenTools(all=names, of_skills=names)  # none but for the sake of skills
        general = _without(sent.system, said.skill_words)
        return arm_of(request, self.terms, said.offered, tools, said=[general, sent.contents])


class _TellingToolset(SkillToolset):  # type: ignore[misc]
    """ADK's toolset; what it adds to a request's instruction is told, for what it says is its own affair."""

    said: _Said

    async def process_llm_request(self, *, tool_context: Any, llm_request: Any) -> None:
        """Let ADK add its rules and the catalog."""
        before = llm_request.config.system_instruction or ""
        await super().process_llm_request(tool_context=tool_context, llm_request=llm_request)
        after = llm_request.config.system_instruction or ""
        if isinstance(after, str) and isinstance(before, str) and after.startswith(before):
            self.said.skill_words = after[len(before) :]


def _without(system: str, words: str) -> str:
    """A system instruction without words that stand in it once; as it is where they do not, which then differs."""
    return (system.replace(words, "") if words and system.count(words) == 1 else system).strip()


@dataclass(slots=True, kw_only=True)
class _Said:
    """What one trial has come to: the watch's turns and calls, and what ADK's tools did.

    ``skill_words`` are those of the system instruction that are there for the sake of skills.
    """

    offered: Offered
    watch: Watch
    activated: list[str] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)
    turn_limit: bool = False
    skill_words: str = ""

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
        skill = self.offered.catalog.find(str(told.get("skill_name")))
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
