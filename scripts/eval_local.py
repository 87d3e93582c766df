"""Evaluate examples/local with the real model of `scripts/local_engine.py`, and say whether harness and engine worked.

    python scripts/eval_local.py [--root FOLDER] [--port N] [-- OPTIONS OF skillassay eval]

The model is poor, so that a gate which fails (1) or cannot decide (3) is what an honest harness has to say of it. This
program therefore ends with 0 when a whole result was written in which every unscored trial is the model's doing, and
with 1 when it was not: another exit code, no result or more than one, an interrupted run, a denominator that does not
add up, or a trial that harness or engine lost (an error of the endpoint, a time-out, a check that could not decide).
Its last line says which, and the one before it how to go on where a trial is left to do: at the port of the run, since
a run is resumed at the address where it was begun. 69: there is no engine; 130: interrupted.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts import local_engine
from skillassay.errors import Exit, Reason
from skillassay.runs.attempts import again_of
from skillassay.runs.record import TrialRecord
from skillassay.runs.store import list_runs, read_header, read_records, read_result, run_folder

COLUMNS = 80
EXAMPLE = local_engine.ROOT / "examples" / "local"
LEGITIMATE = (Exit.PASSED, Exit.FAILED, Exit.UNDECIDED)
OF_THE_MODEL = frozenset({
    Reason.CONTRACT_ERROR, Reason.TRUNCATED, Reason.BLOCKED, Reason.UNGROUNDED, Reason.JUDGE_ABSTAINED,
})  # fmt: skip
"""Why a trial may be unscored though harness and engine did all that is theirs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """What a run says of harness and engine; ``words`` are the last line."""

    worked: bool
    words: str


def conclude(code: int, results: Sequence[dict[str, Any] | None]) -> Conclusion:
    """Whether a command that ended with ``code`` and wrote ``results`` shows a harness and an engine that worked."""
    if code not in {int(exit_code) for exit_code in LEGITIMATE}:
        return Conclusion(worked=False, words=f"skillassay eval ended with {code}")
    if len(results) != 1 or results[0] is None:
        return Conclusion(worked=False, words=f"skillassay eval ended with {code} and left no result")
    result = results[0]
    counts = {name: result["counts"][name] for name in ("passed", "failed", "unscored", "planned")}
    shown = "{passed} passed + {failed} failed + {unscored} unscored of {planned} planned".format_map(counts)
    if result["interrupted"] or counts["planned"] == 0:
        return Conclusion(worked=False, words=f"the run is not whole: {shown}")
    if counts["passed"] + counts["failed"] + counts["unscored"] != counts["planned"]:
        return Conclusion(worked=False, words=f"trials are missing: {shown}")
    lost = [
        trial for trial in result["trials"] if trial["status"] == "UNSCORED" and trial["reason"] not in OF_THE_MODEL
    ]
    if lost:
        first = lost[0]
        why = f"{first['case']} [{first['mode']}]: {first['reason']} ({first['stage']}): {first['detail']}"
        return Conclusion(
            worked=False, words=f"harness or engine lost {len(lost)} of {counts['planned']} trials; {why}"
        )
    decision = result["decision"]
    words = (
        f"harness and engine worked; {decision['gate']} {decision['status']} (skillassay's exit code {code}); {shown}"
    )
    return Conclusion(worked=True, words=words)


def retry_command(root: Path, header: Mapping[str, Any], option: str) -> str:
    """The command that goes on with a run, whose engine is gone: another one listens where that one did."""
    port = urlsplit(header["models"]["candidate"]["endpoint"]).port
    go_on = f"{option} {header['id']}"
    if root.resolve() == EXAMPLE:
        return f"make eval-local PORT={port} ARGS={shlex.quote(go_on)}"
    return f"python scripts/eval_local.py --root {shlex.quote(str(root))} --port {port} -- {go_on}"


def has_more_to_do(records: Iterable[TrialRecord]) -> bool:
    """Whether a trial of a run may be tried again."""
    last = {record.trial_id: record for record in records}
    return any(again_of(record) for record in last.values())


def results_at(root: Path) -> dict[str, int]:
    """Every run of a project with the time at which its result was written, 0 where there is none."""
    files = {name: run_folder(root, name) / "result.json" for name in list_runs(root)}
    return {name: file.stat().st_mtime_ns if file.exists() else 0 for name, file in files.items()}


def main() -> int:
    """Run, read what was written, say it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=EXAMPLE, metavar="FOLDER", help="the project; examples/local")
    parser.add_argument("--port", type=int, default=0, metavar="N", help="of the engine; needed to resume a run")
    parser.add_argument("options", nargs="*", metavar="OPTION", help="of skillassay eval, after --")
    given = parser.parse_args()
    before = results_at(given.root)
    # One trial after the other: the engine answers one request at a time, and waiting for it would count as its time.
    command = [sys.executable, "-m", "skillassay", "--root", str(given.root), "eval", "--jobs", "1", *given.options]
    code = local_engine.run(command, environment=local_engine.command_environment(os.environ), port=given.port)
    if code == local_engine.UNAVAILABLE:
        return code
    written = sorted(name for name, _ in results_at(given.root).items() - before.items())
    for folder in (run_folder(given.root, name) for name in written):
        if code == Exit.INTERRUPTED:
            print(f"go on with: {retry_command(given.root, read_header(folder), '--resume')}")
        elif has_more_to_do(read_records(folder)):
            print(f"try again with: {retry_command(given.root, read_header(folder), '--retry-unscored')}")
    if code == Exit.INTERRUPTED:
        return code
    conclusion = conclude(code, [read_result(run_folder(given.root, name)) for name in written])
    said = f"eval-local: {'' if conclusion.worked else 'FAILED: '}{conclusion.words}"
    print("\n".join(textwrap.wrap(said, COLUMNS, subsequent_indent="    ", break_long_words=False)))
    return 0 if conclusion.worked else 1


if __name__ == "__main__":
    sys.exit(main())
