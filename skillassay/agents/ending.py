"""How an agent's run ended. Owns that only a run which ended well, by every sign, has an answer."""

from __future__ import annotations

from skillassay.agents.base import AGENT_KIND, Agent, Told
from skillassay.agents.launching import last_words
from skillassay.errors import Reason, Stage, TrialError
from skillassay.process import CommandResult
from skillassay.wire import MAX_MESSAGE_CHARS


def final_answer(agent: Agent, result: CommandResult, told: Told, *, stage: Stage) -> str:
    """The last word of a run that ended well. Raises :class:`TrialError` for every other end, whatever was said.

    A turn limit is an end of its own in a trial and must be looked at before; anywhere else it is an error.
    """
    reason, kind, message = _ending(agent, result, told)
    if reason is None:
        assert told.answer is not None
        return told.answer
    # The agent's own retries are not told; each turn that was seen took an attempt.
    n_attempts = told.usage.n_calls
    message = f"{agent.name} {message}"[:MAX_MESSAGE_CHARS]
    raise TrialError(message, reason=reason, stage=stage, kind=kind, n_attempts=n_attempts)


def _ending(agent: Agent, result: CommandResult, told: Told) -> tuple[Reason | None, str | None, str]:
    if result.timed_out:
        return Reason.TIMEOUT, None, "gave no answer in time"
    if result.truncated:
        return Reason.TRUNCATED, "output", "wrote more than is read"
    if told.failure is not None:
        return told.failure.reason, told.failure.kind, f"failed: {told.failure.message}"
    if result.exit_code != 0:
        kind = agent.exit_kinds.get(result.exit_code or 0, AGENT_KIND)
        return Reason.PROVIDER_ERROR, kind, f"ended with exit code {result.exit_code}: {last_words(result)}"
    if told.answer is None:
        return Reason.PROVIDER_ERROR, "empty", "ended without an answer"
    return None, None, ""
