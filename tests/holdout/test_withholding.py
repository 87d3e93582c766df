"""What a record of a hidden case keeps, field by field."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import replace

from skillassay.errors import Reason, Stage
from skillassay.holdout.withholding import Withholding, both
from skillassay.runs.record import (
    Arm,
    Mark,
    Outcome,
    Said,
    Sample,
    Spent,
    TrialRecord,
    record_from_json,
    record_to_json,
)
from skillassay.suites.case import BEHAVIOR_MARKS

KEY = b"k" * 32
RULE = Withholding(suite="hidden", key=KEY, names=frozenset({"greeter", "load_skill", "fixture"}))
SECRET = "a secret of the holdout"
ARM = Arm(
    skills=("greeter",), files=(("secret.txt", "ab" * 32),), tools=("load_skill",), skill_tools=(), prompt="cd" * 32
)
RECORD = TrialRecord(
    trial_id="t",
    suite="hidden",
    case_id="h",
    skill_path="skills/greeter",
    mode="progressive",
    repeat=1,
    n_criteria=2,
    outcome=Outcome(status="FAIL", detail=SECRET),
    marks=(
        Mark(id="a", by="code", verdict="PASS", evidence=SECRET, file="secret.txt"),
        Mark(id="b", by="judge", verdict="FAIL", evidence=SECRET, text=SECRET, critical=True, explains="a"),
    ),
    answer=SECRET,
    judge_reply=SECRET,
    transcript=[{"who": "UserTurn", "text": SECRET}],
    candidate=Spent(n_calls=3, model="fixture"),
    arm=ARM,
)


def hidden_id(given: str, case_id: str = "h") -> str:
    """The id of a verdict as its definition says: HMAC-SHA-256 of case and id as canonical JSON, twelve digits."""
    value = f'["{case_id}","{given}"]'.encode()
    return f"h-{hmac.new(KEY, value, hashlib.sha256).hexdigest()[:12]}"


def test_an_id_is_the_authors_word_or_a_plain_digest_of_one() -> None:
    """`c-` and eight digits of SHA-256 would confirm a guess at a criterion; the four of a behaviour say nothing."""
    marks = (
        Mark(id=f"c-{hashlib.sha256(SECRET.encode()).hexdigest()[:8]}", by="judge", verdict="PASS", evidence=""),
        Mark(id=BEHAVIOR_MARKS[0], by="code", verdict="PASS", evidence=""),
    )
    kept = RULE.keep(replace(RECORD, marks=marks)).marks
    assert [mark.id for mark in kept] == [hidden_id(marks[0].id), BEHAVIOR_MARKS[0]]
    assert RULE.keep(replace(RECORD, marks=marks, case_id="i")).marks[0].id == hidden_id(marks[0].id, "i")


def test_no_word_is_left_and_no_verdict_lost() -> None:
    """Verdicts, what is critical and explained, counts: as they were; every text is gone, and ids are keyed ones."""
    kept = RULE.keep(RECORD)
    assert "secret" not in repr(record_to_json(kept))
    assert [(m.id, m.by, m.verdict, m.critical, m.explains) for m in kept.marks] == [
        (hidden_id("a"), "code", "PASS", False, None),
        (hidden_id("b"), "judge", "FAIL", True, hidden_id("a")),
    ]
    assert (kept.k, kept.outcome.status, kept.candidate.n_calls) == (1, "FAIL", 3)
    assert kept.lucky == tuple((hidden_id(check), hidden_id(criterion)) for check, criterion in RECORD.lucky) != ()
    assert record_from_json(record_to_json(kept)) == kept


def test_a_mark_on_a_file_is_still_one() -> None:
    """A lift leaves out criteria that read a file, so that much must be known of a mark; the file's name is not."""
    assert [mark.file is None for mark in RULE.keep(RECORD).marks] == [False, True]


def test_arms_stay_comparable_and_their_digests_cannot_be_guessed() -> None:
    """Equal prompts and files are equal afterwards, others are not, and none is the plain digest."""
    first, same = RULE.keep(RECORD).arm, RULE.keep(replace(RECORD, mode="none")).arm
    other = RULE.keep(replace(RECORD, arm=replace(ARM, prompt="ef" * 32))).arm
    assert first == same
    assert first is not None
    assert other is not None
    assert other.prompt != first.prompt
    assert ARM.prompt != first.prompt
    assert first.files[0][1] != "ab" * 32


def test_a_reason_stays_and_its_words_go() -> None:
    """An error message may quote a reply."""
    outcome = Outcome(status="UNSCORED", reason=Reason.CONTRACT_ERROR, stage=Stage.JUDGE, detail=SECRET)
    kept = RULE.keep(replace(RECORD, outcome=outcome)).outcome
    assert (kept.reason, kept.stage, kept.detail) == (
        Reason.CONTRACT_ERROR,
        Stage.JUDGE,
        "the reply broke its contract",
    )


def test_other_suites_go_by_the_runs_own_rule() -> None:
    """A visible record is kept as the run keeps it, and a hidden one is not made another one twice."""
    visible = replace(RECORD, suite="quality")
    keep = both(RULE, lambda record: replace(record, answer="by the run's rule"))
    assert keep(visible).answer == "by the run's rule"
    assert keep(RECORD) == RULE.keep(RECORD)
    assert RULE.keep(visible) == visible


def test_a_sample_keeps_its_words_by_keyed_id() -> None:
    """What each sample said stays to be counted; what it said it with, and about which statement, does not."""
    words = (Said(id="b", verdict="FAIL", evidence=SECRET),)
    record = replace(RECORD, samples=(Sample(side="judge", part="rubric", number=1, words=words),))
    (kept,) = RULE.keep(record).samples
    assert [(word.id, word.verdict) for word in kept.words] == [(hidden_id("b"), "FAIL")]
    assert SECRET not in str(record_to_json(RULE.keep(record)))
