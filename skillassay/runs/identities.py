"""Who is asked in a run, as its record says it: names, addresses without secrets, and who is independent of whom."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from skillassay.models.base import ModelIdentity
from skillassay.models.naming import AGENT, ANSWERS, MADE_ELSEWHERE


def describe_models(
    candidate: ModelIdentity,
    judge: ModelIdentity,
    *,
    own_model: str | None = None,
    second: ModelIdentity | None = None,
) -> dict[str, Any]:
    """The models as a record says them. Independent means that neither model nor endpoint is shared.

    ``own_model`` names an agent that asked a model which nobody here knows: then that is the candidate, whatever was
    named, and nothing shows that a judge is another one. A ``second`` judge is also held against the first.
    """
    if own_model is not None:
        provider = ANSWERS if own_model == MADE_ELSEWHERE else AGENT
        candidate = ModelIdentity(provider=provider, name=own_model, endpoint=None, is_fixture=False)
    told = {
        "candidate": _words(candidate) | ({"own_model": True} if own_model is not None else {}),
        "judge": _words(judge),
        "independent": own_model is None and _is_apart(candidate, judge),
    }
    if second is not None:
        told["second"] = {
            **_words(second),
            "independent": own_model is None and _is_apart(candidate, second),
            "independent_of_judge": _is_apart(judge, second),
        }
    return told


def _words(identity: ModelIdentity) -> dict[str, Any]:
    return {
        "label": identity.label,
        "provider": identity.provider,
        "name": identity.name,
        # A fixture's port is another one in every run and says nothing.
        "endpoint": "embedded" if identity.is_fixture else identity.endpoint,
        **({"address": identity.address} if identity.address is not None else {}),
        "is_fixture": identity.is_fixture,
        "is_replay": identity.is_replay,
        **({"recorded": asdict(identity.recorded)} if identity.recorded is not None else {}),
    }


def _is_apart(one: ModelIdentity, other: ModelIdentity) -> bool:
    """Whether two share neither model nor endpoint. Of a recording those count whose answers it holds: two sides in one
    file need not be one model.
    """
    first, second = one.recorded or one, other.recorded or other
    shared_model = (first.provider, first.name) == (second.provider, second.name)
    shared_endpoint = first.provider == second.provider and first.endpoint == second.endpoint
    return not (shared_model or shared_endpoint)
