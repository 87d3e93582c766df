"""What the tests of the cache share: a model on the wire behind the cache of a project, and requests to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from skillassay.models.base import ModelIdentity, ModelReply, ModelRequest
from skillassay.models.caching import CachingModel
from skillassay.models.reply_store import ReplyStore
from skillassay.transcript import ModelTurn, Usage, UserTurn
from tests.models.wire_server import Canned, WireServer, reply, talking

PUBLIC = Path(__file__).parents[1] / "data" / "public" / "cache"

SLOT = "q/one/none/1"

USED = {"promptTokenCount": 700, "candidatesTokenCount": 200, "totalTokenCount": 900}


def request(text: str = "Combien ?", **fields: Any) -> ModelRequest:
    """One request of a trial."""
    given: dict[str, Any] = {"system": "Be brief.", "turns": (UserTurn(text=text),), "slot": SLOT}
    return ModelRequest(**(given | fields))


@contextmanager
def cached(
    root: Path, warnings: list[str], *canned: Canned, side: str = "candidate", trial: str = "t1"
) -> Iterator[tuple[CachingModel, WireServer]]:
    """A model on the wire behind the cache of a project."""
    store = ReplyStore(root, warn=warnings.append)
    try:
        with talking(*canned) as (model, server):
            # The port is another one in every run; a service has one address.
            identity = replace(model.identity, endpoint="https://e.invalid")
            steady = Steady(model.generate, identity)
            yield CachingModel(model=steady, side=side, store=store, trials={SLOT: trial}), server
    finally:
        store.close()


class Steady:
    """A model under a fixed address."""

    def __init__(self, generate: Callable[[ModelRequest], ModelReply], identity: ModelIdentity) -> None:
        self.generate = generate
        self.identity = identity

    def close(self) -> None:
        """The test's server closes the model."""


def n_asked(root: Path, warnings: list[str], asked: ModelRequest, **how: Any) -> int:
    """How many requests reach the wire for this one, in a run of its own that answers ``ok``."""
    with cached(root, warnings, reply({"text": "ok"}), **how) as (model, server):
        model.generate(asked)
        return len(server.seen)


def said(text: str) -> ModelReply:
    """A reply of this text."""
    return ModelReply(turn=ModelTurn(text=text), usage=Usage())
