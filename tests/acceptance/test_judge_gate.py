"""The judge through the model gate: compared with people, shown the references, or neither. Real HTTP, real SDK."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.live import LiveServer
from tests.project import HELLO, REPOSITORY, Cli, Ran, build_small, command, edit, environment, run_folder, small_case

MODELS = ("--model", "gemini:candidate", "--judge-model", "gemini:judge")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LiveServer]:
    """The live models, with a key in the environment."""
    with LiveServer() as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        monkeypatch.setenv("GEMINI_API_KEY", "k")
        yield server


def line(ran: Ran, name: str) -> dict[str, Any]:
    """One line of a decision."""
    (found,) = [one for one in ran.json["lines"] if one["name"] == name]
    return dict(found)


def gate(cli: Cli) -> Ran:
    """The decision now."""
    return cli("gate", "--format", "json")


FURTHER = [{"id": f"r{i}", "text": f"It says number {i}."} for i in range(1, 10)]


GREETINGS = tuple((case, "says-hello") for case in ("one", "two", "three"))


def label(cli: Cli, *, n: int = 12, wrong: int = 0, about: Sequence[tuple[str, str]] = GREETINGS) -> None:
    """Labels of a person on ``n`` greetings and ``n`` answers without one; ``wrong`` greetings are failed.

    They go round the criteria that they are ``about``.
    """
    lines = [
        {"suite": "quality", "case": case, "answer": f"{text} {i}", "criterion": criterion, "verdict": verdict}
        for i in range(n)
        for case, criterion in [about[i % len(about)]]
        for text, verdict in (("hello", "fail" if i < wrong else "pass"), ("good day", "fail"))
    ]
    path = cli.root / "made.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    assert cli("label", "--by", "Aiko Mori", "--from", str(path), "--origin", "human").code == 0


ASK = ("calibrate", "--ask", "--judge-model", "gemini:judge")


def test_an_uncalibrated_judge_fails_the_model_gate(cli: Cli, server: LiveServer) -> None:
    """Everything measured passes; the judge has not been compared with people and nobody read its verdicts; exit 1."""
    build_small(cli.root)
    assert cli("eval", *MODELS).code == 1
    failed = [one["name"] for one in gate(cli).json["lines"] if one["status"] == "failed"]
    assert failed == ["judge_calibrated", "verdicts_read", "approved"]


def test_a_calibrated_judge_passes_its_line(cli: Cli, server: LiveServer) -> None:
    """24 labels, agreed on all: the stored run is decided anew, with the counts."""
    build_small(cli.root)
    cli("eval", *MODELS)
    label(cli)
    assert cli(*ASK).code == 0
    found = line(gate(cli), "judge_calibrated")
    assert found["status"] == "passed"
    assert found["counts"] == {"both_pass": 12, "human_alone": 0, "judge_alone": 0, "both_fail": 12}


def test_a_judge_that_people_contradict_stays_uncalibrated(cli: Cli, server: LiveServer) -> None:
    """Agreement on 19 of 24 is below 0.85, and the line says so with its counts."""
    build_small(cli.root)
    cli("eval", *MODELS)
    label(cli, wrong=5)
    assert cli(*ASK).code == 1
    found = line(gate(cli), "judge_calibrated")
    assert found["status"] == "failed"
    assert any("agrees on 19 of 24 (0.792 < 0.85)" in words for words in found["detail"])


def test_a_judge_that_answers_under_another_name_is_another_judge(cli: Cli, server: LiveServer) -> None:
    """The provider served another model under the same name: its verdicts are not the calibrated ones."""
    build_small(cli.root)
    label(cli)
    cli(*ASK)
    server.judge_name = "judge-2026-02"
    cli("eval", *MODELS)
    found = line(gate(cli), "judge_calibrated")
    assert found["status"] == "failed"
    assert "answered as judge-2026-02, calibrated as judge-2026-01" in found["detail"]


def test_a_new_label_makes_the_calibration_expire(cli: Cli, server: LiveServer) -> None:
    """Until the judge has been asked about it too."""
    build_small(cli.root)
    cli("eval", *MODELS)
    label(cli)
    cli(*ASK)
    label(cli, n=13)
    assert line(gate(cli), "judge_calibrated")["status"] == "failed"
    cli(*ASK)
    assert line(gate(cli), "judge_calibrated")["status"] == "passed"


def test_a_judge_without_a_key_warns_and_decides_nothing(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit 3, never 0 and never 1: nothing was judged, so nothing failed."""
    build_small(cli.root)
    ran = cli("eval", "--judge-model", "gemini:judge")
    assert ran.code == 3
    assert "the judge cannot be asked" in ran.err


