"""A run as skill-creator's workspace and in the guide's layout: read by its reader's rules, field by field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillassay.suites.case import load_suite
from tests.interop.skill_creator import aggregate, load, read_runs
from tests.project import BAD, GOOD, Cli, Ran, build_small, edit, run_folder, small_case, small_rules

CASES = [
    small_case("one", checks=[{"id": "hi", "type": "regex", "pattern": "hello"}], files=["files/a.txt"]),
    small_case("two", reference="hello hello"),
    small_case("three", checks=[{"id": "few", "type": "line_count", "max": 3}]),
    small_case("four"),
]
RULES = [rule for name in ("one", "two", "three") for rule in small_rules(name)]
"""Nothing answers case four: its trials have no score."""


@pytest.fixture
def ran(cli: Cli) -> Cli:
    """A project with one run of two repeats, in which four trials have no score."""
    build_small(cli.root, cases=CASES, rules=RULES, files={"evals/files/a.txt": "x\n"})
    assert cli("eval", "--mode", "progressive", "--mode", "none", "--repeats", "2").code == 3
    return cli


def export(cli: Cli, form: str, *more: str) -> Ran:
    """Write the only run to the folder `out`."""
    run = run_folder(cli.root).name
    return cli("export", *more, "--format", form, "--run", run, "--to", str(cli.root / "out"))


def iteration(cli: Cli) -> Path:
    """The folder of the one iteration."""
    return cli.root / "out" / "greeter-workspace" / "iteration-1"


def names(folder: Path) -> set[str]:
    """The files below a folder, by path."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def records(cli: Cli) -> list[dict[str, Any]]:
    """The records of the run."""
    return [json.loads(line) for line in (run_folder(cli.root) / "trials.jsonl").read_text("utf-8").splitlines()]


def test_its_reader_comes_to_the_same_benchmark(ran: Cli) -> None:
    """Summary and delta are what the published reader makes of the gradings and timings, to the digit."""
    assert export(ran, "skill-creator").code == 0
    runs = read_runs(iteration(ran))
    written = load(iteration(ran) / "benchmark.json")
    assert {name: len(own) for name, own in runs.items()} == {"with_skill": 6, "without_skill": 6}
    assert written["run_summary"] == aggregate(runs)
    theirs = sorted(json.dumps(run, sort_keys=True) for own in runs.values() for run in own)
    ours = [
        {**run["result"], **{key: run[key] for key in ("expectations", "eval_id", "run_number")}}
        for run in written["runs"]
    ]
    assert sorted(json.dumps(run, sort_keys=True) for run in ours) == theirs


def test_tokens_and_seconds_are_those_of_the_records(ran: Cli) -> None:
    """Neither zero nor characters in their place."""
    export(ran, "skill-creator")
    kept = [one for one in records(ran) if one["case_id"] == "two" and one["mode"] == "progressive"]
    for one in kept:
        timing = load(iteration(ran) / f"eval-two/with_skill/run-{one['repeat']}/timing.json")
        usage = one["candidate"]["usage"]
        assert timing["total_tokens"] == usage["input_tokens"] + usage["output_tokens"] > len(GOOD)
        assert timing["total_duration_seconds"] == round(one["duration_s"], 3)
        assert timing["duration_ms"] == round(one["duration_s"] * 1000)


def test_a_skill_that_helps_has_a_positive_delta(ran: Cli) -> None:
    """With minus without: five of five statements against one (the line count holds for any answer)."""
    export(ran, "skill-creator")
    summary = load(iteration(ran) / "benchmark.json")["run_summary"]
    assert (summary["with_skill"]["pass_rate"]["mean"], summary["without_skill"]["pass_rate"]["mean"]) == (1.0, 0.1667)
    assert summary["delta"]["pass_rate"] == "+0.83"
    assert summary["delta"]["tokens"].startswith("+")


@pytest.mark.parametrize(("form", "delta"), [("skill-creator", "-1.00"), ("guide", -1.0)])
def test_a_skill_that_harms_has_a_negative_delta(cli: Cli, form: str, delta: object) -> None:
    """Signed text for one reader, a number for the other."""
    rules = [rule for name in ("one", "two", "three") for rule in small_rules(name, good=BAD, bad=GOOD)]
    build_small(cli.root, rules=rules)
    cli("eval")
    assert export(cli, form).code == 0
    assert load(iteration(cli) / "benchmark.json")["run_summary"]["delta"]["pass_rate"] == delta


