"""Waivers and the project on disk: what they are checked against, and what a run measured. Writes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skillassay import clock
from skillassay.contract.contract import load_contract
from skillassay.errors import InputError
from skillassay.findings import Finding
from skillassay.gate.lines import Decision
from skillassay.locks.evidence import InForce
from skillassay.people.effective import Effective, build_effective
from skillassay.people.looked import Asked, asked_in, limited_in, looked_at
from skillassay.people.waiver import WAIVERS_PATH, Tree, Waivers, load_waivers, over_wide, waiver_findings
from skillassay.project import Project
from skillassay.suites.traits import traits_of


def project_tree(project: Project) -> Tree:
    """The skills and cases of a project."""
    skills, contract = {ready.path: ready.digest for ready in project.usable}, project.contract
    asked = Asked(
        skills={key: path for key, path in project.case_skills.items() if path in skills},
        gate=contract.gate,
        parts={(case.suite, case.id): case.part for case in project.cases},
        slices={(case.suite, case.id): case.slice for case in project.cases if case.slice is not None},
        traits={(case.suite, case.id): traits_of(case) for case in project.cases},
        slice_terms=contract.slices,
    )
    return Tree(
        skills=skills,
        cases={path: project.case_digests(path) for path in skills},
        looked=looked_at(asked),
        limited=limited_in(asked),
    )


def measured_tree(header: Mapping[str, Any]) -> Tree:
    """The skills and cases of a stored run, from its header."""
    cases: dict[str, dict[str, str]] = {}
    for trial in header["facts"]["trials"]:
        name = f"{trial['suite']}/{trial['case_id']}"
        if name in header["cases"]:
            cases.setdefault(trial["skill_path"], {})[name] = header["cases"][name]
    asked = asked_in(header["facts"])
    return Tree(
        skills={path: skill["digest"] for path, skill in header["skills"].items()},
        cases=cases,
        looked=looked_at(asked),
        limited=limited_in(asked),
    )


def check_waivers(project: Project) -> tuple[Finding, ...]:
    """What ``check`` says of the project's waivers today."""
    waivers = load_waivers(project.root, owner=project.contract.owner)
    return waiver_findings(waivers, project_tree(project), clock.today())


def waivers_in_force(project: Project) -> InForce:
    """The waivers that evidence may rest on today: those with nothing against them."""
    day, tree = clock.today(), project_tree(project)
    waivers = load_waivers(project.root, owner=project.contract.owner)
    whole = over_wide(waivers.granted, tree)
    return InForce(
        day=day,
        digests={w.id: w.digest for w in waivers.granted if w.lapse(day) is None and (w.line, w.skill) not in whole},
    )


def apply_waivers(root: Path, recorded: Decision, header: Mapping[str, Any]) -> Effective:
    """The effective decision of a run today. Raises :class:`InputError` while the file of waivers is not sound.

    What has run out or is about other bytes does not count and says so; whatever else is wrong with the file is mended
    first, since nobody may guess what it was meant to cover.
    """
    return build_effective(recorded, sound_waivers(root).granted, measured_tree(header), clock.today())


def sound_waivers(root: Path) -> Waivers:
    """The waivers of the project at ``root``. Raises :class:`InputError` with all that is wrong with their file."""
    contract, _ = load_contract(root)
    waivers = load_waivers(root, owner=None if contract is None else contract.owner)
    if waivers.findings:
        message, hint = f"{WAIVERS_PATH} cannot be used", "mend it; `skillassay check` shows all that is wrong with it"
        raise InputError(message, hint=hint, findings=waivers.findings)
    return waivers
