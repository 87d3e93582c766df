"""One line of a diagnosis. Owns its shape and what its three states mean; looks at nothing."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """``ok``: as it should be. ``note``: worth knowing, and nothing waits for it. ``problem``: it blocks."""

    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """What was looked at, what it is like, and what to do where something is to be done. No value of a secret."""

    topic: str
    state: State
    says: str
    do: str | None = None


def ok(topic: str, says: str) -> Item:
    """All is well with it."""
    return Item(topic=topic, state=State.OK, says=says)


def note(topic: str, says: str, do: str | None = None) -> Item:
    """It is so, and somebody may want to know."""
    return Item(topic=topic, state=State.NOTE, says=says, do=do)


def problem(topic: str, says: str, do: str | None) -> Item:
    """It is in the way."""
    return Item(topic=topic, state=State.PROBLEM, says=says, do=do)