def behaving(references: dict[str, Any]) -> list[dict[str, Any]]:
    """Three cases, one of behaviour with references."""
    behavior = {"action": "refuse", "refused": True, "required": "Says hello.", "forbidden": "Says no hello."}
    case = {"id": "three", "skill": "greeter", "query": "Greet three.", "behavior": behavior, "references": references}
    return [small_case("one"), small_case("two"), case]


def reference(text: str, **more: str) -> dict[str, Any]:
    """An authored answer that keeps action and flag."""
    return {"action": "refuse", "response": text, "refused": True, **more}


REFERENCES = {
    "positive": [reference("hello, no"), reference("hello again, no")],
    "negative": [reference("good day", violates="no hello"), reference("good evening", violates="no hello")],
    "provenance": "written for the tests",
}


def test_a_judge_that_reads_the_references_rightly_passes(cli: Cli, server: LiveServer) -> None:
    """Two right answers and two counter-examples, each shown before the first trial."""
    build_small(cli.root, cases=behaving(REFERENCES))
    cli("eval", *MODELS)
    found = line(gate(cli), "references_judged")
    assert (found["status"], found["counts"]) == ("passed", {"right": 4, "wrong": 0, "open": 0, "planned": 4})


@pytest.mark.parametrize(
    ("reads", "wrong"),
    [(True, "three, negative 1: a counter-example passed"), (False, "three, positive 1: a right answer failed")],
    ids=["passes everything", "fails everything"],
)
def test_a_judge_that_does_not_read_is_a_calibration_failure(
    cli: Cli, server: LiveServer, reads: bool, wrong: str
) -> None:
    """Two of four wrong: the gate fails, whatever the trials came to."""
    server.reads = lambda *_: reads
    build_small(cli.root, cases=behaving(REFERENCES))
    assert cli("eval", *MODELS).code == 1
    found = line(gate(cli), "references_judged")
    assert found["status"] == "failed"
    assert found["counts"] == {"right": 2, "wrong": 2, "open": 0, "planned": 4}
    assert any(words.startswith(f"calibration_failure: {wrong}") for words in found["detail"])


def test_a_judge_that_is_down_leaves_the_references_open_and_is_asked_again(cli: Cli, server: LiveServer) -> None:
    """An error is no wrong verdict. Tried again, the same run passes the line."""
    build_small(cli.root, cases=behaving(REFERENCES))
    server.is_down = True
    assert cli("eval", *MODELS).code == 3
    assert line(gate(cli), "references_judged")["counts"] == {"right": 0, "wrong": 0, "open": 4, "planned": 4}
    server.is_down = False
    cli("eval", *MODELS, "--retry-unscored", run_folder(cli.root).name)
    assert line(gate(cli), "references_judged")["status"] == "passed"


def test_no_word_of_a_reference_enters_the_run(cli: Cli, server: LiveServer) -> None:
    """Places and fixed words alone."""
    build_small(cli.root, cases=behaving(REFERENCES))
    cli("eval", *MODELS)
    lines = (run_folder(cli.root) / "references.jsonl").read_text("utf-8").splitlines()
    assert len(lines) == 4
    assert not any("good evening" in one or "hello again" in one for one in lines)


