"""The hidden holdout: a suite outside the repository, known in it by keyed digests alone. Owns how it is opened.

``SKILLASSAY_HOLDOUT`` names the suite's file; its key is ``SKILLASSAY_HOLDOUT_KEY`` or, beside the suite, the content
of ``<file>.key``. Where either is missing the cases are still planned, from the committed file, without a score. What
is not the sealed suite is refused. Nothing here tells a text of it or where it lies: findings come without their
words, and its cases go by keyed digests, since a plain one would confirm a guess.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from skillassay.errors import InputError
from skillassay.findings import CODES, Finding, Severity, has_errors, register
from skillassay.holdout.sealed import MIN_KEY_BYTES, Sealed, SealedCase, key_mark, keyed, load_sealed
from skillassay.project import CaseKey, Project, examine_case
from skillassay.regular import NotRegular, read_regular
from skillassay.runs.plan import PlannedTrial
from skillassay.skills.names import SkillNames
from skillassay.suites.case import Case, Suite, load_suite
from skillassay.suites.facts import REPRESENTATIVE
from skillassay.suites.parts import HOLDOUT

if TYPE_CHECKING:
    from skillassay.checks.base import Check

PATH_VARIABLE, KEY_VARIABLE = "SKILLASSAY_HOLDOUT", "SKILLASSAY_HOLDOUT_KEY"
SHOWN_AS = f"${PATH_VARIABLE}"
NOT_A_PART = register("holdout.has-part", "A case of the holdout names a part: all of them are of the part holdout.")


class Unreachable(Exception):
    """This machine has no holdout, or no key to it. The message says which, and no path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WithheldCase(Case):
    """Stands for a hidden case that this machine does not have: it can be planned and not asked."""

    n_withheld: int

    @property
    def n_criteria(self) -> int:
        """How many verdicts a complete score would have."""
        return self.n_withheld

    @property
    def n_judge_calls(self) -> int:
        """Nobody is asked."""
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenSuite:
    """A suite outside the repository as it was read, with its key."""

    suite: Suite
    key: bytes
    skills: Mapping[str, str]
    checks: Mapping[str, tuple[Check, ...]]

    def sealed_cases(self) -> dict[str, SealedCase]:
        """What the repository may know of its cases."""
        return {
            case.id: SealedCase(
                digest=keyed(self.key, case.normal), skill=self.skills[case.id], criteria=case.n_criteria
            )
            for case in self.suite.cases
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Holdout:
    """The holdout that the contract names; ``hidden`` is None where it cannot be reached, and ``missing`` says why."""

    sealed: Sealed
    hidden: HiddenSuite | None = None
    missing: str | None = None

    def holds(self, trial: PlannedTrial) -> bool:
        """Whether a trial is about one of its cases."""
        return trial.suite == self.sealed.suite

    @property
    def key(self) -> bytes | None:
        """Its key, where it can be reached."""
        return None if self.hidden is None else self.hidden.key

    @property
    def cases(self) -> tuple[Case, ...]:
        """Its cases for a plan and its trials: with keyed digests, and hollow where it cannot be reached."""
        suite = self.sealed.suite
        if self.hidden is not None:
            return tuple(_asked(case, suite, self.sealed.cases[case.id].digest) for case in self.hidden.suite.cases)
        return tuple(
            WithheldCase(
                id=name,
                skill=case.skill,
                query="",
                digest=case.digest,
                suite=suite,
                part=HOLDOUT,
                n_withheld=case.criteria,
            )
            for name, case in self.sealed.cases.items()
        )

    def joined(self, project: Project, *, path: str) -> Project:
        """The project with these cases beside its own. A slice that the project does not know is the holdout's word."""
        slices = {*project.contract.slices, *(case.slice for case in project.cases)}
        cases = tuple(case if case.slice in slices else replace(case, slice=None) for case in self.cases)
        suite = Suite(name=self.sealed.suite, version=self.sealed.version, path=path, cases=cases)
        built = self.hidden.checks if self.hidden is not None else {}
        keys: dict[CaseKey, SealedCase] = {(suite.name, name): case for name, case in self.sealed.cases.items()}
        return replace(
            project,
            suites=(*project.suites, suite),
            case_skills={**project.case_skills, **{key: case.skill for key, case in keys.items()}},
            checks={**project.checks, **{key: built.get(key[1], ()) for key in keys}},
        )


def _asked(case: Case, suite: str, digest: str) -> Case:
    """What a trial needs of a hidden case. The rest would only find its way into a header or a report."""
    return replace(
        case,
        digest=digest,
        suite=suite,
        part=HOLDOUT,
        normal={},
        line=None,
        expect_skills=None,
        expect_scripts=None,
        acceptable_variants=(),
        incident=None,
        source_snapshot=None,
        effective_date=None,
        references=None,
    )


def open_holdout(project: Project) -> Holdout | None:
    """The holdout that the contract names; None where it names none.

    Raises :class:`InputError` when the committed file cannot be used, or what the environment names is another suite.
    """
    terms = project.contract.holdout
    if terms is None:
        return None
    sealed, findings = load_sealed(project.root, terms.digests)
    if sealed is None:
        hint = f"set {PATH_VARIABLE} and run `skillassay holdout seal`"
        raise InputError(
            f"{terms.digests}, which the contract's holdout names, cannot be used", hint=hint, findings=findings
        )
    problem = _against_project(sealed, terms.suite, project)
    if problem is not None:
        raise InputError(f"{terms.digests}: {problem}", hint="mend it, and run `skillassay holdout seal`")
    try:
        key = read_key()
        if key_mark(key) != sealed.key:
            raise InputError(
                f"the key is not the one that {terms.digests} was sealed with", hint=f"mend {KEY_VARIABLE}"
            )
        hidden = read_hidden(project, key)
    except Unreachable as why:
        return Holdout(sealed=sealed, missing=str(why))
    _refuse_other(sealed, hidden, terms.digests)
    return Holdout(sealed=sealed, hidden=hidden)


def _against_project(sealed: Sealed, suite: str, project: Project) -> str | None:
    """Why the committed file cannot stand beside the project's suites and skills."""
    if sealed.suite != suite:
        return f"it seals suite {sealed.suite!r}, the contract names {suite!r}"
    if sealed.suite in {one.name for one in project.suites}:
        return f"suite {sealed.suite!r} is also the name of a suite in the repository"
    twice = sorted(set(sealed.cases) & {case.id for case in project.cases})
    if twice:
        return f"also ids of cases in the repository: {', '.join(twice)}"
    unknown = sorted({case.skill for case in sealed.cases.values()} - {package.path for package in project.packages})
    return f"there is no skill in {', '.join(unknown)}" if unknown else None


def _refuse_other(sealed: Sealed, hidden: HiddenSuite, path: str) -> None:
    now = hidden.sealed_cases()
    differs = sorted(name for name in {*now, *sealed.cases} if now.get(name) != sealed.cases.get(name))
    if differs or hidden.suite.version != sealed.version:
        what = f"cases that differ: {', '.join(differs)}" if differs else f"its version is {hidden.suite.version}"
        hint = "restore the sealed suite; or raise its version and run `skillassay holdout seal`"
        raise InputError(f"{SHOWN_AS} is not the suite that {path} seals: {what}", hint=hint)


def holdout_path() -> Path:
    """The suite's file. Raises :class:`Unreachable`."""
    named = os.environ.get(PATH_VARIABLE)
    if not named:
        raise Unreachable(f"{PATH_VARIABLE} is not set")
    path = Path(named)
    if not path.is_file():
        raise Unreachable(f"{PATH_VARIABLE} names no file")
    return path


def key_path(suite: Path) -> Path:
    """Where the key lies when the environment does not have it."""
    return suite.with_name(f"{suite.name}.key")


def read_key() -> bytes:
    """The key. Raises :class:`Unreachable` where there is none, :class:`InputError` for one that can be guessed."""
    suite = holdout_path()
    text = os.environ.get(KEY_VARIABLE, "").strip()
    if not text:
        try:
            text = read_regular(key_path(suite), max_bytes=4096).decode("utf-8").strip()
        except (OSError, NotRegular, UnicodeDecodeError):
            message = f"{KEY_VARIABLE} is not set, and no key file lies beside the suite"
            raise Unreachable(message) from None  # an error of the system names the path
    key = text.encode()
    if len(key) < MIN_KEY_BYTES:
        hint = f"write at least {MIN_KEY_BYTES} random bytes, as from `openssl rand -hex 32`"
        raise InputError("the holdout's key is too short: whoever guesses it can try texts", hint=hint)
    return key


def read_hidden(project: Project, key: bytes) -> HiddenSuite:
    """The suite that the environment names, held against all rules of suites.

    Raises :class:`InputError` with findings that name code, line and case, and none of their words.
    """
    path = holdout_path()
    if path.resolve().is_relative_to(project.root.resolve()):
        raise InputError(
            f"{PATH_VARIABLE} names a file inside the project, where everybody reads it", hint="move it out"
        )
    reading = load_suite(path, shown_as=SHOWN_AS)
    found = list(reading.findings)
    names = SkillNames.of(project.packages)
    examined = [examine_case(case, reading, names, found) for case in reading.draft.cases]
    found += [_part_finding(case) for case in reading.draft.cases if case.part != REPRESENTATIVE]
    if reading.suite is None or has_errors(found):
        told = tuple(_without_words(finding) for finding in found if finding.severity is Severity.ERROR)
        raise InputError(f"{SHOWN_AS} cannot be used", hint="mend the suite there", findings=told)
    return HiddenSuite(
        suite=reading.suite,
        key=key,
        skills={item.key[1]: item.skill_path or "" for item in examined},
        checks={item.key[1]: item.checks for item in examined},
    )


def _part_finding(case: Case) -> Finding:
    return Finding(code=NOT_A_PART, severity=Severity.ERROR, path=SHOWN_AS, line=case.line, message="")


def _without_words(finding: Finding) -> Finding:
    """The finding with what its code means in the place of words that may quote the suite."""
    return replace(finding, message=CODES[finding.code], hint=None)
