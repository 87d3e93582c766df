"""The port of a command-line agent: what it is asked, how it is started for that, what its output told.

An adapter is data and a reader. It builds argument lists, never a shell line; it starts nothing and touches no disk. A
reader invents nothing: what the agent's output does not tell is None, a line it cannot read is a failure, and a failure
that the agent told is never an answer, whatever the exit code says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skillassay.canonical import JsonProblem, parse_json
from skillassay.errors import Reason
from skillassay.transcript import ModelTurn, ToolCall, ToolResult, ToolTurn, Turn, Usage

AGENT_KIND = "agent"
"""The kind of a provider error of which the agent did not say what it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One question. ``settings`` is where the files of the launch lie, as the program sees it.

    ``system`` replaces the agent's own instructions where it can be told to (a judge's alone; "" for a trial).
    ``offers_skills``: whether there is a folder of skills in the workspace.
    """

    query: str
    settings: str
    model: str | None = None
    system: str = ""
    offers_skills: bool = False
    turn_limit: int | None = None
    temperature: float | None = None
    max_output_tokens: int | None = None
    seed: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How the program is started: arguments behind its name, files by their path below ``Ask.settings``, variables."""

    arguments: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why there is no answer, as the agent told it."""

    reason: Reason
    kind: str | None
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What an agent's output says. ``answer`` is its last word, None when it ended without one.

    ``usage.n_calls`` counts the model turns that were seen; ``tools`` are the tools that were offered, None when not
    told. ``turns`` begin after the user's.
    """

    turns: tuple[Turn, ...] = ()
    answer: str | None = None
    failure: Failure | None = None
    turn_limit: bool = False
    usage: Usage = field(default_factory=Usage)
    model: str | None = None
    tools: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """One agent. ``program`` is looked for on the PATH, or is a file.

    ``note`` is said before a run with it. ``skills_folder`` and ``context_file`` are paths in the workspace.
    ``imports_at``: ``@word`` in the context file or the query makes it read another file. ``commands_at`` begins a
    query that it takes as a command to itself. ``reserved`` are names in the workspace that it reads as its own: none
    of a case's files may have them. ``blinds`` are files laid there in every mode, which keep it from looking further
    up. ``skill_tool`` is the tool that activates a skill, with the argument that names it; ``shell_tools`` run
    commands.

    ``providers`` are those of the candidate's model that it asks by itself: ``key_variable`` and ``url_variable`` are
    where it looks for key and address, ``public_url`` the address that it asks without one. An agent without any
    brings its own model, written ``agent:NAME[/MODEL]``.
    ``variables`` of the user's environment are handed on in a trial, ``login_variables`` to a judge. ``readable`` are
    files it needs besides the program. ``judge`` is None for an agent that cannot be one; ``personal_text`` is a file
    in the user's home that it shows to its model even then. ``exit_kinds`` are exit codes whose meaning is known.
    ``file_digest`` is the SHA-256 of the file that describes it.
    ``own_model``: it is told no model and asks one that nobody here can know. ``install`` says how to get the program.
    """

    name: str
    program: str
    trial: Callable[[Ask], Launch]
    read: Callable[[bytes], Told]
    judge: Callable[[Ask], Launch] | None = None
    note: str = ""
    skills_folder: str
    context_file: str
    imports_at: bool = False
    reserved: tuple[str, ...] = ()
    blinds: Mapping[str, str] = field(default_factory=dict)
    commands_at: str | None = None
    skill_tool: tuple[str, str] | None = None
    shell_tools: tuple[str, ...] = ()
    providers: frozenset[str] = frozenset()
    key_variable: str | None = None
    url_variable: str | None = None
    public_url: str | None = None
    variables: tuple[str, ...] = ()
    login_variables: tuple[str, ...] = ()
    readable: tuple[Path, ...] = ()
    exit_kinds: Mapping[int, str] = field(default_factory=dict)
    personal_text: str | None = None
    file_digest: str | None = None
    own_model: bool = False
    install: str = "install it, or put its folder on the PATH (docs/guides/agents.md)"


class Conversation:
    """Turns from events in order: text and calls are a model's turn until a result comes, results until it speaks."""

    def __init__(self) -> None:
        self._turns: list[Turn] = []
        self._names: dict[str, str] = {}

    def say(self, text: str) -> None:
        """A piece of the model's text."""
        turn = self._speaking()
        self._turns[-1] = ModelTurn(text=turn.text + text, calls=turn.calls)

    def speak(self, text: str) -> None:
        """A whole text of the model, as a turn of its own."""
        self._turns.append(ModelTurn(text=text))

    def call(self, name: str, args: dict[str, Any], call_id: str) -> None:
        """A tool call."""
        turn = self._speaking()
        self._names[call_id] = name
        self._turns[-1] = ModelTurn(text=turn.text, calls=(*turn.calls, ToolCall(name=name, args=args, id=call_id)))

    def result(self, call_id: str, *, ok: bool, output: str) -> None:
        """What a call gave."""
        response = {"status": "success" if ok else "error", "output": output}
        result = ToolResult(name=self._names.get(call_id, ""), response=response, id=call_id)
        last = self._turns[-1] if self._turns else None
        if isinstance(last, ToolTurn):
            self._turns[-1] = ToolTurn(results=(*last.results, result))
        else:
            self._turns.append(ToolTurn(results=(result,)))

    def _speaking(self) -> ModelTurn:
        last = self._turns[-1] if self._turns else None
        if isinstance(last, ModelTurn):
            return last
        turn = ModelTurn(text="")
        self._turns.append(turn)
        return turn

    @property
    def turns(self) -> tuple[Turn, ...]:
        """All turns so far."""
        return tuple(self._turns)

    @property
    def answer(self) -> str | None:
        """The text of the last turn, when that is a model's and calls nothing."""
        last = self._turns[-1] if self._turns else None
        return last.text if isinstance(last, ModelTurn) and not last.calls else None

    @property
    def n_calls(self) -> int:
        """Model turns so far."""
        return sum(isinstance(turn, ModelTurn) for turn in self._turns)


class StreamProblem(ValueError):
    """A line of a stream that is no event."""


def read_events(stdout: bytes) -> Iterator[dict[str, Any]]:
    """The JSON objects of a stream, one a line. Raises :class:`StreamProblem`; a torn last line is one too."""
    for number, line in enumerate(stdout.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            event = parse_json(line.decode())
        except (UnicodeDecodeError, JsonProblem) as problem:
            raise StreamProblem(f"line {number} of the agent's output is no JSON: {line[:80]!r}") from problem
        if not isinstance(event, dict):
            raise StreamProblem(f"line {number} of the agent's output is no JSON object: {line[:80]!r}")
        yield event


def text_of(event: Mapping[str, Any], name: str) -> str:
    """A field that should be text; "" for anything else."""
    value = event.get(name)
    return value if isinstance(value, str) else ""


def count_of(event: Mapping[str, Any], name: str) -> int | None:
    """A field that should be a count; None for anything else."""
    value = event.get(name)
    return value if type(value) is int and value >= 0 else None


def object_of(event: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A field that should be an object; an empty one for anything else."""
    value = event.get(name)
    return value if isinstance(value, dict) else {}


def unreadable(problem: StreamProblem) -> Told:
    """What is told by an output that cannot be read."""
    return Told(failure=Failure(reason=Reason.PROVIDER_ERROR, kind="non_json", message=str(problem)))


def experimental(name: str) -> str:
    """What is said of an adapter that was written after a documentation alone."""
    return f"{name} is experimental: its adapter was never run against the real program, so look at its answers first"
