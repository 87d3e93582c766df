"""``eval --retry-unscored``: what is tried again, what never is, and what the record keeps of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.endtoend.faulty_server import (
    HANG,
    NOT_JSON,
    RESET,
    Asked,
    Fault,
    FaultyServer,
    healthy,
    refusal,
    said,
)
from tests.endtoend.held_server import result_of
from tests.project import Cli, Ran, build_small, edit, records, run_folder, small_case, small_rules

NAMES = ("a1", "a2", "a3")
N_TRIALS = 3 * len(NAMES)
OWN = ("trial_id", "attempt", "answer_attempt", "started_at", "duration_s")
"""What of a record is about the attempt, not about what was observed."""


def last_contents(root: Path) -> list[dict[str, Any]]:
    """The content of each trial's last record, but for what tells which attempt it was."""
    last: dict[str, dict[str, Any]] = {}
    for record in records(root):
        assert record["attempt"] == last.get(record["trial_id"], {"attempt": 0})["attempt"] + 1
        last[record["trial_id"]] = record
    for record in last.values():
        for key in OWN:
            del record[key]
        for side in ("candidate", "judge"):
            del record[side]["waited_s"]
    return sorted(last.values(), key=lambda one: (one["case_id"], one["mode"]))


class Project:
    """A small project on a faulty server, through the command line in this process."""

    def __init__(self, cli: Cli, server: FaultyServer) -> None:
        self.cli, self.server = cli, server
        self.root = cli.root

    def run(self, fault: Callable[[Asked], Fault | None], *arguments: str) -> Ran:
        """Evaluate while the server fails so."""
        self.server.fault = fault
        self.server.seen.clear()
        return self.cli("eval", "--model", "gemini:faulty", *arguments)

    def again(self, fault: Callable[[Asked], Fault | None] = healthy) -> Ran:
        """Try again what may be, on a healthy server unless told otherwise."""
        return self.run(fault, "--retry-unscored", run_folder(self.root).name)


