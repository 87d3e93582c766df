"""Reading verdicts of a live run through the command line, and what its gate makes of it. Real HTTP, real SDK."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skillassay.calibration.verdicts_read import VERDICTS_READ_PATH
from tests.acceptance.every_byte import mark
from tests.acceptance.hidden import MARKS, SAYS, build_hidden, hidden_case
from tests.acceptance.live import LiveServer
from tests.acceptance.reading import READER, read_all, typed, words_of
from tests.acceptance.test_judge_gate import MODELS, gate, label, line
from tests.project import HELLO, SKILL, Cli, build_small, edit, run_folder, small_case, write_json

N_POINTS = 6
"""Three cases, each greeted with the skill and not without: one passed and one failed criterion of each."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LiveServer]:
    """The live models, with a key in the environment."""
    with LiveServer() as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        monkeypatch.setenv("GEMINI_API_KEY", "k")
        yield server


@pytest.fixture
def ran(cli: Cli, server: LiveServer) -> Cli:
    """A project with one live run."""
    build_small(cli.root)
    cli("eval", *MODELS)
    return cli


def test_a_session_shows_verdict_and_evidence_and_no_arm(ran: Cli) -> None:
    """Five of the six verdicts, as the contract asks, failed and passed ones among them; nothing tells the mode."""
    done = typed(ran.root, "rrrrr")
    assert done.returncode == 0
    shown = (done.stdout + done.stderr).decode()
    assert shown.count("criterion, ") == 5
    assert {shown.count("the judge says:\n  PASS"), shown.count("the judge says:\n  FAIL")} == {2, 3}
    assert shown.count("its evidence:\n  hello hello") + shown.count("its evidence:\n  no hello") == 5
    assert not any(word in shown.lower() for word in ("progressive", "eager", "mode", "greeter"))
    words = words_of(ran.root)
    assert {one["said"] for one in words} == {"right"}
    assert {(one["by"], one["run"], one["verdicts_read"]) for one in words} == {(READER, run_folder(ran.root).name, 1)}
    assert len({(one["answer"], one["criterion"], one["verdict"]) for one in words}) == 5


def test_no_text_of_an_answer_is_kept(ran: Cli) -> None:
    """The file is committed; it names answers by their digest."""
    typed(ran.root, "rwuq")
    assert "good day" not in (ran.root / VERDICTS_READ_PATH).read_text("utf-8")
    assert "hello hello" not in (ran.root / VERDICTS_READ_PATH).read_text("utf-8")


def test_quitting_keeps_what_was_said_and_the_next_session_goes_on(ran: Cli) -> None:
    """Two of five, exit 3; three are left, and none of the two is asked again."""
    assert typed(ran.root, "rrq").returncode == 3
    again = typed(ran.root, "rrr")
    assert b"3 left for Mika Sato" in again.stderr
    assert again.returncode == 0
    assert len({(one["answer"], one["verdict"]) for one in words_of(ran.root)}) == 5


def test_back_takes_the_last_word_back_and_asks_again(ran: Cli) -> None:
    """Nothing is taken out of the file: the word, its withdrawal and the new word stand there."""
    typed(ran.root, "wbrq")
    words = words_of(ran.root)
    assert [one["said"] for one in words] == ["wrong", "undone", "right"]
    assert len({(one["answer"], one["verdict"]) for one in words}) == 1
    assert ran("review", "--format", "json").json["queue"] == []


def test_a_run_that_nobody_read_fails_the_line_and_says_how_to(ran: Cli) -> None:
    """The skill, the number that is needed and the command; it is a lack of certification, so the run is declared."""
    decided = gate(ran)
    found = line(decided, "verdicts_read")
    assert found["status"] == "failed"
    assert found["counts"] == {"read": 0, "wrong": 0, "unsure": 0, "needed": 5}
    assert found["detail"][0].startswith("skills/greeter: 0 of 5 verdicts read under the rubric ")
    assert found["detail"][0].endswith("skillassay read RUN --by NAME")
    assert f"read {run_folder(ran.root).name} --by NAME" in ran("report").out.replace("\n", " ")
    assert {one["name"] for one in decided.json["lines"] if one["status"] == "failed"} == {
        *("judge_calibrated", "verdicts_read", "approved"),
    }


