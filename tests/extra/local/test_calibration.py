"""A real small model as judge, compared with labels: it is refused, and every one of its words is accounted for.

The labels are the example's own, written together with their answers (origin authored). What the numbers are depends on
the machine; what they mean does not, and that is what is asserted. The model is asked through a server that hands each
request on and keeps what went by, so that the account is drawn up from the wire and not from what the command says.
"""

from __future__ import annotations

import json
import subprocess
import urllib.request
from collections import Counter
from dataclasses import dataclass
from typing import Any

import jsonschema
import pytest

from scripts.local_engine import Engine
from tests.extra.local.conftest import copy_example
from tests.extra.local.test_judge import stands_in
from tests.models.wire_server import Canned, Seen, WireServer
from tests.project import REPOSITORY, command, environment

LABELS = "evals/authored.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One question to the judge and what came back: the message, the schema asked for, the text, why it ended."""

    message: dict[str, Any]
    schema: dict[str, Any]
    text: str
    finish: str

    @property
    def entries(self) -> list[dict[str, Any]] | None:
        """The verdicts of a whole reply under its schema; None for what is none, by jsonschema."""
        if self.finish != "stop":
            return None
        try:
            value = json.loads(self.text)
            jsonschema.validate(value, self.schema)
        except (ValueError, jsonschema.ValidationError):
            return None
        found: list[dict[str, Any]] = value["criteria"]
        return found if len({entry["id"] for entry in found}) == len(found) else None

    @property
    def passes(self) -> list[dict[str, Any]]:
        """What it passed."""
        return [entry for entry in self.entries or [] if entry["verdict"] == "PASS"]


