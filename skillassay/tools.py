"""The tools a model gets to use skills with. Owns their names, shapes, error codes and what a call may reach.

Names, arguments, answers and error codes are those of ADK's ``SkillToolset`` (google-adk 2.13), so that a skill meets
the same words here and there. Where this differs: every file of the skill's manifest can be read, not only
``references/ assets/ scripts/``; a forbidden path and a missing one get the same RESOURCE_NOT_FOUND; a script runs in
the trial's workspace, with a fresh copy of its skill at ``/skill``; exit 0 is never an error, whatever went to stderr.

Skill names and file paths come from a model: they are looked up in the catalog and never joined to a folder, so that
no argument can name anything else. A wrong call is an answer with ``error`` and ``error_code``, never an exception;
what the machine cannot do is a ``TrialError``, because it says nothing about the candidate.
"""

from __future__ import annotations

import posixpath
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from skillassay.canonical import short_digest
from skillassay.errors import SCRIPT_REFUSED, InputError, Reason, Stage, TrialError
from skillassay.isolation.process import Isolation, Limits
from skillassay.isolation.script import KINDS, kind_of, run_script
from skillassay.tool_arguments import Refusal, build_schema, build_script_schema, read_command_line, read_text
from skillassay.transcript import Tool

LOAD_SKILL = "load_skill"
LOAD_RESOURCE = "load_skill_resource"
RUN_SCRIPT = "run_skill_script"
CONTENT_BYTES = 256 << 10
"""How much of a file a model is shown; what is cut is said."""


