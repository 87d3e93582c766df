"""For which judge and which labels a calibration counts, and what makes it expire."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from skillassay.calibration.certificate import Certificate, read_certificates, write_certificate
from skillassay.calibration.labels import Label, LabelledAnswer, Labels
from skillassay.calibration.pin import JudgePin
from skillassay.calibration.standing import build_standing
from skillassay.contract.terms import CalibrationTerms
from skillassay.errors import StoreError

PIN = JudgePin(
    model="openai:reader", answered=("reader-2026",), endpoint="e", address=None, prompt="p", max_output_tokens=4096
)
CASES = {"q/one": "1" * 64}
ANSWERS = [LabelledAnswer(suite="q", case_id="one", case_digest="1" * 64, text=f"answer {i}") for i in range(20)]


def labels(n_pass: int = 10, by: str = "Aiko Mori") -> Labels:
    """Of twenty answers the first ``n_pass`` pass."""
    said = [
        Label(answer=a.id, criterion="r", verdict="pass" if i < n_pass else "fail", by=by, at="2026-01-01T00:00:00Z")
        for i, a in enumerate(ANSWERS)
    ]
    return Labels(answers={a.id: a for a in ANSWERS}, labels=tuple(said))


def certificate(**changed: object) -> Certificate:
    """A calibration of a judge that agrees with all twenty."""
    verdicts = {(a.id, "r"): (i < 10, i < 10) for i, a in enumerate(ANSWERS)}
    made = Certificate(at="2026-01-02T00:00:00Z", pin=PIN, cases=CASES, verdicts=verdicts, unanswered={})
    return replace(made, **changed)  # type: ignore[arg-type]  # each test changes one field of its own


def standing(
    *certificates: Certificate, said: Labels | None = None, pin: JudgePin = PIN, **cases: str
) -> tuple[str, ...]:
    """Why the judge of a run on the one case is not calibrated."""
    about = CASES | {f"q/{name}": digest for name, digest in cases.items()}
    judged = {(name, "r") for name in CASES}
    return build_standing(certificates, said or labels(), pin, about, CalibrationTerms(), judged=judged).why_not


def test_a_judge_that_agrees_is_calibrated() -> None:
    """Exactly this judge, on cases as they were, with the labels as they are."""
    assert standing(certificate()) == ()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"model": "openai:other"}, "model: openai:other now"),
        ({"answered": ("reader-2027",)}, "answered as reader-2027"),
        ({"answered": ()}, "answered under no name"),
        ({"endpoint": "f"}, "endpoint: f now"),
        ({"address": "a"}, "address: a now"),
        ({"prompt": "q"}, "prompt: q now"),
        ({"max_output_tokens": 100}, "max_output_tokens: 100 now"),
        ({"temperature": 1.0}, "temperature: 1.0 now"),
        ({"order": "shuffled"}, "order: shuffled now"),
    ],
)
def test_another_judge_is_not(changed: dict[str, object], words: str) -> None:
    """Each field of the pin makes another judge, and is named."""
    found = standing(certificate(), pin=replace(PIN, **changed))  # type: ignore[arg-type]  # as above
    assert any(words in one for one in found)


def test_a_case_that_changed_since_makes_it_expire() -> None:
    """And a case that was not there then, which nobody read the judge on."""
    words = "cases that are others than when it was calibrated"
    assert f"{words}: q/one" in standing(certificate(cases={"q/one": "2" * 64}))
    assert standing(certificate(), two="3" * 64) == (f"{words}: q/two",)


def test_a_label_that_changed_since_makes_it_expire() -> None:
    """People passed ten, then eleven: the pair of the eleventh is not what they say any more."""
    assert "people say otherwise now of 1 points" in standing(certificate(), said=labels(n_pass=11))[0]


def test_labels_cannot_be_picked() -> None:
    """A calibration that leaves out two settled points is not about what people said."""
    verdicts = dict(list(certificate().verdicts.items())[1:-1])
    found = standing(certificate(verdicts=verdicts))
    assert "people have settled 2 points since" in found[0]


def test_of_two_the_newer_counts() -> None:
    """An older calibration of the same judge does not make up for a newer one that it fails."""
    wrong = {point: (human, not human) for point, (human, _) in certificate().verdicts.items()}
    newer = certificate(at="2026-02-01T00:00:00Z", verdicts=wrong)
    assert standing(certificate(), newer) != ()
    assert standing(certificate(at="2026-03-01T00:00:00Z"), newer) == ()


def test_a_calibration_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Every field, none derived."""
    made = certificate(unanswered={(ANSWERS[0].id, "s"): "ungrounded"})
    name = write_certificate(tmp_path, made)
    assert name == f"evals/calibration/{PIN.id}.json"
    assert read_certificates(tmp_path) == (made,)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"calibration": 2}, "newer than 1"),
        ({"calibration": None}, "is no calibration"),
        ({"judge": {}}, "is damaged"),
        ({"pairs": [{"answer": "a", "criterion": "r", "human": 1, "judge": True}]}, "is no pair"),
        ({"pairs": [{"answer": "a", "criterion": "r", "human": True, "judge": True}] * 2}, "stands twice"),
        ({"cases": []}, "is damaged"),
    ],
)
def test_a_file_that_is_none_is_named(tmp_path: Path, changed: dict[str, object], words: str) -> None:
    """With its path; nothing is guessed."""
    path = tmp_path / write_certificate(tmp_path, certificate())
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | changed), encoding="utf-8")
    with pytest.raises(StoreError, match=f"evals/calibration/.*{words}"):
        read_certificates(tmp_path)


def test_wrong_pairs_moved_among_the_unanswered_certify_nothing() -> None:
    """Edited by hand: ten points are said to have no verdict, and nothing hides behind them."""
    verdicts = dict(list(certificate().verdicts.items())[:10] + list(certificate().verdicts.items())[15:])
    moved = {point: "whatever" for point in certificate().verdicts if point not in verdicts}
    found = standing(certificate(verdicts=verdicts, unanswered=moved))
    assert any("5 of 20 decided points have no verdict" in words for words in found)


@pytest.mark.parametrize(
    "changed",
    [
        {"at": 5},
        {"cases": {"q/one": None}},
        {"unanswered": [{"answer": "a", "criterion": "r", "why": 3}]},
        {"unanswered": [{"answer": ANSWERS[0].id, "criterion": "r", "why": "also a pair"}]},
        {"before": [{"at": "2026-01-01", "agreed": True, "n": 20}]},
    ],
)
def test_a_value_of_another_type_is_damage(tmp_path: Path, changed: dict[str, object]) -> None:
    """Nothing is read as text that is none, and no point is both decided and open."""
    path = tmp_path / write_certificate(tmp_path, certificate())
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | changed), encoding="utf-8")
    with pytest.raises(StoreError, match="is damaged"):
        read_certificates(tmp_path)
