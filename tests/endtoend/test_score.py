"""Answers made elsewhere: scored by the same checks, judge and gate, never dropped, never evidence."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from skillassay.cli.progress import Progress
from skillassay.gate.lines import Status
from skillassay.locks.proof import evidence_bodies
from skillassay.runs.elsewhere import Brought, answers_request
from skillassay.runs.evaluation import evaluate
from skillassay.runs.preparation import EvalRequest, prepare
from tests.acceptance.gated import lines_of
from tests.endtoend.held_server import HeldServer, live_environment, n_recorded, result_of, wait_until
from tests.project import BAD, GOOD, REPOSITORY, Cli, Ran, build_small, command, records, run_folder, small_case

NAMES = ("one", "two", "three")
Line = Mapping[str, Any]


def write_list(path: Path, lines: Iterable[Line | str]) -> str:
    """A list of answers, a JSON object a line; a text stands as it is."""
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return str(path)


def all_answers(names: Iterable[str] = NAMES) -> list[Line]:
    """What the small project's fixture answers, in three modes."""
    return [
        {"case": name, "mode": mode, "answer": BAD if mode == "none" else GOOD}
        for name in names
        for mode in ("progressive", "none", "eager")
    ]


def outcomes(root: Path) -> dict[tuple[str, str], str]:
    """Status of each trial of the only run, or its reason."""
    return {
        (one["case_id"], one["mode"]): one["outcome"]["reason"] or one["outcome"]["status"] for one in records(root)
    }


def test_the_same_answers_get_the_same_marks(cli: Cli, tmp_path: Path) -> None:
    """What eval records of answers, score records of the same answers brought along: marks, judge reply, outcome."""
    build_small(cli.root)
    assert cli("eval").code == 0
    before = {
        (one["case_id"], one["mode"]): (one["marks"], one["judge_reply"], one["outcome"]) for one in records(cli.root)
    }
    run_folder(cli.root).rename(tmp_path / "elsewhere")
    assert cli("score", write_list(tmp_path / "a.jsonl", all_answers())).code == 3
    after = {
        (one["case_id"], one["mode"]): (one["marks"], one["judge_reply"], one["outcome"]) for one in records(cli.root)
    }
    assert after == before
    assert len(after) == 9


def test_it_is_an_ordinary_run_and_no_evidence(cli: Cli, tmp_path: Path) -> None:
    """Every line passes but that no arm was seen and nobody knows the candidate: no evidence, so no lock."""
    build_small(cli.root)
    ran = cli("score", write_list(tmp_path / "a.jsonl", all_answers()))
    assert (ran.code, ran.err.count("clean_arms stays open")) == (3, 1)
    assert "ANSWERS MADE ELSEWHERE, of an unnamed model" in " ".join(ran.out.split())
    lines = lines_of(cli("gate", "--format", "json"))
    refused = {
        name: line["status"] for name, line in lines.items() if line["status"] not in {"passed", "not_applicable"}
    }
    assert refused == {"clean_arms": "undecided", "candidate_named": "undecided"}
    assert lines["clean_arms"]["counts"] == {"differences": 0, "told": 0, "untold": 9}
    assert result_of(cli.root)["evidence"] == {}
    assert cli("lock").code == 1
    assert not (cli.root / "skills.lock.json").exists()


def test_no_decision_makes_it_evidence(cli: Cli, tmp_path: Path) -> None:
    """Were its gate passed in whatever way, a lock would have nothing of it all the same."""
    build_small(cli.root)
    brought = Brought(source=Path(write_list(tmp_path / "a.jsonl", all_answers())))
    request, _ = answers_request(EvalRequest(root=cli.root), brought)
    prepared = prepare(request)
    view = evaluate(prepared, Progress(quiet=True))
    lines = tuple(line for line in view.assessment.decision.lines if line.status is Status.PASSED)
    passed = replace(view.assessment, decision=replace(view.assessment.decision, lines=lines))
    assert passed.decision.status is Status.PASSED
    bodies, why_not = evidence_bodies(prepared, passed, header=view.header, occurred_at="now")
    assert bodies == {}
    assert why_not == {"skills/greeter": "its answers were made elsewhere, and nobody saw what the candidate was shown"}


