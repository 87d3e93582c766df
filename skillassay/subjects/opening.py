"""From a subject's name to an open subject. Owns the names.

loop         our own agent loop
adk          Google's ADK with its SkillToolset, in this process (needs the extra ``adk``)
answers      answers that were made elsewhere (``skillassay score``)
gemini-cli   the Gemini CLI; further command-line agents (claude-code, codex: experimental), see skillassay/agents
FILE.yaml    a command-line agent described in a file, which the command line alone can name
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec

from skillassay.agents.known import AGENTS, is_agent, load_agent
from skillassay.contract.terms import LOOP, CandidateTerms
from skillassay.errors import EnvironmentFault, UsageError
from skillassay.isolation.process import Isolation, Limits
from skillassay.models.base import Model
from skillassay.models.gemini import GeminiModel
from skillassay.models.naming import ANSWERS, MADE_ELSEWHERE
from skillassay.subjects.agent import AgentSubject, reach_agent
from skillassay.subjects.answers import Answers, AnswersSubject
from skillassay.subjects.base import Subject
from skillassay.subjects.loop import LoopSubject
from skillassay.subjects.offering import Offering
from skillassay.tools import ScriptPolicy

ADK = "adk"
UNSEEN = "nobody saw what the candidate was shown, so clean_arms stays open and the run is no evidence"
"""What holds of every run of answers that were brought along."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectParts:
    """What any subject is made of. ``direct`` is the model without layers, for a subject that asks it by itself;
    ``answers`` are those that were brought along, where nobody is asked."""

    model: Model
    direct: Model
    terms: CandidateTerms
    offering: Offering
    isolation: Isolation
    policy: ScriptPolicy
    limits: Limits
    answers: Answers | None = None


@contextmanager
def open_subject(kind: str, parts: SubjectParts) -> Iterator[Subject]:
    """Open the subject of this name. Raises :class:`UsageError` for an unknown one, :class:`EnvironmentFault` where it
    cannot run here.
    """
    if kind == ADK:
        yield _open_adk(parts)
        return
    if is_agent(kind):
        yield _open_agent(kind, parts)
        return
    if kind == ANSWERS and parts.answers is not None:
        yield AnswersSubject(parts.answers)
        return
    if kind != LOOP:
        hint = f"subjects: {', '.join((LOOP, ADK, *AGENTS))}, FILE.yaml"
        if kind == ANSWERS:
            hint = "answers that were made elsewhere are scored by `skillassay score FILE`, also with --resume"
        raise UsageError(f"there is no subject {kind!r} to run", hint=hint)
    yield LoopSubject(
        model=parts.model,
        terms=parts.terms,
        offering=parts.offering,
        isolation=parts.isolation,
        policy=parts.policy,
        limits=parts.limits,
    )


def confirmed_subject(named: str | None, stated: str) -> str:
    """What answers: what the command names, else what the contract states. Raises :class:`UsageError` where a contract
    alone would start an agent.
    """
    if named is None and is_agent(stated):
        message = (
            f"the contract names the subject {stated}: a program that runs the skills' scripts with your key and the "
            "network, which no file of a project can decide"
        )
        raise UsageError(message, hint=f"confirm it with --subject {stated}, or run --subject {LOOP}")
    return named or stated


def subject_notice(kind: str) -> str:
    """What must be said before a run with this subject; "" for nothing."""
    if kind == ANSWERS:
        return f"the answers were {MADE_ELSEWHERE}: {UNSEEN}"
    if not is_agent(kind):
        return ""
    agent = load_agent(kind)
    risk = f"{agent.name} runs the skills' scripts, and whatever its model writes, with your key and the network"
    return f"{risk}; {agent.note}" if agent.note else risk


def _open_agent(kind: str, parts: SubjectParts) -> Subject:
    reached = reach_agent(load_agent(kind), parts.direct)
    if not parts.policy.allowed:
        # It runs the skills' scripts with tools of its own, so that what holds for a script holds for all of it.
        raise EnvironmentFault(f"the subject {kind} cannot run here: {parts.policy.why}")
    return AgentSubject(
        reached=reached,
        terms=parts.terms,
        offering=parts.offering,
        isolation=parts.isolation,
    )


def _open_adk(parts: SubjectParts) -> Subject:
    model = parts.direct
    if not isinstance(model, GeminiModel):
        message = f"the subject {ADK} asks a Gemini model by itself, and {model.identity.label} is none"
        raise UsageError(message, hint="--model gemini:NAME or --model fixture")
    if find_spec("google.adk") is None:
        hint = "pip install 'skillassay[adk]', or `make e2e` in this repository"
        raise EnvironmentFault(f"the subject {ADK} needs google-adk, which is not installed here", hint=hint)
    # Imported here: ADK takes seconds, and is an extra.
    from skillassay.subjects.adk import AdkSubject
    from skillassay.subjects.adk_model import Line
    from skillassay.subjects.adk_skills import load_catalogs

    return AdkSubject(
        line=Line(
            address=model.address, timeout_s=parts.terms.timeout_s, retry=model.retry, estimated=model.is_fixture
        ),
        terms=parts.terms,
        offering=parts.offering,
        loaded=load_catalogs(parts.offering.catalogs),
        isolation=parts.isolation,
        policy=parts.policy,
        limits=parts.limits,
    )
