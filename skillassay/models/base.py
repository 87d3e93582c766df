"""The port every model stands behind: one request, one reply or one classified :class:`TrialError`.

A model never retries an answer, never repairs one, and never calls a tool. Transport retries are counted in the reply.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from skillassay.errors import Stage
from skillassay.transcript import ModelTurn, Tool, Turn, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """All that is sent. Two equal requests are the same bytes on the wire.

    ``response_schema`` asks for one JSON object under that JSON Schema. ``stage`` is never sent: it only says on whose
    account a failure is booked. ``timeout_s`` limits one HTTP attempt.
    """

    system: str
    turns: tuple[Turn, ...]
    tools: tuple[Tool, ...] = ()
    response_schema: dict[str, Any] | None = None
    temperature: float | None = 0.0
    max_output_tokens: int | None = None
    seed: int | None = None
    timeout_s: float = 120.0
    stage: Stage = Stage.CANDIDATE


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """One answer. ``model`` is the name as answered (None when not told); ``n_attempts`` counts HTTP attempts, >= 1."""

    turn: ModelTurn
    usage: Usage
    model: str | None = None
    n_attempts: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelIdentity:
    """What a record says about a model: provider word, name as requested, endpoint without any credential."""

    provider: str
    name: str
    endpoint: str | None
    is_fixture: bool

    @property
    def label(self) -> str:
        """``provider:name``, or the bare provider where the name says nothing more."""
        return self.provider if self.provider == self.name else f"{self.provider}:{self.name}"


class Model(Protocol):
    """A model that answers. Implementations are safe to call from several threads."""

    @property
    def identity(self) -> ModelIdentity:
        """Who is asked."""

    def generate(self, request: ModelRequest) -> ModelReply:
        """Answer ``request``.

        Raises :class:`skillassay.errors.TrialError` with reason ``blocked``, ``truncated``, ``timeout``,
        ``provider_error`` (kinds: ``quota``, ``auth``, ``connection``, ``non_json``, ``server``, ``request``,
        ``empty``, ``finish``, ``fixture_miss``) or ``contract_error`` (a malformed call; the kind is the finish reason
        in lower case). An empty ``STOP`` is an answer.
        """

    def close(self) -> None:
        """Release sockets and threads. Idempotent."""
