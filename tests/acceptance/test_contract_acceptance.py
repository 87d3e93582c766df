"""Acceptance of the evaluation contract, through the command line: what it freezes, and what happens without."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from skillassay.contract.groups import FIELDS, RESULT
from skillassay.schema import load_schema
from tests.acceptance.contracted import change_contract, header_of, newest
from tests.project import Cli, Ran, build_small, edit, records, run_folder, small_case, small_rules

GROUPS: dict[str, Any] = load_schema("run-contract")["properties"]

STORED = [(group, name) for group, body in GROUPS.items() for name in body["required"]]
"""Every field of the schema of a frozen contract."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with one run that passed its gate; to be copied, not changed."""
    root = build_small(tmp_path_factory.mktemp("made"))
    (ran,) = _commands(root, "eval")
    assert ran == 0
    return root


def _commands(root: Path, *names: str) -> Iterator[int]:
    from skillassay.cli.main import main

    for name in names:
        yield main(["--root", str(root), "--quiet", name])


@pytest.fixture
def again(made: Path, cli: Cli) -> Cli:
    """The command line at a copy of the project with its run."""
    shutil.copytree(made, cli.root, dirs_exist_ok=True)
    return cli


def change_json(path: Path, change: Callable[[Any], object]) -> None:
    """Change a JSON file in place."""
    value = json.loads(path.read_text(encoding="utf-8"))
    change(value)
    path.write_text(json.dumps(value), encoding="utf-8")


def trials(folder: Path) -> list[tuple[Any, ...]]:
    """What a run asked and in which arm, by trial, in the plan's order."""
    found = [json.loads(line) for line in (folder / "trials.jsonl").read_bytes().splitlines()]
    return sorted((one["trial_id"], json.dumps(one["arm"]), json.dumps(one["transcript"])) for one in found)


# TST-C07-01: from contract, version and environment a run can be made again.


def test_tst_c07_01_a_run_is_made_again_from_its_contract(again: Cli) -> None:
    """`eval --like RUN`: a new run of the same plan, with the same requests to both models and the same content."""
    old = run_folder(again.root)
    ran = again("eval", "--like", old.name, "--format", "json")
    new = newest(again.root)
    assert (ran.code, new != old) == (0, True)
    assert trials(new) == trials(old)
    first, second = (header_of(folder)["contract"]["groups"] for folder in (old, new))
    for groups in (first, second):
        del groups["environment"]["time"], groups["dataset"]["snapshot_time"]
    assert first == second
    assert ran.json["content_digest"] == json.loads((old / "result.json").read_text())["content_digest"]


def test_tst_c07_01_the_options_of_the_run_are_its_own(again: Cli) -> None:
    """Selection, modes, repeats and a raised limit come from the stored run, not from the defaults of the command."""
    again("eval", "--case", "two", "--mode", "none", "--repeats", "2", "--quality-min", "0.9")
    old = newest(again.root)
    ran = again("eval", "--like", old.name, "--format", "json")
    new = newest(again.root)
    assert (len(trials(old)), trials(new)) == (2, trials(old))
    assert ran.json["contract"]["gate"]["slice_thresholds"]["quality_min"] == "9/10"


def _skill(root: Path) -> None:
    edit(root / "skills/greeter/SKILL.md", "Say hello twice", "Say hello thrice")


def _case(root: Path) -> None:
    edit(root / "evals/quality.json", '"query": "Greet one."', '"query": "Greet  one."')


def _answers(root: Path) -> None:
    edit(root / "evals/fixtures/all.json", "No hello stands there.", "There is no hello.")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_skill, "skills: skills/greeter"),
        (_case, "cases: quality/one"),
        (_answers, "judgment.judge_version"),
        (lambda root: change_contract(root, version="2.0.0"), "identity.version: 1.0.0 and 2.0.0"),
        (lambda root: change_contract(root, gate={"variance_max": 0.1}), "gate.variance_limit: null and 1/10"),
        (lambda root: change_contract(root, environment={"locale": "fr_FR.UTF-8"}), "environment.locale"),
    ],
    ids=["skill", "case", "judge", "contract", "limit", "locale"],
)
def test_tst_c07_01_what_differs_is_listed_and_nothing_runs(
    again: Cli, change: Callable[[Path], None], words: str
) -> None:
    """Another skill, case, judge, contract or environment: exit 3, the difference by name, no second run."""
    old = run_folder(again.root)
    change(again.root)
    ran = again("eval", "--like", old.name)
    assert (ran.code, words in ran.err) == (3, True), ran.err
    assert newest(again.root) == old


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("scoring.code_digest", "0" * 64),
        ("judgment.judge_prompt_digest", "0" * 64),
        ("candidate.config_digest", "0" * 64),
        ("environment.surface", {"system": "Minix", "machine": "m68k", "python": "3.11", "isolation": "process"}),
        ("environment.tool_source_snapshot", {"program": "skillassay 0.0.1", "packages": {}, "fixture_digest": None}),
    ],
)
def test_tst_c07_01_another_program_or_machine_is_no_remake(again: Cli, path: str, value: object) -> None:
    """A run that was made by other code, prompts, packages, or on another machine cannot be made again here."""
    old = run_folder(again.root)
    group, name = path.split(".")
    change_json(old / "run.json", lambda header: header["contract"]["groups"][group].update({name: value}))
    ran = again("eval", "--like", old.name)
    assert (ran.code, path in ran.err) == (3, True), ran.err


# TST-C07-02, and every other field: a stored run without it decides nothing.


def remove(folder: Path, group: str, name: str) -> None:
    """Take one field out of the frozen contract of a run, in whichever file it is."""
    if group == RESULT:
        change_json(folder / "result.json", lambda result: result["contract"][group].pop(name))
    else:
        change_json(folder / "run.json", lambda header: header["contract"]["groups"][group].pop(name))


