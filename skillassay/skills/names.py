"""Skills by what a case may call them: folder path, or name where only one skill has it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from skillassay.skills.discovery import SkillPackage


@dataclass(frozen=True, slots=True)
class SkillNames:
    """The skills of a project by folder path and by name."""

    by_path: frozenset[str]
    by_name: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, packages: Iterable[SkillPackage]) -> SkillNames:
        """The names of these skills."""
        names: dict[str, tuple[str, ...]] = {}
        paths = set()
        for package in packages:
            paths.add(package.path)
            # An unreadable skill is still there: a case about it is not about an unknown skill.
            name = package.skill.name if package.skill is not None else package.path.rsplit("/", 1)[-1]
            names[name] = (*names.get(name, ()), package.path)
        return cls(frozenset(paths), names)

    def find(self, called: str) -> tuple[str | None, str | None]:
        """The path of the skill that is called so, or what is wrong with that word."""
        if called in self.by_path:
            return called, None
        paths = self.by_name.get(called, ())
        if len(paths) == 1:
            return paths[0], None
        if paths:
            return None, f"skill {called!r} is ambiguous: {', '.join(paths)}"
        return None, f"there is no skill {called!r}"
