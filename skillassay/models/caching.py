"""Replies kept for another run: the model that looks there first. Owns what is kept and for what question.

The key of a reply is the SHA-256 of all that could make another answer: the whole request; the trial, by an id made of
suite, case, digest of the case, skill, digest of its bytes, mode and repeat; which sample of a judge it is; side,
provider, model, the whole address; and the version of skillassay, which stands for how all of this is put into words
and onto the wire. Nothing here ages: the answer of a name that later means another model stays what it was until the
file is deleted.

Kept, as the JSON of a reply (turn with the provider's content as it came, usage, model, attempts), is only what a model
answered whole, and what its reader could use: never an error, never a cut or invented verdict. It is read as strictly
as off the wire. The file is :mod:`skillassay.models.reply_store`'s.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import skillassay
from skillassay.canonical import JsonProblem, digest_of, parse_json
from skillassay.models.base import Model, ModelIdentity, ModelReply, ModelRequest, request_json, trial_slot
from skillassay.models.reply_store import ReplyStore
from skillassay.models.stored_reply import model_turn_json, reply_from_json


@dataclass(frozen=True, slots=True, kw_only=True)
class CachingModel:
    """A model that is asked only what is not kept. ``trials`` maps slots to ids that are made of content.

    A request of no known trial is never kept.
    """

    model: Model
    side: str
    store: ReplyStore
    trials: Mapping[str, str]

    @property
    def identity(self) -> ModelIdentity:
        """Whose answers these are."""
        return self.model.identity

    def generate(self, request: ModelRequest) -> ModelReply:
        """The kept reply, marked as such; else the model's own, which is kept if it may be."""
        trial = self.trials.get(trial_slot(request.slot))
        if trial is None:
            return self.model.generate(request)
        key = self._key(request, trial)
        kept = self._kept(key, request)
        if kept is not None:
            return kept
        reply = self.model.generate(request)
        if _may_be_kept(request, reply):
            self.store.put(key, _text(reply))
        return reply

    def close(self) -> None:
        """Close the model; the file belongs to whoever opened it."""
        self.model.close()

    def _key(self, request: ModelRequest, trial: str) -> str:
        who = self.identity
        return digest_of(
            {
                "request": request_json(request),
                "slot": request.slot,
                "trial": trial,
                "side": self.side,
                "provider": who.provider,
                "model": who.name,
                "endpoint": who.endpoint,
                "address": who.address,
                "skillassay": skillassay.__version__,
            }
        )

    def _kept(self, key: str, request: ModelRequest) -> ModelReply | None:
        value = self.store.get(key)
        if value is None:
            return None
        try:
            reply = _reply(parse_json(value))
        except (JsonProblem, KeyError, TypeError, ValueError):
            reply = None
        if reply is None or not _may_be_kept(request, reply):
            self.store.forget(key)
            return None
        return reply


def _may_be_kept(request: ModelRequest, reply: ModelReply) -> bool:
    return request.is_valid is None or request.is_valid(reply)


def _text(reply: ModelReply) -> str:
    # Not sorted: the provider's content goes back to it as it came.
    value = {
        "turn": model_turn_json(reply.turn),
        "usage": asdict(reply.usage),
        "model": reply.model,
        "n_attempts": reply.n_attempts,
    }
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _reply(value: Any) -> ModelReply:
    return replace(reply_from_json(value["turn"], value), cached=True)
