"""Codex (``codex exec``). EXPERIMENTAL: written after its documentation, never run against the real program here.

It reads a skill with a command like any file, so its stream does not tell which skills were activated.
"""

from __future__ import annotations

from typing import Any

from skillassay.agents.base import (
    AGENT_KIND,
    Agent,
    Ask,
    Conversation,
    Failure,
    Launch,
    StreamProblem,
    Told,
    count_of,
    experimental,
    object_of,
    read_events,
    text_of,
    unreadable,
)
from skillassay.errors import Reason
from skillassay.transcript import Usage

SHELL = "command_execution"


def trial(ask: Ask) -> Launch:
    """Answer in the workspace with every tool, asking nobody: the room around it is the harness's."""
    return Launch(arguments=(*_common(ask), "--dangerously-bypass-approvals-and-sandbox", "--", ask.query))


def judge(ask: Ask) -> Launch:
    """Answer without writing anything; its commands cannot be switched off, and one that it runs spoils the reply."""
    return Launch(arguments=(*_common(ask), "--sandbox", "read-only", "--", f"{ask.system}\n\n{ask.query}"))


def _common(ask: Ask) -> tuple[str, ...]:
    model = () if ask.model is None else ("--model", ask.model)
    return ("exec", "--json", "--skip-git-repo-check", *model)


def read(stdout: bytes) -> Told:
    """The conversation of a stream of events. Raises nothing."""
    talk = Conversation()
    failed: str | None = None
    usage = Usage()
    try:
        for event in read_events(stdout):
            kind = event.get("type")
            if kind == "item.completed":
                _say(talk, object_of(event, "item"))
            elif kind == "turn.failed":
                failed = text_of(object_of(event, "error"), "message") or "the turn failed"
            elif kind == "turn.completed":
                usage = usage.plus(_usage(object_of(event, "usage")))
    except StreamProblem as broken:
        return unreadable(broken)
    failure = Failure(reason=Reason.PROVIDER_ERROR, kind=AGENT_KIND, message=failed) if failed else None
    return Told(
        turns=talk.turns, answer=None if failed or not usage.n_calls else talk.answer, failure=failure, usage=usage
    )


def _say(talk: Conversation, item: dict[str, Any]) -> None:
    if item.get("type") == "agent_message":
        talk.speak(text_of(item, "text"))
    elif item.get("type") == SHELL:
        call_id = text_of(item, "id")
        talk.call(SHELL, {"command": text_of(item, "command")}, call_id)
        talk.result(call_id, ok=item.get("exit_code") == 0, output=text_of(item, "aggregated_output"))


def _usage(told: dict[str, Any]) -> Usage:
    return Usage(
        input_tokens=count_of(told, "input_tokens"),
        output_tokens=count_of(told, "output_tokens"),
        cached_tokens=count_of(told, "cached_input_tokens"),
        n_calls=1,
    )


CODEX = Agent(
    name="codex",
    program="codex",
    trial=trial,
    judge=judge,
    read=read,
    note=experimental("codex"),
    skills_folder=".agents/skills",
    context_file="AGENTS.md",
    reserved=(".agents", ".codex", "AGENTS.md", "AGENTS.override.md"),
    commands_at="/",
    shell_tools=(SHELL,),
    key_variable="CODEX_API_KEY",
    login_variables=("CODEX_API_KEY", "OPENAI_API_KEY", "CODEX_HOME"),
)
