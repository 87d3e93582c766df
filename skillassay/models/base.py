"""The port every model stands behind: one request, one reply or one classified :class:`TrialError`.

A model never retries an answer, never repairs one, and never calls a tool. Transport retries are counted in the reply.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol, runtime_checkable

from skillassay.canonical import Json
from skillassay.errors import Stage
from skillassay.transcript import ModelTurn, Tool, Turn, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """All that is sent. Two equal requests are the same bytes on the wire.

    ``response_schema`` asks for one JSON object under that JSON Schema. ``timeout_s`` limits one HTTP attempt. Three
    fields are never sent: ``stage`` says on whose account a failure is booked; ``slot`` says for which trial this is
    (``suite/case/mode/repeat``), so that equal requests of two trials can be told apart; ``is_valid`` says whether a
    reply may be kept for another run, which a broken or invented one may not. ``again`` is not sent either: a model
    that retries calls it before each further HTTP attempt (see :func:`skillassay.models.retry.call_with_retries`).
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
    slot: str = ""
    is_valid: Callable[[ModelReply], bool] | None = field(default=None, compare=False, repr=False)
    again: Callable[[float], None] | None = field(default=None, compare=False, repr=False)


def asks_anew(slot: str) -> bool:
    """Whether the trial of a slot is there to be answered once more (mode ``again``).

    What another trial was answered to the same request then is no answer to it: both would agree by construction.
    """
    return slot.rsplit("/", 2)[1:2] == ["again"]


_FURTHER = re.compile(r"#[2-9]$")


def sample_slot(slot: str, number: int) -> str:
    """The slot of the n-th time that one thing is asked of a judge; the first is the trial's own."""
    return slot if number == 1 else f"{slot}#{number}"


def trial_slot(slot: str) -> str:
    """The slot of the trial that a sample is of."""
    return _FURTHER.sub("", slot)


def is_further_sample(slot: str) -> bool:
    """Whether a judge is asked once more about an answer: what it said before is no answer to that."""
    return _FURTHER.search(slot) is not None


def request_json(request: ModelRequest) -> dict[str, Json]:
    """All of a request that can change its answer, as JSON: what is sent, and nothing of what is not.

    The schema is its JSON text, since the order of its properties is sent, and canonical JSON would forget it.
    """
    schema = request.response_schema
    return {
        "system": request.system,
        "turns": [{"who": type(turn).__name__, **asdict(turn)} for turn in request.turns],
        "tools": [asdict(tool) for tool in request.tools],
        "response_schema": None if schema is None else json.dumps(schema, ensure_ascii=False),
        "temperature": request.temperature,
        "max_output_tokens": request.max_output_tokens,
        "seed": request.seed,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """One answer. ``model`` is the name as answered (None when not told); ``n_attempts`` counts HTTP attempts, >= 1.

    ``cached``: it was kept from another run, and nothing was billed for it now. ``waited_s`` is what it waited before
    its attempts, for the pace and between retries.
    """

    turn: ModelTurn
    usage: Usage
    model: str | None = None
    n_attempts: int = 1
    cached: bool = False
    waited_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The model whose answers a recording holds, when (UTC day) it was asked, and the digest of the recording."""

    label: str
    provider: str
    name: str
    endpoint: str | None
    is_fixture: bool
    recorded_on: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelIdentity:
    """What a record says about a model: provider word, name as requested, endpoint without any credential.

    ``address`` is a digest of the whole address where the endpoint is not all of it (see
    :func:`skillassay.models.endpoint.address_digest`); the same name there may be another model.

    ``is_fixture``: its answers are authored. ``is_replay``: they are a recording, of the model that ``recorded`` names.
    Neither is a live model.
    """

    provider: str
    name: str
    endpoint: str | None
    is_fixture: bool
    is_replay: bool = False
    recorded: Recorded | None = None
    address: str | None = None

    @property
    def label(self) -> str:
        """``provider:name``, or the bare provider where the name says nothing more."""
        return self.provider if self.provider == self.name else f"{self.provider}:{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a model is reached, for an agent that asks it by itself. Never recorded: the key is in it."""

    provider: str
    name: str
    base_url: str | None = field(repr=False)
    api_key: str = field(repr=False)


@runtime_checkable
class Addressed(Protocol):
    """A model that something else can ask by itself."""

    @property
    def address(self) -> Address:
        """Where and with which key."""


@runtime_checkable
class Noticed(Protocol):
    """A model of which something must be said before a run with it."""

    @property
    def notice(self) -> str:
        """What; "" for nothing."""


class Model(Protocol):
    """A model that answers. Implementations are safe to call from several threads."""

    @property
    def identity(self) -> ModelIdentity:
        """Who is asked."""

    def generate(self, request: ModelRequest) -> ModelReply:
        """Answer ``request``.

        Raises :class:`skillassay.errors.TrialError` with reason ``blocked``, ``truncated``, ``timeout``,
        ``provider_error`` (kinds: ``quota``, ``quota_day``, ``auth``, ``connection``, ``non_json``, ``too_large``,
        ``server``, ``request``, ``empty``, ``finish``, ``fixture_miss``, ``replay_miss``) or ``contract_error`` (a
        malformed call; the kind is the finish reason in lower case). A normal end without text is an answer.
        """

    def close(self) -> None:
        """Release sockets and threads. Idempotent."""
