"""What ``skillassay init`` would write into a repository, and its writing. Owns that nothing there is touched.

A path at which anything lies, a link to nothing included, is there already and left alone. One file is appended to,
``.gitignore``, by one line that git does not know yet. Twice is once: what the first call wrote the second finds.
"""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skillassay.contract.contract import CONTRACT_PATH, Contract, load_contract
from skillassay.errors import InputError, StoreError, UsageError
from skillassay.inside import refuse_links, write_inside
from skillassay.isolation.process import git
from skillassay.regular import NotRegular, read_regular
from skillassay.scaffold.editors import SCHEMA_FOLDER, schema_files
from skillassay.scaffold.layout import find_skill_folders, globs_for
from skillassay.scaffold.skeletons import build_suite
from skillassay.skills.discovery import SkillPackage, discover
from skillassay.skills.skill import Skill
from skillassay.suites.case import load_suite

SUITE_PATH = "evals/quality.json"
FRAGMENT_PATH = "skillassay.mk"
WORKFLOW_PATH = ".github/workflows/skillassay.yml"
IGNORE_PATH = ".gitignore"
INCLUDE_LINE = "include skillassay.mk"
RUNS = ".skillassay/"
MAKEFILES = ("GNUmakefile", "makefile", "Makefile")

_OWN_FILES = ("/.github", "/.gitignore", "/skillassay.mk")
"""Beside a skill that is a whole repository: no client reads them, and a change there is no change of the skill."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A file to be written whole: its path and its bytes. ``appends`` says that its old bytes stand at its start."""

    path: str
    data: bytes
    appends: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaffold:
    """What is to be written, what is there already, and what is left out, each of these with its reason."""

    writes: tuple[Written, ...]
    present: tuple[str, ...]
    left_out: tuple[str, ...]
    packages: tuple[SkillPackage, ...]
    globs: tuple[str, ...]


def plan_scaffold(root: Path, *, only: Sequence[str] = (), with_workflow: bool = False) -> Scaffold:
    """What a repository lacks. ``only`` names the skills that get skeletons of cases; none named: all.

    Raises :class:`InputError` where there is no skill or the contract that is there cannot be read, and
    :class:`UsageError` for a name that no skill has.
    """
    contract, findings = load_contract(root)
    if contract is None:
        raise InputError("the contract that is here cannot be read", hint="mend it first", findings=findings)
    has_contract = contract.path is not None
    globs = contract.skills if has_contract else globs_for(find_skill_folders(root))
    packages = discover(root, globs=globs, ignore=contract.lock.ignore).packages if globs else ()
    if not packages:
        hint = "put a SKILL.md into skills/NAME/, or name its folder in evals/contract.yaml"
        raise InputError("there is no skill here", hint=hint)
    offered: dict[str, bytes] = {} if has_contract else {CONTRACT_PATH: _contract(globs)}
    left_out: list[str] = []
    suite = _suite(root, contract, packages, only)
    offered |= suite or {}
    offered |= {FRAGMENT_PATH: _template("skillassay.mk").encode()}
    if with_workflow or os.path.lexists(root / ".github"):
        offered[WORKFLOW_PATH] = _template("skillassay.yml").encode()
    else:
        left_out.append(f"{WORKFLOW_PATH}: there is no .github here; --ci github writes it")
    offered |= schema_files()
    writes = [Written(path=path, data=data) for path, data in offered.items() if not os.path.lexists(root / path)]
    writes += _ignoring(root, left_out)
    present = [CONTRACT_PATH] if has_contract else []
    present += [path for path in offered if os.path.lexists(root / path)]
    present += _suite_paths(root, contract) if suite is None else []
    return Scaffold(
        writes=tuple(writes),
        present=tuple(dict.fromkeys(_without_schemas(present))),
        left_out=tuple(left_out),
        packages=packages,
        globs=globs,
    )


def write_scaffold(root: Path, scaffold: Scaffold) -> None:
    """Write it, every path looked at before the first byte. Raises :class:`StoreError`."""
    for one in scaffold.writes:
        refuse_links(root, root / one.path)
    try:
        for one in scaffold.writes:
            if one.appends or not os.path.lexists(root / one.path):  # somebody else may have come first
                write_inside(root, one.path, one.data)
    except OSError as error:
        raise StoreError(f"cannot be written: {error}", hint="free space or fix permissions, and call again") from error


def includes_fragment(root: Path) -> bool | None:
    """Whether the repository's Makefile has the line that takes the targets in; None without a Makefile."""
    for name in MAKEFILES:
        try:
            lines = read_regular(root / name).decode("utf-8", "replace").splitlines()
        except (OSError, NotRegular):
            continue
        words = (line.split() for line in lines)
        return any(w[:1] in (["include"], ["-include"], ["sinclude"]) and FRAGMENT_PATH in w[1:] for w in words)
    return None