@pytest.fixture
def project(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """Three cases, nine trials; a request may take half a second."""
    rules = [rule for name in NAMES for rule in small_rules(name)]
    build_small(cli.root, cases=[small_case(name) for name in NAMES], rules=rules, candidate={"timeout_s": 0.5})
    with (cli.root / "evals/contract.yaml").open("a", encoding="utf-8") as contract:
        contract.write("judge: {timeout_s: 0.5}\n")
    with FaultyServer(cli.root) as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        monkeypatch.setenv("GEMINI_API_KEY", "k-faulty")
        yield Project(cli, server)


def of_judge(fault: Fault) -> Callable[[Asked], Fault | None]:
    """A fault in what the judge is asked about the second case."""
    return lambda asked: fault if asked.is_judge and "Greet a2." in asked.text else None


def of_candidate(fault: Fault) -> Callable[[Asked], Fault | None]:
    """A fault in what the candidate is asked of the second case."""
    return lambda asked: fault if not asked.is_judge and "Greet a2." in asked.text else None


INVENTED = said(
    json.dumps(
        {"criteria": [{"id": "says-hello", "reasoning": "r", "evidence": "not in the answer", "verdict": "PASS"}]}
    )
)
JUDGE_FAULTS = {
    "provider": (refusal(400, "INVALID_ARGUMENT"), "provider_error"),
    "not json": (NOT_JSON, "provider_error"),
    "contract": (said("Here you are: PASS"), "contract_error"),
    "ungrounded": (INVENTED, "ungrounded"),
    "blocked": (said("", "SAFETY"), "blocked"),
    "truncated": (said("{", "MAX_TOKENS"), "truncated"),
    "timeout": (HANG, "timeout"),
}


@pytest.mark.parametrize("name", JUDGE_FAULTS)
def test_a_judge_that_failed_is_asked_again_about_the_same_answer(project: Project, name: str) -> None:
    """The answer that was observed stays, with its checks and what it cost: the candidate is not asked again."""
    fault, reason = JUDGE_FAULTS[name]
    ran = project.run(of_judge(fault))
    assert ran.code == 3
    again = f"skillassay --root {project.root} eval --retry-unscored {run_folder(project.root).name}"
    assert f"3 trials can be tried again: {again}\n" in ran.err
    before = {record["trial_id"]: record for record in records(project.root)}
    assert sorted(r["outcome"]["reason"] or "-" for r in before.values()) == sorted([*["-"] * 6, *[reason] * 3])
    ran = project.again()
    assert ran.code == 1  # the model gate wants a calibrated judge
    assert [asked.is_judge for asked in project.server.seen] == [True] * 3
    new = records(project.root)[N_TRIALS:]
    assert len(new) == 3
    for record in new:
        old = before[record["trial_id"]]
        assert (record["attempt"], record["answer_attempt"]) == (2, 1)
        assert record["outcome"]["status"] in {"PASS", "FAIL"}
        assert all(record[key] == old[key] for key in ("answer", "transcript", "candidate", "arm", "activated"))
        assert record["judge"]["n_calls"] == 1
    assert "tried again: mode progressive 1 of 3 trials (4 attempts)" in ran.out
    assert "can be tried again" not in ran.err
    assert "nothing to try again" in project.again().err


def test_a_retried_run_comes_to_what_an_undisturbed_one_does(project: Project) -> None:
    """Apart from the attempts' numbers: the same records, the same counts, the same exit code."""
    assert project.run(of_judge(refusal(400, "INVALID_ARGUMENT"))).code == 3
    assert project.again().code == 1
    retried, result = last_contents(project.root), result_of(project.root)
    run_folder(project.root).rename(project.root / "elsewhere")
    assert project.run(healthy).code == 1
    assert last_contents(project.root) == retried
    whole = result_of(project.root)
    assert (whole["counts"], whole["decision"]["status"]) == (result["counts"], result["decision"]["status"])
    modes = result["metrics"]["modes"]
    assert {mode: (one["attempts"], one["trials_tried_again"]) for mode, one in modes.items()} == {
        "progressive": (4, 1),
        "none": (4, 1),
        "eager": (4, 1),
    }
    assert whole["content_digest"] != result["content_digest"]  # attempts are part of what happened


@pytest.mark.parametrize("fault", [refusal(400, "INVALID_ARGUMENT"), NOT_JSON, HANG], ids=["request", "html", "hang"])
def test_a_candidate_that_was_not_reached_is_asked_again(project: Project, fault: Fault) -> None:
    """The whole trial, since nothing of it was observed; what is scored is left alone."""
    assert project.run(of_candidate(fault)).code == 3
    assert project.again().code == 1
    assert all("Greet a2." in asked.text for asked in project.server.seen)
    assert sum(asked.is_judge for asked in project.server.seen) == 3
    new = records(project.root)[N_TRIALS:]
    assert [(record["attempt"], record["answer_attempt"]) for record in new] == [(2, None)] * 3


NEVER = {
    "malformed": said("", "MALFORMED_FUNCTION_CALL"),
    "blocked": said("", "SAFETY"),
    "truncated": said("hello", "MAX_TOKENS"),
}


@pytest.mark.parametrize("name", NEVER)
def test_what_the_candidate_did_is_never_tried_again(project: Project, name: str) -> None:
    """A malformed call, an answer withheld for what it says, one cut at its limit: nothing is asked or written."""
    ran = project.run(of_candidate(NEVER[name]))
    assert ran.code == 3
    assert "can be tried again" not in ran.err
    before = (run_folder(project.root) / "trials.jsonl").read_bytes()
    assert project.again().code == 3
    assert project.server.seen == []
    assert (run_folder(project.root) / "trials.jsonl").read_bytes() == before


def test_every_attempt_is_kept_and_numbered(project: Project) -> None:
    """Two attempts that fail and a third one that does not: three records, the first answer, the last verdict."""
    fault = of_judge(refusal(400, "INVALID_ARGUMENT"))
    project.run(fault)
    first = (run_folder(project.root) / "trials.jsonl").read_bytes()
    assert project.again(fault).code == 3
    project.again()
    data = (run_folder(project.root) / "trials.jsonl").read_bytes()
    assert data.startswith(first)
    attempts = [(r["attempt"], r["answer_attempt"]) for r in records(project.root) if "a2" in r["case_id"]]
    assert sorted(attempts, key=str) == sorted([(1, None), (2, 1), (3, 1)] * 3, key=str)
    assert result_of(project.root)["metrics"]["modes"]["none"]["attempts"] == 5


def test_retries_and_attempts_are_counted_by_arm(project: Project) -> None:
    """HTTP retries of all attempts of both sides; an answer's own count once, though two records have it."""
    resets = iter([RESET])

    def fault(asked: Asked) -> Fault | None:
        if "Greet a2." not in asked.text:
            return None
        return refusal(400, "INVALID_ARGUMENT") if asked.is_judge else next(resets, None)

    project.run(fault, "--jobs", "1")
    project.again()
    modes = result_of(project.root)["metrics"]["modes"]
    assert {mode: one["retries"] for mode, one in modes.items()} == {"progressive": 1, "none": 0, "eager": 0}
    assert modes["progressive"]["waited_s"] >= 0.5
    assert modes["none"]["waited_s"] < 0.1


def test_a_stopped_run_is_made_whole_too(project: Project) -> None:
    """Trials without a record are run as their first attempt."""
    project.run(of_judge(NOT_JSON))
    path = run_folder(project.root) / "trials.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if b'"case_id": "a3"' not in line]
    path.write_bytes(b"".join(kept))
    assert project.again().code == 1
    assert len(last_contents(project.root)) == N_TRIALS


def test_a_judge_that_had_no_key_is_asked_when_it_has_one(
    cli: Cli, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run was begun on authored answers with a judge that could not be asked; nobody is asked but the judge."""
    monkeypatch.delenv("GEMINI_API_KEY")
    arguments = ("eval", "--model", "fixture", "--judge-model", "gemini:faulty")
    assert cli(*arguments).code == 3
    assert {record["outcome"]["reason"] for record in records(project.root)} == {"missing_required_capability"}
    assert project.server.seen == []
    monkeypatch.setenv("GEMINI_API_KEY", "k-faulty")
    assert cli(*arguments, "--retry-unscored", run_folder(project.root).name).code == 0
    assert [asked.is_judge for asked in project.server.seen] == [True] * N_TRIALS
    assert len(last_contents(project.root)) == N_TRIALS


@pytest.mark.parametrize("what", ["skill", "model"])
def test_another_experiment_is_refused(project: Project, what: str) -> None:
    """As for --resume: exit 3, saying what differs, and nothing is asked or written."""
    project.run(of_judge(NOT_JSON))
    name = run_folder(project.root).name
    before = (run_folder(project.root) / "trials.jsonl").read_bytes()
    project.server.seen.clear()
    if what == "skill":
        edit(project.root / "skills/greeter/SKILL.md", "twice", "thrice")
    other = "gemini:faulty" if what == "skill" else "gemini:other"
    ran = project.cli("eval", "--model", other, "--retry-unscored", name)
    assert ran.code == 3
    assert "cannot be resumed" in ran.err
    assert project.server.seen == []
    assert (run_folder(project.root) / "trials.jsonl").read_bytes() == before


def test_resume_and_retry_exclude_each_other(project: Project) -> None:
    """The second does what the first does: naming both is a mistake."""
    ran = project.cli("eval", "--resume", "x", "--retry-unscored", "x")
    assert ran.code == 2
    assert "leave --resume out" in ran.err


def test_a_wrong_key_is_asked_a_few_times_only(project: Project) -> None:
    """Three calls in a row, and whatever was under way: the rest is not sent, is no score, and goes on with the key."""
    ran = project.run(lambda _: refusal(401, "UNAUTHENTICATED"), "--jobs", "2")
    assert ran.code == 3
    assert 3 <= len(project.server.seen) <= 4
    outcomes = [record["outcome"] for record in records(project.root)]
    assert {(one["status"], one["reason"], one["kind"]) for one in outcomes} == {("UNSCORED", "provider_error", "auth")}
    unsent = [one["detail"] for one in outcomes if one["detail"].startswith("not sent: ")]
    assert len(unsent) == N_TRIALS - len(project.server.seen)
    assert all("--retry-unscored RUN" in detail for detail in unsent)
    unsent_attempts = [r["candidate"]["n_attempts"] for r in records(project.root)]
    assert sum(unsent_attempts) == len(project.server.seen)
    assert project.again().code == 1
    assert len(last_contents(project.root)) == N_TRIALS


def test_evidence_says_that_trials_were_tried_again(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A declared run on the contract's own model and endpoint: by mode in the evidence, in words where it is locked."""
    rules = [rule for name in NAMES for rule in small_rules(name)]
    build_small(cli.root, cases=[small_case(n) for n in NAMES], rules=rules)
    with FaultyServer(cli.root, of_judge(NOT_JSON)) as server:
        side = f"{{model: 'gemini:faulty', endpoint: '{server.base_url}'}}"
        path = cli.root / "evals/contract.yaml"
        text = path.read_text("utf-8").replace("requires: fixture", "requires: declared")
        path.write_text(f"{text}\ncandidate: {side}\njudge: {side}\n", "utf-8")
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        monkeypatch.setenv("GEMINI_API_KEY", "k-faulty")
        assert cli("eval").code == 3
        server.fault = healthy
        cli("eval", "--retry-unscored", run_folder(cli.root).name)
    ran = cli("lock")
    assert "attempts skills/greeter: 3 trials of its run were tried again" in ran.out
    evidence = json.loads((cli.root / "evals/evidence/skills/greeter.json").read_text("utf-8"))
    assert evidence["trial_attempts"] == {
        mode: {"trials": 3, "tried_again": 1, "attempts": 4} for mode in ("progressive", "none", "eager")
    }
    assert cli("lock", "--check").code == 0
