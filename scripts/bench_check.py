"""How long reading all skills takes, against the least that any digest must do: a table, or JSON.

    python scripts/bench_check.py [--skills 1000] [--files 5] [--bytes 4096] [--rounds 5] [--json]

The floor is a bare loop in the same process: ``os.walk``, ``open().read()``, ``hashlib.sha256``. Against it stand
``discover`` (the same files read and hashed, every skill parsed and linted) and the whole of `skillassay check` past
start-up (discovery, contract, and every skill compared with a lock; target 2). Rounds alternate, and medians are
compared, so that a busy machine slows all alike. The tree is warm: what the disk does is not measured.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from skillassay.findings import has_errors
from skillassay.locks.locking import check_lock
from skillassay.locks.relocking import prepare_lock, write_lock
from skillassay.project import load_project
from skillassay.skills.discovery import discover

FILES = ("references/rules.md", "references/cases.md", "scripts/run.py", "assets/table.csv")
STEP = (
    "{n}. For case {n} read [the rules](references/rules.md), then run `scripts/run.py` on the file you were given.\n"
)
LINE = "Say which rule was used, and on which line of the file it was applied.\n"


def make_tree(root: Path, n_skills: int, n_files: int, n_bytes: int) -> None:
    """Write ``n_skills`` clean skills under ``root/skills``: ``n_files`` files each, of ``n_bytes`` bytes each."""
    for number in range(n_skills):
        name = f"skill-{number:05}"
        folder = root / "skills" / name
        head = (
            f"---\nname: {name}\ndescription: Handles task {number}. Use it when the user asks for task {number}.\n"
            f'license: MIT\nmetadata:\n  version: "1.0.{number}"\n  author: bench\n---\n\n# Task {number}\n\n'
        )
        steps = "".join(STEP.format(n=n) for n in range(1, 13))
        _write(folder / "SKILL.md", _fill(head + steps if n_files >= 4 else head, n_bytes))
        for index in range(n_files - 1):
            path = FILES[index] if index < len(FILES) else f"references/part-{index}.md"
            _write(folder / path, _fill(f"# {name} {path}\n", n_bytes))


def _fill(text: str, n_bytes: int) -> bytes:
    return (text + LINE * (n_bytes // len(LINE) + 1))[: max(n_bytes, len(text))].encode()


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def read_floor(root: Path) -> int:
    """Read and hash every file, nothing else. Returns how many there were."""
    n_files = 0
    for folder, _, names in os.walk(root):
        for name in names:
            with open(os.path.join(folder, name), "rb") as stream:  # noqa: PTH118, PTH123 - the floor has no objects
                hashlib.sha256(stream.read()).hexdigest()
            n_files += 1
    return n_files


def read_skills(root: Path) -> int:
    """Discover, hash, parse and lint every skill. Returns how many files they have."""
    found = discover(root, globs=("skills/*",), ignore=())
    return sum(len(package.files.entries) for package in found.packages if package.files is not None)


def check_project(root: Path) -> int:
    """All that `skillassay check` does. Returns how many files the skills have, and ends when there is an error."""
    project = load_project(root)
    lock = check_lock(project)
    findings = [*project.findings, *lock.findings]
    if has_errors(findings):
        sys.exit(f"the tree should be clean: {findings[0].message}")
    return sum(len(ready.files.entries) for ready in project.usable)


def measure(root: Path, *, rounds: int) -> dict[str, float]:
    """Seconds of each (medians) and ratios to the floor, after one round that is not counted."""
    works: tuple[Callable[[Path], int], ...] = (read_floor, read_skills, check_project)
    n_files = {work(root / "skills" if work is read_floor else root) for work in works}
    if len(n_files) != 1:
        sys.exit(f"the loops disagree on the number of files: {sorted(n_files)}")
    times: dict[str, list[float]] = {work.__name__: [] for work in works}
    for _ in range(rounds):
        for work in works:
            start = time.perf_counter()
            work(root / "skills" if work is read_floor else root)
            times[work.__name__].append(time.perf_counter() - start)
    floor, found, checked = (statistics.median(times[work.__name__]) for work in works)
    return {
        "n_files": n_files.pop(),
        "floor_s": floor,
        "discover_s": found,
        "discover_ratio": found / floor,
        "check_s": checked,
        "check_ratio": checked / floor,
    }


def main() -> None:
    """Parse options, build the tree in a temporary folder, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--skills", type=int, default=1000)
    parser.add_argument("--files", type=int, default=5, help="files of a skill, SKILL.md included")
    parser.add_argument("--bytes", type=int, default=4096, help="bytes of a file")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        make_tree(Path(folder), options.skills, options.files, options.bytes)
        write_lock(Path(folder), prepare_lock(load_project(Path(folder))))
        result = measure(Path(folder), rounds=options.rounds)
    result["n_skills"] = options.skills
    if options.json:
        print(json.dumps(result, sort_keys=True))
        return
    print(f"{options.skills} skills, {result['n_files']} files of {options.bytes} bytes, median of {options.rounds}")
    for name, key in (("bare read and hash", "floor"), ("read, hash, parse, lint", "discover"), ("check", "check")):
        ratio = f"{result[f'{key}_ratio']:6.2f} x the floor" if key != "floor" else ""
        print(f"  {name:<26}{result[f'{key}_s'] * 1e3:9.1f} ms {ratio}")


if __name__ == "__main__":
    main()
