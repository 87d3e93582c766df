"""The catalog as ADK loads it: laid out in folders of the skills' own names, read by ``load_skill_from_dir``.

ADK decides what a skill is. One that it refuses is named before any model is called, since a catalog without it would
be another catalog. What ADK does not see of a skill it loads is a finding of :mod:`skillassay.skills.adk_lints`.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from google.adk.skills import load_skill_from_dir
from pydantic import ValidationError

from skillassay.errors import InputError
from skillassay.findings import Finding, Severity
from skillassay.isolation.process import remove_tree
from skillassay.skills.adk_lints import ADK_REFUSES
from skillassay.tools import Catalog, CatalogSkill

AdkSkill = Any
"""ADK's ``Skill``."""


class AdkCatalog:
    """ADK's skill for each one that a trial may offer, loaded once and read only from then on."""

    def __init__(self, loaded: Mapping[int, AdkSkill]) -> None:
        self._loaded = loaded

    def skills_of(self, catalog: Catalog) -> list[AdkSkill]:
        """The skills of a catalog in its order."""
        return [self._loaded[id(skill)] for skill in catalog.skills]


def load_catalogs(catalogs: Iterable[Catalog]) -> AdkCatalog:
    """Load all skills of all catalogs. Raises :class:`InputError` naming each one that ADK refuses, with its reason."""
    found: dict[int, AdkSkill] = {}
    refused: list[Finding] = []
    folder = Path(tempfile.mkdtemp(prefix="skillassay-"))
    try:
        for skill in {id(skill): skill for catalog in catalogs for skill in catalog.skills}.values():
            place = folder / str(len(found) + len(refused))
            try:
                found[id(skill)] = load_skill_from_dir(_laid_out(skill, place))
            except (ValueError, OSError) as error:
                refused.append(_finding(skill, _reason(error)))
    finally:
        remove_tree(folder)
    if refused:
        names = ", ".join(sorted({finding.path for finding in refused}))
        raise InputError(
            f"ADK does not load {names}",
            hint="change what ADK refuses, or use --subject loop; no model was called",
            findings=refused,
        )
    return AdkCatalog(found)


def _laid_out(skill: CatalogSkill, place: Path) -> Path:
    """The skill's folder below ``place``, named as in the project; the project's own root is named as its skill."""
    root = place / (skill.name if skill.path == "." else skill.path.rsplit("/", 1)[-1])
    if root.parent != place:
        raise ValueError(f"{skill.name!r} is not the name of a folder")
    for path, file in skill.files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file.source, target)
    return root


def _reason(error: Exception) -> str:
    """What ADK said, on a line: of its data class each field with the rule that it breaks."""
    if isinstance(error, ValidationError):
        return "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
    return str(error).partition("\n")[0]


def _finding(skill: CatalogSkill, reason: str) -> Finding:
    return Finding(
        code=ADK_REFUSES, severity=Severity.ERROR, path=skill.path, message=f"ADK does not load it: {reason}"
    )