class ToolSet(StrEnum):
    """Which tools a mode offers: all three, or only the one that runs scripts (the text is in the prompt already)."""

    PROGRESSIVE = "progressive"
    EAGER = "eager"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFile:
    """A file of a skill's manifest: where its bytes lie (absolute), and how many there are on disk."""

    source: Path
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogSkill:
    """A skill as offered to a model. ``files`` is its digest's manifest: POSIX paths relative to the skill, in NFC."""

    name: str
    path: str
    description: str
    frontmatter: Mapping[str, Any]
    instructions: str
    files: Mapping[str, ToolFile]

    def __post_init__(self) -> None:
        for path in self.files:
            if path != posixpath.normpath(path) or path.startswith(("/", "../")) or path in {".", ".."}:
                raise ValueError(f"{path!r} is not a path inside a skill")

    @property
    def scripts(self) -> tuple[str, ...]:
        """The files ``run_skill_script`` can run: those under ``scripts/`` of a kind with an interpreter."""
        return tuple(path for path in sorted(self.files) if path.startswith("scripts/") and kind_of(path) in KINDS)

    def find(self, path: str) -> str | None:
        """The manifest's own spelling of a model's path, or None. Words only: no folder is looked at."""
        if "\0" in path:  # some Pythons' normpath stops there
            return None
        name = posixpath.normpath(unicodedata.normalize("NFC", path))
        return name if name in self.files else None

    def find_script(self, path: str) -> str | None:
        """The same for a script, named with or without ``scripts/``; nothing outside that folder is one."""
        found = (self.find(path), self.find(f"scripts/{path}"))
        return next((name for name in found if name is not None and name.startswith("scripts/")), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """The skills offered in one trial, in the order they are shown."""

    skills: tuple[CatalogSkill, ...]

    def __post_init__(self) -> None:
        names = [skill.name for skill in self.skills]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise InputError(f"two skills are named {twice[0]!r}; a model could not tell them apart")

    def find(self, name: str) -> CatalogSkill | None:
        """The skill of exactly this name."""
        return next((skill for skill in self.skills if skill.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptPolicy:
    """Whether scripts may run on this machine in this run, and why (or why not)."""

    allowed: bool
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEvent:
    """One call, in words that hold nothing a model wrote: names are the catalog's, arguments a digest.

    ``error_code`` is the answer's, or the reason of the ``TrialError``.
    """

    name: str
    args_digest: str
    skill: str | None
    file: str | None
    status: str | None
    error_code: str | None


def script_policy(
    level: Isolation, keys_set: Sequence[str], *, allow_unisolated: bool, unbounded: str = ""
) -> ScriptPolicy:
    """Scripts run in namespaces, or where there is no key to steal and no root to be, or where the user takes the risk.

    ``keys_set``: names of the environment variables that hold a key. ``unbounded``: why root's processes have no limit.
    """
    if level is Isolation.NAMESPACES:
        return ScriptPolicy(allowed=True, why=f"isolated: {level}")
    if allow_unisolated:
        return ScriptPolicy(allowed=True, why=f"--allow-unisolated: {level}")
    risk = f"it would run as root, with no limit on processes: {unbounded}" if unbounded else ""
    if keys_set:
        risk = f"{', '.join(sorted(keys_set))} is set and a script could read it: {level}"
    why = f"{risk}; --allow-unisolated runs it anyway" if risk else f"no key is set: {level}"
    return ScriptPolicy(allowed=not risk, why=why)


def tool_declarations(catalog: Catalog, *, mode_tools: ToolSet) -> tuple[Tool, ...]:
    """The tools to offer. No skills, no tools; no script that could run, no tool to run one."""
    names = [skill.name for skill in catalog.skills]
    runnable = [skill.name for skill in catalog.skills if skill.scripts]
    path = {"type": "string", "description": "The path of the file inside the skill, such as 'references/api.md'."}
    told = {
        LOAD_SKILL: "Loads the SKILL.md instructions for a given skill.",
        LOAD_RESOURCE: "Loads a file from within a skill.",
        RUN_SCRIPT: "Executes a script from a skill's scripts/ directory, in the current working directory.",
    }
    schemas = {}
    if names and mode_tools is ToolSet.PROGRESSIVE:
        schemas = {LOAD_SKILL: build_schema(names), LOAD_RESOURCE: build_schema(names, file_path=path)}
    if runnable:
        schemas[RUN_SCRIPT] = build_script_schema(runnable)
    return tuple(Tool(name=name, description=told[name], parameters=schema) for name, schema in schemas.items())


@dataclass(slots=True, kw_only=True)
class ToolBox:
    """The tools of one trial, with what it remembers: skills loaded, scripts run, calls, and lookups that failed."""

    catalog: Catalog
    tools: ToolSet
    workspace: Path
    isolation: Isolation
    policy: ScriptPolicy
    limits: Limits
    activated: list[str] = field(default_factory=list, init=False)
    """Skills by ``load_skill``, in order, once each."""
    scripts: list[str] = field(default_factory=list, init=False)
    """Scripts started, as ``skill/scripts/x.py``, in order, each time."""
    events: list[ToolEvent] = field(default_factory=list, init=False)
    _n_missing: dict[str, int] = field(default_factory=dict, init=False)

    def call(self, name: str, args: object) -> dict[str, Any]:
        """Answer one call. Raises ``TrialError`` when the machine cannot do what was rightly asked, nothing else."""
        offered = {tool.name for tool in tool_declarations(self.catalog, mode_tools=self.tools)}
        handlers = {LOAD_SKILL: self._load_skill, LOAD_RESOURCE: self._load_resource, RUN_SCRIPT: self._run_script}
        code: str | None = None
        answer: dict[str, Any] = {}
        try:
            if name not in offered:
                known = ", ".join(sorted(offered)) or "none"
                raise Refusal(f"There is no tool {_quoted(name)}. The tools are: {known}.")
            if not isinstance(args, Mapping):
                raise Refusal(f"Arguments must be an object, got {type(args).__name__}.")
            answer = handlers[name](args)
        except Refusal as refusal:
            code = refusal.code
            answer = {"error": refusal.message, "error_code": code}
        except TrialError as error:
            code = error.reason.value
            raise
        finally:
            self.events.append(
                ToolEvent(
                    name=name if name in offered else "unknown",
                    args_digest=_digest(args),
                    skill=answer.get("skill_name"),
                    file=answer.get("file_path"),
                    status=answer.get("status") if name == RUN_SCRIPT else None,
                    error_code=code,
                )
            )
        return answer

    def _skill(self, args: Mapping[str, Any]) -> CatalogSkill:
        name = read_text(args, "skill_name")
        skill = self.catalog.find(name)
        if skill is None:
            raise Refusal(f"Skill {_quoted(name)} not found.", code="SKILL_NOT_FOUND")
        return skill

    def _missing(self, kind: str, path: str, skill: CatalogSkill) -> Refusal:
        """The refusal for a file that is not there; from the second one on it tells the model to stop guessing."""
        n_missing = self._n_missing[kind] = self._n_missing.get(kind, 0) + 1
        message, code = f"{kind} {_quoted(path)} not found in skill '{skill.name}'.", f"{kind.upper()}_NOT_FOUND"
        if n_missing == 1:
            return Refusal(message, code=code)
        stop = f" This is {kind.lower()} lookup failure #{n_missing}. Do not retry any path; report the error and stop."
        return Refusal(message + stop, code=f"{code}_FATAL")

    def _load_skill(self, args: Mapping[str, Any]) -> dict[str, Any]:
        skill = self._skill(args)
        if skill.name not in self.activated:
            self.activated.append(skill.name)
        text, cut = clip_head(skill.instructions)
        answer = {"skill_name": skill.name, "instructions": text, "frontmatter": dict(skill.frontmatter)}
        return answer | _flag(cut=cut)

    def _load_resource(self, args: Mapping[str, Any]) -> dict[str, Any]:
        skill, path = self._skill(args), read_text(args, "file_path")
        found = skill.find(path)
        if found is None:
            raise self._missing("Resource", path, skill)
        try:
            text = decode_text(skill.files[found].source.read_bytes())
        except OSError as error:
            message = f"{skill.path}/{found} cannot be read: {error}"
            raise TrialError(message, reason=Reason.HARNESS_ERROR, stage=Stage.HARNESS) from error
        answer: dict[str, Any] = {"skill_name": skill.name, "file_path": found}
        if text is None:
            n_bytes = skill.files[found].size
            return answer | {"status": f"Binary file detected ({n_bytes} bytes). It cannot be shown as text."}
        content, cut = clip_head(text)
        return answer | {"content": content} | _flag(cut=cut)

    def _run_script(self, args: Mapping[str, Any]) -> dict[str, Any]:
        skill, path = self._skill(args), read_text(args, "file_path")
        line = read_command_line(args)
        found = skill.find_script(path)
        if found is None:
            raise self._missing("Script", path, skill)
        if kind_of(found) not in KINDS:
            message = f"Unsupported script type: {_quoted(found)}. Supported types: {', '.join(KINDS)}"
            raise Refusal(message, code="UNSUPPORTED_SCRIPT_TYPE")
        if not self.policy.allowed:
            message = f"not run: {skill.name}/{found}: {self.policy.why}"
            raise TrialError(message, reason=Reason.MISSING_CAPABILITY, stage=Stage.HARNESS, kind=SCRIPT_REFUSED)
        files = {name: file.source for name, file in skill.files.items()}
        output = run_script(
            files, found, line=line, workspace=self.workspace, isolation=self.isolation, limits=self.limits
        )
        self.scripts.append(f"{skill.name}/{found}")
        told = {"stdout": output.stdout, "stderr": output.stderr, "status": output.status}
        return {"skill_name": skill.name, "file_path": found, **told, **_flag(cut=output.truncated)}


def decode_text(data: bytes) -> str | None:
    """A file as text with CRLF folded; None for what is no text by the digest's rule (not UTF-8, or with a NUL)."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text.replace("\r\n", "\n")


def clip_head(text: str) -> tuple[str, bool]:
    """At most ``CONTENT_BYTES`` of a text, cut between characters; and whether it was cut."""
    data = text.encode()
    return data[:CONTENT_BYTES].decode("utf-8", "ignore"), len(data) > CONTENT_BYTES


def _flag(*, cut: bool) -> dict[str, Any]:
    return {"truncated": True} if cut else {}


def _quoted(text: str) -> str:
    # repr leaves nothing unprintable and no lone surrogate, which could not be sent back as JSON.
    return repr(text[:200])


def _digest(args: object) -> str:
    try:
        return short_digest(args)
    except (TypeError, ValueError, RecursionError):  # NaN, lone surrogates, endless nesting: all alike
        return short_digest(None)