def test_the_targets_of_the_contract_hold_for_the_stored_run(cli: Cli, server: LiveServer, tmp_path: Path) -> None:
    """Raised to 30 labels, 24 are too few."""
    build_small(cli.root, judge_={"model": "gemini:judge", "calibration": {"min_labels": 30}})
    edit(cli.root / "evals" / "contract.yaml", "judge_:", "judge:")
    cli("eval", *MODELS)
    label(cli)
    assert cli(*ASK).code == 1
    found = line(gate(cli), "judge_calibrated")
    assert "24 labels with a verdict of the judge, 30 are needed" in found["detail"]


def test_what_a_mild_judge_passes_is_corrected(cli: Cli, server: LiveServer) -> None:
    """Sensitivity 1, specificity 8/10: of three criteria all pass, so the estimate is (1 + 0.8 - 1) / 0.8 = 1."""
    build_small(cli.root)
    cli("eval", *MODELS)
    server.reads = lambda answer, _: "hello" in answer or answer[-1] in "01"  # passes two of ten without a hello
    label(cli, n=10)
    assert cli(*ASK).code == 0
    found = line(gate(cli), "corrected_rate")
    assert found["status"] == "passed"
    assert found["counts"] == {"passed": 3, "judged": 3}
    assert "corrected 1.000 [" in found["number"]


def test_a_corrected_share_below_the_limit_fails(cli: Cli, server: LiveServer) -> None:
    """The judge passes nine of ten criteria with a specificity of 8/10: (0.9 + 0.8 - 1) / 0.8 is 0.875 < 0.88, though
    each case reaches the limit of its own by checks and the rest of its rubric.
    """
    cases = [small_case(f"c{i}", rubric=[HELLO, *FURTHER]) for i in range(3)]
    build_small(cli.root, cases=cases, gate={"quality_min": 0.88})
    server.reads = lambda _, statement: "number 9" not in statement
    cli("eval", *MODELS)
    server.reads = lambda answer, _: "hello" in answer or answer[-1] in "01"
    label(cli, n=10, about=[(f"c{i % 3}", f"r{i}") for i in range(1, 10)] + [("c0", "says-hello")])
    assert cli(*ASK).code == 0
    found = line(gate(cli), "corrected_rate")
    assert found["counts"] == {"passed": 27, "judged": 30}
    assert found["status"] == "failed"
    assert "corrected 0.875 [" in found["number"]


def test_ctrl_c_among_the_references_ends_soon_and_the_run_goes_on(cli: Cli, server: LiveServer) -> None:
    """What waits for its turn is not asked any more; on --resume the judge reads the rest, and each reference once."""
    build_small(cli.root, cases=behaving(REFERENCES))
    server.delay_s = 0.5
    argv = command(cli.root, "eval", *MODELS, "--jobs", "1")
    settings = {"GOOGLE_GEMINI_BASE_URL": server.base_url, "GEMINI_API_KEY": "k"}
    with subprocess.Popen(argv, cwd=REPOSITORY, env=environment(**settings), stderr=subprocess.PIPE) as session:
        end = time.monotonic() + 30
        while len(server.seen) < 2:
            assert time.monotonic() < end
            time.sleep(0.01)
        session.send_signal(signal.SIGINT)
        assert session.wait(10) == 130
    n_asked = len(server.seen)
    assert n_asked < 4
    server.delay_s = 0.0
    cli("eval", *MODELS, "--resume", run_folder(cli.root).name)
    assert line(gate(cli), "references_judged")["counts"]["right"] == 4


def test_a_run_without_the_labelled_answers_leaves_a_calibration_as_it_is(cli: Cli, server: LiveServer) -> None:
    """Nothing to compare: exit 3, and the certificate made by asking still stands."""
    build_small(cli.root)
    cli("eval", *MODELS)
    label(cli)
    cli(*ASK)
    ran = cli("calibrate")
    assert ran.code == 3
    assert "has none of the labelled answers" in ran.err
    assert line(gate(cli), "judge_calibrated")["status"] == "passed"
