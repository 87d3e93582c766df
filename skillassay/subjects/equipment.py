"""What lies in an agent's workspace before it begins, by mode. Owns the layout; starts nothing.

    everywhere             the user's files; the contract's instructions in the agent's context file
    progressive, …         each skill of the catalog in the agent's folder of skills (also previous, again, placebo)
    eager                  the skills' text behind the instructions, their other files in ``skill-files/NAME``
    none                   nothing more: no folder and no word of a skill

Skills are copied file by file from the run's verified snapshot. What would make an arm differ by more than the skill is
refused: a user's file in the place of a skill, of the context file or of the agent's settings, and text that the agent
would rewrite on reading. A file of settings could also lead the agent, and its key, elsewhere.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from skillassay.agents.base import Agent
from skillassay.canonical import sha256_hex
from skillassay.errors import Reason, Stage, TrialError
from skillassay.prompts import Offered, PromptSkill, render_whole
from skillassay.runs.plan import Mode
from skillassay.subjects.base import InputFile, lay_out
from skillassay.tools import CatalogSkill

MATERIAL = "skill-files"
EAGER_INTRO = """\
The following skills are at hand, each with its instructions and its files. When one fits the request, follow its
instructions step by step. The files of each lie in skill-files/NAME in the working folder; run a script that its
instructions mention from there. When no skill fits, answer directly. Always finish with an answer to the user."""

RESERVED = re.compile(r"\.env.*|\.git", re.IGNORECASE)
"""Names at the top of a workspace that programs take settings and commands from, whatever agent runs there."""

_CODE = re.compile(r"(`+)[\s\S]*?\1")
_IMPORT = re.compile(r"(?:^|(?<=\s))@[./A-Za-z]\S*")
_AT = re.compile(r"@([^\s,;!?()\[\]{}<>]+)")
_SCRIPT_MODE = 0o755


def equip(
    agent: Agent, mode: Mode, shown: Offered, *, instructions: str, files: Sequence[InputFile], workspace: Path
) -> None:
    """Lay everything out. Raises :class:`TrialError` where that cannot be done without changing the experiment."""
    _refuse_places(agent, files)
    lay_out(files, workspace)
    context = instructions
    if mode is Mode.EAGER:
        context = "\n\n".join([instructions, EAGER_INTRO, *map(_rendered, shown.prompt_skills)])
    if agent.imports_at and (found := _IMPORT.search(_CODE.sub(" ", context))):
        raise _unfit(
            f"{agent.name} would read {found[0][:60]!r} in {agent.context_file} as the name of a file to put in"
        )
    try:
        _write(workspace / agent.context_file, f"{context}\n")
        for name, text in agent.blinds.items():
            _write(workspace / name, text)
        for skill in shown.catalog.skills:
            if mode is Mode.EAGER:
                _copy(skill, workspace / MATERIAL / _folder_name(skill), leave_out="SKILL.md")
            else:
                _copy(skill, workspace / agent.skills_folder / _folder_name(skill))
    except OSError as error:
        message = f"the workspace cannot be laid out: {error.strerror or error}"
        raise TrialError(message, reason=Reason.HARNESS_ERROR, stage=Stage.HARNESS) from error


def laid_apart(agent: Agent, mode: Mode, workspace: Path, *, instructions: str) -> list[str]:
    """What lies in the workspace apart from the skills, as it lies there: each file with its digest.

    Of the context file, in ``eager``, what stands in front of the skills' text; in other modes the whole of it.
    """
    said = []
    for path in sorted(workspace.rglob("*")):
        name = path.relative_to(workspace).as_posix()
        is_of_skills = name.startswith((f"{agent.skills_folder}/", f"{MATERIAL}/"))
        if not path.is_file() or (mode is not Mode.NONE and is_of_skills):
            continue
        data = path.read_bytes()
        if name == agent.context_file:
            data = data.rstrip(b"\n")[: len(instructions.encode()) if mode is Mode.EAGER else None]
        said.append(f"{name} {sha256_hex(data)}")
    return said


def refuse_imports(agent: Agent, query: str, files: Sequence[InputFile]) -> None:
    """Refuse a query in which ``@path`` would put a file in, in every mode where it would in one.

    Any path that leads somewhere counts, and one that begins with a name that something in the workspace has.
    """
    if not agent.imports_at:
        return
    there = _places(agent) | {PurePosixPath(file.name).parts[0].casefold() for file in files}
    for found in _AT.finditer(query):
        first = found[1].replace("\\", "").strip("\"'`.:").partition("/")[0].casefold()
        if found[1].lstrip("\\\"'`").startswith(("/", ".", "~")) or first in there:
            raise _unfit(f"{agent.name} would read {found[0][:60]!r} in the query as the name of a file to put in")


def _places(agent: Agent) -> set[str]:
    own = (agent.skills_folder, agent.context_file, MATERIAL, *agent.reserved)
    return {PurePosixPath(path).parts[0].casefold() for path in own}


def _refuse_places(agent: Agent, files: Sequence[InputFile]) -> None:
    taken, context = _places(agent), PurePosixPath(agent.context_file).name.casefold()
    for file in files:
        parts = [part.casefold() for part in PurePosixPath(file.name).parts]
        # Agents also read a file of that name in a folder below as instructions.
        if parts[0] in taken or RESERVED.fullmatch(parts[0]) or parts[-1] == context:
            raise _unfit(
                f"the case's file {file.name} lies where {agent.name} looks for skills, settings or instructions"
            )


def _unfit(message: str) -> TrialError:
    return TrialError(message, reason=Reason.MISSING_CAPABILITY, stage=Stage.HARNESS)


def _rendered(skill: PromptSkill) -> str:
    scripts = tuple(f"{MATERIAL}/{skill.name}/{path}" for path in skill.scripts)
    return render_whole(replace(skill, scripts=scripts))


def _folder_name(skill: CatalogSkill) -> str:
    """The skill's name as a folder: agents ask that they be the same. A name is somebody's text, and no path."""
    if PurePosixPath(skill.name).parts != (skill.name,) or skill.name.startswith("."):
        raise _unfit(f"the skill {skill.path} cannot be laid out: {skill.name!r} is not the name of a folder")
    return skill.name


def _copy(skill: CatalogSkill, folder: Path, *, leave_out: str | None = None) -> None:
    for path, file in skill.files.items():
        if path == leave_out:
            continue
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file.source, target)
        target.chmod(file.source.stat().st_mode & _SCRIPT_MODE | 0o600)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
