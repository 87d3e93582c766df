"""TST-C07-03 and what goes with it, through the command line: a holdout that nobody sees and nobody tunes on."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.acceptance.every_byte import found_everywhere, mark
from tests.acceptance.hidden import KEY, MARKS, QUERY, Hidden, hidden_case
from tests.project import edit, write_json

LABELS = "evals/labels.jsonl"


@pytest.fixture
def locked(hidden: Hidden) -> Hidden:
    """The same, evaluated and locked."""
    ran = hidden.cli("eval")
    assert ran.code == 0, ran.out + ran.err
    assert hidden.cli("lock").code == 0
    assert hidden.cli("lock", "--check").code == 0
    return hidden


def leak(hidden: Hidden) -> None:
    """Put the hidden query into a label, as somebody would who pastes what was judged."""
    (hidden.root / LABELS).write_text(json.dumps({"id": "l1", "query": QUERY}) + "\n", encoding="utf-8")


def test_tst_c07_03_an_exposed_holdout_is_detected_and_its_result_is_void(locked: Hidden) -> None:
    """A hidden query in a label: found with file and case id and without its words, by `holdout check`, `check`,
    `lock --check` and `eval`; the run fails its own line, and the evidence that used the holdout counts no more.
    """
    assert locked.cli("holdout", "check").code == 0
    leak(locked)
    told = [locked.cli("holdout", "check"), locked.cli("check"), locked.cli("lock", "--check")]
    assert [ran.code for ran in told] == [1, 1, 1]
    assert f"{LABELS}: error holdout.exposed: case h-ferry: query" in told[0].out
    assert "holdout.exposed" in told[1].out
    assert "lock.evidence-voided" in told[2].out
    assert not any(mark("query") in ran.out + ran.err or "night ferry" in ran.out for ran in told)
    ran, lines = locked.decided("eval")
    assert (ran.code, lines["no_leakage"]["status"]) == (1, "failed")
    assert lines["no_leakage"]["detail"] == [f"case h-ferry: query in {LABELS}"]
    assert {record["outcome"]["reason"] for record in locked.records(locked.runs()[-1])} == {"voided"}
    assert {record["candidate"]["n_calls"] for record in locked.records(locked.runs()[-1])} == {0}
    refused = locked.cli("lock", "--refresh")
    assert (refused.code, "written" in refused.out) == (1, False)


def test_tst_c07_03_tuning_on_the_holdout_voids_what_rested_on_it(locked: Hidden) -> None:
    """A run for tuning that planned hidden cases: its own gate fails, an earlier release run that passed fails when it
    is decided again, and the committed evidence counts no more.
    """
    release = locked.runs()[-1]
    assert locked.cli("gate", release).code == 0
    ran, lines = locked.decided("eval", "--purpose", "tuning", "--holdout")
    assert (ran.code, lines["no_leakage"]["detail"]) == (1, ["this run is for tuning"])
    tuning = locked.runs()[-1]
    again, lines = locked.decided("gate", release)
    assert (again.code, lines["no_leakage"]["detail"]) == (1, [f"run {tuning} used it for tuning"])
    checked = locked.cli("holdout", "check")
    assert (checked.code, "holdout.used-for-tuning" in checked.out) == (1, True)
    drifted = locked.cli("lock", "--check")
    assert (drifted.code, "lock.evidence-voided" in drifted.out) == (1, True)


def test_tst_c07_03_a_voided_holdout_stays_void_and_another_version_takes_its_place(locked: Hidden) -> None:
    """`holdout void` marks the committed file and the evidence: both stay void where no run for tuning is left, the
    version is never sealed again, and other cases under a new version lead back to a lock.
    """
    release = locked.runs()[-1]
    assert locked.cli("holdout", "void", "--reason", "sent to a vendor").code == 0
    (evidence,) = (locked.root / "evals/evidence").rglob("*.json")
    assert json.loads(evidence.read_text("utf-8"))["voided"] == "holdout hidden 1.0.0: sent to a vendor"
    assert locked.sealed()["voided"] == {"1.0.0": "sent to a vendor"}
    ran, lines = locked.decided("gate", release)
    assert (ran.code, lines["no_leakage"]["detail"]) == (1, ["version 1.0.0 was voided: sent to a vendor"])
    assert locked.cli("lock", "--check").code == 1
    assert locked.cli("eval").code == 1
    assert locked.cli("holdout", "seal").code == 3
    other = QUERY.replace("harbour festival", "winter market").replace("night ferry", "last train")
    locked.write(hidden_case("h-train", query=other), version="2.0.0")
    assert locked.cli("holdout", "seal").code == 0
    assert locked.sealed()["voided"] == {"1.0.0": "sent to a vendor"}
    assert locked.cli("eval").code == 0
    assert locked.cli("lock").code == 0
    assert locked.cli("lock", "--check").code == 0
    assert locked.cli("gate", release).code == 1


def test_a_machine_without_the_holdout_still_verifies_the_lock(locked: Hidden, monkeypatch: pytest.MonkeyPatch) -> None:
    """CI needs neither suite nor key: the committed file says which holdout the evidence must have used."""
    monkeypatch.delenv("SKILLASSAY_HOLDOUT")
    monkeypatch.delenv("SKILLASSAY_HOLDOUT_KEY")
    assert locked.cli("lock", "--check").code == 0
    checked = locked.cli("check", "--notes")
    assert (checked.code, "note holdout.unreachable" in checked.out) == (0, True)


def test_a_run_for_tuning_leaves_the_holdout_out_unless_told(locked: Hidden) -> None:
    """Nobody uses up a holdout by forgetting an option: nothing hidden is planned, and the run is no evidence."""
    ran = locked.cli("eval", "--purpose", "tuning", "--format", "json")
    assert ran.code == 3
    assert "hidden" not in {trial["suite"] for trial in ran.json["trials"]}
    assert locked.cli("holdout", "check").code == 0
    folder = locked.root / ".skillassay/runs" / locked.runs()[-1]
    assert json.loads((folder / "result.json").read_text("utf-8"))["evidence"] == {}


def test_a_run_without_the_holdout_is_no_evidence_for_its_skill(hidden: Hidden) -> None:
    """`--no-holdout` plans a part of the skill's cases: such a run stays open, and proves nothing for it."""
    assert hidden.cli("eval", "--no-holdout").code == 3
    assert hidden.cli("lock").code == 1


