"""What this machine has: Python, packages, programs, walls for scripts, room on the disk. Asks no network."""

from __future__ import annotations

import locale
import platform
import re
import shutil
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from skillassay import __version__
from skillassay.doctor.base import Item, note, ok, problem
from skillassay.errors import EnvironmentFault
from skillassay.isolation.process import SCRUBBED, Isolation, probe_isolation, run_command

PACKAGES = ("google-genai", "jinja2", "pyyaml", "jsonschema", "click", "tabulate", "regex", "semver")
EXTRAS = {
    "openai": ("openai", "models of any OpenAI-compatible endpoint (openai:NAME)"),
    "adk": ("google-adk", "routing cases through Google's ADK; it needs an environment of its own"),
}
PROGRAMS = {
    "git": "--base, --suggest, the mode previous and the check for ignored files need it",
    "node": "the Gemini CLI needs version 20 or newer",
    "gemini": "the subject gemini-cli and the judge agent:gemini-cli are this program",
    "claude": "the judge agent:claude-code is this program",
    "codex": "the judge agent:codex is this program",
}
LITTLE_BYTES, NO_BYTES = 1 << 30, 64 << 20


def machine_items(root: Path) -> Iterator[Item]:
    """One item each for what a run may need of the machine."""
    yield ok("python", f"{platform.python_version()} ({platform.system()}), skillassay {__version__}")
    yield _packages()
    yield from _extras()
    yield from _programs()
    yield _isolation()
    yield _encoding()
    yield _disk(root)


def _packages() -> Item:
    found = {name: _version(name) for name in PACKAGES}
    missing = [name for name, version in found.items() if version is None]
    if missing:
        return problem("packages", f"not installed: {', '.join(missing)}", "install skillassay again, with pip")
    return ok("packages", ", ".join(f"{name} {version}" for name, version in found.items()))


def _extras() -> Iterator[Item]:
    for extra, (package, what) in EXTRAS.items():
        version = _version(package)
        if version is None:
            yield note(f"extra {extra}", f"{package} is not installed: {what}", f"pip install 'skillassay[{extra}]'")
        else:
            yield ok(f"extra {extra}", f"{package} {version}")


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _programs() -> Iterator[Item]:
    for name, why in PROGRAMS.items():
        path = shutil.which(name)
        if path is None:
            yield note(f"program {name}", f"not on the PATH: {why}", f"install {name} where you need it")
        elif name == "node":
            yield _node(path, why)
        else:
            yield ok(f"program {name}", "on the PATH")


def _node(path: str, why: str) -> Item:
    try:
        told = run_command([path, "--version"], cwd=Path("/"), env=SCRUBBED, timeout_s=10, max_output_bytes=1 << 16)
    except EnvironmentFault as fault:
        return note("program node", f"on the PATH, and does not start: {fault.message}", "install Node.js again")
    found = re.fullmatch(r"v(\d{1,4})\.[\d.]+", told.stdout.decode("utf-8", "replace").strip())
    if found is None:
        return note("program node", f"on the PATH, and does not tell its version: {why}", "install Node.js again")
    return ok("program node", found[0]) if int(found[1]) >= 20 else note("program node", f"{found[0]}: {why}", "update")


def _isolation() -> Item:
    probe = probe_isolation()
    if probe.level is Isolation.NAMESPACES:
        return ok("isolation", f"scripts of skills run in: {probe.level.value}")
    says = f"scripts of skills run in: {probe.level.value}, since {probe.why}"
    says += "; they do not run while a key is set, unless --allow-unisolated"
    says += f"; as root without a limit on processes: {probe.unbounded}" if probe.unbounded else ""
    return note("isolation", says, "install unshare (util-linux) and allow user namespaces (docs/design/isolation.md)")


def _encoding() -> Item:
    output = getattr(sys.stdout, "encoding", None) or "unknown"
    says = f"output {output}, locale {locale.getlocale()[0] or 'C'}, file names {sys.getfilesystemencoding()}"
    if output.lower().replace("-", "").startswith("utf"):
        return ok("encoding", says)
    return note("encoding", f"{says}: what it cannot show is written as an escape", "set PYTHONUTF8=1, or LANG=C.UTF-8")


def _disk(root: Path) -> Item:
    free = shutil.disk_usage(root).free
    says = f"{free // (1 << 20)} MiB free where the project lies"
    if free < NO_BYTES:
        return problem("disk", f"{says}: a run could not keep its records", "make room")
    return note("disk", says, "records of runs grow") if free < LITTLE_BYTES else ok("disk", says)