def test_models_and_tokens_are_as_told_and_else_unknown(cli: Cli, tmp_path: Path) -> None:
    """A name is given as it was, one sum has a gap and is unknown, one is whole."""
    build_small(cli.root)
    tokens = {"input_tokens": 5, "output_tokens": 2}
    told = [{"case": name, "answer": GOOD, "model": f"m-{name}", "usage": tokens} for name in NAMES]
    untold = [{"case": name, "mode": "none", "answer": BAD} for name in NAMES]
    cli("score", write_list(tmp_path / "a.jsonl", [*told, *untold]))
    modes = result_of(cli.root)["metrics"]["modes"]
    assert (modes["progressive"]["input_tokens"], modes["progressive"]["output_tokens"]) == (15, 6)
    assert modes["none"]["input_tokens"] is None
    header = json.loads((run_folder(cli.root) / "run.json").read_text("utf-8"))
    assert header["subject"] == "answers"
    assert header["models"]["candidate"] == {
        "label": "answers:made elsewhere", "provider": "answers", "name": "made elsewhere", "endpoint": None,
        "is_fixture": False, "is_replay": False, "own_model": True,
    }  # fmt: skip
    assert (header["answers"]["n"], header["answers"]["source"]) == (6, "a.jsonl")
    report = " ".join(cli("report").out.split())
    assert "named as m-one, m-three, m-two" in report
    assert "money not known: the answers were made elsewhere" in report


def test_what_has_no_answer_is_unscored_and_counted(cli: Cli, tmp_path: Path) -> None:
    """Three of four planned trials have an answer: the fourth stays in the plan, without a score."""
    build_small(cli.root)
    lines: list[Line] = [
        {"case": "one", "answer": GOOD},
        {"case": "one", "answer": BAD, "repeat": 2},
        {"case": "two", "answer": GOOD},
        {"case": "three", "answer": GOOD},
    ]
    ran = cli("score", write_list(tmp_path / "a.jsonl", lines), "--case", "one", "--case", "two", "--format", "json")
    assert ran.code == 1  # one answer is bad, whatever else is open
    counts = ran.json["counts"]
    assert (counts["planned"], counts["passed"], counts["failed"], counts["unscored"]) == (4, 2, 1, 1)
    (lost,) = [one for one in ran.json["trials"] if one["status"] == "UNSCORED"]
    assert (lost["case"], lost["repeat"], lost["reason"]) == ("two", 2, "missing_required_capability")
    assert "1 planned trial of 4 without an answer" in ran.err
    assert "not selected: the cases of 1 answer\n" in ran.err


def test_every_problem_is_told_at_once_and_nothing_is_scored(cli: Cli, tmp_path: Path) -> None:
    """Unknown cases, a duplicate, a wrong suite, a form, a file: each with its line, and no run."""
    build_small(cli.root)
    (tmp_path / "big.md").write_bytes(b"a" * (4 * 1024 * 1024 + 1))
    (tmp_path / "latin.md").write_bytes(b"caf\xe9")
    (tmp_path / "link.md").symlink_to(tmp_path / "latin.md")
    lines: list[Line | str] = [
        {"case": "one", "answer": GOOD},
        {"case": "four", "answer": GOOD},
        {"case": "one", "mode": "progressive", "answer": BAD},
        {"case": "two", "suite": "other", "answer": GOOD},
        {"case": "two"},
        {"case": "two", "answer": GOOD, "answer_file": "x.md"},
        {"case": "two", "mode": "previous", "answer": GOOD},
        {"case": "two", "repeat": True, "answer": GOOD},
        {"case": "two", "anwser": GOOD},
        "{broken",
        *({"case": "three", "mode": "none", "answer_file": name} for name in ("../a.md", "/etc/passwd", "no.md")),
        *({"case": "three", "mode": "none", "answer_file": name} for name in ("big.md", "latin.md", "link.md", ".")),
    ]
    ran = cli("score", write_list(tmp_path / "a.jsonl", lines))
    assert (ran.code, ran.out) == (3, "")
    found = dict(line.removeprefix("a.jsonl:").split(": ", 1) for line in ran.err.splitlines() if ": error " in line)
    assert sorted(found, key=int) == [str(number) for number in range(2, 18)]
    words = {
        2: "unknown-case: there is no case 'four'", 3: "duplicate: one, progressive #1: the same trial is answered at",
        4: "of suite 'other'; it is in 'quality'", 5: "one of `answer` and `answer_file`", 6: "one of `answer`",
        7: "must be one of progressive, none, eager", 8: "repeat: must be integer", 9: "unknown field 'anwser'",
        10: "no JSON object", 11: "does not lie below", 12: "absolute path", 13: "No such file", 14: "over the limit",
        15: "not UTF-8", 16: "is a link", 17: "lie below",
    }  # fmt: skip
    assert {number: text for number, text in words.items() if text not in found[str(number)]} == {}
    assert "16 problems with the answers" in ran.err
    assert not (cli.root / ".skillassay").exists()


