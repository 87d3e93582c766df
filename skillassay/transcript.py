"""The words of a conversation between harness and model. Owns turns, tool calls, usage; knows no provider.

A model turn keeps the provider's own content untouched in ``raw`` (thought signatures, parallel calls), so that it can
be sent back byte for byte. What may be graded is ``text`` alone: thoughts never are.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A model's wish to call a tool. ``args`` is whatever the model sent, already a mapping; ``id`` may be absent."""

    name: str
    args: dict[str, Any]
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a tool gave back to the model, for the call of the same ``id`` and position."""

    name: str
    response: dict[str, Any]
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTurn:
    """Text from the user's side: the query and its files, or a judge's document."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTurn:
    """One reply of a model. ``raw`` is the provider's content, sent back unchanged; ``text`` excludes thoughts."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    raw: Any = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolTurn:
    """All tool results that answer one model turn, in the order of its calls."""

    results: tuple[ToolResult, ...]


Turn = UserTurn | ModelTurn | ToolTurn


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A function offered to a model. ``parameters`` is a JSON Schema object."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Token counts of ``n_calls`` calls as the provider told them; ``estimated`` marks counts that nobody metered.

    None is a count that at least one of the calls did not tell: a sum with a gap is no sum. ``Usage()`` is no call at
    all, and adds nothing. A usage of 0 calls that has a count (a record from before ``n_calls``) is taken as complete.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    thought_tokens: int | None = None
    cached_tokens: int | None = None
    total_tokens: int | None = None
    estimated: bool = False
    n_calls: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether it stands for no call: none was counted and nothing was told."""
        counts = (self.input_tokens, self.output_tokens, self.thought_tokens, self.cached_tokens, self.total_tokens)
        return self.n_calls == 0 and all(count is None for count in counts)

    def plus(self, other: Usage) -> Usage:
        """Field by field; what one side does not know, the sum does not know."""
        if self.is_empty or other.is_empty:
            known = other if self.is_empty else self
            return replace(known, estimated=self.estimated or other.estimated)
        return Usage(
            input_tokens=_add(self.input_tokens, other.input_tokens),
            output_tokens=_add(self.output_tokens, other.output_tokens),
            thought_tokens=_add(self.thought_tokens, other.thought_tokens),
            cached_tokens=_add(self.cached_tokens, other.cached_tokens),
            total_tokens=_add(self.total_tokens, other.total_tokens),
            estimated=self.estimated or other.estimated,
            n_calls=self.n_calls + other.n_calls,
        )


def _add(left: int | None, right: int | None) -> int | None:
    return None if left is None or right is None else left + right


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """Everything that was said in one trial by candidate and tools, in order."""

    turns: tuple[Turn, ...] = ()
    n_calls: int = 0
    usage: Usage = field(default_factory=Usage)
