"""Whether the models that a contract names could be opened here. Opens and closes them; asks none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from skillassay.agents.known import AGENTS
from skillassay.agents.launching import find_program
from skillassay.contract.contract import Contract
from skillassay.doctor.base import Item, State, ok
from skillassay.errors import SkillassayError
from skillassay.models.naming import FIXTURE, parse_model
from skillassay.models.opening import Opening, open_model, require_rules
from skillassay.runs.preparation import load_fixtures


def model_items(root: Path, contract: Contract) -> Iterator[Item]:
    """One item a model, and one for the subject where it is another than our own loop."""
    named = {"candidate": contract.candidate.model, "judge": contract.judge.model, "second": contract.judge.second}
    # Without a contract nothing asks for the models that hold by default.
    grave = State.PROBLEM if contract.path is not None else State.NOTE
    for side, spec in named.items():
        if spec is not None:
            yield _model(root, contract, side, spec, grave=grave)
    if contract.candidate.subject in AGENTS:
        yield _subject(contract.candidate.subject, grave)


def _model(root: Path, contract: Contract, side: str, spec: str, *, grave: State) -> Item:
    topic = f"model {side}"
    try:
        provider, _ = parse_model(spec)
        if provider == FIXTURE:
            require_rules(load_fixtures(root, contract))
            return ok(topic, f"{FIXTURE}: authored answers, no model")
        with open_model(spec, Opening(side=side, root=root)):
            return ok(topic, f"{spec} could be opened; it was not asked")
    except SkillassayError as error:
        return Item(topic=topic, state=grave, says=f"{spec}: {error.message}", do=error.hint)


def _subject(name: str, grave: State) -> Item:
    try:
        find_program(AGENTS[name])
    except SkillassayError as error:
        return Item(topic="subject", state=grave, says=error.message, do=error.hint)
    return ok("subject", f"{name}: its program is on the PATH")
