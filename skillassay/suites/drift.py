"""What happened to locked cases: edited, vanished or moved under a version that does not say so. Pure comparisons.

Suites are append-only per version. A case may move to another suite unchanged, and a suite may be renamed that way.
"""

from __future__ import annotations

from collections.abc import Mapping

from skillassay import versions
from skillassay.findings import Finding, register
from skillassay.locks.lockfile import LOCK_PATH, Lock, LockedSuite, lock_finding

SUITE_EDITED = register("lock.suite-edited", "A case changed or vanished under an unchanged suite version.")
SUITE_GONE = register("lock.suite-gone", "A locked suite vanished with cases that no other suite has unchanged.")
SUITE_WENT_BACK = register("lock.suite-went-back", "A suite's version is lower than the locked one.")
CASE_MOVED = register("lock.case-moved-edited", "A case moved to another suite and changed on the way.")


def suite_findings(suites: Mapping[str, LockedSuite], lock: Lock) -> list[Finding]:
    """All that is wrong with the suites as they are now, against a lock. Appended cases are fine."""
    now = {case: (name, digest) for name, suite in suites.items() for case, digest in suite.cases.items()}
    found: list[Finding] = []
    for name, locked in lock.suites.items():
        suite = suites.get(name)
        moved = {
            case: now[case]
            for case in locked.cases
            if case in now and now[case][0] != name and (suite is None or case not in suite.cases)
        }
        for case, (other, digest) in sorted(moved.items()):
            if digest != locked.cases[case]:
                message = f"case {case} moved from suite {name} to {other} and changed on the way"
                found.append(lock_finding(CASE_MOVED, LOCK_PATH, message, hint="give the changed case a new id"))
        left = {case: digest for case, digest in locked.cases.items() if case not in moved}
        found += _gone(name, left) if suite is None else _edited(name, locked.version, left, suite)
    return found


def _gone(name: str, left: Mapping[str, str]) -> list[Finding]:
    if not left:
        return []
    shown = ", ".join(sorted(left)[:3]) + (", …" if len(left) > 3 else "")
    message = f"suite {name} is locked and gone, with {len(left)} cases that no other suite has: {shown}"
    hint = "restore it; to drop cases, move them unchanged to another suite, lock, and raise that suite's version"
    return [lock_finding(SUITE_GONE, LOCK_PATH, message, hint=hint)]


def _edited(name: str, version: str, left: Mapping[str, str], suite: LockedSuite) -> list[Finding]:
    if suite.version != version:
        both = versions.is_semver(suite.version) and versions.is_semver(version)
        if not both or versions.compare_versions(suite.version, version) > 0:
            return []
        if versions.compare_versions(suite.version, version) < 0:
            message = f"suite {name}: version went back from {version} to {suite.version}"
            hint = f"choose a version above {version}"
            return [lock_finding(SUITE_WENT_BACK, LOCK_PATH, message, hint=hint)]
    found = []
    for case, digest in sorted(left.items()):
        if suite.cases.get(case) != digest:
            what = "changed" if case in suite.cases else "vanished"
            message = f"suite {name} {version}: case {case} {what} under the same suite version"
            found.append(lock_finding(SUITE_EDITED, LOCK_PATH, message, hint="raise the suite's version, then lock"))
    return found
