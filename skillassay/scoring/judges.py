"""How far a run's judges agree: the samples of one with each other, and a second judge with the first. Pure.

Counted over the records that stand for the planned trials, by criterion. Between samples a criterion counts where every
sample of the first judge has a grounded word on it; it is unanimous where all say the same, an abstention being a word.
Between judges a criterion counts where both say PASS or FAIL with all their samples. Nothing else is counted as agreed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillassay.canonical import Json
from skillassay.judging.samples import FAIL, PASS, UNGROUNDED
from skillassay.runs.record import TrialRecord
from skillassay.scoring.scores import Row
from skillassay.scoring.second import SecondWords, second_words
from skillassay.statistics.agreement import cohens_kappa, phi
from skillassay.statistics.interval import Estimate, Interval
from skillassay.statistics.rates import wilson

FIRST, SECOND = "judge", "second"
_DIGITS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """A criterion on which words differ: each sample's, in the order of the samples, of the first judge and of both."""

    suite: str
    case_id: str
    mode: str
    repeat: int
    criterion: str
    words: tuple[str, ...]
    second: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Between:
    """Two judges on what both decided. ``table`` is [[both PASS, first alone], [second alone, both FAIL]]."""

    table: tuple[tuple[int, int], tuple[int, int]]
    n_first: int

    @property
    def n(self) -> int:
        """Criteria that both decided."""
        return sum(map(sum, self.table))

    @property
    def agreed(self) -> int:
        """Those on which they say the same."""
        return self.table[0][0] + self.table[1][1]

    @property
    def interval(self) -> Interval | None:
        """Wilson 95 % of the agreement."""
        return wilson(self.agreed, self.n)

    @property
    def kappa(self) -> Estimate:
        """Cohen's kappa."""
        return cohens_kappa(self.table)

    @property
    def correlation(self) -> Estimate:
        """Phi."""
        return phi(self.table)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeReport:
    """What is told of a run's judges. ``between`` and ``second`` are None without a second judge."""

    samples: int
    unanimous: int
    n: int
    flips: tuple[Flip, ...]
    between: Between | None
    second: SecondWords | None = None

    @property
    def interval(self) -> Interval | None:
        """Wilson 95 % of the unanimous share."""
        return wilson(self.unanimous, self.n)


def judges_of(rows: Sequence[Row], header: Mapping[str, Any]) -> JudgeReport | None:
    """The report of a stored run by its header."""
    terms = header.get("contract", {}).get("binding", {}).get("judge", {})
    samples = terms.get("samples", 1)
    return build_judge_report(rows, samples=samples, has_second="second" in header["models"])


def judges_json(rows: Sequence[Row], header: Mapping[str, Any]) -> dict[str, Json]:
    """The section ``judges`` of a result; nothing where one judge was asked once."""
    report = judges_of(rows, header)
    if report is None:
        return {}
    told: dict[str, Json] = {
        "samples": report.samples,
        "unanimous": report.unanimous,
        "criteria": report.n,
        "interval": _interval_json(report.interval),
        "flips": [
            {
                "suite": flip.suite,
                "case": flip.case_id,
                "mode": flip.mode,
                "repeat": flip.repeat,
                "criterion": flip.criterion,
                "words": list(flip.words),
                "second": list(flip.second),
            }
            for flip in report.flips
        ],
    }
    if report.between is not None:
        told["second"] = {**_between_json(report.between, header), **_missing_json(report.second)}
    return {"judges": told}


def _missing_json(second: SecondWords | None) -> dict[str, Json]:
    """On how much the second judge has no word; it was never asked where the first was not heard on anything."""
    return {} if second is None else {"without_word": second.of - second.n, "why_without": dict(second.missing)}


def _between_json(between: Between, header: Mapping[str, Any]) -> dict[str, Json]:
    model = header["models"]["second"]
    return {
        "id": model["label"],
        "independent": model["independent"],
        "independent_of_judge": model["independent_of_judge"],
        "judged_by_first": between.n_first,
        "judged_by_both": between.n,
        "agreed": between.agreed,
        "interval": _interval_json(between.interval),
        "kappa": _estimate_json(between.kappa),
        "correlation": _estimate_json(between.correlation),
        "table": [list(row) for row in between.table],
    }


def _interval_json(interval: Interval | None) -> Json:
    return None if interval is None else [round(interval.low, _DIGITS), round(interval.high, _DIGITS)]


def _estimate_json(estimate: Estimate) -> Json:
    value = None if estimate.value is None else round(estimate.value, _DIGITS)
    return {"value": value, "why_not": estimate.reason if value is None else None}


def build_judge_report(rows: Sequence[Row], *, samples: int, has_second: bool) -> JudgeReport | None:
    """The report on the judges of a run; None where one judge was asked once."""
    if samples == 1 and not has_second:
        return None
    words = [(row.record, *found) for row in rows for found in _words(row.record)]
    whole = [one for _, _, one, _ in words if len(one) == samples and UNGROUNDED not in one]
    decided = [one for one in words if _verdict(one[2], samples) is not None]
    pairs = [(_verdict(first, samples), _verdict(second, samples)) for _, _, first, second in decided]
    order = (PASS, FAIL)
    cells = [[pairs.count((a, b)) for b in order] for a in order]
    return JudgeReport(
        samples=samples,
        unanimous=sum(len(set(one)) == 1 for one in whole),
        n=len(whole),
        flips=tuple(
            Flip(
                suite=record.suite,
                case_id=record.case_id,
                mode=record.mode,
                repeat=record.repeat,
                criterion=name,
                words=first,
                second=second,
            )
            for record, name, first, second in words
            if len({*first, *second}) > 1
        ),
        between=Between(table=((cells[0][0], cells[0][1]), (cells[1][0], cells[1][1])), n_first=len(decided))
        if has_second
        else None,
        second=second_words(row.record for row in rows) if has_second else None,
    )


def _words(record: TrialRecord) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Each criterion of a trial with the words of both judges on it, in the order of the samples."""
    found: dict[str, dict[str, list[str]]] = {}
    for sample in record.samples:
        for word in sample.words:
            found.setdefault(word.id, {FIRST: [], SECOND: []})[sample.side].append(word.verdict)
    for name, said in found.items():
        yield name, tuple(said[FIRST]), tuple(said[SECOND])


def _verdict(words: Sequence[str], samples: int) -> str | None:
    """PASS or FAIL where all samples say so."""
    return words[0] if len(words) == samples and set(words) in ({PASS}, {FAIL}) else None
