"""Files that decide about an answer and lie where a candidate reads. Owns which files those are; decides nothing else.

A suite, a case's file, authored answers, evidence or labels inside a skill's manifest would be shown to the candidate
in some modes and not in others: it would be told what is asked for, and the lift would measure that.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from skillassay.contract.contract import Contract
from skillassay.findings import Finding, Severity, register, sort_findings
from skillassay.locks.evidence import EVIDENCE_FOLDER
from skillassay.skills.digest import SkillFiles

INSIDE_SKILL = register(
    "suite.inside-skill",
    "A suite, a case's file, a fixture, evidence or labels lie in a skill, where a candidate reads them.",
)
_HINT = "move it out of the skill, for example to evals/ of the project"
_OTHERS = (
    ("labels", "evals/labels*.jsonl"),
    ("waivers", "evals/waivers.yaml"),
    ("evidence", f"{EVIDENCE_FOLDER}/**/*.json"),
)


def private_files(root: Path, contract: Contract, case_files: Iterable[Path]) -> dict[Path, str]:
    """The files that no skill may hold, by path, with the word for each."""
    patterns = [
        *(("suite", glob) for glob in (*contract.quality_suites, *contract.routing_suites, *contract.trigger_suites)),
        *(("fixture", glob) for glob in contract.fixtures),
        *_OTHERS,
    ]
    found = {path: word for word, glob in reversed(patterns) for path in root.glob(glob) if path.is_file()}
    return dict.fromkeys(case_files, "case's file") | found


def find_exposed(
    root: Path, contract: Contract, skills: Mapping[str, SkillFiles], case_files: Iterable[Path]
) -> tuple[Finding, ...]:
    """The private files of a project that its skills hold."""
    private = private_files(root, contract, case_files)
    return exposed_files(root, skills, private) if private else ()


def exposed_files(root: Path, skills: Mapping[str, SkillFiles], private: Mapping[Path, str]) -> tuple[Finding, ...]:
    """One finding for each private file that a skill holds, also under another name, by a link.

    ``skills`` maps a skill's path below ``root`` to its files.
    """
    words = {os.path.realpath(path): (path, word) for path, word in private.items()}
    found = []
    for skill_path, files in skills.items():
        for real in _real_paths(root / skill_path, files):
            if real in words:
                path, word = words[real]
                shown = Path(os.path.relpath(path, root)).as_posix()
                message = f"the {word} lies in {skill_path}, where a candidate reads it"
                found.append(
                    Finding(code=INSIDE_SKILL, severity=Severity.ERROR, path=shown, message=message, hint=_HINT)
                )
    return sort_findings(found)


def _real_paths(folder: Path, files: SkillFiles) -> Iterator[str]:
    """Where the files of a skill really lie. Nothing below its folder is a linked folder, so one look-up does."""
    stored, real = os.path.abspath(folder), os.path.realpath(folder)  # noqa: PTH100 - as the walk that found them
    for entry in files.entries:
        inside = entry.source.startswith(f"{stored}{os.sep}")
        yield f"{real}{entry.source[len(stored) :]}" if inside else os.path.realpath(entry.source)
