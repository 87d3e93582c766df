"""A judge that invents: what a poor real model says of false criteria, and what our reader lets through.

Each criterion below is false of its answer. The model passes nearly all of them and quotes words that nobody wrote;
what is asserted is not its luck, but that no such PASS gets through.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

import pytest

from scripts import local_engine
from scripts.local_engine import Engine
from skillassay.contract.contract import JudgeTerms
from skillassay.errors import Reason, Stage, TrialError
from skillassay.judging.judge import CriterionVerdict, ask_judge, parse_verdicts, ungrounded
from skillassay.models.openai_chat import OpenAIModel
from skillassay.suites.case import Case, Criterion

FALSE = [
    ("Our shop opens at 9 on Saturday.", "The answer says that the shop closes at 13."),
    ("Our shop opens at 9 on Saturday.", "The answer offers a discount of ten percent."),
    ("A tulip costs 2 euros.", "The answer says that a rose costs 4 euros."),
    ("A rose is a flower. It is red.", "The answer names a price in euros."),
    ("I do not know.", "The answer names the capital of France."),
    ("We cannot offer a refund of 20 euros.", "The answer offers a refund of 20 euros."),
    ("The parcel takes three days.", "The answer apologises for the delay."),
    ("Dear customer, thank you for your letter. Your garden shop", "The answer gives a phone number."),
]
TERMS = JudgeTerms(model=f"openai:{local_engine.MODEL_NAME}", max_output_tokens=300)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One answer with the judge's word on its criterion, or the error that its reply was."""

    answer: str
    verdicts: tuple[CriterionVerdict, ...] = ()
    error: TrialError | None = None

    @property
    def passes(self) -> list[CriterionVerdict]:
        """The verdicts PASS."""
        return [verdict for verdict in self.verdicts if verdict.verdict == "PASS"]

    @property
    def caught(self) -> tuple[str, ...]:
        """What grounding refuses."""
        return ungrounded(self.verdicts, self.answer)


def judge(model: OpenAIModel, answer: str, text: str) -> Judged:
    """Ask the real judge with the real prompt and read its reply as a trial does."""
    case = Case(id="letter", skill="garden-shop", query="Write.", rubric=(Criterion(id="said", text=text),))
    try:
        reply = ask_judge(model, case, answer, TERMS)
        return Judged(answer=answer, verdicts=parse_verdicts(reply.turn.text, case.rubric))
    except TrialError as error:
        return Judged(answer=answer, error=error)


@pytest.fixture(scope="module")
def judged(engine: Engine) -> Iterator[list[Judged]]:
    """The judge's word on every false criterion."""
    with closing(OpenAIModel(name=local_engine.MODEL_NAME, api_key="no-key", base_url=engine.base_url)) as model:
        yield [judge(model, answer, text) for answer, text in FALSE]


def words(text: str) -> str:
    """The words of a text between spaces, small: the oracle knows nothing of punctuation, quotes and folding."""
    return " ".join(["", *re.findall(r"[^\W_]+", text.lower()), ""])


def stands_in(evidence: str, answer: str) -> bool:
    """Whether the words of each part of a quotation follow one another in the answer."""
    parts = [words(part) for part in re.split(r"\.\.\.|…", evidence)]
    return all(part in words(answer) for part in parts if part.strip())


def test_no_pass_on_words_that_nobody_wrote_gets_through(judged: list[Judged]) -> None:
    """A PASS that grounding lets through quotes words which stand in the answer, by an oracle of its own."""
    through = [
        (verdict.evidence, one.answer)
        for one in judged
        for verdict in one.passes
        if verdict.criterion.id not in one.caught
    ]
    assert [pair for pair in through if not stands_in(*pair)] == []


def test_this_judge_is_caught_inventing(judged: list[Judged]) -> None:
    """The set does its work: at least one PASS is refused as ungrounded, or one reply as no verdict at all."""
    assert any(one.caught or (one.error and one.error.reason is Reason.CONTRACT_ERROR) for one in judged)


def test_a_reply_without_a_verdict_is_the_judges(judged: list[Judged]) -> None:
    """What could not be read is booked on the judge, as cut off or as a breach of the form; nothing else occurs."""
    errors = [one.error for one in judged if one.error is not None]
    assert {(error.stage, error.reason) for error in errors} <= {
        (Stage.JUDGE, Reason.TRUNCATED),
        (Stage.JUDGE, Reason.CONTRACT_ERROR),
    }
    assert len(errors) < len(FALSE)
