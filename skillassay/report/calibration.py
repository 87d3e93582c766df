"""A comparison of a judge with people, in a terminal and as JSON. Computes intervals, decides nothing."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from tabulate import tabulate

from skillassay.calibration.calibrating import Calibration
from skillassay.calibration.measure import Agreement, Verbosity
from skillassay.calibration.pin import pin_json
from skillassay.canonical import Json
from skillassay.printable import one_line
from skillassay.statistics.agreement import cohens_kappa
from skillassay.statistics.rates import wilson

CALIBRATE_FORMAT = 1
MAX_SHOWN = 20


def calibration_json(found: Calibration) -> dict[str, Json]:
    """Everything, with each rate's counts and its 95 % Wilson interval."""
    return {
        "calibrate_format": CALIBRATE_FORMAT,
        "judge": pin_json(found.certificate.pin),
        "origin": found.origin,
        "calibrated": not found.why_not,
        "why_not": list(found.why_not),
        **_rates_json(found.agreement),
        "verbosity": _verbosity_json(found.verbosity),
        "disputed": found.n_disputed,
        "changed_since_first": found.n_changed,
        "before": [{"at": one.at, "agreed": one.agreed, "n": one.n} for one in found.certificate.before],
        "unanswered": dict(sorted(Counter(found.certificate.unanswered.values()).items())),
        "between_people": [
            {
                "one": pair.one,
                "other": pair.other,
                "agreement": _rate_json(pair.agreement.agreed, pair.agreement.n),
                "kappa": _number(pair.agreement.kappa),
            }
            for pair in found.between
        ],
        "differing": [
            {"answer": pair.point[0], "criterion": pair.point[1], "human": pair.human, "judge": pair.judge}
            for pair in found.wrong
        ],
    }


def _rates_json(agreement: Agreement) -> dict[str, Json]:
    return {
        "counts": {
            "both_pass": agreement.both_pass,
            "human_alone": agreement.human_alone,
            "judge_alone": agreement.judge_alone,
            "both_fail": agreement.both_fail,
        },
        "agreement": _rate_json(agreement.agreed, agreement.n),
        "sensitivity": _rate_json(agreement.both_pass, agreement.n_passed),
        "specificity": _rate_json(agreement.both_fail, agreement.n_failed),
        "kappa": _number(agreement.kappa),
        "kappa_interval": None if (interval := _kappa_interval(agreement)) is None else [*map(_rounded, interval)],
    }


def _kappa_interval(agreement: Agreement) -> tuple[float, float] | None:
    """95 % by Fleiss, Cohen and Everitt; None where there is none."""
    found = cohens_kappa(agreement.table).interval
    return None if found is None else (found.low, found.high)


def _rounded(value: float) -> Json:
    return round(value, 6)


def _verbosity_json(verbosity: Verbosity) -> dict[str, Json]:
    return {
        "n_short": verbosity.n_short,
        "surplus_short": verbosity.surplus_short,
        "n_long": verbosity.n_long,
        "surplus_long": verbosity.surplus_long,
        "bias": _number(verbosity.bias),
    }


def _rate_json(k: int, n: int) -> Json:
    interval = wilson(k, n)
    return {"k": k, "n": n, "interval": None if interval is None else [round(interval.low, 6), round(interval.high, 6)]}


def _number(value: Fraction | None) -> Json:
    return None if value is None else round(float(value), 6)


def render_calibration(found: Calibration, *, columns: int) -> str:
    """The table of rates, what the people say among themselves, and the points that differ."""
    agreement, pin = found.agreement, found.certificate.pin
    answered = ", ".join(map(one_line, pin.answered)) or "no name told"
    rows = [
        ("agreement", *_rate(agreement.agreed, agreement.n)),
        ("sensitivity", *_rate(agreement.both_pass, agreement.n_passed)),
        ("specificity", *_rate(agreement.both_fail, agreement.n_failed)),
        ("kappa", _decimal(agreement.kappa), "", _kappa_words(agreement)),
        _verbosity_row(found),
    ]
    lines = [
        f"judge {one_line(pin.model)}, answered as {answered}; labels of origin {found.origin}",
        tabulate(rows, headers=("", "value", "of", "95 % interval"), disable_numparse=True),
        *_counted(found),
        *(f"{_between(pair.one, pair.other, pair.agreement)}" for pair in found.between),
        *_differing(found, columns),
    ]
    verdict = "calibrated" if not found.why_not else "not calibrated"
    return "\n".join([*lines, f"judge: {verdict}", *(f"  {one_line(words)}" for words in found.why_not)])


def _kappa_words(agreement: Agreement) -> str:
    if agreement.kappa is None:
        return "undefined: one verdict throughout" if agreement.n else "nothing to measure"
    interval = _kappa_interval(agreement)
    return "one side gave one verdict throughout" if interval is None else f"[{interval[0]:.3f}, {interval[1]:.3f}]"


def _rate(k: int, n: int) -> tuple[str, str, str]:
    interval = wilson(k, n)
    if interval is None:
        return ("-", "0 of 0", "nothing to measure")
    return (f"{k / n:.3f}", f"{k} of {n}", f"[{interval.low:.3f}, {interval.high:.3f}]")


def _verbosity_row(found: Calibration) -> tuple[str, str, str, str]:
    verbosity = found.verbosity
    counts = (
        f"{verbosity.surplus_long:+d} of {verbosity.n_long} long, {verbosity.surplus_short:+d} of {verbosity.n_short}"
    )
    note = "all answers are of one length" if verbosity.bias is None else ""
    return ("verbosity bias", _decimal(verbosity.bias, sign=True), counts, note)


def _decimal(value: Fraction | None, *, sign: bool = False) -> str:
    return "-" if value is None else f"{float(value):+.3f}" if sign else f"{float(value):.3f}"


def _counted(found: Calibration) -> list[str]:
    lines = []
    if found.n_disputed:
        lines.append(f"{found.n_disputed} points on which people disagree, left out: they are to be talked about")
    if found.n_changed:
        lines.append(
            f"{found.n_changed} points decided otherwise since the judge was first compared, left out: "
            "who has seen its verdicts is no witness any more"
        )
    if found.certificate.before:
        first, n = found.certificate.before[0], len(found.certificate.before)
        lines.append(f"compared {n} times before; first on {first.at}: {first.agreed} of {first.n} agreed")
    if found.certificate.unanswered:
        why = Counter(found.certificate.unanswered.values())
        words = ", ".join(f"{one_line(reason)} {n}" for reason, n in sorted(why.items()))
        lines.append(f"{sum(why.values())} points without a verdict of the judge: {words}")
    return lines


def _between(one: str, other: str, agreement: Agreement) -> str:
    kappa = "kappa undefined" if agreement.kappa is None else f"kappa {float(agreement.kappa):.3f}"
    return f"{one_line(one)} and {one_line(other)} agree on {agreement.agreed} of {agreement.n}, {kappa}"


def _differing(found: Calibration, columns: int) -> list[str]:
    lines = []
    for pair in found.wrong[:MAX_SHOWN]:
        said = "people pass, the judge fails" if pair.human else "people fail, the judge passes"
        lines.append(one_line(f"  {pair.point[0][:12]} {pair.point[1]}: {said}", columns))
    more = len(found.wrong) - MAX_SHOWN
    head = [f"{len(found.wrong)} points differ:"] if found.wrong else []
    return [*head, *lines, *([f"  and {more} more (--format json)"] if more > 0 else [])]
