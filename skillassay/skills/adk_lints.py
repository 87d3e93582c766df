"""What Google's ADK makes of a skill that we read. Owns the rules of its ``load_skill_from_dir`` (google-adk 2.13).

ADK reads SKILL.md by other rules: the file must begin with ``---``; the frontmatter ends at the next ``---``, wherever
it stands; its values are typed YAML, so that ``license: 2.0`` is a number and no text; lengths count white space; the
folder must have the name after NFKC. Of the files it takes ``references/``, ``assets/`` and ``scripts/``, of the last
only what is UTF-8, and it runs Python and shell. Nothing here needs ADK; tests with it show that the rules are its own.

A skill with an error of ours gets none of this: the error says it already.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from skillassay.findings import Finding, Severity, register

ADK_REFUSES = register("skill.adk-refuses", "Google's ADK does not load the skill.")
ADK_READS_OTHERWISE = register("skill.adk-reads-otherwise", "Google's ADK reads another description or body.")
ADK_SCRIPT = register("skill.adk-script", "A script that Google's ADK drops (not UTF-8), or has no way to run.")

ADK_KINDS = (".py", ".sh", ".bash")
OTHER_KINDS = frozenset(
    (".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".lua", ".r", ".zsh", ".fish", ".ps1", ".bat", ".cmd")
)
"""Kinds of scripts that ADK answers with UNSUPPORTED_SCRIPT_TYPE; any other file under scripts/ may be data."""

_Fast: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_UNLIKE = re.compile(r"\t|[|>][-+\d]*#|[\[{][^\]}]*\?")
"""Where libyaml, ten times as fast, accepts what PyYAML's own reader refuses, which is the one that ADK uses."""
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_LIMITS = {"description": 1024, "compatibility": 500}
_TEXTS = ("name", "description", "license", "compatibility")
_KINDS = {bool: "a truth value", int: "a number", float: "a number", list: "a list", dict: "a mapping"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """SKILL.md as we read it: ``path`` is the file's; ``folder_name`` None where the folder's name says nothing."""

    path: str
    folder_name: str | None
    description: str
    body: str


class _Refused(ValueError):
    """ADK does not load the skill; the message is why."""


def lint_loading(data: bytes, reading: Reading) -> Finding | None:
    """Whether ADK refuses SKILL.md, or else reads another description or body than we do."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    try:
        values, body = _split(text)
        _check(values, reading.folder_name)
    except _Refused as refused:
        hint = "change it if the skill is to work there"
        return _finding(ADK_REFUSES, Severity.WARNING, reading.path, f"ADK does not load the skill: {refused}", hint)
    description = values["description"].strip()
    what = (
        f"the description {description[:60]!r}"
        if description != reading.description
        else "another body"
        if body.strip() != reading.body.replace("\r", "\n").strip()
        else None
    )
    if what is None:
        return None
    message = f"ADK ends the frontmatter at the first `---` behind its beginning, and reads {what}"
    return _finding(ADK_READS_OTHERWISE, Severity.WARNING, reading.path, message, "write no `---` inside a value")


def lint_scripts(path: str, files: Iterable[tuple[str, Path]]) -> Finding | None:
    """One note on scripts that do not run in ADK. ``files`` are paths in the skill and where the bytes lie."""
    unfit = []
    for name, source in files:
        if not name.startswith("scripts/"):
            continue
        suffix = Path(name).suffix.lower()
        if not _is_utf8(source):
            unfit.append(f"`{name}` (dropped: not UTF-8)")
        elif suffix in OTHER_KINDS:
            unfit.append(f"`{name}` (no {', '.join(ADK_KINDS)})")
    if not unfit:
        return None
    message = f"ADK cannot run {', '.join(unfit[:3])}{', …' if len(unfit) > 3 else ''}"
    return _finding(ADK_SCRIPT, Severity.NOTE, path, message, "write it in Python or shell, if it is to run there")


def _split(text: str) -> tuple[dict[str, Any], str]:
    if not text.startswith("---"):
        raise _Refused("the file does not begin with `---`")
    parts = text.split("---", 2)
    if len(parts) < 3:
        raise _Refused("the frontmatter is not closed")
    try:
        loader = yaml.SafeLoader if _UNLIKE.search(parts[1]) else _Fast
        values = yaml.load(parts[1], Loader=loader)  # noqa: S506 - both are safe loaders
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _Refused(f"its YAML cannot be read ({str(error).splitlines()[0][:80]})") from error
    if not isinstance(values, dict):
        raise _Refused("the frontmatter is no mapping")
    return values, parts[2]


def _check(values: Mapping[Any, Any], folder_name: str | None) -> None:
    for key in values:
        if not isinstance(key, str):
            raise _Refused(f"the key `{key}` is read as {_kind(key)}")
    tools = "allowed-tools" if "allowed-tools" in values else "allowed_tools"
    for key in (*_TEXTS, tools):
        value = values.get(key)
        if value is None and key not in {"name", "description"}:
            continue
        if not isinstance(value, str):
            raise _Refused(f"`{key}` is read as {_kind(value)}, not text")
        if len(value) > _LIMITS.get(key, len(value)):
            raise _Refused(f"`{key}` of {len(value)} characters, white space at its end included, is too long")
    _check_name(values["name"], folder_name)
    if not values["description"]:
        raise _Refused("`description` is empty")
    _check_metadata(values.get("metadata", {}))


def _check_name(written: str, folder_name: str | None) -> None:
    name = unicodedata.normalize("NFKC", written)
    if len(name) > 64 or _NAME.fullmatch(name) is None:
        raise _Refused(f"the name {name[:80]!r} is not of a-z, 0-9 and single hyphens, at most 64")
    if folder_name is not None and name != folder_name:
        raise _Refused(f"the folder is not called {name!r}")


def _check_metadata(metadata: Any) -> None:
    if not isinstance(metadata, dict):
        raise _Refused(f"`metadata` is read as {_kind(metadata)}, not a mapping")
    if any(not isinstance(key, str) for key in metadata):
        raise _Refused("a key under `metadata` is not text")
    if not isinstance(metadata.get("adk_additional_tools", []), list):
        raise _Refused("`metadata.adk_additional_tools` is not a list")
    if not isinstance(metadata.get("adk_inject_state", False), bool):
        raise _Refused("`metadata.adk_inject_state` is not a truth value")


def _kind(value: object) -> str:
    return "nothing" if value is None else _KINDS.get(type(value), "a date")


def _is_utf8(source: Path) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with source.open("rb") as file:
            while chunk := file.read(1 << 16):
                decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    except OSError:
        pass  # whoever needs the file says so
    return True


def _finding(code: str, severity: Severity, path: str, message: str, hint: str) -> Finding:
    return Finding(code=code, severity=severity, path=path, message=message, hint=hint)