def refusal(ran: Ran) -> str:
    """The error of a command that could not decide and printed no result."""
    assert (ran.code, ran.out) == (3, "")
    return ran.err


@pytest.mark.parametrize(
    ("group", "name"),
    [
        ("scoring", "scorer_id"),
        ("scoring", "scorer_version"),
        ("judgment", "judge_id"),
        ("judgment", "judge_version"),
        ("judgment", "rubric_id_version"),
    ],
    ids=".".join,
)
@pytest.mark.parametrize("command", ["gate", "report", "compare", "lock"])
def test_tst_c07_02_a_missing_version_of_scorer_judge_or_rubric_is_refused(
    again: Cli, command: str, group: str, name: str
) -> None:
    """By each command that reads a stored run: exit 3, the field, and what nobody can tell without it."""
    folder = run_folder(again.root)
    remove(folder, group, name)
    ran = again(command, *([folder.name, folder.name] if command == "compare" else []))
    (field,) = (field for field in FIELDS if (field.group, field.name) == (group, name))
    assert f"{group}.{name}: {field.missing}" in refusal(ran)


@pytest.mark.parametrize(("group", "name"), STORED, ids=".".join)
def test_each_field_of_a_stored_contract_is_needed(again: Cli, group: str, name: str) -> None:
    """Parametrized over the schema: without the field the gate decides nothing and names it with its consequence."""
    remove(run_folder(again.root), group, name)
    (field,) = (field for field in FIELDS if (field.group, field.name) == (group, name))
    assert f"{field.path}: {field.missing}" in refusal(again("gate"))


@pytest.mark.parametrize("group", [group for group in GROUPS if group != RESULT])
def test_a_group_that_is_gone_from_the_end_is_missed_too(again: Cli, group: str) -> None:
    """result.json has all nine groups, and each is looked for."""
    change_json(run_folder(again.root) / "result.json", lambda result: result["contract"].pop(group))
    assert f"result.json) lacks {group}." in refusal(again("gate"))


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("scoring.code_digest", "abc", "scoring.code_digest: must match"),
        ("gate.critical_zero_tolerance", 1, "gate.critical_zero_tolerance: must be 0"),
        ("judgment.judge_version", "", "judgment.judge_version: must not be empty"),
        ("judgment.judge_version", None, "judgment.judge_version: must be string"),
        ("identity.risk_class", "none", "identity.risk_class: must be one of"),
        ("dataset.version", {}, "dataset.version"),
    ],
)
def test_a_field_that_says_nothing_is_no_field(again: Cli, path: str, value: object, words: str) -> None:
    """An empty or senseless value is refused by the schema, with its place."""
    group, name = path.split(".")
    folder = run_folder(again.root)
    change_json(folder / "run.json", lambda header: header["contract"]["groups"][group].update({name: value}))
    assert words in refusal(again("gate"))


def test_a_run_from_before_contracts_were_frozen_is_refused(again: Cli) -> None:
    """It lacks all groups, and says so in one line."""
    change_json(run_folder(again.root) / "run.json", lambda header: header["contract"].pop("groups"))
    assert "lacks all groups, identity, candidate" in refusal(again("gate"))


def test_an_old_run_that_is_about_something_else_blocks_no_lock(again: Cli) -> None:
    """`lock` reads the contracts of the runs that could prove something, not of all that lie about."""
    folder = run_folder(again.root)
    other = folder.parent / "20200101T000000.000Z-000000"
    shutil.copytree(folder, other)

    def older(header: Any) -> None:
        header["contract"].pop("groups")
        header["skills"]["skills/greeter"]["digest"] = "0" * 64

    change_json(other / "run.json", older)
    assert again("lock").code == 0


def test_the_models_as_answered_complete_the_contract(again: Cli) -> None:
    """The header cannot know them yet; the result's contract is the header's otherwise."""
    folder = run_folder(again.root)
    groups = header_of(folder)["contract"]["groups"]
    ended = json.loads((folder / "result.json").read_text(encoding="utf-8"))["contract"]
    evidence = ended["candidate"].pop("model_revision_evidence")
    before = groups["candidate"].pop("model_revision_evidence")
    answered = {one["candidate"]["model"] for one in records(again.root)}
    assert (before["candidate"]["answered"], set(evidence["candidate"]["answered"])) == (None, answered)
    assert {**ended, RESULT: None} == {**groups, RESULT: None}


def test_the_result_group_traces_the_decision(cli: Cli) -> None:
    """Failures and what stayed unknown by case, mode and repeat, counts by slice, the decision, no approval."""
    names = ("one", "two", "three")
    cases = [small_case(name, slice="north" if name == "two" else "south") for name in names]
    said = {"one": "hello", "two": "good day"}  # and nothing at all in three
    rules = [rule for name, text in said.items() for rule in small_rules(name, good=text)]
    build_small(cli.root, cases=cases, rules=rules)
    ran = cli("eval", "--mode", "progressive", "--format", "json")
    result = ran.json["contract"][RESULT]
    assert (ran.code, result["decision"]["status"], result["approval_id"]) == (1, "failed", None)
    assert result["failures"] == [{"case": "quality/two", "mode": "progressive", "repeat": 1}]
    assert {"case": "quality/three", "mode": "progressive", "repeat": 1, "reason": "provider_error"} in (
        result["uncertainties"]
    )
    assert result["slice_results"]["north"]["progressive"] == {"planned": 1, "passed": 0, "failed": 1, "unscored": 0}
    assert result["attempts"] == {"trials": 3, "attempts": 3, "tried_again": 0}
    assert (result["run_id"], result["start"]) == (ran.json["run"], header_of(newest(cli.root))["created_at"])
