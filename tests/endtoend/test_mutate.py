"""`skillassay mutate` on authored answers: what is killed, by what, what survives, what nobody can tell."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import pytest

from skillassay.mutation.mutants import Kind
from skillassay.schema import schema_problems
from tests.endtoend.damaged import (
    MATTERS,
    SKILL_MD,
    UNFORESEEN,
    UNTESTED,
    build_damaged,
    damaged_rules,
    fates,
    session,
    tree,
    trials,
)
from tests.project import Cli, build_small, edit, rule, small_case

ITEMS = ("--kind", "list-item")


def mutant_id(cli: Cli, text: str) -> str:
    """The id of the mutant that changes this text."""
    found = cli("mutate", "greeter", "--dry-run", "--format", "json").json["mutants"]
    (named,) = [one["id"] for one in found if one["text"] == text]
    return str(named)


def test_killed_survived_and_undecided(cli: Cli) -> None:
    """The line that matters is missed by the cases; the one that nobody reads is not; an answer that nobody authored
    decides nothing. One mutant is undecided, so the exit code is 3."""
    build_damaged(cli.root)
    ran = cli("--quiet", "mutate", "greeter", *ITEMS, "--format", "json")
    assert (ran.code, ran.err) == (3, "")
    assert fates(ran.json) == {MATTERS: "killed", UNFORESEEN: "undecided", UNTESTED: "survived"}
    killed, undecided, _ = ran.json["mutants"]
    assert [(one["case"], one["criterion"], one["by"]) for one in killed["failing"]] == [
        ("one", "says-hello", "judge"),
        ("two", "says-hello", "judge"),
    ]
    assert "-- Say hello twice." in killed["diff"]
    assert (undecided["unscored"], undecided["failing"]) == ({"provider_error": 2}, [])
    assert undecided["why"] == "trials without a score: 2 provider_error"
    score = ran.json["score"]
    assert (score["killed"], score["survived"], score["undecided"], score["decided"]) == (1, 1, 1, 2)
    assert ran.json["is_evidence"] is False
    assert schema_problems(ran.json, "mutation") == []


def test_all_decided_is_exit_0_and_a_share_below_the_demand_is_1(cli: Cli) -> None:
    """Two mutants, one killed: half is reached, more is not. Undecided ones leave open what they could still reach."""
    build_damaged(cli.root)
    two = [word for text in (MATTERS, UNTESTED) for word in ("--only", mutant_id(cli, text))]
    assert cli("mutate", "greeter", *two).code == 0
    assert cli("mutate", "greeter", *two, "--min-killed", "0.5").code == 0
    missed = cli("mutate", "greeter", *two, "--min-killed", "0.51")
    assert missed.code == 1
    assert "--min-killed 0.51: not reached" in missed.out
    three = ("mutate", "greeter", *ITEMS, "--min-killed")
    assert cli(*three, "0.66").code == 3  # one killed and one open of three
    assert cli(*three, "0.67").code == 1


@pytest.mark.parametrize("form", ["table", "json", "markdown"])
def test_every_output_says_fixture_and_whose_score_it_is(cli: Cli, form: str) -> None:
    """Authored answers are called that, and a part of the mutants a part."""
    build_damaged(cli.root)
    ran = cli("mutate", "greeter", "--max", "2", "--seed", "5", "--format", form)
    told = " ".join(html.unescape(ran.out).split())
    assert "FIXTURE: authored answers" in told
    assert "2 of 5 mutants were run (seed 5)" in told


def test_the_table_fits_80_columns_and_ends_with_the_survivors(cli: Cli) -> None:
    """Killed, undecided, then what no case tests, with its text."""
    build_damaged(cli.root)
    out = cli("mutate", "greeter", *ITEMS).out
    assert max(map(len, out.splitlines())) <= 80
    assert out.index("killed: 1") < out.index("undecided: 1") < out.index("survived: 1") < out.index(UNTESTED)
    assert "by one: says-hello; two: says-hello" in out
    assert "score: 1/2 decided mutants killed" in out


def test_nothing_of_the_project_is_written(cli: Cli) -> None:
    """Every file is what it was; there is no run and no evidence; the record lies apart and git does not see it."""
    build_damaged(cli.root)
    before = tree(cli.root)
    cli("mutate", "greeter")
    assert tree(cli.root) == before
    assert not (cli.root / ".skillassay" / "runs").exists()
    assert (cli.root / ".skillassay" / ".gitignore").read_text() == "*\n"
    assert sorted(path.name for path in session(cli.root).iterdir()) == [
        "events.jsonl",
        "mutation.json",
        "trials.jsonl",
    ]
    assert cli("report").code == 3
    assert cli("lock").code == 1


def test_a_skill_without_a_body_runs_into_the_turn_limit(cli: Cli) -> None:
    """The section is all there is: the model loads the skill until its turns are over, which fails everything."""
    build_damaged(cli.root)
    ran = cli("mutate", "greeter", "--kind", "section", "--case", "one", "--format", "json")
    assert ran.code == 0
    (failing,) = ran.json["mutants"][0]["failing"]
    assert (failing["criterion"], failing["evidence"], failing["kills"]) == ("says-hello", "turn_limit", True)


def test_a_case_that_fails_anyway_kills_nothing_and_is_not_asked(cli: Cli) -> None:
    """It is named; the mutants have the trials of the other case alone."""
    rules = [*damaged_rules("one"), rule("two", {"text": "good day"})]
    build_small(
        cli.root,
        cases=[small_case("one"), small_case("two")],
        rules=rules,
        files={"skills/greeter/SKILL.md": SKILL_MD},
    )
    ran = cli("mutate", "greeter", *ITEMS, "--format", "json")
    assert [(one["case"], one["can_kill"], one["killed"]) for one in ran.json["unmutated"]] == [
        ("one", True, 1),
        ("two", False, 0),
    ]
    assert fates(ran.json)[UNTESTED] == "survived"
    assert [record["case_id"] for record in trials(cli.root)].count("two") == 1
    assert "0/1 passed, cannot kill" in cli("mutate", "greeter", *ITEMS).out


def test_without_a_case_that_passes_no_mutant_is_run(cli: Cli) -> None:
    """Nothing can be killed, so nothing is spent on it: undecided, exit 3."""
    build_damaged(cli.root, ("one",))
    edit(cli.root / "evals" / "fixtures" / "all.json", '"text": "hello hello"', '"text": "good day"')
    ran = cli("mutate", "greeter", *ITEMS, "--format", "json")
    assert (ran.code, set(fates(ran.json).values()), len(trials(cli.root))) == (3, {"undecided"}, 1)
    assert ran.json["mutants"][0]["why"] == "no case passes unmutated"


def test_repeats_are_shown_as_a_share(cli: Cli) -> None:
    """Each mutant runs so often, and each criterion says on how many it failed."""
    build_damaged(cli.root, ("one",))
    ran = cli("mutate", "greeter", "--only", mutant_id(cli, MATTERS), "--repeats", "3")
    assert ran.code == 0
    assert "by one: says-hello (3/3)" in ran.out
    assert len(trials(cli.root)) == 6


def test_a_dry_run_calls_nobody(cli: Cli) -> None:
    """Mutants, trials, calls and tokens at most; no folder. Two cases on the skill and on three mutants: 8 trials; each
    takes the 10 turns of the contract and one call of the judge."""
    build_damaged(cli.root, candidate={"turn_limit": 10})
    ran = cli("mutate", "greeter", *ITEMS, "--dry-run")
    assert (ran.code, ran.err) == (0, "")
    assert "3 of 5 mutants of skills/greeter, 0 not viable" in ran.out
    assert "at most 8 trials and 88 model calls, retries apart" in ran.out
    assert "judge fixture: at most" in ran.out
    assert not (cli.root / ".skillassay").exists()
    assert {one["kind"] for one in cli("mutate", "greeter", "--dry-run", "--format", "json").json["mutants"]} == {
        Kind.DESCRIPTION.value,
        Kind.SECTION.value,
        Kind.LIST_ITEM.value,
    }


USAGE: list[tuple[list[str], int, str]] = [
    ([], 2, "name the SKILL"),
    (["nobody"], 2, "there is no skill 'nobody'"),
    (["greeter", "--resume", "x"], 2, "leave SKILL out"),
    (["greeter", "--retry-unscored"], 2, "goes with --resume"),
    (["greeter", "--only", "ffff"], 2, "no mutant is named 'ffff'"),
    (["greeter", "--kind", "number"], 3, "has no such mutant"),
    (["greeter", "--kind", "poem"], 2, "poem"),
    (["greeter", "--max", "0"], 2, "--max"),
    (["greeter", "--model", "replay:evals/r.jsonl"], 2, "a recording holds no answer to a damaged skill"),
    (["greeter", "--baseline", "x", "--repeats", "2"], 2, "leave --repeats out"),
    (["greeter", "--baseline", "x"], 3, "no run"),
    (["--resume", "x"], 3, "no mutation test is named 'x'"),
    (["greeter", "--max-calls", "5"], 2, "does not hold the unmutated skill's 2 trials"),
]


@pytest.mark.parametrize(("arguments", "code", "words"), USAGE, ids=[words for _, _, words in USAGE])
def test_what_is_refused(cli: Cli, arguments: list[str], code: int, words: str) -> None:
    """Each with its exit code and what is wrong; no folder is left."""
    build_damaged(cli.root)
    ran = cli("mutate", *arguments)
    assert (ran.code, ran.out) == (code, "")
    assert words in " ".join(ran.err.split())
    assert not (cli.root / ".skillassay").exists()


def test_two_skills_of_one_folder_name_are_refused(cli: Cli) -> None:
    """Which of the two is meant must be said by its path."""
    build_damaged(cli.root)
    other = cli.root / "more" / "greeter"
    other.mkdir(parents=True)
    (other / "SKILL.md").write_text(SKILL_MD)
    edit(cli.root / "evals" / "contract.yaml", "- skills/*", "- skills/*\n- more/*")
    assert cli("mutate", "greeter").code in {2, 3}


def test_no_text_of_a_model_is_kept_under_the_rule_hash(cli: Cli) -> None:
    """The same verdicts; no answer and no reply of the judge stands in any file of the record."""
    build_damaged(cli.root, retention="hash")
    ran = cli("mutate", "greeter", *ITEMS, "--format", "json")
    assert fates(ran.json) == {MATTERS: "killed", UNFORESEEN: "undecided", UNTESTED: "survived"}
    for path in session(cli.root).iterdir():
        assert b"hello hello" not in path.read_bytes(), path.name
        assert b"good day" not in path.read_bytes(), path.name


def test_the_key_of_the_hashes_goes_when_nothing_is_left_to_do(cli: Cli) -> None:
    """Every mutant is decided: from then on nobody can try a text against the record."""
    build_damaged(cli.root, retention="hash")
    assert cli("mutate", "greeter", "--only", mutant_id(cli, MATTERS)).code == 0
    assert "hash.key" not in {path.name for path in session(cli.root).iterdir()}


def test_the_record_tells_the_mutants_apart(cli: Cli, tmp_path: Path) -> None:
    """No trial id twice; the header has every mutant with the digest that the skill has as it, all different."""
    build_damaged(cli.root)
    cli("mutate", "greeter")
    ids = [record["trial_id"] for record in trials(cli.root)]
    assert len(ids) == len(set(ids)) == 2 * (1 + 5)
    header: dict[str, Any] = json.loads((session(cli.root) / "mutation.json").read_bytes())
    digests = [one["digest"] for one in header["mutation"]["mutants"]]
    assert len(digests) == len({*digests, header["mutation"]["skill"]["digest"]}) - 1 == 5


HOSTILE = "- Say hello twice. ::error::x | <script>alert(1)</script> [a](http://b) @c \u202egnp ##[group]\n"


@pytest.mark.parametrize("form", ["table", "json", "markdown"])
def test_a_skills_own_words_cannot_break_an_output(cli: Cli, form: str) -> None:
    """Markup, commands of a CI service and directions stand inert in each format, within 80 columns in the table."""
    build_damaged(cli.root)
    edit(cli.root / "skills/greeter/SKILL.md", "- Never sing.\n", f"- Never sing.\n{HOSTILE}::warning::y\n")
    out = cli("mutate", "greeter", *ITEMS, "--format", form).out
    assert "\u202e" not in out
    assert "##[" not in out
    assert not [line for line in out.splitlines() if line.strip().startswith("::")]
    if form == "table":
        assert max(map(len, out.splitlines())) <= 80
    if form == "markdown":
        assert not {"<script", "](", "@c"} & {part for part in ("<script", "](", "@c") if part in out}


def test_the_judges_budget_holds(cli: Cli) -> None:
    """A judge that may spend next to nothing decides no case, so nothing is killed, and the reason is named."""
    build_damaged(cli.root, budget={"judge": {"tokens": 1}})
    ran = cli("mutate", "greeter", *ITEMS, "--format", "json")
    assert ran.code == 3
    assert [one["unscored"] for one in ran.json["unmutated"]] == [["budget_blocked"]] * 2
    assert ran.json["score"]["undecided"] == 3
