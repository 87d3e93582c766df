"""Who judged, by every name that was told: no name stands for a reply of another model. Real HTTP, real SDK."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.acceptance.renamed import MODELS, SECOND, TERMS, RenamedServer, judge_terms, label_run, records
from tests.acceptance.test_judge_gate import ASK, gate, label, line
from tests.project import Cli, build_small, edit, run_folder, small_case


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[RenamedServer]:
    """The live models, with a key in the environment."""
    with RenamedServer() as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        monkeypatch.setenv("GEMINI_API_KEY", "k")
        yield server


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("judge-a", "judge-b"), "answered as judge-a, calibrated as judge-b"),
        ((None, "judge-b"), "answered as (no name), calibrated as judge-b"),
        (("judge-b", None), "answered as (no name), calibrated as judge-b"),
    ],
)
def test_a_judge_that_is_partly_another_model_is_not_the_calibrated_one(
    cli: Cli, server: RenamedServer, names: tuple[str | None, ...], said: str
) -> None:
    """Each trial's first sample and its second are told under other names; the calibrated one is only one of them."""
    build_small(cli.root)
    judge_terms(cli, samples=2)
    server.names["judge"] = ("judge-b",)
    label(cli)
    assert cli(*ASK).code == 0
    cli("eval", *MODELS)
    assert line(gate(cli), "judge_calibrated")["status"] == "passed"
    server.names["judge"], server.asked["judge"] = names, 0
    cli("eval", *MODELS)
    found = line(gate(cli), "judge_calibrated")
    assert (found["status"], said in found["detail"]) == ("failed", True)
    assert {tuple(one["judge"]["models"]) for one in records(cli)} == {names}


def test_names_that_are_one_are_kept_as_they_were(cli: Cli, server: RenamedServer) -> None:
    """Of a run of one name no list of names is kept, and its content is what it was before there was one."""
    build_small(cli.root)
    cli("eval", *MODELS, "--judge-samples", "2")
    assert {(one["judge"]["model"], *one["judge"]["models"]) for one in records(cli)} == {("judge-a",)}
    folder = run_folder(cli.root)
    kept = [json.loads(one) for one in (folder / "trials.jsonl").read_text("utf-8").splitlines()]
    for one in kept:
        del one["judge"]["models"], one["candidate"]["models"]
    (folder / "trials.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in kept), encoding="utf-8")
    shown = cli("report", "--format", "json")
    assert shown.json["content_digest"] == json.loads((folder / "result.json").read_text("utf-8"))["content_digest"]


def test_a_calibration_by_two_models_is_of_both(cli: Cli, server: RenamedServer) -> None:
    """The judge that was asked for it answered in part without a name: its file says so."""
    build_small(cli.root)
    judge_terms(cli, samples=2)
    server.names["judge"] = (None, "judge-b")
    label(cli)
    assert cli(*ASK).code == 0
    (made,) = (cli.root / "evals/calibration").iterdir()
    assert json.loads(made.read_text("utf-8"))["judge"]["answered"] == ["(no name)", "judge-b"]


def test_two_runs_of_which_one_was_partly_another_model_do_not_compare(cli: Cli, server: RenamedServer) -> None:
    """Both names are named; so it is for the baseline, which cannot be one for it."""
    build_small(cli.root)
    cli("eval", *MODELS, "--judge-samples", "2")
    first = run_folder(cli.root).name
    server.names["judge"], server.asked["judge"] = ("judge-b", "judge-a"), 0
    cli("eval", *MODELS, "--judge-samples", "2")
    found = line(gate(cli), "no_regression")
    assert (found["status"], "judge-a, judge-b" in str(found)) == ("undecided", True)
    newest = max(path.name for path in (cli.root / ".skillassay/runs").iterdir())
    refused = cli("compare", first, newest)
    assert refused.code == 3
    assert "the judge's name as answered: judge-a and judge-a, judge-b" in " ".join(refused.out.split())


@pytest.mark.parametrize(
    ("names", "why"),
    [
        (("other", "judge-001"), "its judge judge answered as other"),
        ((None, "judge-001"), "its judge judge answered under no name in some of its replies"),
        (("judge-002", "judge-001"), None),  # two revisions of the model that was asked for
    ],
)
def test_evidence_knows_every_name(
    cli: Cli, server: RenamedServer, names: tuple[str | None, ...], why: str | None
) -> None:
    """A reply of another model, or of one without a name among named ones, is no proof; two revisions are both told."""
    build_small(cli.root)
    judge_terms(cli, samples=2, model="gemini:judge", endpoint=server.base_url)
    candidate = f"candidate: {{model: 'gemini:candidate', endpoint: '{server.base_url}'}}\n"
    edit(cli.root / "evals/contract.yaml", "contract: 1\n", f"contract: 1\n{candidate}")
    server.names["judge"] = names
    cli("eval", *MODELS)
    result = json.loads((run_folder(cli.root) / "result.json").read_text("utf-8"))
    if why is None:
        assert result["evidence"]["skills/greeter"]["models"]["judge"]["answered"] == ["judge-001", "judge-002"]
    assert result["no_evidence"].get("skills/greeter") == why


def test_under_hash_each_name_is_kept_as_one_was(cli: Cli, server: RenamedServer) -> None:
    """A revision of the model that was asked for stays, another name is told as such, and no name stays none."""
    build_small(cli.root, retention="hash")
    server.names["judge"] = ("judge-001", "Dear reader", None)
    cli("eval", *MODELS, "--judge-samples", "3")
    assert {tuple(one["judge"]["models"]) for one in records(cli)} == {("judge-001", "another model's name", None)}
    assert "Dear reader" not in (run_folder(cli.root) / "trials.jsonl").read_text("utf-8")


def calibrate_with_second(cli: Cli) -> None:
    """A run of eight cases in three modes with both judges, labelled and calibrated."""
    build_small(cli.root, cases=[small_case(f"c{i}") for i in range(8)])
    judge_terms(cli, **TERMS)
    cli("eval", *MODELS, *SECOND)
    label_run(cli)
    assert cli("calibrate").code == 0, cli("calibrate").out
    assert line(gate(cli), "judge_calibrated")["status"] == "passed"


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("another",), "the second judge answered as another, calibrated as second-a"),
        (("second-a", "another"), "the second judge answered as another, calibrated as second-a"),
        (("second-a", None), "the second judge answered as (no name), calibrated as second-a"),
        ((None,), "the second judge answered under no name, calibrated as second-a"),
    ],
)
def test_another_second_judge_under_the_same_request_is_another_judge(
    cli: Cli, server: RenamedServer, names: tuple[str | None, ...], said: str
) -> None:
    """The provider served another model for the second judge, wholly or in part: the calibration is not of it."""
    calibrate_with_second(cli)
    server.names["second"] = names
    cli("eval", *MODELS, *SECOND)
    found = line(gate(cli), "judge_calibrated")
    assert (found["status"], said in found["detail"]) == ("failed", True)


def test_a_calibration_from_before_the_second_judges_name_was_kept_certifies_no_named_one(
    cli: Cli, server: RenamedServer
) -> None:
    """Nobody knows which model it was then."""
    calibrate_with_second(cli)
    (made,) = (cli.root / "evals/calibration").iterdir()
    edit(made, ',\n    "second_answered": [\n      "second-a"\n    ]', "")
    found = line(gate(cli), "judge_calibrated")
    assert found["status"] == "failed"
    assert "the second judge answered as second-a, calibrated as no name at all" in found["detail"]
