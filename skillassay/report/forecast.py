"""What the cases can show, as a table and as JSON. Owns the wording and the format; computes nothing."""

from __future__ import annotations

from collections.abc import Sequence

from tabulate import tabulate

from skillassay.canonical import Json
from skillassay.report.layout import wrap
from skillassay.statistics.interval import CONFIDENCE
from skillassay.suites.forecast import MOST_CASES, N_SIMULATED, Aim, Forecast, Need

PLAN_FORMAT = 1
"""Version of the JSON. New fields leave it; one that changes its meaning or goes raises it."""
NONE, NOT_MEASURED = "none", "?"

MODEL = (
    "cases are independent; a repeat passes whole or not at all, without the skill as often as the base rate says; "
    "with it each case gains the same share of what it lacked. A lift that sits in few cases takes more of them than "
    "are said here; of cases with several criteria, which spread less, fewer may do."
)


def render_forecasts(forecasts: Sequence[Forecast], aim: Aim, *, rule: str, run: str | None, columns: int) -> str:
    """The table, what its columns mean, what the gate's rule makes of them, and the model."""
    repeats = [need.repeats for need in forecasts[0].needs] if forecasts else []
    head = ["skill", "cases", "base", *(["over", "least"] if run is None else ["least", "was"])]
    rows = [
        (
            one.skill_path,
            str(one.n_cases) if run is None else f"{one.n_measured}/{one.n_cases}",
            f"{one.base_rate:.2f}{'' if one.n_measured or run is None else '?'}",
            *_lifts(one, run),
            *(_need(need, one) for need in one.needs),
        )
        for one in forecasts
    ]
    # Headers would each take two columns more than their words, and the table would not fit.
    table = [(*head, *(f"x{n}" for n in repeats)), *rows]
    align = ("left", *("right" for _ in table[0][1:]))
    lines = tabulate(table, tablefmt="plain", disable_numparse=True, colalign=align).split("\n")
    for text in (*_legend(aim, run), _rule(rule), f"model: {MODEL}"):
        lines += wrap(text, columns)
    return "\n".join(lines) + "\n"


def _legend(aim: Aim, run: str | None) -> tuple[str, ...]:
    over = "over: the mean lift above which the interval can lie above zero at all, every case gaining as much"
    measured = (
        "was: as least, each case as hard as it was in that run (none: no lift would be shown; ?: the run did not "
        "measure each case)"
    )
    cases = "cases: how many of them the run measured without the skill, of how many"
    base = "as asked" if run is None else f"the mean of mode none in run {run}; with ? as asked, the run has none"
    least = f"least: the least lift shown with power {aim.wanted:g} at repeats {aim.repeats}, all cases alike"
    needs = f"x1, x3 …: cases it takes for a lift of {aim.lift:g} with power {aim.wanted:g} at so many repeats"
    return (
        f"base: share of repeats that pass without the skill ({base})",
        *((over,) if run is None else (cases,)),
        f"{least} ({N_SIMULATED} simulated suites)",
        *((measured,) if run is not None else ()),
        f"{needs} (> {MOST_CASES}: more than were tried; -: the base leaves no room for it)",
    )


def _rule(rule: str) -> str:
    if rule == "bound":
        return "rule bound: a skill passes where the 95 % interval of its lift lies above zero, as counted here"
    return "rule point: any mean lift above zero passes; counted here is what the 95 % interval would show besides"


def _lifts(one: Forecast, run: str | None) -> tuple[str, str]:
    """What a row has room for: the closed form follows from the number of cases, and `check` says it too."""
    if run is None:
        return _lift(one.least_possible), _lift(one.least_lift)
    is_whole = 0 < one.n_measured == one.n_cases
    return _lift(one.least_lift), _lift(one.least_as_measured) if is_whole else NOT_MEASURED


def _lift(lift: float | None) -> str:
    return NONE if lift is None else f"{lift:+.2f}"


def _need(need: Need, forecast: Forecast) -> str:
    if not forecast.is_possible:
        return "-"
    return f"> {MOST_CASES}" if need.n_cases is None else str(need.n_cases)


def forecasts_json(forecasts: Sequence[Forecast], aim: Aim, *, rule: str, run: str | None) -> dict[str, Json]:
    """The same as data; docs/reference/plan.md has every field."""
    return {
        "plan_format": PLAN_FORMAT,
        "rule": rule,
        "power": aim.wanted,
        "lift": aim.lift,
        "repeats": aim.repeats,
        "confidence": CONFIDENCE,
        "from": run,
        "simulated": N_SIMULATED,
        "most_cases": MOST_CASES,
        "model": MODEL,
        "skills": {
            one.skill_path: {
                "cases": one.n_cases,
                "base_rate": one.base_rate,
                "cases_measured": one.n_measured,
                "least_possible": None if one.least_possible is None else round(one.least_possible, 6),
                "least_lift": one.least_lift,
                "least_lift_as_measured": one.least_as_measured,
                "lift_is_possible": one.is_possible,
                "needed": [{"repeats": need.repeats, "cases": need.n_cases} for need in one.needs],
            }
            for one in forecasts
        },
    }
