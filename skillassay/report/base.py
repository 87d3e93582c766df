"""What every report shows, in words: the view of one assessed run. Owns wording of numbers, not layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skillassay.contract.terms import LOOP
from skillassay.errors import Exit
from skillassay.models.recording import Kept
from skillassay.people.effective import Effective
from skillassay.runs.plan import Mode
from skillassay.runs.record import RECORDS_CHANGED, TrialRecord
from skillassay.runs.retention import FULL
from skillassay.scoring.assessment import Assessment, RunFacts
from skillassay.scoring.billing import billing_of
from skillassay.scoring.costs import RunCosts
from skillassay.scoring.scores import Lift, ModeTotal, Rate, Row
from skillassay.scoring.since import since_previous
from skillassay.statistics.interval import Interval

FIXTURE_NOTICE = "FIXTURE RUN: authored answers, no model was observed; ~ marks token estimates."
FIXTURE_JUDGE_NOTICE = (
    "FIXTURE JUDGE: a model answered, authored rules judged; this is no model_gate; ~ marks token estimates."
)
FIXTURE_CANDIDATE_NOTICE = "FIXTURE CANDIDATE: authored answers, judged by a model; ~ marks token estimates."


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """One run ready to be rendered. ``place`` is where its record lies; ``header`` is the stored header;
    ``evidence`` says why a planned skill has none; ``recording`` is where its traffic was written just now;
    ``effective`` is the decision with waivers, where it was asked for; ``root`` is the project's folder as given;
    ``costs`` are what it was billed for; ``is_changed`` tells records that are not those of its result."""

    facts: RunFacts
    assessment: Assessment
    header: Mapping[str, Any]
    place: str
    evidence: Mapping[str, str]
    occurred_at: str
    recording: Kept | None = None
    effective: Effective | None = None
    root: Path = Path()
    costs: RunCosts | None = None
    is_changed: bool = False

    @property
    def exit_code(self) -> Exit:
        """What the decision comes to, with waivers where they were asked for; a run that was stopped passes nothing."""
        decision = self.assessment.decision if self.effective is None else self.effective.decision
        stopped = self.assessment.interrupted and decision.exit_code is Exit.PASSED
        return Exit.UNDECIDED if stopped else decision.exit_code

    @property
    def notice(self) -> str | None:
        """What no figure is shown without: records that were changed, and what of the run nobody observed; or None."""
        return " ".join(filter(None, (self.changed, self._unobserved))) or None

    @property
    def changed(self) -> str | None:
        """That the records are not the run's own, where they are not."""
        return f"RECORDS CHANGED: in run {self.header['id']} {RECORDS_CHANGED}." if self.is_changed else None

    @property
    def _unobserved(self) -> str | None:
        """What of the run is authored, recorded or of an unknown model; None when all was observed of a known one."""
        candidate, judge = self.header["models"]["candidate"], self.header["models"]["judge"]
        if self.header.get("answers") is not None:
            return f"{_elsewhere(self.assessment.scores.rows)}{_judged(judge)}."
        if candidate.get("own_model"):
            return f"AGENT RUN: {candidate['name']} answered with a model of its own, unknown here{_judged(judge)}."
        if candidate.get("is_replay") or judge.get("is_replay"):
            return _replay_notice(candidate, judge)
        answered, judged = candidate["is_fixture"], judge["is_fixture"]
        if answered:
            return FIXTURE_NOTICE if judged else FIXTURE_CANDIDATE_NOTICE
        return FIXTURE_JUDGE_NOTICE if judged else None

    @property
    def cache_line(self) -> str | None:
        """What of the calls was answered from the cache; None when nothing was."""
        billing = billing_of(self.assessment.scores.rows)
        if not billing.n_cached:
            return None
        tokens = tokens_text(billing.tokens_saved, estimated=billing.saved.estimated)
        return f"{billing.n_cached} of {billing.n_calls} calls from the cache, {tokens} tokens not billed"

    @property
    def model_line(self) -> str:
        """Who answered: candidate and judge as requested, through which subject, and whether the judge is independent.

        Our own loop is what a run has unless it says otherwise, and is not named.
        """
        models, subject = self.header["models"], self.header["subject"]
        through = "" if subject == LOOP else f" through {subject}"
        candidate = models["candidate"]["label"]
        if models["candidate"].get("own_model"):
            return f"candidate unknown{through}, judge {models['judge']['label']} (NOT known to be independent)"
        independent = "independent" if models["independent"] else "NOT independent of the candidate"
        return f"candidate {candidate}{through}, judge {models['judge']['label']} ({independent})"

    @property
    def told_lines(self) -> list[str]:
        """What no decision is shown without: who answered, whether the judge is independent, and of what a sample."""
        return [self.model_line, *([self.sample_line] if self.sample_line is not None else [])]

    @property
    def sample_line(self) -> str | None:
        """Of how many cases the figures are, where a sample was drawn; None where none was."""
        sample = self.header.get("sample")
        if sample is None:
            return None
        drawn = f"{sample['n']} of {sample['of']} selected cases, seed {sample['seed']}"
        return f"SAMPLE: {drawn}; all figures are of these cases: no evidence, no baseline"

    @property
    def previous_texts(self) -> list[str]:
        """Of each skill that ran in `previous`: which state that is, and what was gained since; none in other runs."""
        earlier, since = self.header.get("earlier", {}), since_previous(self.assessment.scores, self.facts.plan)
        base = (self.header["settings"]["given"].get("base") or "the lock") if earlier else ""
        how = f"--base {base}" if base != "the lock" else base
        texts = [
            f"previous of {path}: {state['version'] or 'no version'} at {state['commit'][:7]} ({how})"
            for path, state in sorted(earlier.items())
        ]
        return texts + [f"progressive - previous, {lift.skill_path}: {lift_text(lift)}" for lift in since]

    @property
    def retention_line(self) -> str:
        """The rule for what models said."""
        rule = self.header.get("retention", FULL)
        if rule == FULL:
            return f"retention: {rule}: raw answers and judge replies are kept in the record"
        return f"retention: {rule}: no answer or judge reply is kept, only hashes and labels"

    @property
    def isolation_line(self) -> str | None:
        """What stood between the planned skills' scripts and the machine; None when none of them has a script.

        An agent runs what its model says, whether or not a skill has one.
        """
        isolation = self.header.get("isolation", {})
        skills = isolation.get("skills")
        if "candidate" in self.header.get("agents", {}):
            return f"{self.header['subject']} and all it runs: level {isolation['level']}, {isolation['scripts']}"
        return f"scripts of {_names(skills)}: level {isolation['level']}, {isolation['scripts']}" if skills else None


