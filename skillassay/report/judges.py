"""How far a run's judges agree, in words for every report. Owns this wording; empty where one was asked once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skillassay.scoring.judges import Between, Flip, judges_of
from skillassay.scoring.scores import Row
from skillassay.scoring.second import SecondWords
from skillassay.statistics.interval import Estimate, Interval

MOST_FLIPS = 20


def judge_texts(rows: Sequence[Row], header: Mapping[str, Any]) -> list[str]:
    """One line on the samples, one or two on the second judge, and each criterion on which words differ."""
    second, report = header["models"].get("second"), judges_of(rows, header)
    if report is None:
        return []
    texts = []
    if report.samples > 1:
        texts.append(
            f"judge samples: {report.samples} for each answer; unanimous on {report.unanimous} of {report.n} criteria"
            f"{_interval(report.interval)}"
        )
    if second is not None and report.between is not None:
        texts += [_who(second), *_between(report.between), *_missing(report.second)]
    texts += [_flip(flip) for flip in report.flips[:MOST_FLIPS]]
    if len(report.flips) > MOST_FLIPS:
        texts.append(f"and {len(report.flips) - MOST_FLIPS} more criteria; result.json has them all")
    return texts


def _who(second: Mapping[str, Any]) -> str:
    apart = {"the candidate": second["independent"], "the judge": second["independent_of_judge"]}
    told = [f"{'independent' if is_apart else 'NOT independent'} of {name}" for name, is_apart in apart.items()]
    return f"second judge {second['label']}: {', '.join(told)}"


def _between(between: Between) -> list[str]:
    shared = f"of {between.n} criteria that both decided (the judge decided {between.n_first})"
    if not between.n:
        return [f"the judges agree on none {shared}"]
    numbers = f"kappa {_number(between.kappa)}, correlation {_number(between.correlation)}"
    return [f"the judges agree on {between.agreed} {shared}{_interval(between.interval)}, {numbers}"]


def _missing(second: SecondWords | None) -> list[str]:
    if second is None or second.n == second.of:
        return []
    whys = ", ".join(f"{n} {why}" for why, n in second.missing.items())
    return [f"{second.of - second.n} of {second.of} criteria are without a word of the second judge: {whys}"]


def _interval(interval: Interval | None) -> str:
    return "" if interval is None else f" [{interval.low:.2f}, {interval.high:.2f}]"


def _number(estimate: Estimate) -> str:
    return f"undefined ({estimate.reason})" if estimate.value is None else f"{estimate.value:.2f}"


def _flip(flip: Flip) -> str:
    where = f"{flip.case_id} [{flip.mode} #{flip.repeat}]"
    second = f"; second {', '.join(flip.second)}" if flip.second else ""
    return f"differs: {where}: {flip.criterion}: {', '.join(flip.words)}{second}"
