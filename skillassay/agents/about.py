"""What a record says of the command-line agents of a run: name, the file that describes one, the program's version."""

from __future__ import annotations

from typing import Any

from skillassay.agents.base import Agent, Launch
from skillassay.agents.known import AGENTS, is_agent, load_agent
from skillassay.agents.launching import Access, Place, find_program, run_trial, temporary_folder
from skillassay.errors import EnvironmentFault
from skillassay.isolation.process import Isolation
from skillassay.models.naming import AGENT, parse_model
from skillassay.printable import one_line

_TIMEOUT_S = 20.0
_MAX_CHARS = 100


def agents_of(subject: str, judge: str, level: Isolation) -> dict[str, dict[str, Any]]:
    """The agent of each side that is one. ``judge`` is a model as written."""
    found = {}
    if is_agent(subject):
        found["candidate"] = load_agent(subject)
    provider, name = parse_model(judge)
    if provider == AGENT and (agent := AGENTS.get(name.partition("/")[0])) is not None:
        found["judge"] = agent
    return {
        side: {"name": agent.name, "file_digest": agent.file_digest, "version": _version(agent, level)}
        for side, agent in found.items()
    }


def _version(agent: Agent, level: Isolation) -> str | None:
    """The first line of ``program --version``, run in a room like a trial's and without a key; None without one."""
    try:
        program = find_program(agent)
        with temporary_folder() as home, temporary_folder() as workspace:
            result = run_trial(
                program,
                Launch(arguments=("--version",)),
                Place(home=home, workspace=workspace, level=level),
                access=Access(env={}, secrets=()),
                timeout_s=_TIMEOUT_S,
            )
    except EnvironmentFault:
        return None
    line = result.stdout.decode("utf-8", "replace").strip().partition("\n")[0]
    return one_line(line)[:_MAX_CHARS] or None if result.exit_code == 0 and not result.timed_out else None
