"""Sealing a holdout: from the suite outside to the committed file. Owns what may be sealed, and the making of a key."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass

from skillassay import versions
from skillassay.errors import InputError, StoreError
from skillassay.holdout.hidden import (
    KEY_VARIABLE,
    HiddenSuite,
    Unreachable,
    holdout_path,
    key_path,
    read_hidden,
    read_key,
)
from skillassay.holdout.sealed import Sealed, key_mark, load_sealed, sealed_bytes
from skillassay.inside import write_inside
from skillassay.project import Project

_KEY_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What sealing came to. ``written`` is false where the file was so already."""

    file: str
    sealed: Sealed
    written: bool
    new_key: bool


def seal_holdout(project: Project, *, new_key: bool) -> Done:
    """Write the committed file of the holdout that the contract names. Raises :class:`InputError`."""
    terms = project.contract.holdout
    assert terms is not None
    if ".." in terms.digests.split("/") or terms.digests.startswith("/"):
        raise InputError(f"holdout.digests: {terms.digests!r} leaves the project", hint="name a file below evals/")
    try:
        made = _made_key(new_key)
        hidden = read_hidden(project, read_key())
    except Unreachable as why:
        hint = f"set SKILLASSAY_HOLDOUT and {KEY_VARIABLE}, or make a key with --new-key (docs/guides/holdout.md)"
        raise InputError(f"the holdout cannot be sealed: {why}", hint=hint) from None
    _refuse_names(project, hidden, terms.suite)
    sealed = Sealed(
        suite=hidden.suite.name, version=hidden.suite.version, key=key_mark(hidden.key), cases=hidden.sealed_cases()
    )
    path = project.root / terms.digests
    old = None
    if path.exists():
        old, findings = load_sealed(project.root, terms.digests)
        if old is None:
            message = f"{terms.digests} cannot be read, and with it which versions were voided"
            raise InputError(message, hint="restore it from version control", findings=findings)
        sealed = Sealed(
            suite=sealed.suite, version=sealed.version, key=sealed.key, cases=sealed.cases, voided=old.voided
        )
        _refuse_rewriting(old, sealed)
    data = sealed_bytes(sealed)
    written = old is None or sealed_bytes(old) != data
    try:
        if written:
            write_inside(project.root, terms.digests, data)
    except OSError as error:
        raise StoreError(f"{terms.digests} cannot be written: {error.strerror or error}") from error
    return Done(file=terms.digests, sealed=sealed, written=written, new_key=made)


def _made_key(wanted: bool) -> bool:  # noqa: FBT001 - the option as it was given
    """Make a key file beside the suite, where one is wanted and none is there."""
    path = key_path(holdout_path())
    if not wanted or os.path.lexists(path):
        return False
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(f"{secrets.token_hex(_KEY_BYTES)}\n")
    except OSError as error:
        raise InputError(f"no key file can be written beside the suite: {error.strerror}") from None
    return True


def _refuse_names(project: Project, hidden: HiddenSuite, suite: str) -> None:
    name = hidden.suite.name
    if name != suite:
        raise InputError(f"the contract's holdout is suite {suite!r}, the file is {name!r}", hint="make them one")
    if not versions.is_semver(hidden.suite.version):
        raise InputError(f"the holdout's version {hidden.suite.version!r} is not semver", hint="write 1.0.0")
    twice = sorted({case.id for case in hidden.suite.cases} & {case.id for case in project.cases})
    if name in {one.name for one in project.suites} or twice:
        what = f"ids {', '.join(twice)}" if twice else f"the suite's name {name!r}"
        raise InputError(f"also in the repository: {what}", hint="rename there or here")


def _refuse_rewriting(old: Sealed, new: Sealed) -> None:
    """Suites are append-only per version, hidden ones too; another key makes every digest another one."""
    if (reason := new.void_reason) is not None:
        hint = "write other cases under a higher version"
        raise InputError(f"version {new.version} was voided: {reason}", hint=hint)
    if old.suite != new.suite:
        return
    if versions.compare_versions(new.version, old.version) < 0:
        message = f"the holdout's version went back from {old.version} to {new.version}"
        raise InputError(message, hint=f"choose a version above {old.version}")
    if new.version != old.version:
        return
    changed = sorted(name for name, case in old.cases.items() if new.cases.get(name) != case)
    if changed or old.key != new.key:
        what = "under another key" if old.key != new.key else f"changed or gone: {', '.join(changed)}"
        raise InputError(f"version {new.version} is sealed already; {what}", hint="raise the suite's version")
