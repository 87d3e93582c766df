"""Trigger evals in words and as JSON. Owns both forms; counts nothing itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction

from skillassay.canonical import Json
from skillassay.contract.terms import LOOP
from skillassay.errors import Exit
from skillassay.printable import one_line
from skillassay.report.base import interval_text
from skillassay.report.layout import reason, wrap
from skillassay.statistics.rates import wilson
from skillassay.suites.looks import Looks
from skillassay.suites.trigger_rates import FAIL, PASS, Confusion, SkillTriggers, TriggerRate, by_skill

REPORT_VERSION = 1
_COLUMNS = 80
_WORDS = {"PASS": "ok  ", "FAIL": "FAIL", "UNSCORED": "OPEN"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerReport:
    """One run's rates, by the subject that each was sent through, in the order in which they came."""

    split: str
    threshold: Fraction
    repeats: int
    model: str
    is_fixture: bool
    suites: tuple[tuple[str, str], ...]
    rates: Sequence[tuple[str, TriggerRate]]
    looks: tuple[Looks, ...]
    n_elsewhere: int

    @property
    def exit_code(self) -> Exit:
        """1 where a request is decidedly otherwise, else 3 where a run is unscored, else 0."""
        statuses = {rate.status(self.threshold) for _, rate in self.rates}
        if FAIL in statuses:
            return Exit.FAILED
        complete = statuses == {PASS} and all(rate.scored == rate.planned for _, rate in self.rates)
        return Exit.PASSED if complete else Exit.UNDECIDED

    @property
    def n_passed(self) -> int:
        """Requests that did as they should."""
        return sum(rate.status(self.threshold) == PASS for _, rate in self.rates)

    def skills(self) -> Iterator[tuple[str, SkillTriggers]]:
        """The tables, by subject and skill."""
        for subject in dict.fromkeys(subject for subject, _ in self.rates):
            for skill in by_skill((rate for name, rate in self.rates if name == subject), self.threshold):
                yield subject, skill


def render_rate(subject: str, rate: TriggerRate, threshold: Fraction) -> str:
    """One request, as soon as it is known."""
    through = "" if subject == LOOP else f"  {one_line(subject)}"
    lines = [f"{_WORDS[rate.status(threshold)]}  {one_line(rate.case_id)}{through}"]
    should = "should" if rate.should_trigger else "should not"
    told = f"loaded {rate.skill} in {rate.triggered} of {rate.scored} scored"
    told += f", {rate.planned} planned" if rate.scored != rate.planned else ""
    lines += wrap(f"{told} {interval_text(rate.interval)}; it {should}", _COLUMNS, lead="      ", deeper=0)
    if rate.others:
        others = ", ".join(f"{name} in {n}" for name, n in rate.others.items())
        lines += wrap(f"loaded besides: {others}", _COLUMNS, lead="      ", deeper=0)
    if rate.why is not None:
        unscored = ", ".join(f"{n} {name}" for name, n in sorted(rate.unscored.items()))
        lines += reason(f"unscored: {unscored}; {rate.why}", _COLUMNS, lead="      ")
    return "\n".join(lines)


def render_skills(report: TriggerReport) -> str:
    """The tables by skill, the false and missed requests, what was looked at, the last line."""
    lines: list[str] = []
    for subject, skill in report.skills():
        through = "" if subject == LOOP else f", through {one_line(subject)}"
        lines += ["", f"{one_line(skill.skill)}, {report.split}{through}"]
        lines += _table(skill.requests, skill.runs)
        lines += [f"  recall     {_share(skill.requests.recall, 'of requests that should load it did')}"]
        lines += [f"  precision  {_share(skill.requests.precision, 'of requests that loaded it should')}"]
        named = (("false", skill.false), ("missed", skill.missed), ("open", skill.open))
        lines += [
            line
            for word, ids in named
            if ids
            for line in wrap(", ".join(ids), _COLUMNS, lead=f"  {word:<9}  ", deeper=0)
        ]
    return "\n".join([*lines, "", *_ends(report)])


