"""The code that turns answers into scores, as one digest: a scorer that changed must not look like another candidate.

SHA-256 of a manifest, one line a file, ``<sha256 hex>  <path>\\n``, sorted by path; CRLF counts as LF. The files are
the modules of this package that read an answer or a verdict, say which trials count and what people's words make of
them, count, and compare with limits; and for each check type
that a planned case takes from a plug-in, all Python files of the plug-in's top-level package. A plug-in without any is
told by its distribution's name and version.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from importlib import metadata, util
from pathlib import Path

from skillassay.checks import CHECK_TYPES, PLUGIN_GROUP

SCORING_FILES = (
    "calibration/certificate.py",
    "calibration/coverage.py",
    "calibration/items.py",
    "calibration/judged.py",
    "calibration/labels.py",
    "calibration/measure.py",
    "calibration/pin.py",
    "calibration/references.py",
    "calibration/rubrics.py",
    "calibration/sampling.py",
    "calibration/standing.py",
    "calibration/verdicts_read.py",
    "checks/*.py",
    "contract/groups.py",
    "contract/limits.py",
    "contract/terms.py",
    "errors.py",
    "folding.py",
    "gate/*.py",
    "holdout/doubts.py",
    "holdout/leakage.py",
    "holdout/sealed.py",
    "holdout/searching.py",
    "holdout/voiding.py",
    "holdout/withholding.py",
    "isolation/produced.py",
    "judging/behavior.py",
    "judging/judge.py",
    "judging/reply.py",
    "judging/samples.py",
    "patterns.py",
    "people/adjudication.py",
    "people/approval.py",
    "people/names.py",
    "people/review.py",
    "runs/attempts.py",
    "runs/plan.py",
    "runs/record.py",
    "runs/trial.py",
    "runs/verdicts.py",
    "scoring/arms.py",
    "scoring/assessment.py",
    "scoring/breakdown.py",
    "scoring/effects.py",
    "scoring/facts.py",
    "scoring/matrices.py",
    "scoring/regression.py",
    "scoring/repeats.py",
    "scoring/scores.py",
    "scoring/second.py",
    "scoring/slices.py",
    "statistics/*.py",
    "suites/case.py",
    "suites/controls.py",
    "suites/facts.py",
    "suites/freshness.py",
    "suites/parts.py",
    "suites/references.py",
    "suites/scorers.py",
    "suites/shape.py",
    "suites/terms.py",
    "suites/traits.py",
)
"""Globs below the package. A test walks the imports of gate, scores, assessment and trial, and wants each module that
it meets here or among exceptions with their reasons."""


def scorer_digest(check_types: Iterable[str]) -> str:
    """The digest of the scorer of cases with these types of checks."""
    package = Path(__file__).parents[1]
    lines = [f"{_sha256(path)}  {path.relative_to(package).as_posix()}" for path in _own_files(package)]
    for name in sorted(set(check_types) - set(CHECK_TYPES)):
        lines += sorted(_plugin_lines(name))
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()


def _own_files(package: Path) -> list[Path]:
    return sorted({path for glob in SCORING_FILES for path in package.glob(glob)})


def _plugin_lines(name: str) -> Iterator[str]:
    """The lines of the plug-in of a check type; the check could be built, so there is one."""
    for point in metadata.entry_points(group=PLUGIN_GROUP, name=name):
        top = point.module.partition(".")[0]
        files = list(_sources(top))
        for path, shown in files:
            yield f"{_sha256(path)}  plugin:{name}/{shown}"
        if not files:
            installed = "an unknown distribution" if point.dist is None else f"{point.dist.name} {point.dist.version}"
            yield f"{'-' * 64}  plugin:{name}/{point.value} of {installed}"


def _sources(top: str) -> Iterator[tuple[Path, str]]:
    spec = util.find_spec(top)
    if spec is None:
        return
    if spec.submodule_search_locations:
        for folder in map(Path, spec.submodule_search_locations):
            yield from ((path, f"{top}/{path.relative_to(folder).as_posix()}") for path in folder.rglob("*.py"))
    elif spec.origin is not None and spec.origin.endswith(".py"):
        yield Path(spec.origin), f"{top}.py"


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()
