"""Skill folders for tests of the digest: written, read, and hashed by the definition alone."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from skillassay.findings import Finding, Severity
from skillassay.skills.digest import SkillFiles, read_files

SKILL = b"---\nname: demo\ndescription: d\n---\n"


def write(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Write files below ``folder``."""
    for path, data in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return folder


def read(folder: Path, *ignore: str) -> tuple[SkillFiles, list[Finding]]:
    """Read a folder that has a SKILL.md."""
    files, _, findings = read_files(folder, path="skills/demo", ignore=ignore)
    assert files is not None
    return files, list(findings)


def by_definition(files: Mapping[str, bytes]) -> str:
    """The digest of files as hashed, from the definition."""
    lines = sorted((path.encode(), hashlib.sha256(data).hexdigest().encode()) for path, data in files.items())
    return hashlib.sha256(b"".join(sha + b"  " + path + b"\n" for path, sha in lines)).hexdigest()


def errors(findings: list[Finding]) -> list[str]:
    """The codes of the errors."""
    return [one.code for one in findings if one.severity is Severity.ERROR]
