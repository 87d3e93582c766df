"""What every report shows, in words: the view of one assessed run. Owns wording of numbers, not layout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from skillassay.assessment import Assessment, RunFacts
from skillassay.plan import Mode
from skillassay.record import TrialRecord
from skillassay.scoring import Lift, ModeTotal, Rate, Row
from skillassay.stats import Interval

FIXTURE_NOTICE = "FIXTURE RUN: authored answers, no model was observed; ~ marks token estimates."
FIXTURE_JUDGE_NOTICE = "FIXTURE JUDGE: a model answered, authored rules judged; this is no model_gate."
FIXTURE_CANDIDATE_NOTICE = "FIXTURE CANDIDATE: authored answers, judged by a model; ~ marks token estimates."


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """One run ready to be rendered. ``place`` is where its record lies; ``header`` is the stored header;
    ``evidence`` says why a planned skill has none."""

    facts: RunFacts
    assessment: Assessment
    header: Mapping[str, Any]
    place: str
    evidence: Mapping[str, str]
    occurred_at: str

    @property
    def notice(self) -> str | None:
        """What of the run is authored; None when all of it was observed."""
        answered, judged = (self.header["models"][side]["is_fixture"] for side in ("candidate", "judge"))
        if answered:
            return FIXTURE_NOTICE if judged else FIXTURE_CANDIDATE_NOTICE
        return FIXTURE_JUDGE_NOTICE if judged else None

    @property
    def model_line(self) -> str:
        """Candidate and judge as requested, and whether the judge is independent."""
        models = self.header["models"]
        independent = "independent" if models["independent"] else "NOT independent of the candidate"
        return f"candidate {models['candidate']['label']}, judge {models['judge']['label']} ({independent})"


def interval_text(interval: Interval | None) -> str:
    """``[0.72, 1.00]``; rounded outwards nowhere, so the ends are what they are to two digits."""
    return "no interval" if interval is None else f"[{interval.low:.2f}, {interval.high:.2f}]"


def rate_text(rate: Rate) -> str:
    """``12/13 scored of 13 planned``, with the Wilson 95 % interval."""
    return f"{rate.passed}/{rate.scored} of {rate.planned} planned {interval_text(rate.interval)}"


def criteria_text(total: ModeTotal) -> str:
    """``16/16``, and how many criteria were planned where some were not scored."""
    return f"{total.k}/{total.n}" + (f" of {total.n_planned}" if total.n != total.n_planned else "")


def score_text(record: TrialRecord) -> str:
    """``5/6``, or the reason why there is no score."""
    if record.outcome.scored:
        return f"{record.k}/{record.n_criteria}"
    return "--"


def tokens_text(n_tokens: int | None, *, estimated: bool) -> str:
    """A token count; ``~`` marks an estimate, ``?`` what the provider did not tell."""
    return "?" if n_tokens is None else f"{'~' if estimated else ''}{n_tokens}"


def lift_text(lift: Lift) -> str:
    """The lift in words: mean, interval, verdict, and the counts it rests on."""
    if lift.difference.mean is None:
        return f"no case scored in both modes (of {lift.n_planned})"
    interval = lift.difference.interval
    shown = f"95 % {interval_text(interval)}" if interval else f"no 95 % interval below 6 cases ({lift.n_cases} here)"
    return (
        f"{lift.difference.mean:+.2f} {shown}: {lift.difference.word}; "
        f"{lift.k_progressive}/{lift.n_progressive} against {lift.k_none}/{lift.n_none}, "
        f"{lift.n_cases} of {lift.n_planned} cases"
    )


def failed_lines(row: Row, facts: RunFacts) -> list[tuple[str, str, str]]:
    """(word, id, text) for everything a reader must see of a trial: failed marks, lucky passes, why it has no score.

    A criterion's statement is followed by the judge's evidence, under the word ``why``, except in ``none``: there a
    failure is what was to be expected, and the record has its evidence. A mark of a trial without a score decides
    nothing: a failed one stands under ``saw FAIL``. What was activated or run otherwise than the
    case expects stands under ``routed``: it is told and enters no score.
    """
    record = row.record
    lines: list[tuple[str, str, str]] = []
    for mark in record.marks:
        if not mark.passed:
            word = "FAIL" if record.outcome.scored else "saw FAIL"
            lines.append((word, mark.id, mark.text or mark.evidence))
            if mark.text and row.planned.mode is not Mode.NONE:
                lines.append(("why", "", mark.evidence))
    if record.outcome.scored:
        lines += [
            ("LUCKY", check, f"the check passed while {criterion}, which explains it, failed")
            for check, criterion in record.lucky
        ]
    outcome = record.outcome
    if not outcome.scored:
        reason = outcome.reason.value if outcome.reason else "unknown"
        stage = f" ({outcome.stage.value})" if outcome.stage else ""
        lines.append(("UNSCORED", f"{reason}{stage}", outcome.detail or "no detail"))
    elif outcome.detail:
        lines.append(("FAIL", outcome.kind or "", outcome.detail))
    routed = _routed(row, facts)
    return [*lines, ("routed", "", routed)] if routed is not None else lines


def _routed(row: Row, facts: RunFacts) -> str | None:
    """What a trial activated and ran otherwise than expected; `eager` activates nothing, `none` can do neither."""
    expected = facts.expected.get((row.planned.suite, row.planned.case_id))
    if expected is None or row.planned.mode is Mode.NONE or not row.record.outcome.scored:
        return None
    if row.planned.mode is Mode.EAGER:
        expected = replace(expected, skills=None)
    return expected.difference(activated=row.record.activated, scripts=row.record.scripts)
