"""The assessment of a run from its facts, its records and what else is known of it. Pure.

Owns what enters a decision, and that what people said counts beside what was recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from skillassay.calibration.judged import answered_names
from skillassay.calibration.sampling import called_wrong
from skillassay.calibration.verdicts_read import VerdictRead
from skillassay.gate.decide import Decision, GateInput, decide
from skillassay.gate.judge import UNKNOWN, JudgeFacts
from skillassay.holdout.voiding import void_records
from skillassay.people.adjudication import Adjudication, decided_records
from skillassay.people.approval import Approval, in_force
from skillassay.people.review import Entry, Suspects, build_queue, doubts_by_case
from skillassay.runs.record import TrialRecord, content_digest
from skillassay.scoring.breakdown import Breakdown, build_breakdown
from skillassay.scoring.facts import RunFacts
from skillassay.scoring.regression import Baseline, Regression, build_regression, case_states, narrow
from skillassay.scoring.scores import Scores, score_run
from skillassay.suites.parts import PartTotal, cases_apart, part_totals

__all__ = ["Assessment", "Besides", "RunFacts", "assess"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """Scores and decision of a run, with the digest of the records' content.

    ``decision`` heeds what people adjudicated, ``recorded`` is the one without; ``queue`` is what is for people to see.
    """

    scores: Scores
    breakdown: Breakdown
    parts: tuple[PartTotal, ...]
    decision: Decision
    recorded: Decision
    queue: tuple[Entry, ...]
    content_digest: str
    interrupted: bool
    moved: tuple[str, ...]
    approval: Approval | None = None

    @property
    def seen(self) -> str:
        """The digest of what there is to approve."""
        return self.decision.seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Besides:
    """What is known of a run besides its records: what people said of it, why the holdout that it planned counts no
    more, what is known of a live run's judge, what it is compared with, who approved it, its id. ``cases`` are the
    digests of all cases, ``wrong`` what readers call wrong of its verdicts; ``is_changed`` tells records that are not
    those that its result was made of."""

    adjudications: Sequence[Adjudication] = ()
    voided: str | None = None
    judge: JudgeFacts = UNKNOWN
    baseline: Baseline | None = None
    cases: Mapping[str, str] = field(default_factory=dict)
    approvals: tuple[Approval, ...] = ()
    run_id: str = ""
    wrong: tuple[VerdictRead, ...] = ()
    is_changed: bool = False


NOTHING = Besides()


def assess(
    facts: RunFacts,
    records: Iterable[TrialRecord],
    *,
    moved: tuple[str, ...],
    interrupted: bool = False,
    besides: Besides = NOTHING,
) -> Assessment:
    """Score and gate a run from its records and what else is known of it. Pure: the same give the same assessment."""
    adjudications, voided = besides.adjudications, besides.voided
    recorded_now = records = tuple(records)
    decided = decided_records(records, adjudications)
    if voided is not None and facts.holdout is not None:
        use = replace(facts.holdout, doubts=tuple(dict.fromkeys((*facts.holdout.doubts, voided))))
        facts = replace(facts, holdout=use)
        records, decided = (void_records(each, use, voided) for each in (records, decided))
    rows = score_run(facts.plan, recorded_now, slices=facts.slices).rows
    suspects = _suspects(facts)
    queue = build_queue(rows, adjudications, replace(suspects, wrong=called_wrong(rows, besides.wrong, besides.cases)))
    besides = replace(besides, judge=_judge(facts, besides.judge))
    scores, breakdown, decision = _decide(facts, decided, moved, queue, besides)
    recorded = decision
    if adjudications or besides.wrong:
        recorded = _decide(facts, records, moved, build_queue(rows, (), suspects), besides)[2]
    return Assessment(
        scores=scores,
        breakdown=breakdown,
        parts=part_totals(scores.rows, facts.parts, facts.plan.modes),
        decision=decision,
        recorded=recorded,
        queue=queue,
        content_digest=content_digest(recorded_now),
        interrupted=interrupted,
        moved=moved,
        approval=in_force(besides.approvals, decision.seen),
    )


def _judge(facts: RunFacts, judge: JudgeFacts) -> JudgeFacts:
    reading = replace(judge.reading, rubrics=facts.rubrics, hidden=facts.hidden)
    return replace(judge, n_references=facts.n_references, reading=reading)


def _suspects(facts: RunFacts) -> Suspects:
    hidden = {(trial.suite, trial.case_id) for trial in facts.plan.trials if trial.suite == facts.hidden}
    doubts = () if facts.holdout is None else facts.holdout.doubts
    critical = facts.critical_cases | facts.critical_criteria
    return Suspects(critical=critical, contaminated=doubts_by_case(doubts, hidden))


def _decide(
    facts: RunFacts,
    records: Sequence[TrialRecord],
    moved: tuple[str, ...],
    queue: tuple[Entry, ...],
    besides: Besides,
) -> tuple[Scores, Breakdown, Decision]:
    scores = score_run(facts.plan, records, slices=facts.slices, apart=cases_apart(facts.parts))
    breakdown = build_breakdown(scores.rows, facts.about, n_repeats=facts.plan.repeats)
    regressions = _regressions(facts, scores, besides)
    given = GateInput(
        plan=facts.plan,
        terms=facts.gate,
        is_fixture=facts.is_fixture,
        critical_cases=facts.critical_cases,
        critical_criteria=facts.critical_criteria,
        graded_cases=facts.graded_cases,
        moved_skills=moved,
        skill_names=facts.skill_names,
        about=facts.about,
        breakdown=breakdown,
        unstated=facts.unstated,
        queue=queue,
        holdout=facts.holdout,
        holdout_asked=facts.holdout_asked,
        leakage=facts.leakage,
        own_model=facts.own_model,
        suite_terms=facts.suite_terms,
        judge=besides.judge,
        regression=next(iter(regressions), None),
        suite_regressions=regressions[1:],
        approvals=besides.approvals,
        run_id=besides.run_id,
        is_changed=besides.is_changed,
        content_digest=content_digest(row.record for row in scores.rows),
    )
    return scores, breakdown, decide(scores, given)


def _regressions(facts: RunFacts, scores: Scores, besides: Besides) -> tuple[Regression, ...]:
    """The whole run against its baseline, then each planned suite that states a threshold of its own."""
    if besides.baseline is None:
        return ()
    named = () if facts.is_fixture else answered_names(row.record for row in scores.rows)
    judges = (besides.baseline.judges, tuple(sorted(named)))
    names = {f"{trial.suite}/{trial.case_id}": trial.suite for trial in facts.plan.trials}
    scopes: list[tuple[str | None, Fraction | None]] = [(None, facts.gate.regression_max)]
    planned = set(names.values())
    scopes += [(suite, of.regression_threshold) for suite, of in sorted(facts.suite_terms.items()) if suite in planned]
    baseline, now = besides.baseline, case_states(scores.rows, besides.cases)
    built = []
    for suite, threshold in scopes:
        if threshold is None:
            continue
        then, states = (baseline, now) if suite is None else narrow(baseline, now, suite)
        found = build_regression(
            then,
            states,
            planned=[name for name, of in names.items() if suite in {None, of}],
            existing=besides.cases,
            critical=facts.critical_cases | facts.critical_criteria,
            threshold=threshold,
        )
        built.append(replace(found, judges=judges, suite=suite))
    return tuple(built)