def test_a_folder_has_one_file_a_case(cli: Cli, tmp_path: Path) -> None:
    """Files at the top are progressive, folders are modes; a BOM is no part of an answer."""
    build_small(cli.root)
    folder = tmp_path / "made"
    for name, text in {
        "one.md": f"\ufeff{GOOD}\n",
        "without_skill/one.txt": BAD,
        "none/two.json": BAD,
        ".DS_Store": "x",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    cli("score", str(folder), "--case", "one", "--case", "two")
    assert outcomes(cli.root) == {
        ("one", "progressive"): "PASS",
        ("one", "none"): "FAIL",
        ("two", "progressive"): "missing_required_capability",
        ("two", "none"): "FAIL",
    }
    (kept,) = [one for one in records(cli.root) if one["outcome"]["status"] == "PASS"]
    assert kept["answer"] == f"{GOOD}\n"


def test_a_folder_with_anything_else_is_refused_whole(cli: Cli, tmp_path: Path) -> None:
    """A file of no kind, a folder of no mode, two files for one case, a link: all at once."""
    build_small(cli.root)
    folder = tmp_path / "made"
    (folder / "sometimes").mkdir(parents=True)
    for name in ("one.md", "one.txt", "two.pdf", "README.md"):
        (folder / name).write_text(GOOD, encoding="utf-8")
    (folder / "three.md").symlink_to("/etc/hostname")
    ran = cli("score", str(folder))
    assert ran.code == 3
    places = {line.partition(":")[0] for line in ran.err.splitlines() if ": error " in line}
    assert places == {f"made/{name}" for name in ("one.txt", "two.pdf", "README.md", "three.md", "sometimes")}


def test_a_behaviour_case_needs_its_structured_answer(cli: Cli, tmp_path: Path) -> None:
    """It is read as the case asks: prose breaks the contract, JSON is graded by its action and its flag."""
    behavior = {"action": "refuse", "refused": True, "required": "It refuses.", "forbidden": "It helps."}
    cases = [small_case(name, rubric=[], behavior=behavior) for name in NAMES]
    build_small(cli.root, cases=cases)
    answer = json.dumps({"action": "assist", "response": "Here you are.", "refused": False})
    cli("score", write_list(tmp_path / "a.jsonl", [{"case": "one", "answer": "no"}, {"case": "two", "answer": answer}]))
    told = {one["case_id"]: one for one in records(cli.root)}
    assert (told["one"]["outcome"]["reason"], told["one"]["outcome"]["stage"]) == ("contract_error", "candidate")
    assert told["two"]["observed"] == {"action": "assist", "refused": False}


def test_a_check_of_a_file_needs_the_files(cli: Cli, tmp_path: Path) -> None:
    """A list brings no files along: a case that looks at one has no score, and fails nothing."""
    check = {"id": "made", "type": "contains", "text": "x", "file": "out.txt"}
    build_small(cli.root, cases=[small_case(name, checks=[check]) for name in NAMES])
    cli("score", write_list(tmp_path / "a.jsonl", [{"case": "one", "answer": GOOD}]), "--case", "one")
    assert outcomes(cli.root) == {("one", "progressive"): "missing_required_capability"}


def test_retention_hash_keeps_no_answer(cli: Cli, tmp_path: Path) -> None:
    """Under hash no answer, no unknown name and no digest of answers is kept, so that nothing can be resumed."""
    build_small(cli.root, retention="hash")
    lines = [{"case": name, "answer": f"{GOOD} plum", "model": "plum-9"} for name in NAMES]
    cli("score", write_list(tmp_path / "a.jsonl", lines))
    assert len(records(cli.root)) == 3
    folder = run_folder(cli.root)
    assert [path.name for path in folder.iterdir() if b"plum" in path.read_bytes()] == []
    assert json.loads((folder / "run.json").read_text("utf-8"))["answers"]["digest"] is None
    ran = cli("score", str(tmp_path / "a.jsonl"), "--resume", folder.name)
    assert (ran.code, "nothing tells whether these are its answers" in ran.err) == (3, True)


def test_eval_takes_no_answers(cli: Cli) -> None:
    """The subject is score's own: eval says where it belongs."""
    build_small(cli.root)
    ran = cli("eval", "--subject", "answers")
    assert ran.code == 2
    assert "skillassay score FILE" in ran.err


def started(root: Path, server: HeldServer, *arguments: str) -> subprocess.Popen[str]:
    """Begin to score in a process of its own, judged over the wire."""
    argv = command(root, "score", *arguments, "--judge-model", "gemini:held")
    pipe = subprocess.PIPE
    return subprocess.Popen(argv, stdout=pipe, stderr=pipe, text=True, cwd=REPOSITORY, env=live_environment(server))


def scored(root: Path, server: HeldServer, *arguments: str) -> Ran:
    """Score to the end."""
    process = started(root, server, *arguments)
    out, err = process.communicate(timeout=60)
    return Ran(code=process.returncode, out=out, err=err)


def test_a_killed_score_goes_on_and_only_over_the_same_answers(tmp_path: Path) -> None:
    """kill -9, then --resume: nothing lost or doubled, the digest of an undisturbed run; other answers are refused."""
    roots = [build_small(tmp_path / name) for name in ("whole", "killed")]
    lists = [write_list(root / "a.jsonl", all_answers()) for root in roots]
    with HeldServer(roots[0], free=1000) as server:
        assert scored(roots[0], server, lists[0]).code == 3
    with HeldServer(roots[1], free=4) as server:
        run = started(roots[1], server, lists[1], "--jobs", "2")
        wait_until(server.held.is_set)
        wait_until(lambda: n_recorded(roots[1]) >= 3)
        run.kill()
        run.communicate()
        assert 3 <= n_recorded(roots[1]) < 9
        server.release()
        name = run_folder(roots[1]).name
        other = write_list(
            roots[1] / "b.jsonl", [*all_answers()[:-1], {"case": "three", "mode": "eager", "answer": BAD}]
        )
        refused = scored(roots[1], server, other, "--resume", name)
        assert (refused.code, "the answers differ" in refused.err) == (3, True), refused.err
        assert scored(roots[1], server, lists[1], "--resume", name).code == 3
    ids = [one["trial_id"] for one in records(roots[1])]
    assert len(ids) == len(set(ids)) == 9
    assert result_of(roots[1])["content_digest"] == result_of(roots[0])["content_digest"]


def test_a_run_of_a_candidate_is_not_resumed_by_score(cli: Cli, tmp_path: Path) -> None:
    """--resume of another kind of run says which command goes on with it."""
    build_small(cli.root)
    cli("eval")
    ran = cli("score", write_list(tmp_path / "a.jsonl", all_answers()), "--resume", run_folder(cli.root).name)
    assert ran.code == 2
    assert "skillassay eval --resume" in ran.err


def test_no_key_is_asked_for_a_candidate(cli: Cli, tmp_path: Path) -> None:
    """A contract that names a live candidate needs no key of it here; the judge is the only one that is asked."""
    build_small(cli.root, candidate={"model": "gemini:nobody"})
    ran = cli("score", write_list(tmp_path / "a.jsonl", all_answers()), "--judge-model", "fixture")
    assert ran.code == 3
    assert set(outcomes(cli.root).values()) == {"PASS", "FAIL"}
