"""The lint of suites as JSON, table and Markdown. Owns layout; finds and counts nothing of its own.

The JSON is ``suite_lint: 1``, described in ``docs/reference/suite-lint.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tabulate import tabulate

from skillassay.canonical import Json
from skillassay.findings import CODES, Severity
from skillassay.printable import clip, markdown_cell, one_line
from skillassay.report.layout import wrap
from skillassay.scoring.discrimination import MIN_TRIALS, TrialLint
from skillassay.suites.lint import SuiteLint
from skillassay.suites.lints.base import Doubt, KindCount, count_kinds, sort_doubts

LINT_VERSION = 1
_MOST_NAMED = 3
_WHY_COLUMNS = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class LintView:
    """A lint with what stored trials say, if any were looked at, and the runs that were set aside."""

    lint: SuiteLint
    trials: TrialLint | None
    set_aside: tuple[tuple[str, str], ...]
    is_strict: bool

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """All findings, gravest first."""
        return sort_doubts((*self.lint.doubts, *(() if self.trials is None else self.trials.doubts)))

    @property
    def kinds(self) -> list[KindCount]:
        """The findings by kind; of what trials show, out of the cases that have enough of them."""
        seen = {} if self.trials is None else {one.code: self.trials.n_told for one in self.trials.doubts}
        n_cases, n_skills = len(self.lint.cases), len(self.lint.skills)
        return count_kinds(self.doubts, n_cases=seen, n_all=n_cases, n_skills=n_skills)

    @property
    def passed(self) -> bool:
        """Whether nothing was found that must be mended."""
        failing = {Severity.ERROR, Severity.WARNING} if self.is_strict else {Severity.ERROR}
        return not any(one.severity in failing for one in self.doubts)


def lint_json(view: LintView) -> Json:
    """The JSON object of a lint."""
    lint = view.lint
    return {
        "suite_lint": LINT_VERSION,
        "passed": view.passed,
        "strict": view.is_strict,
        "cases": len(lint.cases),
        "skills": len(lint.skills),
        "checks": lint.n_checks,
        "not_looked_at": {
            "criteria": lint.n_criteria,
            "hidden_cases": lint.n_hidden,
            "routing_cases": lint.n_routing,
        },
        "trials": None if view.trials is None else _trials_json(view.trials),
        "set_aside": [{"run": run, "why": why} for run, why in view.set_aside],
        "summary": [_kind_json(kind) for kind in view.kinds],
        "findings": [_doubt_json(one) for one in view.doubts],
        "idle": [
            {
                "suite": probed.linted.case.suite,
                "case": probed.linted.case.id,
                "check": one.check.check_id,
                "type": one.check.type,
                "passes": list(one.passes),
                "undecided": sorted(one.undecided),
            }
            for probed in lint.probed
            for one in probed.idle
        ],
    }


def _kind_json(kind: KindCount) -> Json:
    return {
        "code": kind.code,
        "severity": kind.severity.value,
        "findings": kind.n_doubts,
        "affected": kind.n_of,
        "of": kind.n_all,
        "unit": kind.unit,
    }


def _trials_json(trials: TrialLint) -> Json:
    return {
        "runs": list(trials.runs),
        "fixture": trials.is_fixture,
        "trials": trials.n_trials,
        "scored": trials.n_scored,
        "unscored": trials.n_unscored,
        "hidden_trials": trials.n_hidden,
        "min_trials": MIN_TRIALS,
        "cases_told": trials.n_told,
        "too_few": list(trials.too_few),
        "unseen": list(trials.unseen),
        "edited": list(trials.edited),
    }


def _doubt_json(one: Doubt) -> Json:
    return {
        "code": one.code,
        "severity": one.severity.value,
        "path": one.path,
        "line": one.line,
        "suite": one.suite or None,
        "case": one.case_id,
        "item": one.item,
        "skill": one.skill or None,
        "message": one.message,
        "hint": one.hint,
    }


def render_lint(view: LintView, columns: int, *, notes: bool) -> str:
    """The lint as text: findings by kind, the gravest last, then the counts and what was not looked at."""
    shown = [one for one in view.doubts if notes or one.severity is not Severity.NOTE]
    lines: list[str] = []
    for kind in reversed(view.kinds):
        own = [one for one in shown if one.code == kind.code]
        if own:
            lines += [*wrap(f"{kind.code}: {CODES[kind.code]}", columns, deeper=2), *_kind_lines(own, columns), ""]
    if view.kinds:
        lines += [*_table(view.kinds, columns), ""]
    for text in _told(view, notes=notes):
        lines += wrap(text, columns, deeper=2)
    return "\n".join(lines) + "\n"


def _kind_lines(own: Sequence[Doubt], columns: int) -> Iterator[str]:
    """Each finding; those that say one thing of several items of a case are on one line."""
    items: dict[tuple[str, str], list[str]] = {}
    for one in own:
        key = (_place(one, with_item=False), f"{one.severity.value}: {one.message}")
        items.setdefault(key, []).extend([] if one.item is None else [one.item])
    for (place, message), names in items.items():
        name = f"/{', '.join(names)}" if names else ""
        yield from wrap(f"{place}{name}: {message}", columns, lead="  ", deeper=2)
    for hint in dict.fromkeys(one.hint for one in own):
        yield from wrap(f"next: {hint}", columns, lead="    ", deeper=2)


def _place(one: Doubt, *, with_item: bool = True) -> str:
    """``evals/quality.json:12 case-id/check-id``."""
    line = f":{one.line}" if one.line is not None else ""
    name = "/".join(filter(None, (one.case_id, one.item if with_item else None)))
    return f"{one.path}{line} {name}".rstrip()


def _table(kinds: Sequence[KindCount], columns: int) -> list[str]:
    rows = [
        (kind.severity.value, kind.code, kind.n_doubts, f"{kind.n_of} of {kind.n_all} {kind.unit}s") for kind in kinds
    ]
    headers = ("", "kind", "findings", "in")
    lines = tabulate(rows, headers=headers, tablefmt="simple", disable_numparse=True).split("\n")
    return [clip(line.rstrip(), columns) for line in lines]


def _told(view: LintView, *, notes: bool) -> Iterator[str]:
    lint = view.lint
    yield (
        f"Looked at {_n(len(lint.cases), 'case')} of {_n(len(lint.skills), 'skill')} and ran "
        f"{_n(lint.n_checks, 'check')} on answers that say nothing. No judge was asked: what "
        f"{_n(lint.n_criteria, 'criterion', 'criteria')} make of them cannot be told here."
    )
    if lint.n_hidden:
        yield f"Of the hidden holdout nothing was read: {_n(lint.n_hidden, 'case')}."
    yield from _told_of_runs(view)
    counts = {severity: sum(one.severity is severity for one in view.doubts) for severity in Severity}
    words = ", ".join(_n(n, severity.value) for severity, n in counts.items())
    more = "" if notes or not counts[Severity.NOTE] else " (--notes shows the notes)"
    yield f"suite lint: {words}{more}"


def _told_of_runs(view: LintView) -> Iterator[str]:
    trials = view.trials
    if trials is None:
        yield "No stored run was looked at: whether a case tells anything apart is not known."
    else:
        runs = trials.runs[0] if len(trials.runs) == 1 else f"{trials.runs[0]} and {len(trials.runs) - 1} more"
        answers = ", all or some of them on authored answers" if trials.is_fixture else ""
        yield (
            f"Trials of {runs}: {trials.n_scored} of {trials.n_trials} scored, {trials.n_unscored} unscored and in "
            f"no count{answers}."
        )
        few, n_cases = len(trials.too_few), len(view.lint.cases)
        if few:
            yield (
                f"Too few to say: {few} of {n_cases} cases have fewer than {MIN_TRIALS} scored trials "
                f"({_some(trials.too_few)})."
            )
        if trials.unseen:
            yield f"Without a scored trial: {_n(len(trials.unseen), 'case')} ({_some(trials.unseen)})."
        if trials.edited:
            yield f"Set aside, edited since: {_n(len(trials.edited), 'case')} ({_some(trials.edited)})."
        if trials.n_hidden:
            yield f"Set aside, of the hidden holdout: {_n(trials.n_hidden, 'trial')}."
    if view.set_aside:
        run, why = view.set_aside[0]
        why = clip(one_line(why.removeprefix(f"run {run}: ")), _WHY_COLUMNS)
        yield f"Set aside: {_n(len(view.set_aside), 'run')}; {run}: {why}"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _n(n: int, word: str, plural: str | None = None) -> str:
    return f"{n} {word if n == 1 else plural or f'{word}s'}"


def render_lint_markdown(view: LintView) -> str:
    """The lint as Markdown: the counts, every finding, and what was not looked at."""
    lines = ["## Suite lint", "", "| severity | kind | findings | in |", "| --- | --- | --- | --- |"]
    for kind in view.kinds:
        within = f"{kind.n_of} of {kind.n_all} {kind.unit}s"
        lines.append(f"| {kind.severity.value} | `{kind.code}` | {kind.n_doubts} | {within} |")
    lines += ["", "| severity | kind | where | what | next |", "| --- | --- | --- | --- | --- |"]
    for one in view.doubts:
        cells = (markdown_cell(text) for text in (_place(one), one.message, one.hint))
        lines.append(f"| {one.severity.value} | `{one.code}` | {' | '.join(cells)} |")
    return "\n".join([*lines, "", *(markdown_cell(text) + "  " for text in _told(view, notes=True))]) + "\n"
