"""The agents that skillassay knows by name. Owns the list, and which word on the command line is an agent."""

from __future__ import annotations

from pathlib import Path

from skillassay.agents.base import Agent
from skillassay.agents.claude_code import CLAUDE_CODE
from skillassay.agents.codex import CODEX
from skillassay.agents.described import SUFFIXES, load_described
from skillassay.agents.gemini_cli import GEMINI_CLI
from skillassay.models.naming import ANSWERS, MADE_ELSEWHERE

AGENTS = {agent.name: agent for agent in (GEMINI_CLI, CLAUDE_CODE, CODEX)}


def is_agent(kind: str) -> bool:
    """Whether a subject of this name is a command-line agent."""
    return kind in AGENTS or kind.endswith(SUFFIXES)


def own_model_of(kind: str) -> str | None:
    """Who answers with a model that nobody here knows: an agent that does not tell its own, or somebody elsewhere."""
    if kind == ANSWERS:
        return MADE_ELSEWHERE
    if not is_agent(kind):
        return None
    agent = load_agent(kind)
    return agent.name if agent.own_model else None


def load_agent(kind: str) -> Agent:
    """The agent of a name that is one. Raises :class:`InputError` for a file that describes none."""
    return AGENTS.get(kind) or load_described(Path(kind))
