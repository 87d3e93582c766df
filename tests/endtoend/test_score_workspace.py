"""The workspace that skill-creator leaves behind, as answers: what each folder is, and what cannot be told is said."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from skillassay.errors import Reason
from skillassay.runs.plan import Mode
from skillassay.subjects.answers import Answers, AnswersSubject, MadeAnswer, Output
from skillassay.subjects.base import SubjectRequest
from tests.endtoend.held_server import result_of
from tests.project import BAD, GOOD, Cli, build_small, records, run_folder, small_case, write_json


def run(folder: Path, files: Mapping[str, str], *, tokens: int | None = None) -> None:
    """One run as the tool writes it: its outputs, its own metrics beside them, transcript, timing, grading."""
    outputs = folder / "outputs"
    for name, text in files.items():
        (outputs / name).parent.mkdir(parents=True, exist_ok=True)
        (outputs / name).write_text(text, encoding="utf-8")
    write_json(
        outputs / "metrics.json", {"tool_calls": {"Read": 2}, "total_tool_calls": 2, "files_created": list(files)}
    )
    (outputs / "user_notes.md").write_text("Nothing uncertain.", encoding="utf-8")
    (folder / "transcript.md").write_text("# Eval\nuser: greet", encoding="utf-8")
    write_json(
        folder / "grading.json", {"expectations": [], "summary": {"passed": 0, "failed": 0, "total": 0, "pass_rate": 0}}
    )
    if tokens is not None:
        write_json(
            folder / "timing.json", {"total_tokens": tokens, "duration_ms": 23332, "total_duration_seconds": 23.3}
        )


def workspace(top: Path) -> Path:
    """Two iterations. In the newer one the evals are named by folder, by name, and by the id that an import makes."""
    folder = top / "greeter-workspace"
    run(folder / "iteration-1" / "eval-one" / "with_skill" / "run-1", {"answer.md": BAD})
    newer = folder / "iteration-2"
    for number in (1, 2):
        run(newer / "eval-one" / "with_skill" / f"run-{number}", {"answer.md": GOOD}, tokens=3852)
        run(newer / "eval-one" / "without_skill" / f"run-{number}", {"answer.md": BAD})
    write_json(
        newer / "eval-1" / "eval_metadata.json",
        {"eval_id": 1, "eval_name": "two", "prompt": "Greet.", "assertions": []},
    )
    run(newer / "eval-1" / "with_skill" / "run-1", {"reply.txt": GOOD})
    write_json(newer / "eval-polite" / "eval_metadata.json", {"eval_id": 7, "eval_name": "polite", "prompt": "Greet."})
    run(newer / "eval-polite" / "with_skill" / "run-1", {"answer.md": GOOD})
    run(newer / "eval-polite" / "old_skill" / "run-1", {"answer.md": GOOD})
    write_json(folder / "iteration-2" / "benchmark.json", {"metadata": {"skill_name": "greeter"}, "runs": []})
    (folder / "history.json").write_text("{}", encoding="utf-8")
    return folder


@pytest.fixture
def made(cli: Cli, tmp_path: Path) -> Path:
    """A project with the three cases of the workspace, and the workspace."""
    build_small(cli.root, cases=[small_case("one"), small_case("two"), small_case("greeter-7")])
    return workspace(tmp_path / "beside")


def trials(cli: Cli) -> dict[tuple[str, str, int], str]:
    """What each trial of the only run came to."""
    return {
        (one["case_id"], one["mode"], one["repeat"]): one["outcome"]["reason"] or one["outcome"]["status"]
        for one in records(cli.root)
    }


def test_the_newest_iteration_is_scored(cli: Cli, made: Path) -> None:
    """with_skill is progressive, without_skill none, run-K the repeat; what nobody ran stays without a score."""
    ran = cli("score", str(made))
    lost = "missing_required_capability"
    assert trials(cli) == {
        ("one", "progressive", 1): "PASS", ("one", "progressive", 2): "PASS",
        ("one", "none", 1): "FAIL", ("one", "none", 2): "FAIL",
        ("two", "progressive", 1): "PASS", ("two", "progressive", 2): lost,
        ("two", "none", 1): lost, ("two", "none", 2): lost,
        ("greeter-7", "progressive", 1): "PASS", ("greeter-7", "progressive", 2): lost,
        ("greeter-7", "none", 1): lost, ("greeter-7", "none", 2): lost,
    }  # fmt: skip
    assert "iteration-2 is the newest of 2 iterations" in ran.err
    assert "not scored: greeter-workspace/iteration-2/eval-polite/old_skill" in ran.err
    assert "6 planned trials of 12 without an answer" in ran.err


def test_an_older_iteration_by_its_name(cli: Cli, made: Path) -> None:
    """The folder that is named is the one that is scored."""
    cli("score", str(made / "iteration-1"), "--case", "one")
    assert trials(cli) == {("one", "progressive", 1): "FAIL"}


def test_the_guides_layout_has_no_runs(cli: Cli, tmp_path: Path) -> None:
    """outputs below the folder of a mode are its first repeat."""
    build_small(cli.root)
    top = tmp_path / "w" / "iteration-1"
    run(top / "eval-two" / "with_skill", {"answer.md": GOOD})
    run(top / "eval-two" / "without_skill", {"answer.md": BAD})
    cli("score", str(tmp_path / "w"), "--case", "two")
    assert trials(cli) == {("two", "progressive", 1): "PASS", ("two", "none", 1): "FAIL"}


def test_tokens_are_a_total_and_its_parts_stay_unknown(cli: Cli, made: Path) -> None:
    """timing.json tells one number; without it nothing is known, and the output's length is no token count."""
    cli("score", str(made), "--case", "one")
    usages = {(one["mode"], one["candidate"]["usage"]["total_tokens"]) for one in records(cli.root)}
    assert usages == {("progressive", 3852), ("none", None)}
    assert result_of(cli.root)["metrics"]["modes"]["progressive"]["input_tokens"] is None


