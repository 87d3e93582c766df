"""``eval --sample``: a seeded part of the cases, through the command line."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from tests.acceptance.gated import build, checked
from tests.acceptance.live import LiveServer
from tests.project import Cli, edit

NAMES = tuple(f"c{index}" for index in range(8))


def expected(n: int, seed: int, names: tuple[str, ...] = NAMES) -> set[str]:
    """The cases that are drawn, by the definition."""

    def place(name: str) -> str:
        return hashlib.sha256(f'[{seed},"quality","{name}"]'.encode()).hexdigest()

    return set(sorted(names, key=place)[:n])


def asked(report: dict[str, Any]) -> set[str]:
    """The cases that a result has trials of."""
    return {trial["case"] for trial in report["trials"]}


@pytest.fixture
def project(cli: Cli) -> Cli:
    """Eight cases that all pass."""
    build(cli, [checked(name) for name in NAMES])
    return cli


def test_the_seed_chooses_the_cases(project: Cli) -> None:
    """Those of the definition, in the result and in its header."""
    ran = project("eval", "--sample", "3", "--seed", "5", "--format", "json")
    assert asked(ran.json) == expected(3, 5)
    assert ran.json["sample"] == {"n": 3, "of": 8, "seed": 5}
    assert project("gate", "--format", "json").json["sample"] == {"n": 3, "of": 8, "seed": 5}


@pytest.mark.parametrize("form", ["table", "markdown", "html", "junit", "csv", "github"])
def test_every_report_says_that_it_is_of_a_sample(project: Cli, form: str) -> None:
    """With how many cases of how many, and the seed."""
    out = " ".join(project("eval", "--sample", "3", "--format", form).out.split())
    assert "3 of 8" in out
    assert "seed 0" in out


def test_gate_and_dry_run_say_it(project: Cli) -> None:
    """The one on its output, the other before anything is spent."""
    dry = project("eval", "--sample", "3", "--dry-run")
    assert {line.split()[1] for line in dry.out.splitlines() if "progressive #1" in line} == expected(3, 0)
    assert "a sample of 3 of 8 selected cases, seed 0" in dry.err
    assert project("eval", "--sample", "3").code == 0
    assert "SAMPLE: 3 of 8 selected cases, seed 0" in " ".join(project("gate").out.split())


def test_a_sample_is_of_what_was_selected(project: Cli) -> None:
    """Named cases first, then the draw among them."""
    options = [word for name in NAMES[:4] for word in ("--case", name)]
    ran = project("eval", "--sample", "2", *options, "--format", "json")
    assert asked(ran.json) == expected(2, 0, NAMES[:4])
    assert ran.json["sample"] == {"n": 2, "of": 4, "seed": 0}


def test_more_than_there_are_is_all_and_is_said(project: Cli) -> None:
    """And all the same no evidence: chance chose the cases."""
    ran = project("eval", "--sample", "50", "--format", "json")
    assert asked(ran.json) == set(NAMES)
    assert "a sample of 50 was asked for and only 8 cases are selected: all of them run" in ran.err


@pytest.mark.parametrize("n", ["3", "50"])
def test_a_sample_is_no_evidence_and_no_baseline(project: Cli, n: str) -> None:
    """``lock`` refuses for want of evidence, ``baseline --pin`` for the part; without the sample both take the run."""
    assert project("eval", "--sample", n).code == 0
    refused = project("lock")
    assert refused.code == 1
    pinned = project("baseline", "--pin")
    assert (pinned.code, "a part of the cases" in pinned.err) == (3, True)
    assert project("eval").code == 0
    lines = project("gate", "--format", "json").json["lines"]
    assert "no_regression" not in {line["name"] for line in lines}
    assert project("lock").code == 0
    assert project("baseline", "--pin").code == 0


def test_again_and_on_keep_the_sample(project: Cli) -> None:
    """--like and --resume ask the same cases without being told again."""
    first = project("eval", "--sample", "3", "--seed", "5", "--format", "json").json
    like = project("eval", "--like", first["run"], "--format", "json").json
    assert like["run"] != first["run"]
    assert (asked(like), like["sample"]) == (expected(3, 5), first["sample"])
    resumed = project("eval", "--resume", first["run"], "--format", "json").json
    assert (resumed["run"], asked(resumed)) == (first["run"], expected(3, 5))


def test_a_run_does_not_go_on_as_another_sample(project: Cli) -> None:
    """Not even where the trials would be the same."""
    whole = project("eval", "--format", "json").json["run"]
    ran = project("eval", "--resume", whole, "--sample", "50")
    assert ran.code == 3
    assert "--sample (none, now 8 of 8 with seed 0)" in ran.err


def test_two_samples_of_one_seed_compare(project: Cli) -> None:
    """On the same cases, although the candidate's skill changed; another seed does not compare."""
    runs = [project("eval", "--sample", "3", "--format", "json").json["run"]]
    edit(project.root / "skills/greeter/SKILL.md", "Say hello twice", "Say hello two times")
    runs.append(project("eval", "--sample", "3", "--format", "json").json["run"])
    runs.append(project("eval", "--sample", "3", "--seed", "1", "--format", "json").json["run"])
    assert expected(3, 0) != expected(3, 1)
    same = project("compare", runs[0], runs[1], "--format", "json")
    assert (same.code, same.json["sample"]) == (0, {"n": 3, "of": 8, "seed": 0})
    assert project("compare", runs[0], runs[2]).code == 3


def test_a_seed_alone_is_wrong_usage(project: Cli) -> None:
    """It would choose nothing."""
    ran = project("eval", "--seed", "1")
    assert (ran.code, "--seed goes with --sample" in ran.err) == (2, True)


def test_a_recorded_sample_lies_beside_the_whole_and_plays_again(project: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under a name of its own, so that a part never lies in the place of the whole; the told command asks the same."""
    with LiveServer() as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        monkeypatch.setenv("GEMINI_API_KEY", "k")
        told = [project("record", "--model", "gemini:candidate", *more).err for more in ([], ["--sample", "3"])]
    places = [next(word for word in text.split() if word.startswith("replay:")).split(":", 1)[1] for text in told]
    assert places[0] != places[1]
    assert "--sample 3" in " ".join(told[1].split())
    monkeypatch.delenv("GEMINI_API_KEY")
    again = project("eval", "--model", f"replay:{places[1]}", "--sample", "3", "--format", "json").json
    assert asked(again) == expected(3, 0)
    assert {trial["status"] for trial in again["trials"]} <= {"PASS", "FAIL"}