@pytest.mark.parametrize(("n_read", "status"), [(4, "failed"), (5, "passed")])
def test_the_line_passes_with_as_many_as_the_contract_asks(ran: Cli, n_read: int, status: str) -> None:
    """Not one less."""
    typed(ran.root, "r" * n_read)
    found = line(gate(ran), "verdicts_read")
    assert (found["status"], found["counts"]["read"]) == (status, n_read)


def test_unsure_is_read_and_counted_apart(ran: Cli) -> None:
    """Who cannot say has looked; the line passes and shows it."""
    typed(ran.root, "uurrr")
    found = line(gate(ran), "verdicts_read")
    assert (found["status"], found["counts"]) == ("passed", {"read": 5, "wrong": 0, "unsure": 2, "needed": 5})


def test_where_fewer_are_judged_all_are_needed(cli: Cli, server: LiveServer) -> None:
    """A contract may ask for more than there are: six verdicts, six needed, in one session."""
    build_small(cli.root, judge_={"model": "gemini:judge", "read_min": 50})
    edit(cli.root / "evals" / "contract.yaml", "judge_:", "judge:")
    cli("eval", *MODELS)
    assert line(gate(cli), "verdicts_read")["counts"]["needed"] == N_POINTS
    read_all(cli.root)
    found = line(gate(cli), "verdicts_read")
    assert (found["status"], found["counts"]["read"]) == ("passed", N_POINTS)


def test_the_number_can_only_be_raised(cli: Cli) -> None:
    """Four is refused as the contract is read."""
    build_small(cli.root, judge_={"model": "gemini:judge", "read_min": 4})
    edit(cli.root / "evals" / "contract.yaml", "judge_:", "judge:")
    assert "judge.read_min" in cli("check").out


def test_another_run_under_the_same_rubric_needs_no_reading(ran: Cli) -> None:
    """The skill's bytes changed, the rubric did not; the verdicts are other ones and the line passes."""
    read_all(ran.root)
    edit(ran.root / "skills" / "greeter" / "SKILL.md", "Say hello twice", "Say it loudly, twice")
    ran("eval", *MODELS)
    assert line(gate(ran), "verdicts_read")["status"] == "passed"