def _table(requests: Confusion, runs: Confusion) -> list[str]:
    rows = [
        ("should", requests.true_loaded, requests.missed, requests.open_should),
        ("should not", requests.false_loaded, requests.true_left, requests.open_should_not),
    ]
    run_rows = [
        (runs.true_loaded, runs.missed, runs.open_should),
        (runs.false_loaded, runs.true_left, runs.open_should_not),
    ]
    head = f"  {'requests (runs)':<16}{'loaded':>12}{'not loaded':>14}{'open':>12}"
    cells = [
        (name, *(f"{n} ({m})" for n, m in zip(numbers, of_runs, strict=True)))
        for (name, *numbers), of_runs in zip(rows, run_rows, strict=True)
    ]
    return [head, *(f"  {name:<16}{one:>12}{two:>14}{three:>12}" for name, one, two, three in cells)]


def _share(counts: tuple[int, int], words: str) -> str:
    k, n = counts
    return f"{k}/{n} {words} {interval_text(wilson(k, n))}" if n else "nothing to count"


def _ends(report: TriggerReport) -> Iterator[str]:
    alike: dict[tuple[str, int, int], list[str]] = {}
    for look in report.looks:
        alike.setdefault((look.suite, look.n_looks, look.n_states), []).append(look.skill)
    for (suite, n_looks, n_states), skills in alike.items():
        times = "1 time" if n_looks == 1 else f"{n_looks} times"
        states = "1 state" if n_states == 1 else f"{n_states} states"
        told = f"validation of {suite} was looked at {times} here, with {states} of {', '.join(skills)}"
        told += "; what is chosen by it is tuned on it" if n_states > 1 else ""
        yield from wrap(told, _COLUMNS, deeper=0)
    suites = ", ".join(f"{name} {version}" for name, version in report.suites)
    runs = "1 run" if report.repeats == 1 else f"{report.repeats} runs"
    yield f"{report.n_passed}/{len(report.rates)} requests of {report.split} as they should, {runs} each"
    if report.n_elsewhere and report.split == "train":
        yield f"{suites}: {report.n_elsewhere} more in validation, not shown; --split validation asks and counts a look"


def triggers_json(report: TriggerReport) -> dict[str, Json]:
    """The report as JSON (docs/reference/triggers.md)."""
    return {
        "trigger_report": REPORT_VERSION,
        "split": report.split,
        "threshold": str(report.threshold),
        "repeats": report.repeats,
        "model": report.model,
        "fixture": report.is_fixture,
        "suites": [{"suite": name, "version": version} for name, version in report.suites],
        "cases_in_other_split": report.n_elsewhere,
        "looks": [asdict(look) for look in report.looks],
        "exit_code": int(report.exit_code),
        "skills": [_skill_json(subject, skill) for subject, skill in report.skills()],
        "cases": [_case_json(subject, rate, report.threshold) for subject, rate in report.rates],
    }


def _skill_json(subject: str, skill: SkillTriggers) -> dict[str, Json]:
    return {
        "subject": subject,
        "skill": skill.skill,
        "requests": asdict(skill.requests),
        "runs": asdict(skill.runs),
        "recall": _share_json(*skill.requests.recall),
        "precision": _share_json(*skill.requests.precision),
        "false_triggers": list(skill.false),
        "missed": list(skill.missed),
        "open": list(skill.open),
    }


def _case_json(subject: str, rate: TriggerRate, threshold: Fraction) -> dict[str, Json]:
    return {
        "subject": subject,
        "id": rate.case_id,
        "skill": rate.skill,
        "should_trigger": rate.should_trigger,
        "planned": rate.planned,
        "status": rate.status(threshold),
        "rate": _share_json(rate.triggered, rate.scored),
        "unscored": _counts(rate.unscored.items()),
        "why": rate.why,
        "other_skills": _counts(rate.others.items()),
    }


def _counts(items: Iterable[tuple[str, int]]) -> dict[str, Json]:
    return dict(sorted(items))


def _share_json(k: int, n: int) -> dict[str, Json]:
    """Counts with a Wilson 95 % interval, null where nothing was counted."""
    interval = wilson(k, n)
    return {"k": k, "n": n, "interval": None if interval is None else [interval.low, interval.high]}