def test_an_arm_that_has_no_score_first_turns_no_sign_around(cli: Cli) -> None:
    """The published reader subtracts from what it meets first, and of the first eval it meets one arm alone."""
    first = small_rules("a")[1:]  # answered without the skill, not with it
    rules = [*first, *small_rules("b")]
    build_small(cli.root, cases=[small_case("a"), small_case("b")], rules=rules)
    cli("eval", "--mode", "progressive", "--mode", "none")
    export(cli, "skill-creator")
    runs = read_runs(iteration(cli))
    assert {name: len(own) for name, own in runs.items()} == {"with_skill": 1, "without_skill": 2}
    assert load(iteration(cli) / "benchmark.json")["run_summary"] == aggregate(runs)
    assert aggregate(runs)["delta"]["pass_rate"] == "+1.00"


def test_only_two_configurations_are_written(cli: Cli) -> None:
    """A third one (`eager` comes first in the alphabet) would turn the published reader's delta around; it is noted."""
    build_small(cli.root)
    assert cli("eval").code == 0
    ran = export(cli, "skill-creator")
    assert sorted(read_runs(iteration(cli))) == ["with_skill", "without_skill"]
    assert "trials in eager have no configuration there" in ran.err


@pytest.mark.parametrize("form", ["skill-creator", "guide"])
def test_a_trial_without_a_score_has_no_grading(ran: Cli, form: str) -> None:
    """Neither a zero nor a pass: its reason in the place of a grading, a note each, and the count."""
    told = export(ran, form)
    left = {name.rpartition("/")[2] for name in names(iteration(ran)) if name.startswith("eval-four/w")}
    assert left == {"unscored.json"}
    place = "eval-four/with_skill" + ("" if form == "guide" else "/run-1")
    reason = load(iteration(ran) / place / "unscored.json")
    assert (reason["reason"], reason["stage"]) == ("provider_error", "candidate")
    lost = [line for line in told.err.splitlines() if "eval-four" in line and "UNSCORED (" in line]
    assert len(lost) == 4
    assert "12 of 16 trials graded, 4 without a score" in told.err
    assert len([note for note in load(ran.root / "out/skillassay-export.json")["notes"] if "UNSCORED" in note]) == 4


def test_the_layout_of_skill_creator(ran: Cli) -> None:
    """Folders and the fields of each file, as published; no timing in the grading, and no feedback nobody gave."""
    export(ran, "skill-creator")
    below = names(iteration(ran))
    assert {name for name in below if name.startswith("eval-one/")} == {
        "eval-one/eval_metadata.json",
        *(
            f"eval-one/{configuration}/run-{number}/{name}"
            for configuration in ("with_skill", "without_skill")
            for number in (1, 2)
            for name in ("grading.json", "timing.json", "outputs/answer.md")
        ),
    }
    assert not [name for name in below if "feedback" in name]
    grading = load(iteration(ran) / "eval-one/with_skill/run-1/grading.json")
    assert set(grading) == {"expectations", "summary", "execution_metrics"}
    assert grading["expectations"] == [
        {"text": "The answer matches the pattern 'hello'", "passed": True, "evidence": "[hello] hello"},
        {"text": "The answer says hello.", "passed": True, "evidence": "hello"},
    ]
    assert grading["summary"] == {"passed": 2, "failed": 0, "total": 2, "pass_rate": 1.0}
    metadata = load(iteration(ran) / "eval-one/eval_metadata.json")
    assert metadata == {
        "eval_id": 1,
        "eval_name": "one",
        "prompt": "Greet one.",
        "assertions": ["The answer matches the pattern 'hello'", "The answer says hello."],
    }
    benchmark = load(iteration(ran) / "benchmark.json")
    assert set(benchmark) == {"metadata", "runs", "run_summary", "notes"}
    assert set(benchmark["metadata"]) == {
        *("skill_name", "skill_path", "executor_model", "analyzer_model", "timestamp", "evals_run"),
        "runs_per_configuration",
    }
    assert (benchmark["metadata"]["evals_run"], benchmark["metadata"]["runs_per_configuration"]) == ([1, 2, 3, 4], 2)
    assert (iteration(ran) / "eval-one/with_skill/run-1/outputs/answer.md").read_text("utf-8") == GOOD


def test_the_layout_of_the_guide(ran: Cli) -> None:
    """No level for runs; other names of the lists; a benchmark of numbers alone."""
    export(ran, "guide")
    assert {name for name in names(iteration(ran)) if name.startswith("eval-one/")} == {
        f"eval-one/{configuration}/{name}"
        for configuration in ("with_skill", "without_skill")
        for name in ("grading.json", "timing.json", "outputs/answer.md")
    }
    place = iteration(ran) / "eval-two" / "without_skill"
    assert load(place / "grading.json") == {
        "assertion_results": [
            {"text": "The answer says hello.", "passed": False, "evidence": "No hello stands there."}
        ],
        "summary": {"passed": 0, "failed": 1, "total": 1, "pass_rate": 0.0},
    }
    assert set(load(place / "timing.json")) == {"total_tokens", "duration_ms"}
    benchmark = load(iteration(ran) / "benchmark.json")
    assert set(benchmark) == {"run_summary"}
    for configuration in ("with_skill", "without_skill"):
        figures = benchmark["run_summary"][configuration]
        assert set(figures) == {"pass_rate", "time_seconds", "tokens"}
        assert all(set(one) == {"mean", "stddev"} for one in figures.values())
    assert all(isinstance(value, float) for value in benchmark["run_summary"]["delta"].values())
    assert benchmark["run_summary"]["delta"]["pass_rate"] == 0.8333


