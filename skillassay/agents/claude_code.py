"""Claude Code (``claude``). EXPERIMENTAL: written after its documentation, never run against the real program here."""

from __future__ import annotations

import json
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

SKILL_TOOL = "Skill"
_ENV = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "IS_SANDBOX": "1",  # inside namespaces it sees itself as root, for whom it would refuse to skip permissions
}


def trial(ask: Ask) -> Launch:
    """Answer in the workspace with every tool, asking nobody."""
    skills = () if ask.offers_skills else ("--disallowedTools", SKILL_TOOL)
    turns = () if ask.turn_limit is None else ("--max-turns", str(ask.turn_limit))
    arguments = (*_common(ask), "--dangerously-skip-permissions", *turns, *skills, "--", ask.query)
    return Launch(arguments=arguments, env=_ENV)


def judge(ask: Ask) -> Launch:
    """Answer under the judge's instructions alone, without a tool and without the user's settings."""
    alone = ("--system-prompt", ask.system, "--tools", "", "--setting-sources", "", "--strict-mcp-config")
    return Launch(arguments=(*_common(ask), *alone, "--", ask.query), env=_ENV)


def _common(ask: Ask) -> tuple[str, ...]:
    model = () if ask.model is None else ("--model", ask.model)
    return ("--print", "--output-format", "stream-json", "--verbose", *model)


def read(stdout: bytes) -> Told:
    """The conversation of a stream of events. Raises nothing."""
    talk = Conversation()
    begun: dict[str, Any] = {}
    end: dict[str, Any] = {}
    try:
        for event in read_events(stdout):
            if event.get("type") == "system" and event.get("subtype") == "init":
                begun = event
            elif event.get("type") == "result":
                end = event
            else:
                _say(talk, event)
    except StreamProblem as broken:
        return unreadable(broken)
    is_limit = end.get("subtype") == "error_max_turns"
    is_over = end.get("subtype") == "success" and end.get("is_error") is False
    usage, tools = object_of(end, "usage"), begun.get("tools")
    failed = Failure(reason=Reason.PROVIDER_ERROR, kind=AGENT_KIND, message=text_of(end, "result") or "it failed")
    return Told(
        turns=talk.turns,
        answer=text_of(end, "result") if is_over else None,
        failure=failed if end and not is_over and not is_limit else None,
        turn_limit=is_limit,
        usage=Usage(
            input_tokens=count_of(usage, "input_tokens"),
            output_tokens=count_of(usage, "output_tokens"),
            cached_tokens=count_of(usage, "cache_read_input_tokens"),
            n_calls=count_of(end, "num_turns") or talk.n_calls,
        ),
        model=text_of(begun, "model") or None,
        tools=tuple(map(str, tools)) if isinstance(tools, list) else None,
    )


def _say(talk: Conversation, event: dict[str, Any]) -> None:
    content = object_of(event, "message").get("content")
    for part in content if isinstance(content, list) else ():
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "text" and event.get("type") == "assistant":
            talk.say(text_of(part, "text"))
        elif kind == "tool_use":
            talk.call(text_of(part, "name"), object_of(part, "input"), text_of(part, "id"))
        elif kind == "tool_result":
            output = part.get("content")
            shown = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
            talk.result(text_of(part, "tool_use_id"), ok=part.get("is_error") is not True, output=shown)


CLAUDE_CODE = Agent(
    name="claude-code",
    program="claude",
    trial=trial,
    judge=judge,
    read=read,
    note=experimental("claude-code"),
    skills_folder=".claude/skills",
    context_file="CLAUDE.md",
    imports_at=True,
    reserved=(".claude", ".claude.json", ".mcp.json", "CLAUDE.md", "CLAUDE.local.md", "AGENTS.md"),
    commands_at="/",
    skill_tool=(SKILL_TOOL, "skill"),
    shell_tools=("Bash",),
    key_variable="ANTHROPIC_API_KEY",
    url_variable="ANTHROPIC_BASE_URL",
    public_url="https://api.anthropic.com",
    login_variables=("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR"),
)