def test_a_missing_holdout_is_planned_and_never_a_pass(hidden: Hidden, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the suite its trials stand in every denominator, unscored; exit 3. With it they are tried again."""
    monkeypatch.delenv("SKILLASSAY_HOLDOUT")
    ran = hidden.cli("eval", "--format", "json")
    assert ran.code == 3
    own = [trial for trial in ran.json["trials"] if trial["suite"] == "hidden"]
    assert [(trial["reason"], trial["n"], trial["model_calls"]) for trial in own] == [
        ("missing_required_capability", 2, 0)
    ] * 3
    assert own[0]["detail"] == "SKILLASSAY_HOLDOUT is not set"
    assert hidden.cli("holdout", "check").code == 3
    assert hidden.cli("check").code == 1  # nothing is locked yet; the holdout itself is a note
    monkeypatch.setenv("SKILLASSAY_HOLDOUT", str(hidden.suite))
    again = hidden.cli("eval", "--retry-unscored", hidden.runs()[0], "--format", "json")
    assert {trial["status"] for trial in again.json["trials"] if trial["suite"] == "hidden"} <= {"PASS", "FAIL"}


def test_a_missing_key_is_a_missing_holdout(hidden: Hidden, monkeypatch: pytest.MonkeyPatch) -> None:
    """The suite alone proves nothing: without a key it cannot be held against the digests."""
    monkeypatch.delenv("SKILLASSAY_HOLDOUT_KEY")
    ran = hidden.cli("eval", "--format", "json")
    details = {trial["detail"] for trial in ran.json["trials"] if trial["suite"] == "hidden"}
    assert (ran.code, details) == (3, {"SKILLASSAY_HOLDOUT_KEY is not set, and no key file lies beside the suite"})


def test_a_key_file_beside_the_suite_serves_as_well(hidden: Hidden, monkeypatch: pytest.MonkeyPatch) -> None:
    """`<file>.key` is read where the environment has no key."""
    monkeypatch.delenv("SKILLASSAY_HOLDOUT_KEY")
    hidden.suite.with_name("holdout.json.key").write_text(f"{KEY}\n", encoding="utf-8")
    assert hidden.cli("eval").code == 0


def test_another_suite_than_the_sealed_one_is_refused_by_its_ids(hidden: Hidden) -> None:
    """Digests that do not match: exit 3 before any model is called, with the ids and without the words."""
    hidden.write(hidden_case("h-ferry", query=f"{QUERY}, please"))
    ran = hidden.cli("eval")
    assert ran.code == 3
    assert (
        "error: $SKILLASSAY_HOLDOUT is not the suite that evals/holdout.json seals: cases that differ: h-ferry"
        in ran.err
    )
    assert mark("query") not in ran.out + ran.err
    assert not (hidden.root / ".skillassay").exists()


def test_another_key_is_told_apart_from_other_cases(hidden: Hidden, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under another key every digest differs; the message says that it is the key."""
    monkeypatch.setenv("SKILLASSAY_HOLDOUT_KEY", "1e" * 32)
    ran = hidden.cli("eval")
    assert (ran.code, "the key is not the one" in ran.err, "1e1e" in ran.err) == (3, True, False)


@pytest.mark.parametrize(
    ("case", "version", "words"),
    [
        (hidden_case("h-ferry", query="Greet them."), "1.0.0", "changed or gone: h-ferry"),
        (hidden_case("h-ferry"), "0.9.0", "went back from 1.0.0 to 0.9.0"),
        (hidden_case("h-ferry", skill="nobody"), "1.1.0", "cannot be used"),
        (hidden_case("h-ferry", part="challenge"), "1.1.0", "cannot be used"),
        (hidden_case("one"), "1.1.0", "also in the repository: ids one"),
    ],
    ids=["edited", "backwards", "no-skill", "part", "same-id"],
)
def test_what_cannot_be_sealed(hidden: Hidden, case: dict[str, Any], version: str, words: str) -> None:
    """Exit 3, the committed file stays, and no text of the suite is told."""
    before = hidden.sealed()
    hidden.write(case, version=version)
    ran = hidden.cli("holdout", "seal")
    assert (ran.code, words in ran.err, hidden.sealed() == before) == (3, True, True)
    assert found_everywhere([], {"out": (ran.out + ran.err).encode()}, MARKS) == {}


def test_a_suite_inside_the_project_is_no_holdout(hidden: Hidden, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies in the repository everybody reads."""
    inside = hidden.root / "evals" / "secret.json"
    write_json(inside, json.loads(hidden.suite.read_text("utf-8")))
    (hidden.root / "evals" / "guests.txt").write_bytes((hidden.suite.parent / "guests.txt").read_bytes())
    monkeypatch.setenv("SKILLASSAY_HOLDOUT", str(inside))
    ran = hidden.cli("holdout", "seal")
    assert (ran.code, "inside the project" in ran.err) == (3, True)


def test_evidence_says_which_holdout_it_used(locked: Hidden) -> None:
    """Suite, version and the digest of what is sealed; under another sealed version the evidence proves nothing."""
    (path,) = (locked.root / "evals/evidence").rglob("*.json")
    evidence = json.loads(path.read_text("utf-8"))
    assert (evidence["holdout"]["suite"], evidence["holdout"]["version"]) == ("hidden", "1.0.0")
    assert list(evidence["cases"]) == ["quality/one", "quality/three", "quality/two"]
    locked.write(hidden_case("h-ferry"), hidden_case("h-more", query=QUERY.upper()), version="1.1.0")
    assert locked.cli("holdout", "seal").code == 0
    drifted = locked.cli("lock", "--check")
    assert (drifted.code, "lock.evidence-other-cases" in drifted.out) == (1, True)


def test_a_holdout_that_changes_during_a_run_leaves_it_open(hidden: Hidden, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who edits the hidden suite while it is asked gets no evidence: `digests_match` names the committed file."""
    from skillassay.runs import evaluation

    finish = evaluation._finish

    def edited(*arguments: Any, **more: Any) -> Any:
        edit(hidden.suite, '"version": "1.0.0"', '"version": "1.0.1"')
        return finish(*arguments, **more)

    monkeypatch.setattr(evaluation, "_finish", edited)
    ran, lines = hidden.decided("eval")
    assert (ran.code, lines["digests_match"]["status"]) == (3, "undecided")
    assert "evals/holdout.json" in lines["digests_match"]["detail"][0]


def test_the_table_has_a_row_for_the_holdout(locked: Hidden) -> None:
    """Part, mode, cases, trials, scored, passed and interval; and no lift hides it."""
    assert "holdout         progressive" in locked.cli("report").out
    parts = locked.cli("report", "--format", "json").json["metrics"]["parts"]
    counts = {(one["part"], one["mode"]): (one["cases"], one["k"], one["n"]) for one in parts}
    assert counts["holdout", "progressive"] == (1, 2, 2)
    assert counts["representative", "progressive"] == (3, 3, 3)