@pytest.mark.parametrize(
    "change",
    [
        {"text": "The answer says a hello."},
        {"critical": True},
        {"may_abstain": True},
        {"id": "greets"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_an_edited_rubric_is_read_again(ran: Cli, change: dict[str, object]) -> None:
    """Text, id or flag of one criterion of one case: nothing that was read counts, and a session asks anew."""
    read_all(ran.root)
    cases = [small_case("one", rubric=[HELLO | change]), small_case("two"), small_case("three")]
    write_json(ran.root / "evals" / "quality.json", {"suite": "quality", "version": "2.0.0", "cases": cases})
    ran("eval", *MODELS)
    found = line(gate(ran), "verdicts_read")
    assert (found["status"], found["counts"]["read"]) == ("failed", 0)
    assert b"5 left" in typed(ran.root, "").stderr


def two_skills(cli: Cli, *, other: str) -> None:
    """The suites of two skills; ``other`` is the rubric of the second one's."""
    cases = [small_case(name) for name in ("one", "two", "three")]
    rubric = [HELLO | {"text": other}]
    cases += [small_case(f"h{n}", skill="greeter-hi", query=f"Greet h{n}.", rubric=rubric) for n in range(3)]
    write_json(cli.root / "evals" / "quality.json", {"suite": "quality", "version": "1.0.0", "cases": cases})


def test_the_rubric_of_another_skill_is_another_one(cli: Cli, server: LiveServer) -> None:
    """Two skills are read, the second one's rubric is edited: it alone is to be read again."""
    hi = {"skills/greeter-hi/SKILL.md": SKILL.format(name="greeter-hi")}
    build_small(cli.root, files=hi)
    two_skills(cli, other="It says hello.")
    cli("eval", *MODELS)
    assert line(gate(cli), "verdicts_read")["number"] == "read of 0 of 2 skills"
    read_all(cli.root)
    assert line(gate(cli), "verdicts_read")["number"] == "read of 2 of 2 skills"
    two_skills(cli, other="It says a hello.")
    cli("eval", *MODELS)
    found = line(gate(cli), "verdicts_read")
    assert found["number"] == "read of 1 of 2 skills"
    assert [words.split(":")[0] for words in found["detail"]] == ["skills/greeter-hi"]


def entries(cli: Cli) -> list[tuple[str, str, bool]]:
    """Kind, state and whether it holds the gate, of each entry of the queue."""
    queue = cli("review", "--format", "json").json["queue"]
    return [(one["kind"], one["state"], one["holds_the_gate"]) for one in queue]


def test_a_wrong_verdict_is_in_the_queue_of_its_run_and_holds_the_gate(ran: Cli) -> None:
    """Every trial with that verdict on that answer; the line itself passes, nothing_held is open, exit 3."""
    typed(ran.root, "wrrrr")
    (word,) = [one for one in words_of(ran.root) if one["said"] == "wrong"]
    queue = ran("review", "--format", "json").json["queue"]
    # With the skill two modes give the same answer, without it one does.
    assert [one["mode"] for one in queue] == (["eager", "progressive"] if word["verdict"] == "PASS" else ["none"])
    for one in queue:
        assert (one["kind"], one["case"], one["holds_the_gate"]) == ("verdict_wrong", word["case"], True)
        assert one["wrong"] == [{"criterion": "says-hello", "by": READER}]
        assert "Mika Sato calls the verdict on says-hello wrong" in one["why"]
    shown = " ".join(ran("gate").out.split())
    assert shown.count("called wrong by Mika Sato: ") == len(queue)
    assert "as recorded, without adjudications: model_gate FAILED" in shown
    decided = gate(ran)
    assert decided.code == 3
    assert line(decided, "verdicts_read")["status"] == "passed"
    assert line(decided, "verdicts_read")["counts"]["wrong"] == 1
    assert line(decided, "nothing_held")["status"] == "undecided"
    assert decided.json["recorded"]["status"] == "failed"  # by the lack of certification alone


def test_only_the_reader_can_let_the_score_stand(ran: Cli) -> None:
    """Another person's word leaves it open; the reader's own closes it, and no score changes."""
    typed(ran.root, "rwrrr")
    (word,) = [one for one in words_of(ran.root) if one["said"] == "wrong"]
    before = gate(ran).json["content_digest"]

    def say(by: str) -> None:
        for one in ran("review", "--format", "json").json["queue"]:
            where = ("--case", one["case"], "--mode", one["mode"], "--repeat", str(one["repeat"]))
            said = ("--verdict", word["verdict"].lower(), "--by", by, "--reason", "The score stands all the same.")
            assert ran("review", *where, *said).code == 0

    say("Jo Berg")
    assert {state for _, state, _ in entries(ran)} == {"open"}
    assert {holds for *_, holds in entries(ran)} == {True}
    say(READER)
    assert set(entries(ran)) == {("verdict_wrong", "adjudicated", False)}
    assert line(gate(ran), "nothing_held")["status"] == "passed"
    assert gate(ran).json["content_digest"] == before


def test_again_offers_what_was_not_called_right_and_the_last_word_counts(ran: Cli) -> None:
    """One wrong, one unsure of five: two are left again, and with both right the queue is empty."""
    typed(ran.root, "wurrr")
    assert b"0 left" in typed(ran.root, "").stderr
    assert b"2 left" in typed(ran.root, "rr", READER, "--again").stderr
    assert entries(ran) == []
    assert line(gate(ran), "verdicts_read")["counts"] == {"read": 5, "wrong": 0, "unsure": 0, "needed": 5}


def test_a_wrong_verdict_of_one_run_is_in_no_other(ran: Cli) -> None:
    """The same answers, the same verdicts, another run: its queue is empty, its line tells of the word."""
    typed(ran.root, "wrrrr")
    ran("eval", *MODELS)
    assert entries(ran) == []
    assert line(gate(ran), "verdicts_read")["counts"]["wrong"] == 1


@pytest.mark.parametrize("by", ["the judge", "QA team", "gpt", ""])
def test_nobody_reads_without_a_name(ran: Cli, by: str) -> None:
    """Exit 2, and no file."""
    assert ran("read", "--by", by).code == 2
    assert words_of(ran.root) == []


def test_a_run_without_texts_cannot_be_read(cli: Cli, server: LiveServer) -> None:
    """Under retention hash there is nothing to read; it says so, and what was read elsewhere counts for it."""
    build_small(cli.root)
    cli("eval", *MODELS)
    read_all(cli.root)
    edit(cli.root / "evals" / "contract.yaml", "contract: 1", "contract: 1\nretention: hash")
    cli("eval", *MODELS)
    refused = cli("read", "--by", READER)
    assert refused.code == 2
    assert "under retention hash none is kept" in refused.err
    assert line(gate(cli), "verdicts_read")["status"] == "passed"


def test_authored_verdicts_are_not_read_and_have_no_line(cli: Cli) -> None:
    """A fixture gate has no such line; exit 2."""
    build_small(cli.root)
    assert cli("eval").code == 0
    assert cli("read", "--by", READER).code == 2
    assert "verdicts_read" not in {one["name"] for one in gate(cli).json["lines"]}


def test_a_newer_file_is_refused(ran: Cli) -> None:
    """Exit 3 with the line that says so; nothing is guessed from it."""
    typed(ran.root, "rq")
    path: Path = ran.root / VERDICTS_READ_PATH
    newer = json.loads(path.read_text("utf-8")) | {"verdicts_read": 2}
    path.write_text(json.dumps(newer) + "\n", encoding="utf-8")
    refused = gate(ran)
    assert refused.code == 3
    assert "verdicts-read.jsonl, line 1: has format 2, newer than 1" in refused.err


def test_hidden_verdicts_are_neither_shown_nor_needed(
    cli: Cli, server: LiveServer, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a holdout nothing is drawn, kept or counted, and another one leaves the rubric what it was."""
    hidden = build_hidden(cli, tmp_path_factory.mktemp("outside"), monkeypatch)
    cli("eval", *MODELS)
    first = hidden.runs()[-1]
    assert {one["suite"] for one in header(cli.root, first)["facts"]["trials"]} == {"quality", "hidden"}
    done = typed(cli.root, "r" * 50, READER, "--number", "50")
    assert done.returncode == 0
    shown = (done.stdout + done.stderr).decode()
    assert shown.count("criterion, ") == N_POINTS
    assert not any(mark(name) in shown for name in MARKS)
    assert {one["suite"] for one in words_of(cli.root)} == {"quality"}
    hidden.write(hidden_case("h-ferry", rubric=[SAYS | {"critical": True}]), version="2.0.0")
    assert cli("holdout", "seal").code == 0
    cli("eval", *MODELS)
    rubrics = [header(cli.root, run)["facts"]["rubrics"] for run in (first, hidden.runs()[-1])]
    assert rubrics[0] == rubrics[1] != {}


def header(root: Path, run: str) -> dict[str, Any]:
    """The header of a run."""
    value: dict[str, Any] = json.loads((root / ".skillassay" / "runs" / run / "run.json").read_text("utf-8"))
    return value


def test_a_declared_lock_needs_no_reader_and_a_model_lock_does(cli: Cli, server: LiveServer) -> None:
    """Unread, uncalibrated and not approved the evidence is `declared`; with all three it is `model`."""
    asked = {"endpoint": server.base_url}
    build_small(
        cli.root,
        candidate=asked | {"model": "gemini:candidate"},
        judge_=asked | {"model": "gemini:judge"},
        lock={"requires": "declared"},
    )
    edit(cli.root / "evals" / "contract.yaml", "judge_:", "judge:")
    cli("eval")
    assert cli("lock").code == 0
    assert grades(cli.root) == ["declared"]
    label(cli)
    assert cli("calibrate", "--ask").code == 0
    approved = ("--by", "Bo Lind", "--note", "read every answer and the judge's evidence", "--seen")
    assert cli("approve", *approved, gate(cli).json["seen"]).code == 0
    cli("eval", "--resume", run_folder(cli.root).name)
    assert grades(cli.root) == ["declared"]  # nobody has read a verdict
    read_all(cli.root)
    assert cli("approve", *approved, gate(cli).json["seen"]).code == 0
    assert cli("eval", "--resume", run_folder(cli.root).name).code == 0
    assert grades(cli.root) == ["model"]


def grades(root: Path) -> list[str]:
    """The grade of each piece of evidence in the only run's result."""
    result = json.loads((run_folder(root) / "result.json").read_text("utf-8"))
    return [body["decision"]["grade"] for body in result["evidence"].values()]
