"""Samples and a second judge as part of what a calibration is of, and of a run that goes on. Real HTTP, real SDK."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from skillassay.calibration.pin import JudgePin, differences, pin_from_json, pin_json
from tests.acceptance.live import LiveServer
from tests.acceptance.test_judge_gate import ASK, MODELS, gate, label, line
from tests.project import Cli, build_small, edit, run_folder


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LiveServer]:
    """The live models, with a key in the environment."""
    with LiveServer() as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        monkeypatch.setenv("GEMINI_API_KEY", "k")
        yield server


PIN = JudgePin(
    model="gemini:judge", answered=("j",), endpoint="http://x", address=None, prompt="p", max_output_tokens=9
)


def test_a_pin_from_before_has_one_sample_and_no_second_judge() -> None:
    """And its file has the name that it had."""
    assert set(pin_json(PIN)) == {
        *("model", "answered", "endpoint", "address", "prompt", "max_output_tokens", "temperature", "order")
    }
    assert pin_from_json(pin_json(PIN)) == PIN


def test_a_pin_tells_samples_and_second_judge() -> None:
    """Both come back as they were, and both make another judge."""
    other = JudgePin(**{**{name: getattr(PIN, name) for name in pin_json(PIN)}, "samples": 3, "second": "openai:x"})
    assert pin_from_json(pin_json(other)) == other
    assert differences(PIN, other) == (
        "samples: 3 now, calibrated as 1",
        "second: openai:x now, calibrated as none",
    )


def test_a_judge_that_is_asked_more_often_is_not_the_calibrated_one(cli: Cli, server: LiveServer) -> None:
    """The calibration of one sample expires for a run of three; one of three samples is of that run."""
    build_small(cli.root)
    cli("eval", *MODELS, "--judge-samples", "3")
    label(cli)
    assert cli(*ASK).code == 0
    found = line(gate(cli), "judge_calibrated")
    assert (found["status"], "samples: 3 now" in str(found["detail"])) == ("failed", True)
    edit(cli.root / "evals/contract.yaml", "contract: 1\n", "contract: 1\njudge: {samples: 3}\n")
    assert cli(*ASK).code == 0
    assert line(gate(cli), "judge_calibrated")["status"] == "passed"


def test_one_judge_is_not_asked_in_the_place_of_two(cli: Cli, server: LiveServer) -> None:
    """``calibrate --ask`` refuses a contract with a second judge, and names the way that is open."""
    build_small(cli.root)
    label(cli)
    edit(cli.root / "evals/contract.yaml", "contract: 1\n", "contract: 1\njudge: {second: 'gemini:second'}\n")
    refused = cli(*ASK)
    assert refused.code == 3
    assert "calibrate on the verdicts of a run" in refused.err


def test_a_run_goes_on_with_the_samples_that_it_began_with(cli: Cli, server: LiveServer) -> None:
    """Of a trial that was killed between samples there is no record: all of them are asked for again."""
    build_small(cli.root)
    cli("eval", *MODELS, "--judge-samples", "2", "--jobs", "1")
    folder = run_folder(cli.root)
    lines = (folder / "trials.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "trials.jsonl").write_bytes(b"".join(lines[:-1]) + lines[-1][:40])
    digest = json.loads((folder / "result.json").read_text())["content_digest"]
    (folder / "result.json").unlink()
    cli("eval", "--resume", folder.name)
    assert json.loads((folder / "result.json").read_text())["content_digest"] == digest
    again = json.loads((folder / "trials.jsonl").read_bytes().splitlines()[-1])
    assert [one["number"] for one in again["samples"]] == [1, 2]
