"""``skillassay bump``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import click

from skillassay.cli.output import counted, emit, emit_json, print_findings, say
from skillassay.contract.contract import load_contract
from skillassay.errors import Exit, InputError, UsageError
from skillassay.findings import Severity, has_errors
from skillassay.printable import one_line
from skillassay.project import load_project
from skillassay.skills.bump import FIRST_VERSION, apply_bump, apply_init
from skillassay.skills.discovery import SkillPackage, discover
from skillassay.skills.suggesting import Suggested
from skillassay.skills.suggesting import suggest as suggest_bump
from skillassay.versions import Part

PARTS = tuple(part.value for part in Part)


@click.command("bump")
@click.argument("arguments", nargs=-1, metavar="SKILL [patch|minor|major]")
@click.option(
    "--init", is_flag=True, help="Give every named skill (none named: all) a first SemVer version if it lacks one."
)
@click.option("--version", "first", default=FIRST_VERSION, show_default=True, help="The version that --init gives.")
@click.option("--suggest", is_flag=True, help="Say which part the change asks for, and why; raise only a part given.")
@click.option("--base", metavar="REF", help="With --suggest: count from this git revision. Default: as locked last.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", help="Of --suggest.")
@click.pass_context
def command(
    ctx: click.Context, /, *, arguments: tuple[str, ...], init: bool, first: str, suggest: bool, **how: str | None
) -> int:
    """Raise a skill's metadata.version in place: patch for wording, minor for behaviour, major for other inputs.

    Only the version's characters change: comments, quoting, line ends and key order are kept. With --init, skills
    without a version get one, `1.0` and `v1` become SemVer, and skills that have one are left alone.

    --suggest reads the skill as it was locked last out of git and says what the difference asks for: wording patch;
    instructions, scripts, references and description minor; arguments of scripts, required inputs, files that others
    call and the name major. It goes by structure: a sentence that means something else is wording to it.

    Reads the skills, with --suggest also lock and git; writes their SKILL.md, nothing else.

    Exit codes: 0 done; 2 wrong usage; 3 a SKILL.md cannot be read or safely edited and was left as it is, or nothing
    says what a suggestion is counted from.
    """
    root = Path(ctx.obj["root"])
    _refuse_mixture(arguments, init=init, suggest=suggest, how=how)
    contract, findings = load_contract(root)
    if contract is None:
        raise InputError("the contract cannot be read", findings=findings)
    packages = discover(root, globs=contract.skills, ignore=contract.lock.ignore).packages
    if init:
        return _init(root, packages, arguments, first)
    (package,) = _named(packages, arguments[:1])
    if suggest:
        _suggest(root, package, arguments[1:], how)
    if arguments[1:]:
        _raise(root, package, Part(arguments[1]), is_told=how["form"] != "json")
    return int(Exit.PASSED)


def _refuse_mixture(arguments: tuple[str, ...], *, init: bool, suggest: bool, how: Mapping[str, str | None]) -> None:
    if not suggest and (how["base"] is not None or how["form"] != "table"):
        raise click.UsageError("--base and --format go with --suggest")
    if suggest and init:
        raise click.UsageError("--suggest and --init are two commands")
    if suggest and not (len(arguments) == 1 or (len(arguments) == 2 and arguments[1] in PARTS)):
        raise click.UsageError(f"give a skill, and one of {', '.join(PARTS)} to raise it too")
    if not suggest and not init and (len(arguments) != 2 or arguments[1] not in PARTS):
        raise click.UsageError(f"give a skill and one of {', '.join(PARTS)}, or --suggest or --init")


def _suggest(root: Path, package: SkillPackage, given: tuple[str, ...], how: Mapping[str, str | None]) -> None:
    suggested = suggest_bump(load_project(root, with_suites=False), package.path, base=how["base"])
    _show(suggested, how["form"])
    if given and suggested.part is not None and PARTS.index(given[0]) < PARTS.index(suggested.part.value):
        say(f"note: {given[0]} is less than the change asks for")


def _raise(root: Path, package: SkillPackage, part: Part, *, is_told: bool) -> None:
    if package.skill is None:
        raise InputError(f"{package.path} cannot be read", findings=package.findings)
    edit = apply_bump(root, package.skill, part=part)
    if is_told:
        emit(f"{_shown(package)}: {edit.says}")
        say("next: skillassay eval (where it has cases), then skillassay lock")


def _show(suggested: Suggested, form: str | None) -> None:
    part = suggested.part
    if form == "json":
        emit_json(
            {
                "skill": suggested.path,
                "version": suggested.version,
                "old_version": suggested.old_version,
                "since": suggested.since,
                "known": suggested.known,
                "unknown": suggested.unknown,
                "suggested": part.value if part is not None else None,
                "enough": suggested.enough,
                "reasons": [{**asdict(one), "part": one.part.value} for one in suggested.suggestion.reasons],
            }
        )
        return
    emit(f"{one_line(suggested.path)}: {part.value if part else 'no bump needed'}, since {one_line(suggested.since)}")
    for one in suggested.suggestion.reasons:
        place = one_line(one.path) + (f":{one.line}" if one.line else "")
        emit(f"  {one.part.value:6}{place}: {one_line(one.message)}")
    if suggested.unknown:
        emit(f"  not known: {one_line(suggested.unknown)}")
    if part is None:
        return
    if suggested.enough:
        emit(f"the version is raised enough already: {suggested.old_version} -> {suggested.version}")
    else:
        emit(f"next: skillassay bump {one_line(suggested.path)} {part.value}")


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
