"""The judge's part of a trial: every sample of every judge asked, booked and kept, and their words made marks.

Owns the order: the first judge's samples one after the other, each under a slot of its own, then the second judge's.
An error of the first judge ends it: no majority is taken over errors. One of the second judge leaves it without a word.
What of a ruling holds is kept as a mark, whatever else does not: nobody may decide over it later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from skillassay.contract.contract import JudgeTerms
from skillassay.errors import Reason, Stage, TrialError
from skillassay.judging import behavior
from skillassay.judging.judge import ask_judge, parse_verdicts, ungrounded
from skillassay.judging.samples import UNGROUNDED, Ruling, Word, beside, combine
from skillassay.models.base import Model, ModelReply, sample_slot
from skillassay.runs.record import Mark, Said, Sample, Spent
from skillassay.suites.case import BEHAVIOR_MARKS, Case
from skillassay.transcript import Usage

PROSE, RUBRIC = "prose", "rubric"
FIRST, SECOND = "judge", "second"

Words = Mapping[str, Word]
"""One sample's words by criterion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """Who judges, and on which terms."""

    judge: Model
    terms: JudgeTerms
    second: Model | None = None

    @property
    def is_one_word(self) -> bool:
        """Whether one judge is asked once, so that its reply is all there is."""
        return self.second is None and self.terms.samples == 1


