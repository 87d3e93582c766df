"""Starting an agent: where its program lies, what it may see, what of the environment it gets, what it gave back.

A trial's agent runs every tool without asking, and with it the scripts of the skills under test. So it runs as they do,
in namespaces of its own where the machine has them, with the network and its own program besides: a home made for this
trial, the workspace, nothing of the user's. It must hold the key of its model, and what it runs could read it there.

A judge's agent has no tools and no skill, and uses the login of the user: it runs with the user's home, from an empty
folder, on a named part of the environment.

Keys are passed in the environment alone. Whatever comes back is read with every key blotted out, as it stands: what a
program made of it (Base64, a part) is not known.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import quote

from skillassay.agents.base import Agent, Launch
from skillassay.errors import EnvironmentFault
from skillassay.isolation.process import (
    SYSTEM_PATH,
    CommandResult,
    Isolation,
    Limits,
    remove_tree,
    run_command,
    run_isolated,
)
from skillassay.models.endpoint import secrets_in

HOME = "/agent"
"""Where a trial's agent finds its home, and the files of its launch."""

OUTPUT_BYTES = 32 << 20
ARGUMENT_BYTES = 128 << 10
"""What Linux takes as one argument."""

_LIMITS = Limits(
    cpu_s=3600, memory_bytes=8 << 30, n_open_files=4096, n_processes=512, output_bytes=OUTPUT_BYTES,
    reserves_address_space=True,
)  # fmt: skip
_PERSON = ("HOME", "USER", "LOGNAME", "LANG", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR")
"""What a logged-in agent needs to find its login."""

_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH", re.IGNORECASE)
_BLOT = "[key]"
_MIN_KEY_CHARS, _MIN_PASSWORD_CHARS = 8, 4
"""A shorter value of a variable is no key, and a shorter password of an address no secret: blotting it out would change
words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program that was found: how it is called, what it must be able to read, where it looks for others."""

    path: str
    readable: tuple[Path, ...]
    search_path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What an agent gets to reach its model with. Never recorded; ``secrets`` stand in nothing that comes back."""

    env: Mapping[str, str] = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)


def find_program(agent: Agent) -> Program:
    """Look the program up as a shell would. Raises :class:`EnvironmentFault` where there is none."""
    found = shutil.which(agent.program)
    if found is None:
        message = f"{agent.name} needs the program {agent.program}, which cannot be found"
        raise EnvironmentFault(message, hint=agent.install)
    path = Path(found).absolute()
    node = shutil.which("node")
    programs = [path, *([Path(node).absolute()] if node else [])]
    folders = dict.fromkeys([*(str(item.parent) for item in programs), *SYSTEM_PATH.split(":")])
    return Program(
        path=str(path),
        readable=(*programs, *filter(None, map(_package_of, programs)), *agent.readable),
        search_path=":".join(folders),
    )


def _package_of(program: Path) -> Path | None:
    """The tree of packages that a Node program lies in; its parts require each other from all over it."""
    parts = program.resolve().parts
    return Path(*parts[: parts.index("node_modules") + 1]) if "node_modules" in parts else None


def access_from_environment(names: Iterable[str]) -> Access:
    """Those of the variables that are set to something. A name that speaks of a key or the like holds a secret, and so
    may an address.
    """
    return build_access(_set_variables(names))


def build_access(env: Mapping[str, str], *keys: str) -> Access:
    """What an agent gets; the secrets in it, and ``keys`` besides, stand in nothing that comes back."""
    values = {*keys, *(value for name, value in env.items() if _SECRET.search(name))}
    secrets = {value for value in values if len(value) >= _MIN_KEY_CHARS}
    for value in env.values():
        secrets |= {part for part in _secrets_of_address(value) if len(part) >= _MIN_PASSWORD_CHARS}
    return Access(env=env, secrets=tuple(sorted(secrets)))


def _secrets_of_address(value: str) -> frozenset[str]:
    try:
        return secrets_in(value) if "://" in value else frozenset()
    except ValueError:  # no address, or none that anybody could use
        return frozenset()


def secret_variables() -> tuple[str, ...]:
    """Names of the variables that are set to something and speak of a key or the like."""
    return tuple(sorted(name for name, value in os.environ.items() if _SECRET.search(name) and value.strip()))


def _set_variables(names: Iterable[str]) -> dict[str, str]:
    return {name: value for name in names if (value := os.environ.get(name, "")).strip()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a trial's agent runs: its home and its workspace, made for this trial alone, behind which walls."""

    home: Path
    workspace: Path
    level: Isolation


def run_trial(program: Program, launch: Launch, place: Place, *, access: Access, timeout_s: float) -> CommandResult:
    """Run an agent in its room. Raises :class:`EnvironmentFault` when it was never started."""
    _refuse_long(launch)
    _write(launch.files, place.home)
    result = run_isolated(
        [program.path, *launch.arguments],
        workspace=place.workspace,
        env={"HOME": HOME, "PATH": program.search_path, **launch.env, **access.env},
        limits=replace(_LIMITS, timeout_s=timeout_s),
        level=place.level,
        folders={HOME: place.home},
        network=True,
        readable=program.readable,
    )
    return _blotted(result, access.secrets)


def run_judge(program: Program, launch: Launch, folder: Path, *, access: Access, timeout_s: float) -> CommandResult:
    """Run an agent as the user's own, in a folder that holds its files and nothing else.

    Raises :class:`EnvironmentFault` when it cannot start.
    """
    _refuse_long(launch)
    _write(launch.files, folder)
    own = {"PATH": os.environ.get("PATH", SYSTEM_PATH), "TMPDIR": str(folder)}  # reports of errors go with the folder
    env = {**_set_variables(_PERSON), **own, **access.env, **launch.env}
    argv = [program.path, *launch.arguments]
    result = run_command(argv, cwd=folder, env=env, timeout_s=timeout_s, max_output_bytes=OUTPUT_BYTES)
    return _blotted(result, access.secrets)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that is gone afterwards, whatever an agent left in it."""
    folder = Path(tempfile.mkdtemp(prefix="skillassay-"))
    try:
        yield folder
    finally:
        remove_tree(folder)


def last_words(result: CommandResult) -> str:
    """The last line of standard error, for a message."""
    return result.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2][:300] or "it said nothing"


def _write(files: Mapping[str, str], folder: Path) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def _refuse_long(launch: Launch) -> None:
    size = max((len(os.fsencode(argument)) for argument in launch.arguments), default=0)
    if size >= ARGUMENT_BYTES:
        raise EnvironmentFault(f"a question of {size} bytes does not fit on a command line ({ARGUMENT_BYTES} bytes)")


def _blotted(result: CommandResult, secrets: Iterable[str]) -> CommandResult:
    """The output without any key, as it is, as JSON writes it and as an address does."""
    forms = {form for key in secrets for form in (key, json.dumps(key)[1:-1], quote(key), quote(key, safe=""))}
    outputs = [result.stdout, result.stderr]
    for form in sorted(forms, key=len, reverse=True):
        outputs = [output.replace(form.encode(), _BLOT.encode()) for output in outputs]
    return replace(result, stdout=outputs[0], stderr=outputs[1])
