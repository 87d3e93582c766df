"""How an agent's run ended. Owns that only a run which ended well, by every sign, has an answer.

One that another model answered than the one it was told to ask is another experiment, and has none either.
"""

from __future__ import annotations

from skillassay.agents.base import AGENT_KIND, Agent, Told
from skillassay.agents.launching import last_words
from skillassay.errors import Reason, Stage, TrialError
from skillassay.isolation.process import CommandResult
from skillassay.models.naming import is_called
from skillassay.models.wire import MAX_MESSAGE_CHARS

OTHER_MODEL = "other_model"
"""The kind of a provider error by which another model answered than was asked."""


def final_answer(agent: Agent, result: CommandResult, told: Told, *, stage: Stage, model: str | None = None) -> str:
    """The last word of a run that ended well. Raises :class:`TrialError` for every other end, whatever was said.

    ``model`` is the one that must have answered, where the agent tells which did; None where any may. A turn limit is
    an end of its own in a trial and must be looked at before; anywhere else it is an error.
    """
    reason, kind, message = _ending(agent, result, told)
    if reason is None:
        refuse_other_model(agent, told, model, stage=stage)
        assert told.answer is not None
        return told.answer
    # The agent's own retries are not told; each turn that was seen took an attempt.
    n_attempts = told.usage.n_calls
    message = f"{agent.name} {message}"[:MAX_MESSAGE_CHARS]
    raise TrialError(message, reason=reason, stage=stage, kind=kind, n_attempts=n_attempts)


def refuse_other_model(agent: Agent, told: Told, model: str | None, *, stage: Stage) -> None:
    """Raise :class:`TrialError` where the agent tells of a model that is not called ``model``, nor a revision of it."""
    if model is None or told.model is None:
        return
    if others := [name for name in told.model.split(", ") if not is_called(name, model)]:
        raise TrialError(
            f"{agent.name} asked {', '.join(others)} instead of {model}; name the model that it asks",
            reason=Reason.PROVIDER_ERROR, stage=stage, kind=OTHER_MODEL, n_attempts=told.usage.n_calls,
        )  # fmt: skip


def _ending(agent: Agent, result: CommandResult, told: Told) -> tuple[Reason | None, str | None, str]:
    if result.timed_out:
        return Reason.TIMEOUT, AGENT_KIND, "gave no answer in time"
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