@dataclass(slots=True)
class Heard:
    """What a trial has heard of its judges. ``left_open`` has the rulings without a verdict by criterion, ``told`` each
    name under which a side replied.
    """

    spent: dict[str, Spent] = field(default_factory=lambda: {FIRST: Spent()})
    reply: str | None = None
    marks: list[Mark] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    left_open: dict[str, Ruling] = field(default_factory=dict)
    failure: TrialError | None = None
    told: dict[str, list[str | None]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """One thing to ask about: ``blank`` has a mark for each criterion, to be filled with its verdict."""

    part: str
    slot: str
    blank: Sequence[Mark]
    all_critical: bool
    ask: Callable[[Model, str], ModelReply]
    read: Callable[[str], Words]


def read_prose(case: Case, answer: behavior.BehaviorAnswer, bench: Bench, heard: Heard, *, slot: str) -> None:
    """Have the prose of a behaviour case judged. Raises :class:`TrialError` where the first judge gives no words."""
    timeout_s = bench.terms.timeout_s
    question = _Question(
        part=PROSE,
        slot=slot,
        blank=[Mark(id=name, by="judge", verdict="", evidence="") for name in BEHAVIOR_MARKS[2:]],
        all_critical=case.critical,
        ask=lambda model, own: behavior.ask_verdict(model, case, answer, timeout_s=timeout_s, slot=own),
        read=lambda reply: {
            one.id: Word(verdict=one.verdict, evidence=one.evidence) for one in behavior.judge_marks(reply)
        },
    )
    _put(question, bench, heard)


def judge_rubric(case: Case, text: str, bench: Bench, heard: Heard, *, slot: str) -> None:
    """Have a rubric judged. Raises :class:`TrialError` where the first judge gives no words."""
    question = _Question(
        part=RUBRIC,
        slot=slot,
        blank=[
            Mark(
                id=one.id,
                by="judge",
                verdict="",
                evidence="",
                critical=one.critical,
                explains=one.explains,
                text=one.text,
            )
            for one in case.rubric
        ],
        all_critical=case.critical,
        ask=lambda model, own: ask_judge(model, case, text, bench.terms, slot=own),
        read=lambda reply: rubric_words(reply, case, text),
    )
    _put(question, bench, heard)


def rubric_words(reply: str, case: Case, text: str) -> dict[str, Word]:
    """One sample's words on a rubric. Raises :class:`TrialError` for a reply that breaks its contract."""
    verdicts = parse_verdicts(reply, case.rubric)
    invented = set(ungrounded(verdicts, text))
    return {
        one.criterion.id: Word(
            verdict=UNGROUNDED if one.criterion.id in invented else one.verdict, evidence=one.evidence
        )
        for one in verdicts
    }


def _put(question: _Question, bench: Bench, heard: Heard) -> None:
    n = bench.terms.samples
    first = [_sample(question, bench, heard, side=FIRST, number=number) for number in range(1, n + 1)]
    second = _second(question, bench, heard)
    for blank in question.blank:
        critical = question.all_critical or blank.critical
        ruling = combine([words[blank.id] for words in first], critical=critical)
        if isinstance(second, TrialError):
            ruling = beside(ruling, second.reason, critical=critical)
        elif second is not None:
            own = combine([words[blank.id] for words in second], critical=critical)
            ruling = beside(ruling, own, critical=critical)
        if ruling.verdict is None:
            heard.left_open[blank.id] = ruling
        else:
            heard.marks.append(
                replace(blank, verdict=ruling.verdict, evidence=ruling.evidence, differed=ruling.differed)
            )
    if isinstance(second, TrialError):
        heard.failure = second


def _second(question: _Question, bench: Bench, heard: Heard) -> list[Words] | TrialError | None:
    """The second judge's samples, or the error for which it has no word; None where there is no second judge."""
    if bench.second is None:
        return None
    numbers = range(1, bench.terms.samples + 1)
    try:
        return [_sample(question, bench, heard, side=SECOND, number=number) for number in numbers]
    except TrialError as error:
        if error.reason is Reason.INTERRUPTED:
            raise  # nothing came of the trial: it is run again
        return error


def _sample(question: _Question, bench: Bench, heard: Heard, *, side: str, number: int) -> Words:
    model = bench.judge if side == FIRST or bench.second is None else bench.second
    sample = Sample(side=side, part=question.part, number=number)
    try:
        reply = question.ask(model, sample_slot(question.slot, number))
        _book(reply, heard, side)
        words = question.read(reply.turn.text)
    except TrialError as error:
        _book_failure(error, heard, side)
        _keep(replace(sample, reason=error.reason, kind=error.kind), bench, heard)
        raise
    said = tuple(Said(id=name, verdict=word.verdict, evidence=word.evidence) for name, word in words.items())
    _keep(replace(sample, words=said), bench, heard)
    return words


def _keep(sample: Sample, bench: Bench, heard: Heard) -> None:
    if not bench.is_one_word:
        heard.samples.append(sample)


def _book(reply: ModelReply, heard: Heard, side: str) -> None:
    spent, told = heard.spent.get(side, Spent()), heard.told.setdefault(side, [])
    if reply.model not in told:
        told.append(reply.model)
    heard.spent[side] = Spent(
        n_calls=spent.n_calls + 1,
        n_attempts=spent.n_attempts + reply.n_attempts,
        usage=spent.usage.plus(reply.usage),
        model=reply.model or spent.model,
        n_cached=spent.n_cached + reply.cached,
        cached_usage=spent.cached_usage.plus(reply.usage) if reply.cached else spent.cached_usage,
        waited_s=round(spent.waited_s + reply.waited_s, 3),
        models=tuple(told) if len(told) > 1 else (),
    )
    if side == FIRST:
        heard.reply = reply.turn.text


def _book_failure(error: TrialError, heard: Heard, side: str) -> None:
    """What a call cost that brought no reply; an error that was found in a reply has no attempts of its own."""
    spent = heard.spent.setdefault(side, Spent())
    if error.n_attempts:
        heard.spent[side] = replace(
            spent,
            n_calls=spent.n_calls + 1,
            n_attempts=spent.n_attempts + error.n_attempts,
            usage=spent.usage.plus(error.usage or Usage()),
            waited_s=round(spent.waited_s + error.waited_s, 3),
        )


_SAID = {
    Reason.UNGROUNDED: "the judge passed {} on words that do not stand in the answer",
    Reason.JUDGE_DISAGREED: "the judge's words differ on {}",
    Reason.JUDGE_ABSTAINED: "the judge abstained on {}",
}
"""In the order in which they are told: an error of a judge comes before what it could not decide."""


def refuse_left_open(heard: Heard) -> None:
    """Raise :class:`TrialError` where a criterion has no verdict, with the first reason of :data:`_SAID`."""
    whys = {name: ruling.why for name, ruling in heard.left_open.items()}
    failure = heard.failure
    if failure is not None and failure.reason in whys.values():
        names = ", ".join(name for name, why in whys.items() if why is failure.reason)
        message = f"the second judge has no word on {names}, which is critical: {failure.message}"
        raise TrialError(message, reason=failure.reason, stage=Stage.JUDGE, kind=failure.kind)
    for reason, words in _SAID.items():
        about = [name for name, why in whys.items() if why is reason]
        if about:
            raise TrialError(words.format(_names(about, reason, heard)), reason=reason, stage=Stage.JUDGE)


def _names(names: Sequence[str], reason: Reason, heard: Heard) -> str:
    if reason is not Reason.JUDGE_DISAGREED:
        return ", ".join(names)
    return ", ".join(f"{name} ({heard.left_open[name].words})" for name in names)