class Handing(WireServer):
    """Hands each request on to the engine and keeps the exchange."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(Canned())
        self._engine = engine
        self.exchanges: list[Exchange] = []

    def answer(self, seen: Seen) -> Canned:
        """The engine's own reply."""
        request = urllib.request.Request(
            f"{self._engine.address}{seen.path}", data=seen.body, headers={"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=120) as reply:
            body = reply.read()
        asked, choice = json.loads(seen.body), json.loads(body)["choices"][0]
        self.exchanges.append(
            Exchange(
                message=json.loads(asked["messages"][-1]["content"]),
                schema=asked["response_format"]["json_schema"]["schema"],
                text=choice["message"]["content"],
                finish=choice["finish_reason"],
            )
        )
        return Canned(body=body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """What `calibrate --ask --origin authored` came to, what went by, and the labels."""

    code: int
    said: dict[str, Any]
    err: str
    is_written: bool
    exchanges: list[Exchange]
    labels: list[dict[str, str]]


@pytest.fixture(scope="module")
def calibrated(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Calibrated:
    """The example's labels imported and the judge asked about each labelled answer, by the command line."""
    root = copy_example(tmp_path_factory.mktemp("calibrated") / "example")
    source = root / LABELS
    with Handing(engine) as server:
        for arguments in (
            ("label", "--by", "the example's author", "--from", str(source), "--origin", "authored"),
            ("calibrate", "--ask", "--origin", "authored", "--format", "json"),
        ):
            done = subprocess.run(
                command(root, *arguments),
                cwd=REPOSITORY,
                env=environment(OPENAI_BASE_URL=f"{server.base_url}/v1"),
                capture_output=True,
                encoding="utf-8",
            )
        exchanges = server.exchanges
    assert done.returncode in {0, 1}, done.stderr
    return Calibrated(
        code=done.returncode,
        said=json.loads(done.stdout),
        err=done.stderr,
        is_written=(root / "evals" / "calibration").exists(),
        exchanges=exchanges,
        labels=[json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()],
    )


def n_labels(calibrated: Calibrated, exchanges: list[Exchange]) -> int:
    """How many labels there are on the answers of these exchanges."""
    answers = Counter(label["answer"] for label in calibrated.labels)
    return sum(answers[exchange.message["answer"]] for exchange in exchanges)


def taken_at_its_word(calibrated: Calibrated) -> Counter[tuple[str, str]]:
    """Label and verdict of each point in a whole reply, before any quotation is looked up."""
    labels = {(label["answer"], label["criterion"]): label["verdict"] for label in calibrated.labels}
    return Counter(
        (labels[exchange.message["answer"], entry["id"]], entry["verdict"])
        for exchange in calibrated.exchanges
        for entry in exchange.entries or []
    )


def test_the_labels_are_of_both_kinds() -> None:
    """The set could certify a judge by its size: 20 labels, at least 5 of each verdict, on at least 10 answers."""
    lines = (REPOSITORY / "examples" / "local" / LABELS).read_text(encoding="utf-8").splitlines()
    labels = [json.loads(line) for line in lines]
    verdicts = Counter(label["verdict"] for label in labels)
    assert len(labels) >= 20
    assert min(verdicts["pass"], verdicts["fail"]) >= 5
    assert len({label["answer"] for label in labels}) >= 10


def test_the_judge_is_asked_once_about_each_answer(calibrated: Calibrated) -> None:
    """Every labelled answer stands in exactly one request, word for word."""
    asked = Counter(exchange.message["answer"] for exchange in calibrated.exchanges)
    assert asked == Counter({label["answer"] for label in calibrated.labels})


def test_a_small_model_certifies_nothing(calibrated: Calibrated, capsys: pytest.CaptureFixture[str]) -> None:
    """Not calibrated: exit 1, nothing is written, and more stands against it than where the labels come from."""
    said = calibrated.said
    with capsys.disabled():
        shown = ("agreement", "kappa", "sensitivity", "specificity", "unanswered")
        print(f"\nsmollm2-135m as judge: {json.dumps({name: said[name] for name in shown})}")
        print(f"taken at its word (label, verdict): {dict(taken_at_its_word(calibrated))}")
    assert (calibrated.code, said["calibrated"], calibrated.is_written) == (1, False, False)
    assert "not written" in calibrated.err
    assert said["why_not"][0] == "authored labels show a tool at work and certify no judge"
    assert len(said["why_not"]) > 1


def test_every_label_is_accounted_for(calibrated: Calibrated) -> None:
    """A verdict to compare, or a reason why there is none: together they are the labels."""
    counts, said = calibrated.said["counts"], calibrated.said
    n = sum(counts.values())
    assert n + sum(said["unanswered"].values()) == len(calibrated.labels)
    assert (said["agreement"]["k"], said["agreement"]["n"]) == (counts["both_pass"] + counts["both_fail"], n)
    people_pass = counts["both_pass"] + counts["human_alone"]
    assert (said["sensitivity"]["k"], said["sensitivity"]["n"]) == (counts["both_pass"], people_pass)
    assert (said["specificity"]["k"], said["specificity"]["n"]) == (counts["both_fail"], n - people_pass)
    if n:
        judge_pass = counts["both_pass"] + counts["judge_alone"]
        chance = people_pass * judge_pass + (n - people_pass) * (n - judge_pass)
        agreed = n * said["agreement"]["k"]
        assert said["kappa"] == (None if n * n == chance else round((agreed - chance) / (n * n - chance), 6))
    else:
        assert said["kappa"] is None


def test_every_word_of_the_judge_is_accounted_for(calibrated: Calibrated) -> None:
    """Of what went over the wire each PASS is kept or ungrounded, each FAIL kept, the rest named."""
    counts, unanswered = calibrated.said["counts"], Counter(calibrated.said["unanswered"])
    whole = [exchange for exchange in calibrated.exchanges if exchange.entries is not None]
    cut = [exchange for exchange in calibrated.exchanges if exchange.finish == "length"]
    broken = [one for one in calibrated.exchanges if one not in whole and one not in cut]
    n_passes = sum(len(exchange.passes) for exchange in whole)
    assert counts["both_pass"] + counts["judge_alone"] + unanswered["ungrounded"] == n_passes
    assert counts["both_fail"] + counts["human_alone"] == n_labels(calibrated, whole) - n_passes
    assert unanswered["truncated"] == n_labels(calibrated, cut)
    assert unanswered["contract_error"] == n_labels(calibrated, broken)
    assert set(unanswered) <= {"ungrounded", "truncated", "contract_error"}


def test_every_pass_that_counts_is_quoted(calibrated: Calibrated) -> None:
    """No more is kept than quotes words which stand in the answer, by an oracle of its own."""
    counts = calibrated.said["counts"]
    quoted = [
        stands_in(entry["evidence"], exchange.message["answer"])
        for exchange in calibrated.exchanges
        for entry in exchange.passes
    ]
    assert counts["both_pass"] + counts["judge_alone"] <= sum(quoted)
    assert calibrated.said["unanswered"].get("ungrounded", 0) >= quoted.count(False)
