"""A run as the workspace of skill-creator or of the Agent Skills guide. Owns its folders, files and notes; writes none.

    NAME-workspace/evals/evals.json                         the cases, with the files they come with
    NAME-workspace/iteration-1/benchmark.json
    NAME-workspace/iteration-1/eval-CASE/eval_metadata.json          (skill-creator alone)
    NAME-workspace/iteration-1/eval-CASE/CONFIGURATION/[run-N/]{grading.json,timing.json,outputs/answer.md}
    NAME-workspace/iteration-1/eval-CASE/CONFIGURATION/[run-N/]unscored.json         in their place, without a score

The guide has no level for repeats: its folders show the first one, its benchmark counts all. Nobody has given feedback,
so there is no ``feedback.json``: an empty text in one means that somebody looked and was content.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from skillassay.canonical import Json, pretty_text
from skillassay.interop.benchmark import run_json, summarise
from skillassay.interop.exchange import slug
from skillassay.interop.gradings import CONFIGURATIONS, Graded, grade
from skillassay.interop.written_evals import build_evals, statement_of
from skillassay.report.base import RunView
from skillassay.runs.plan import PlannedTrial
from skillassay.runs.record import Outcome
from skillassay.scoring.scores import Row
from skillassay.suites.kept import KeptCases

ITERATION = "iteration-1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """The files to be written, by path, what a reader must know besides, and how many trials have no grading."""

    files: Mapping[str, bytes]
    notes: tuple[str, ...]
    n_graded: int
    n_ungraded: int


def build_workspace(view: RunView, kept: KeptCases, *, skills: Sequence[str], is_guide: bool) -> Workspace:
    """The workspaces of the named skills of a run, one beside the other."""
    whole = _Workspace(view=view, kept=kept, is_guide=is_guide)
    names = Counter(slug(PurePosixPath(path).name) for path in skills)
    for path in skills:
        name = slug(PurePosixPath(path).name)
        whole.add(path, f"{name if name and names[name] == 1 else slug(path) or 'skill'}-workspace")
    return Workspace(
        files=whole.files,
        notes=(*_told(view), *whole.notes),
        n_graded=whole.n_graded,
        n_ungraded=whole.n_ungraded,
    )


def _told(view: RunView) -> list[str]:
    """What no figure of the run is to be read without."""
    stopped = ["the run was stopped before its end"] if view.assessment.interrupted else []
    return [*([view.notice] if view.notice is not None else []), *view.told_lines, *stopped]


class _Workspace:
    """Files and notes, skill by skill."""

    def __init__(self, *, view: RunView, kept: KeptCases, is_guide: bool) -> None:
        self.view = view
        self.kept = kept
        self.is_guide = is_guide
        self.cases = {(suite.name, case.id): case.normal for suite in kept.suites for case in suite.cases}
        self.files: dict[str, bytes] = {}
        self.notes: list[str] = []
        self.n_graded = 0
        self.n_ungraded = 0

    def add(self, skill_path: str, folder: str) -> None:
        """The workspace of one skill."""
        rows = [row for row in self.view.assessment.scores.rows if row.planned.skill_path == skill_path]
        others = sorted({row.planned.mode.value for row in rows if row.planned.mode not in CONFIGURATIONS})
        if others:
            self.notes.append(f"{skill_path}: trials in {', '.join(others)} have no configuration there")
        rows = [row for row in rows if row.planned.mode in CONFIGURATIONS]
        keys = list(dict.fromkeys((row.planned.suite, row.planned.case_id) for row in rows))
        hidden = [key for key in keys if self.cases.get(key) is None]
        if hidden:
            self.notes.append(f"{skill_path}: {len(hidden)} cases of which no text is kept")
        cases = {key: case for key in keys if (case := self.cases.get(key)) is not None}
        numbers = {case["id"]: number for number, case in enumerate(cases.values(), start=1)}
        top = f"{folder}/{ITERATION}"
        graded = self._grade([row for row in rows if (row.planned.suite, row.planned.case_id) in cases], cases, top)
        for case in cases.values():
            own = [run for run in graded if run.case_id == case["id"]]
            self._add_eval(f"{top}/eval-{case['id']}", case, numbers[case["id"]], own)
        self._put(f"{top}/benchmark.json", self._benchmark(skill_path, graded, numbers))
        self._add_evals(f"{folder}/evals", skill_path, list(cases.values()))

    def _grade(self, rows: Sequence[Row], cases: Mapping[tuple[str, str], Any], top: str) -> list[Graded]:
        """The scored trials; each of the others is noted and counted, and its folder says why it has no grading."""
        graded = []
        n_estimated = sum(row.record.candidate.usage.estimated for row in rows)
        if n_estimated:
            self.notes.append(f"tokens of {n_estimated} trials are estimates, which nobody metered")
        for row in rows:
            planned, outcome = row.planned, row.record.outcome
            where = f"eval-{planned.case_id} {CONFIGURATIONS[planned.mode]} run {planned.repeat}"
            if outcome.reason is not None:
                self.n_ungraded += 1
                told = f"UNSCORED ({outcome.reason.value}), neither passed nor failed, so it has no grading"
                self.notes.append(f"{where}: {told}")
                self._add_unscored(top, planned, outcome)
                continue
            graded.append(grade(row, cases[planned.suite, planned.case_id]))
            if row.record.answer is None:
                self.notes.append(f"{where}: {outcome.status} without an answer ({outcome.kind or 'no reason'})")
        self.n_graded += len(graded)
        return graded

    def _add_unscored(self, top: str, planned: PlannedTrial, outcome: Outcome) -> None:
        """The reason, in the folder where the grading would be.

        The published reader takes the configuration it meets first for the one that the other is subtracted from, so
        that a missing folder would turn the sign of its delta around.
        """
        if self.is_guide and planned.repeat > 1:
            return
        place = self._place(f"{top}/eval-{planned.case_id}", CONFIGURATIONS[planned.mode], planned.repeat)
        reason, stage = outcome.reason, outcome.stage
        told = {"reason": reason and reason.value, "stage": stage and stage.value, "detail": outcome.detail}
        self._put(f"{place}/unscored.json", told)

    def _place(self, folder: str, configuration: str, repeat: int) -> str:
        return f"{folder}/{configuration}" + ("" if self.is_guide else f"/run-{repeat}")

    def _add_eval(self, folder: str, case: Mapping[str, Any], number: int, runs: Sequence[Graded]) -> None:
        if not self.is_guide:
            statements = [*map(statement_of, case["checks"]), *(one["text"] for one in case["rubric"])]
            told = {"eval_id": number, "eval_name": case["id"], "prompt": case["query"], "assertions": statements}
            self._put(f"{folder}/eval_metadata.json", told)
        for run in runs:
            if self.is_guide and run.repeat > 1:
                continue
            place = self._place(folder, run.configuration, run.repeat)
            self._put(f"{place}/grading.json", run.grading_json(is_guide=self.is_guide))
            self._put(f"{place}/timing.json", run.timing_json(is_guide=self.is_guide))
            if run.answer is not None:
                self.files[f"{place}/outputs/answer.md"] = run.answer.encode()

    def _benchmark(self, skill_path: str, graded: Sequence[Graded], numbers: Mapping[str, int]) -> dict[str, Json]:
        summary = summarise(graded, is_guide=self.is_guide)
        if self.is_guide:
            return {"run_summary": summary}
        models, header = self.view.header["models"], self.view.header
        return {
            "metadata": {
                "skill_name": PurePosixPath(skill_path).name,
                "skill_path": skill_path,
                "executor_model": models["candidate"]["label"],
                "analyzer_model": models["judge"]["label"],
                "timestamp": header["created_at"],
                "evals_run": sorted(numbers.values()),
                "runs_per_configuration": max((run.repeat for run in graded), default=0),
            },
            "runs": [run_json(run, numbers[run.case_id]) for run in graded],
            "run_summary": summary,
            "notes": [*_told(self.view), *self.notes],
        }

    def _add_evals(self, folder: str, skill_path: str, cases: Sequence[Mapping[str, Any]]) -> None:
        key = "assertions" if self.is_guide else "expectations"
        written = build_evals(PurePosixPath(skill_path).name, cases, key=key)
        self.notes += written.without
        self._put(f"{folder}/evals.json", written.document)
        self.files |= {f"{folder}/{path}": self.kept.files[sha256] for path, sha256 in written.files.items()}

    def _put(self, path: str, value: Json) -> None:
        self.files[path] = pretty_text(value).encode()