def _without_schemas(paths: Sequence[str]) -> Iterator[str]:
    for path in paths:
        yield SCHEMA_FOLDER if path.startswith(f"{SCHEMA_FOLDER}/") else path


@functools.cache
def _template(name: str) -> str:
    return (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")


def _contract(globs: Sequence[str]) -> bytes:
    text = _template("contract.yaml").replace("@SKILLS@", json.dumps(globs, ensure_ascii=False))
    ignore = f"  ignore: {json.dumps(_OWN_FILES)}   # no part of the skill that this repository is"
    return text.replace("@IGNORE@\n", f"{ignore}\n" if "." in globs else "").encode()


def _suite(
    root: Path, contract: Contract, packages: Sequence[SkillPackage], only: Sequence[str]
) -> dict[str, bytes] | None:
    """The suites of skeletons by path: one for all skills where there is none yet; one for each named skill without a
    case where there is. None where nothing is missing."""
    readable = {_called(package, packages): package.skill for package in packages if package.skill is not None}
    chosen = dict(_chosen(readable, packages, only)) if only else readable
    suites = [root / path for path in _suite_paths(root, contract)]
    schema = f"{SCHEMA_FOLDER.rpartition('/')[2]}/suite.schema.json"
    if not suites:
        return {SUITE_PATH: build_suite(chosen, suite="quality", schema=schema)} if chosen else None
    drafts = (load_suite(path, shown_as=path.name).draft for path in suites)
    asked = {case.skill for draft in drafts for case in draft.cases}
    lacking = {called: skill for called, skill in chosen.items() if not asked & {called, skill.name, skill.path}}
    if not only or not lacking:
        return None
    files = {}
    for called, skill in lacking.items():
        name = f"quality-{re.sub(r'[^a-z0-9]+', '-', called.lower()).strip('-')}"[:80]
        files[f"evals/{name}.json"] = build_suite({called: skill}, suite=name, schema=schema)
    return files


def _suite_paths(root: Path, contract: Contract) -> list[str]:
    """The quality suites that there are, of the contract or where init would write one."""
    found = {path for glob in (*contract.quality_suites, SUITE_PATH) for path in root.glob(glob)}
    return sorted(path.relative_to(root).as_posix() for path in found)


def _called(package: SkillPackage, packages: Sequence[SkillPackage]) -> str:
    """How a case names a skill: by its name where no other has it, else by its folder."""
    assert package.skill is not None
    name = package.skill.name
    same = [other for other in packages if other.skill is not None and other.skill.name == name]
    return name if len(same) == 1 else package.path


def _chosen(
    readable: Mapping[str, Skill], packages: Sequence[SkillPackage], only: Sequence[str]
) -> Iterator[tuple[str, Skill]]:
    for name in only:
        wanted = name.rstrip("/") or name
        fitting = [
            (called, skill)
            for called, skill in readable.items()
            if wanted in {called, skill.name, skill.path, skill.path.rpartition("/")[2]}
        ]
        if len(fitting) != 1:
            what = "there is no readable skill" if not fitting else f"{len(fitting)} skills are called"
            shown = ", ".join(package.path for package in packages[:10])
            raise UsageError(f"{what} {name!r}", hint=f"name its folder: {shown}")
        yield fitting[0]


def _ignoring(root: Path, left_out: list[str]) -> Iterator[Written]:
    """The line that keeps run records out of git, where git does not keep them out yet."""
    inside = git(root, "rev-parse", "--is-inside-work-tree")
    if inside is None or inside.exit_code != 0:
        left_out.append(f"{IGNORE_PATH}: this is no git repository")
        return
    ignored = git(root, "check-ignore", "-q", "--no-index", f"{RUNS}runs")
    if ignored is not None and ignored.exit_code == 0:
        return
    try:
        old = read_regular(root / IGNORE_PATH)
    except FileNotFoundError:
        old = b""
    except (OSError, NotRegular) as problem:
        left_out.append(f"{IGNORE_PATH}: {problem}; add the line {RUNS} yourself")
        return
    if f"{RUNS}".encode() in old.split():  # and git says otherwise: a later line takes it back, which is theirs to say
        left_out.append(f"{IGNORE_PATH}: it names {RUNS} and takes it back")
        return
    newline = b"\r\n" if b"\r\n" in old else b"\n"
    gap = newline if old and not old.endswith(b"\n") else b""
    yield Written(path=IGNORE_PATH, data=old + gap + RUNS.encode() + newline, appends=bool(old))
