"""Reading the workspace that skill-creator and the Agent Skills guide leave behind, as answers.

    [iteration-N/]eval-NAME/{with_skill,without_skill}/[run-K/]outputs/…    the newest iteration, unless one is named

``with_skill`` is the mode progressive, ``without_skill`` none. An eval is a case of the project by the name of its
folder, by ``eval_name`` or ``eval_id`` of its ``eval_metadata.json``, or by the id that ``skillassay import`` gives it.
Of the files in ``outputs`` one is the answer: the one that is named, else the only text there is besides the tool's
own. All of them are laid out for the checks that read files. Left out: what the tool's own grader said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillassay.canonical import JsonProblem, parse_json, sha256_hex
from skillassay.interop.answer_files import usage_of
from skillassay.interop.exchange import slug
from skillassay.interop.made_answers import MAX_REPEATS, MODE_FOLDERS, Asked, Found, Heap, answer_text, read_inside
from skillassay.subjects.answers import MAX_OUTPUT_BYTES, MadeAnswer, Output
from skillassay.transcript import Usage

TEXTS = (".md", ".txt", ".json")
OWN_FILES = frozenset(("metrics.json", "user_notes.md"))
"""What the tool itself writes into ``outputs``."""
MAX_OUTPUTS = 500
_ITERATION = re.compile(r"iteration-([0-9]{1,6})")
_RUN = re.compile(r"run-([1-9][0-9]{0,3})")


def is_workspace(folder: Path) -> bool:
    """Whether a folder has iterations or evals in it."""
    return any(
        entry.is_dir() and (_ITERATION.fullmatch(entry.name) or entry.name.startswith("eval-"))
        for entry in folder.iterdir()
    )


def read_workspace(folder: Path, asked: Asked, heap: Heap, *, answer_name: str | None) -> None:
    """Every run of the newest iteration. ``answer_name`` is the file of ``outputs`` that is the answer."""
    top, n_evals = _newest(folder, heap), 0
    for entry in sorted(top.iterdir()):
        if entry.is_dir() and entry.name.startswith("eval-"):
            n_evals += 1
            _Eval(base=folder, folder=entry, asked=asked, heap=heap, answer_name=answer_name).read()
    heap.told.append(f"{n_evals} evals of {top.name}")


def _newest(folder: Path, heap: Heap) -> Path:
    found = {int(m[1]): entry for entry in folder.iterdir() if (m := _ITERATION.fullmatch(entry.name))}
    if not found:
        return folder
    newest = found[max(found)]
    if len(found) > 1:
        heap.told.append(f"{newest.name} is the newest of {len(found)} iterations; name another one's folder for it")
    return newest


@dataclass(frozen=True, slots=True, kw_only=True)
class _Eval:
    """One eval of a workspace."""

    base: Path
    folder: Path
    asked: Asked
    heap: Heap
    answer_name: str | None

    def read(self) -> None:
        case = self._case()
        if case is None:
            return
        for entry in sorted(self.folder.iterdir()):
            if not entry.is_dir():
                continue
            if (mode := MODE_FOLDERS.get(entry.name)) is None:
                self.heap.told.append(f"not scored: {self._shown(entry)}, which is no mode of a run here")
                continue
            for repeat, run in self._runs(entry):
                made = self._made(run)
                if made is not None:
                    place = self._shown(run)
                    self.heap.found.append(Found(place=place, case=case, mode=mode, repeat=repeat, made=made))

    def _shown(self, path: Path) -> str:
        return f"{self.base.name}/{path.relative_to(self.base).as_posix()}"

    def _case(self) -> str | None:
        """The case that the eval is; None with a problem said where it is none, or more than one."""
        told = self._json(self.folder / "eval_metadata.json")
        names = [self.folder.name, self.folder.name.removeprefix("eval-")]
        names += [str(told[key]) for key in ("eval_name", "eval_id") if isinstance(told.get(key), (str, int))]
        names += [f"{slug(skill)}-{slug(name)}" for skill in sorted(set(self.asked.skills.values())) for name in names]
        cases = sorted({name for name in names if name in self.asked.suites})
        if len(cases) == 1:
            return cases[0]
        why = f"it may be each of {', '.join(cases)}" if cases else "it is no case of this project"
        hint = 'name its case as "eval_name" in eval_metadata.json, or import the evals first (`skillassay import`)'
        self.heap.problem(self._shown(self.folder), why, hint)
        return None

    def _runs(self, folder: Path) -> Iterator[tuple[int, Path]]:
        """The repeats below a folder of one mode; without numbered ones the folder itself is the only one."""
        numbered = [(int(m[1]), entry) for entry in folder.iterdir() if (m := _RUN.fullmatch(entry.name))]
        for repeat, run in sorted(numbered) or [(1, folder)]:
            if repeat > MAX_REPEATS:
                self.heap.problem(self._shown(run), f"more than {MAX_REPEATS} repeats", "number them from 1")
            elif (run / "outputs").is_dir():
                yield repeat, run
            else:
                self.heap.told.append(f"no outputs in {self._shown(run)}, so its trial has no answer")

    def _made(self, run: Path) -> MadeAnswer | None:
        outputs = run / "outputs"
        try:
            files = self._files(outputs)
            name = self._answer(sorted(files))
            text = answer_text(files[name], name)
        except ValueError as problem:
            hint = "--answer NAME says which file of outputs is the answer"
            self.heap.problem(self._shown(outputs), str(problem), hint)
            return None
        made = tuple(
            Output(name=name, source=outputs / name, sha256=sha256_hex(data)) for name, data in sorted(files.items())
        )
        return MadeAnswer(text=text, usage=self._usage(run), outputs=made)

    def _files(self, outputs: Path) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        for path in sorted(outputs.rglob("*")):
            name = path.relative_to(outputs).as_posix()
            if path.is_dir() and not path.is_symlink():
                continue
            if len(found) == MAX_OUTPUTS:
                raise ValueError(f"it holds more than {MAX_OUTPUTS} files")
            if name not in OWN_FILES:
                below = path.relative_to(self.base).as_posix()
                found[name] = read_inside(self.base, below, max_bytes=MAX_OUTPUT_BYTES)
        return found

    def _answer(self, names: list[str]) -> str:
        if self.answer_name is not None:
            if self.answer_name not in names:
                raise ValueError(f"it has no file {self.answer_name}")
            return self.answer_name
        texts = [name for name in names if name.endswith(TEXTS)]
        if len(texts) != 1:
            raise ValueError(
                f"it holds {len(texts)} texts ({', '.join(texts[:5]) or 'none'}), and one must be the answer"
            )
        return texts[0]

    def _usage(self, run: Path) -> Usage:
        """The tokens that ``timing.json`` tells; unknown without it, and never the length of the output."""
        total = self._json(run / "timing.json").get("total_tokens")
        is_count = isinstance(total, int) and not isinstance(total, bool) and total >= 0
        return usage_of({"total_tokens": total} if is_count else None)

    def _json(self, path: Path) -> dict[str, Any]:
        """An object that the tool wrote; an empty one where there is none. A file that is none is a problem."""
        if not path.exists() and not path.is_symlink():
            return {}
        try:
            value = parse_json(read_inside(self.base, path.relative_to(self.base).as_posix()).decode("utf-8-sig"))
        except (ValueError, JsonProblem) as error:
            self.heap.problem(self._shown(path), str(error), "mend it, or remove it")
            return {}
        return value if isinstance(value, dict) else {}