def test_what_no_figure_is_read_without_is_in_the_notes(ran: Cli) -> None:
    """That the answers are authored, and that the judge is not known to be independent."""
    export(ran, "skill-creator")
    notes = load(iteration(ran) / "benchmark.json")["notes"]
    assert [note for note in notes if note.startswith("FIXTURE RUN")]
    assert [note for note in notes if "NOT independent" in note]


@pytest.mark.parametrize("form", ["skill-creator", "guide"])
def test_the_cases_come_back_by_import(ran: Cli, tmp_path_factory: pytest.TempPathFactory, form: str) -> None:
    """Queries, statements, exact checks, references and files; a check that has no words there is noted."""
    told = export(ran, form)
    assert "case three: check few (line_count) has no place there" in told.err
    other = tmp_path_factory.mktemp("other")
    ran.root, folder = other, ran.root / "out" / "greeter-workspace" / "evals"
    assert ran("import", str(folder / "evals.json")).code == 0
    suite = load_suite(other / "evals" / "quality.json", shown_as="s").suite
    assert suite is not None
    assert [case.query for case in suite.cases] == [case["query"] for case in CASES]
    assert [[one.text for one in case.rubric] for case in suite.cases] == [["The answer says hello."]] * 4
    assert [[check["type"] for check in case.checks] for case in suite.cases] == [["regex"], [], [], []]
    assert suite.cases[0].checks[0]["pattern"] == "hello"
    assert suite.cases[1].reference == "hello hello"
    assert suite.cases[0].files[0].text == "x\n"


def test_a_run_that_keeps_no_texts_is_refused(cli: Cli) -> None:
    """There would be no evidence to show; exit 3, nothing written."""
    build_small(cli.root, retention="hash")
    cli("eval")
    ran = export(cli, "skill-creator")
    assert ran.code == 3
    assert "keeps no answers" in ran.err
    assert not (cli.root / "out").exists()


def test_somebody_elses_folder_is_refused(ran: Cli) -> None:
    """Whatever is in it stays the only thing in it."""
    (ran.root / "out").mkdir()
    (ran.root / "out" / "mine.txt").write_text("mine", encoding="utf-8")
    told = export(ran, "guide")
    assert told.code == 3
    assert "holds something that no export wrote" in told.err
    assert names(ran.root / "out") == {"mine.txt"}


def test_an_export_replaces_its_own_and_nothing_else(ran: Cli) -> None:
    """Files of the last one are gone; what somebody wrote or changed there is left."""
    export(ran, "skill-creator")
    feedback, changed = iteration(ran) / "feedback.json", iteration(ran) / "eval-one" / "eval_metadata.json"
    feedback.write_text("{}", encoding="utf-8")
    edit(changed, "Greet one.", "Greet me.")
    assert export(ran, "guide").code == 0
    below = names(iteration(ran))
    assert {"feedback.json", "eval-one/eval_metadata.json", "eval-one/with_skill/grading.json"} <= below
    assert not [name for name in below if "/run-" in name]


def test_a_list_of_files_cannot_name_others(ran: Cli) -> None:
    """Whoever writes the list may not have a file outside removed."""
    outside = ran.root / "keep.txt"
    outside.write_text("x", encoding="utf-8")
    (ran.root / "out").mkdir()
    digest = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
    marker = {"export": 1, "files": {"../keep.txt": digest}}
    (ran.root / "out" / "skillassay-export.json").write_text(json.dumps(marker), encoding="utf-8")
    assert export(ran, "guide").code == 3
    assert outside.exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--format", "guide"), "takes --run and --to"),
        (("--format", "guide", "--run", "x"), "takes --run and --to"),
        (("--format", "in-toto", "--run", "x"), "do not go with in-toto"),
        (("--format", "guide", "--run", "2", "--to", "o", "--output", "f"), "and no --output"),
        (("nobody", "--format", "guide", "--run", "2", "--to", "o"), "no skill 'nobody' in this run"),
    ],
)
def test_wrong_usage_says_the_call(ran: Cli, arguments: tuple[str, ...], words: str) -> None:
    """Exit 2, and nothing is written."""
    told = ran("export", *arguments)
    assert told.code == 2
    assert words in told.err


def test_a_run_that_is_not_there_is_an_error(ran: Cli) -> None:
    """Exit 3."""
    assert ran("export", "--format", "guide", "--run", "nosuch", "--to", "o").code == 3
