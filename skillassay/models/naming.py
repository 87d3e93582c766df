"""The names of models as commands and contracts write them. Owns the forms; opens nothing.

fixture            authored answers behind a local server; no key, no network
gemini:NAME        a model of the Gemini API
openai:NAME        a model of any endpoint that speaks the OpenAI chat completions format
replay:FILE        recorded traffic of another run (a path in the project)
agent:NAME[/MODEL] a command-line agent, as a judge
"""

from __future__ import annotations

import re

from skillassay.errors import UsageError

FIXTURE = "fixture"
GEMINI = "gemini"
OPENAI = "openai"
REPLAY = "replay"
AGENT = "agent"
ANSWERS, MADE_ELSEWHERE = "answers", "made elsewhere"
"""Who answered where answers were brought along: no model that anybody here asked."""
OFFLINE = frozenset({FIXTURE, REPLAY})
"""Providers behind which no live model stands: a run on one of them passes the fixture gate alone."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]*(?:/[A-Za-z0-9][A-Za-z0-9._:-]*)*")
_REVISION = re.compile(r"(?:[-@](?:\d|preview|exp)[\w.-]*)?")
"""What a provider may add to the name of a model that it answers for: `-001`, `-preview-09-2025`; not `-lite`."""

_PATH = re.compile(r"(?!/)[^\\\0\n]+")
FORMS = "write fixture, gemini:NAME, openai:NAME, replay:FILE or, for a judge, agent:NAME; as gemini:gemini-3.5-flash"


def parse_model(spec: str) -> tuple[str, str]:
    """Provider and name of a model as written. Raises :class:`UsageError` for every other form."""
    if spec == FIXTURE:
        return FIXTURE, FIXTURE
    provider, colon, name = spec.partition(":")
    if provider not in {GEMINI, OPENAI, REPLAY, AGENT} or not colon:
        raise UsageError(f"model {spec!r} names no known provider", hint=FORMS)
    if provider == REPLAY and (not _PATH.fullmatch(name) or ".." in name.split("/")):
        raise UsageError(f"model {spec!r}: {name!r} is not the path of a file in the project", hint=FORMS)
    if provider != REPLAY and not _NAME.fullmatch(name):
        raise UsageError(f"model {spec!r}: {name!r} is not the name of a model", hint=FORMS)
    return provider, name


def model_of(provider: str, name: str) -> str | None:
    """The model behind a name; of an agent what stands behind the slash, None where it names none."""
    return (name.partition("/")[2] or None) if provider == AGENT else name


def is_called(answered: str, requested: str) -> bool:
    """Whether a model's name as answered is the requested one, or a revision of it."""
    asked, told = requested.removeprefix("models/"), answered.removeprefix("models/")
    return told.startswith(asked) and _REVISION.fullmatch(told[len(asked) :]) is not None