def _elsewhere(rows: Sequence[Row]) -> str:
    """What holds of answers that were brought along; models are named as they were given."""
    named = sorted(filter(None, {row.record.candidate.model for row in rows}))
    told = f"named as {', '.join(named)} by whoever brought them" if named else "of an unnamed model"
    return f"ANSWERS MADE ELSEWHERE, {told}: no arm was seen, so clean_arms stays open and this is no evidence"


def _names(skills: Sequence[str]) -> str:
    return ", ".join(skills[:3]) + (f" and {len(skills) - 3} more" if len(skills) > 3 else "")


def _judged(judge: Mapping[str, Any]) -> str:
    """Whose verdicts a run rests on besides, where no model gave them now."""
    if judge.get("is_replay"):
        return f"; verdicts recorded of {_recorded_words(judge)}"
    return "; authored rules judged" if judge["is_fixture"] else ""


def _replay_notice(candidate: Mapping[str, Any], judge: Mapping[str, Any]) -> str:
    """Whose recorded words a run rests on; what else it rests on."""
    both = candidate.get("is_replay") and judge.get("is_replay")
    if both:
        return (
            f"REPLAY RUN: recorded answers of {_recorded_words(candidate)}, verdicts of {_recorded_words(judge)}; "
            "no model was asked. This is no model_gate."
        )
    if candidate.get("is_replay"):
        judged = "authored rules judged" if judge["is_fixture"] else "a model judged"
        return f"REPLAY CANDIDATE: recorded answers of {_recorded_words(candidate)}, {judged}; this is no model_gate."
    answered = "authored answers" if candidate["is_fixture"] else "a model answered"
    return f"REPLAY JUDGE: {answered}, recorded verdicts of {_recorded_words(judge)}; this is no model_gate."


def _recorded_words(model: Mapping[str, Any]) -> str:
    recorded = model["recorded"]
    authored = " (authored)" if recorded["is_fixture"] else ""
    return f"{recorded['label']}{authored} on {recorded['recorded_on']}"


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


SHOWN_WAIT_S = 0.1


def effort_lines(totals: Sequence[ModeTotal]) -> list[str]:
    """What it took besides, by mode: an arm that was tried more often than another must be seen."""
    told = {
        "retries": [f"mode {total.mode.value} {total.n_retries}" for total in totals if total.n_retries],
        # "none 60.6 s" would read as no wait at all.
        "waited before requests": [
            f"mode {total.mode.value} {total.waited_s:.1f} s" for total in totals if total.waited_s >= SHOWN_WAIT_S
        ],
        "tried again": [
            f"mode {total.mode.value} {total.n_tried_again} of {total.trials.planned} trials "
            f"({total.n_attempts} attempts)"
            for total in totals
            if total.n_tried_again
        ],
    }
    return [f"{words}: {', '.join(modes)}" for words, modes in told.items() if modes]


def lift_text(lift: Lift) -> str:
    """The lift in words: mean, interval, verdict, and the counts it rests on."""
    if lift.difference.mean is None:
        if not lift.n_planned:
            return "not measured: no case has a criterion on the answer, which both modes could meet"
        return f"no case scored in both modes (of {lift.n_planned})"
    return (
        f"{lift.difference.mean:+.2f} 95 % {interval_text(lift.difference.interval)}: {lift.difference.word}; "
        f"{lift.k_of}/{lift.n_of} against {lift.k_against}/{lift.n_against}, "
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
            lines.append((word, f"{mark.id} [{mark.file}]" if mark.file else mark.id, mark.text or mark.evidence))
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
        lines.append((outcome.status, outcome.kind or "", outcome.detail))
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