def test_files_beside_the_answer_are_there_for_checks(cli: Cli, tmp_path: Path) -> None:
    """A check of a file reads what the run made; where it made none the check fails, as in any run."""
    check = {"id": "made", "type": "contains", "text": "hello", "file": "out/list.csv"}
    build_small(cli.root, cases=[small_case(name, checks=[check]) for name in ("one", "two", "three")])
    run(tmp_path / "w" / "eval-one" / "with_skill" / "run-1", {"answer.md": GOOD, "out/list.csv": "hello;1"})
    run(tmp_path / "w" / "eval-two" / "with_skill" / "run-1", {"answer.md": GOOD})
    cli("score", str(tmp_path / "w"), "--case", "one", "--case", "two")
    marks = {one["case_id"]: {mark["id"]: mark["verdict"] for mark in one["marks"]} for one in records(cli.root)}
    assert marks == {"one": {"made": "PASS", "says-hello": "PASS"}, "two": {"made": "FAIL", "says-hello": "PASS"}}


def test_the_answer_is_named_and_never_chosen(cli: Cli, tmp_path: Path) -> None:
    """Two texts in outputs are a problem until --answer says which one; --answer is for a workspace alone."""
    build_small(cli.root)
    outputs = {"notes.md": BAD, "final.md": GOOD}
    run(tmp_path / "w" / "eval-one" / "with_skill" / "run-1", outputs)
    refused = cli("score", str(tmp_path / "w"), "--case", "one")
    assert (refused.code, "holds 2 texts (final.md, notes.md)" in refused.err) == (3, True)
    assert not (cli.root / ".skillassay").exists()
    cli("score", str(tmp_path / "w"), "--case", "one", "--answer", "final.md")
    assert trials(cli) == {("one", "progressive", 1): "PASS"}
    (tmp_path / "a.jsonl").write_text(json.dumps({"case": "one", "answer": GOOD}) + "\n", encoding="utf-8")
    assert cli("score", str(tmp_path / "a.jsonl"), "--answer", "x.md").code == 2


def test_what_leads_out_of_the_workspace_is_not_read(cli: Cli, tmp_path: Path) -> None:
    """A link as answer, as folder of outputs or as metadata is a problem, and so is an eval of no case."""
    build_small(cli.root)
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "answer.md").write_text("hello secret", encoding="utf-8")
    top = tmp_path / "w"
    (top / "eval-one" / "with_skill" / "outputs").mkdir(parents=True)
    (top / "eval-one" / "with_skill" / "outputs" / "answer.md").symlink_to(tmp_path / "secret" / "answer.md")
    (top / "eval-two" / "with_skill").mkdir(parents=True)
    (top / "eval-two" / "with_skill" / "outputs").symlink_to(tmp_path / "secret")
    run(top / "eval-three" / "with_skill", {"answer.md": GOOD})
    (top / "eval-three" / "eval_metadata.json").symlink_to(tmp_path / "secret" / "answer.md")
    run(top / "eval-unknown" / "with_skill", {"answer.md": GOOD})
    ran = cli("score", str(top))
    assert ran.code == 3
    places = {line.partition(":")[0] for line in ran.err.splitlines() if ": error " in line}
    assert places == {
        "w/eval-one/with_skill/outputs",
        "w/eval-two/with_skill/outputs",
        "w/eval-three/eval_metadata.json",
        "w/eval-unknown",
    }
    assert "secret" not in ran.out
    assert not (cli.root / ".skillassay").exists()


def test_a_run_says_which_answers_it_was(cli: Cli, made: Path) -> None:
    """The header has the digest of what was read; the same workspace gives the same, another byte another."""
    digests = []
    for text in (GOOD, GOOD, f"{GOOD} "):
        (made / "iteration-2" / "eval-one" / "with_skill" / "run-1" / "outputs" / "answer.md").write_text(text, "utf-8")
        cli("score", str(made), "--case", "one")
        header = json.loads((run_folder(cli.root) / "run.json").read_text("utf-8"))
        digests.append(header["answers"]["digest"])
        run_folder(cli.root).rename(made.parent / f"kept-{len(digests)}")
    assert digests[0] == digests[1] != digests[2]


def test_a_file_that_changed_since_it_was_read_is_not_used(tmp_path: Path) -> None:
    """What a check would read is no longer what was brought: the trial has no score, as a fault of the harness."""
    source = tmp_path / "list.csv"
    source.write_text("before", encoding="utf-8")
    output = Output(name="list.csv", source=source, sha256=hashlib.sha256(b"before").hexdigest())
    subject = AnswersSubject(Answers(source="w", by_slot={"s": MadeAnswer(text=GOOD, outputs=(output,))}))
    request = SubjectRequest(query="q", files=(), mode=Mode.PROGRESSIVE, skill_path="skills/greeter", slot="s")
    (tmp_path / "workspace").mkdir()
    assert subject.answer(request, tmp_path / "workspace").answer == GOOD
    source.write_text("after", encoding="utf-8")
    result = subject.answer(request, tmp_path / "workspace")
    assert result.error is not None
    assert (result.answer, result.error.reason) == (None, Reason.HARNESS_ERROR)
