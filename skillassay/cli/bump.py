"""``skillassay bump``."""

from __future__ import annotations

from pathlib import Path

import click

from skillassay.cli.output import counted, emit, print_findings, say
from skillassay.contract.contract import load_contract
from skillassay.errors import Exit, InputError, UsageError
from skillassay.findings import Severity, has_errors
from skillassay.printable import one_line
from skillassay.skills.bump import FIRST_VERSION, apply_bump, apply_init
from skillassay.skills.discovery import SkillPackage, discover
from skillassay.versions import Part

PARTS = tuple(part.value for part in Part)


@click.command("bump")
@click.argument("arguments", nargs=-1, metavar="SKILL [patch|minor|major]")
@click.option(
    "--init", is_flag=True, help="Give every named skill (none named: all) a first SemVer version if it lacks one."
)
@click.option("--version", "first", default=FIRST_VERSION, show_default=True, help="The version that --init gives.")
@click.pass_context
def command(ctx: click.Context, *, arguments: tuple[str, ...], init: bool, first: str) -> int:
    """Raise a skill's metadata.version in place: patch for wording, minor for behaviour, major for other inputs.

    Only the version's characters change: comments, quoting, line ends and key order are kept. With --init, skills
    without a version get one, `1.0` and `v1` become SemVer, and skills that have one are left alone.

    Reads the skills; writes their SKILL.md, nothing else.

    Exit codes: 0 done; 2 wrong usage; 3 a SKILL.md cannot be read or safely edited and was left as it is.
    """
    root = Path(ctx.obj["root"])
    contract, findings = load_contract(root)
    if contract is None:
        raise InputError("the contract cannot be read", findings=findings)
    packages = discover(root, globs=contract.skills, ignore=contract.lock.ignore).packages
    if init:
        return _init(root, packages, arguments, first)
    if len(arguments) != 2 or arguments[1] not in PARTS:
        raise click.UsageError(f"give a skill and one of {', '.join(PARTS)}, or --init")
    (package,) = _named(packages, arguments[:1])
    if package.skill is None:
        raise InputError(f"{package.path} cannot be read", findings=package.findings)
    edit = apply_bump(root, package.skill, part=Part(arguments[1]))
    emit(f"{_shown(package)}: {edit.says}")
    say("next: skillassay eval (where it has cases), then skillassay lock")
    return int(Exit.PASSED)


def _init(root: Path, packages: tuple[SkillPackage, ...], names: tuple[str, ...], first: str) -> int:
    chosen = _named(packages, names) if names else packages
    n_changed, broken = 0, []
    for package in chosen:
        if package.skill is None:
            broken += [finding for finding in package.findings if finding.severity is Severity.ERROR]
            continue
        try:
            edit = apply_init(root, package.skill, version=first)
        except InputError as error:
            broken += error.findings
            say(f"left as it is: {one_line(package.path)}: {one_line(error.message)}")
            continue
        if edit.old != edit.new:
            n_changed += 1
            emit(f"{_shown(package)}: {edit.says}")
    print_findings(broken, to_stderr=True)
    n_broken = len({finding.path for finding in broken})
    emit(f"{counted(len(chosen), 'skill')}, {n_changed} given a version, {n_broken} left as they are because of errors")
    if not chosen:
        raise InputError(
            "there is no skill here", hint="put a SKILL.md into skills/NAME/, or call it in the project's root"
        )
    if has_errors(broken):
        return int(Exit.UNDECIDED)
    say("next: skillassay lock")
    return int(Exit.PASSED)


def _shown(package: SkillPackage) -> str:
    """The skill's folder; its name where the folder is the project's root."""
    return one_line(package.path if package.path != "." or package.skill is None else f"{package.skill.name} (.)")


def _named(packages: tuple[SkillPackage, ...], names: tuple[str, ...]) -> tuple[SkillPackage, ...]:
    """The packages called by folder path, folder name or skill name, in the order of the names."""
    found = []
    for name in names:
        fitting = [p for p in packages if name.rstrip("/") in _names_of(p)]
        if len(fitting) != 1:
            what = "there is no skill" if not fitting else f"{len(fitting)} skills are called"
            shown = ", ".join(p.path for p in (fitting or packages)[:10])
            raise UsageError(f"{what} {name!r}", hint=f"name its folder: {shown}")
        found.append(fitting[0])
    return tuple(found)


def _names_of(package: SkillPackage) -> set[str]:
    names = {package.path, package.path.rsplit("/", 1)[-1]}
    return names | ({package.skill.name} if package.skill is not None else set())
