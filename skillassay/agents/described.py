"""An agent described in a YAML file (``--subject my-agent.yaml``). Owns that format; docs/guides/agents.md tells it.

The file names a program that is going to be started, so it is taken from the command line alone, never from a contract
or anything else that comes with a project. It tells of its run the answer, nothing more: no skill, call or token.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from skillassay.agents.base import Agent, Ask, Launch, StreamProblem, Told, read_events, unreadable
from skillassay.canonical import Json, sha256_hex
from skillassay.documents import load_document
from skillassay.errors import InputError
from skillassay.isolation.levels import WORKSPACE
from skillassay.models.naming import FIXTURE, GEMINI, OPENAI
from skillassay.schema import document_findings
from skillassay.transcript import ModelTurn, Usage

SUFFIXES = (".yaml", ".yml")
_PLACEHOLDER = re.compile(r"\{(query|model|workspace)\}")


def load_described(path: Path) -> Agent:
    """The agent of a file. Raises :class:`InputError` with every problem of it."""
    document, findings = load_document(path, shown_as=path.as_posix())
    if document is not None:
        findings = (*findings, *document_findings(document, "agent"))
    if findings or document is None:
        raise InputError(f"{path} describes no agent", hint="see docs/guides/agents.md", findings=findings)
    value: Any = document.value
    program, *arguments = value["argv"]
    used = {name for text in value["argv"] for name in _PLACEHOLDER.findall(text)}
    if "query" not in used or _PLACEHOLDER.search(program):
        message = f"{path}: argv must name a program first and hold {{query}} behind it"
        raise InputError(message, hint="see docs/guides/agents.md")
    asks_the_candidate = "model" in used or "key" in value or "base_url" in value
    return Agent(
        name=value["name"],
        # A bare name is looked for on the PATH; anything else lies beside the file.
        program=str((path.parent / program).absolute()) if "/" in program else program,
        trial=partial(_launch, tuple(arguments)),
        read=partial(_read_events, value["output"]) if isinstance(value["output"], dict) else _read_text,
        note="" if asks_the_candidate else _own_model(value["name"]),
        own_model=not asks_the_candidate,
        skills_folder=value["skills_folder"].rstrip("/"),
        context_file=value["context_file"],
        reserved=tuple(value.get("reserved", ())),
        providers=frozenset({GEMINI, OPENAI, FIXTURE}),
        key_variable=value.get("key"),
        url_variable=value.get("base_url"),
        variables=tuple(value.get("env", ())),
        readable=tuple((path.parent / item).absolute() for item in value.get("readable", ())),
        file_digest=sha256_hex(path.read_bytes()),
    )


def _own_model(name: str) -> str:
    return f"{name} is told no model, so nobody here knows which one answers, and no gate is passed"


def _launch(arguments: tuple[str, ...], ask: Ask) -> Launch:
    values = {"query": ask.query, "model": ask.model or "", "workspace": WORKSPACE}
    # In one pass: a query that holds a placeholder is text.
    return Launch(arguments=tuple(_PLACEHOLDER.sub(lambda match: values[match[1]], text) for text in arguments))


def _read_text(stdout: bytes) -> Told:
    try:
        text = stdout.decode()
    except UnicodeDecodeError as error:
        return unreadable(StreamProblem(f"the agent's output is not UTF-8 at byte {error.start}"))
    # The line end is the terminal's, the rest is the answer's. Nothing at all is no answer.
    return _told(text.removesuffix("\n").removesuffix("\r") if text else None)


def _read_events(output: Mapping[str, Any], stdout: bytes) -> Told:
    answer = None
    try:
        for event in read_events(stdout):
            found = _at(event, output["jsonl"])
            if isinstance(found, str) and all(_at(event, at) == text for at, text in output.get("where", {}).items()):
                answer = found
    except StreamProblem as broken:
        return unreadable(broken)
    return _told(answer)


def _at(value: Json, path: str) -> Json:
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _told(answer: str | None) -> Told:
    turns = () if answer is None else (ModelTurn(text=answer),)
    return Told(turns=turns, answer=answer, usage=Usage(n_calls=1))
