"""Trigger suites: their shape, and which split a case has."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from skillassay.suites.triggers import Split, TriggerCase, derived_split, load_triggers
from tests.project import Cli, build_small, write_json
from tests.suites.test_routing_lock import codes

CASE = {"id": "t1", "query": "Greet me.", "should_trigger": True, "split": "train"}
NOT = {"id": "t2", "query": "What is due?", "should_trigger": False, "split": "train"}
BOTH = [CASE, NOT, CASE | {"id": "v1", "split": "validation"}, NOT | {"id": "v2", "split": "validation"}]


def suite(*cases: dict[str, Any], **head: object) -> dict[str, Any]:
    """A suite about the greeter."""
    return {"triggers": 1, "suite": "s", "version": "1.0.0", "skill": "greeter", "cases": list(cases), **head}


def load(tmp_path: Path, value: object) -> tuple[tuple[TriggerCase, ...], list[tuple[str, int | None]]]:
    """The cases of a suite with this content, and its findings by code and line."""
    write_json(tmp_path / "t.json", value)
    cases, findings = load_triggers(tmp_path / "t.json", shown_as="t.json")
    return cases, [(finding.code, finding.line) for finding in findings]


def remainder(suite_name: str, case_id: str) -> int:
    """What the definition divides, by way of the hexadecimal digits."""
    return int(hashlib.sha256(f"{suite_name}/{case_id}".encode()).hexdigest()[:8], 16) % 5


def test_the_derived_split_is_that_of_its_definition() -> None:
    """The first eight hex digits of SHA-256 of SUITE/ID modulo five: 0, 1, 2 train, else validation."""
    for number in range(200):
        wanted = Split.TRAIN if remainder("s", f"c{number}") < 3 else Split.VALIDATION
        assert derived_split("s", f"c{number}") is wanted


def test_the_shell_says_the_same() -> None:
    """The line of docs/reference/triggers.md, run as it stands, prints the remainder."""
    page = (Path(__file__).parents[2] / "docs/reference/triggers.md").read_text("utf-8")
    line = page.split("```sh\n")[1].split("```")[0]
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=True)
    assert int(done.stdout) == remainder("greeter-triggers", "birthday")


def test_about_three_fifths_are_for_training() -> None:
    """Of 5,000 names: a binomial count lies within four of its standard deviations (35) of 3,000."""
    n_train = sum(derived_split("names", str(number)) is Split.TRAIN for number in range(5000))
    assert abs(n_train - 3000) < 4 * 35


def test_a_split_follows_from_the_name_alone(tmp_path: Path) -> None:
    """Another order, another wording, further cases: no case moves."""
    few = [{"id": f"c{number}", "query": "q", "should_trigger": number % 2 == 0} for number in range(8)]
    more = [{"id": f"d{number}", "query": "q", "should_trigger": True} for number in range(5)]
    before = {case.id: case.split for case in load(tmp_path, suite(*few))[0]}
    worded = [case | {"query": "other words", "note": "n"} for case in reversed(few)]
    after = {case.id: case.split for case in load(tmp_path, suite(*more, *worded))[0]}
    assert len(before) == 8
    assert before.items() <= after.items()


def test_a_stated_split_holds(tmp_path: Path) -> None:
    """Whatever would follow from the name."""
    cases, _ = load(tmp_path, suite(*BOTH))
    assert [case.split.value for case in cases] == ["train", "train", "validation", "validation"]


@pytest.mark.parametrize("change", [{}, {"note": "for people"}], ids=["same", "note"])
def test_stating_what_would_follow_changes_nothing(tmp_path: Path, change: dict[str, str]) -> None:
    """The digest covers the split as it is in the end."""
    body = {"id": "c1", "query": "q", "should_trigger": True}
    (silent,), _ = load(tmp_path, suite(body))
    (said,), _ = load(tmp_path, suite(body | change | {"split": silent.split.value}))
    other = next(split.value for split in Split if split is not silent.split)
    (moved,), _ = load(tmp_path, suite(body | {"split": other}))
    assert silent.digest == said.digest != moved.digest


def test_a_case_has_the_skill_of_its_suite_or_its_own(tmp_path: Path) -> None:
    """`skill` at the head is for the cases that name none."""
    cases, _ = load(tmp_path, suite(CASE, NOT | {"skill": "other"}))
    assert [case.skill for case in cases] == ["greeter", "other"]


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (suite(*BOTH), []),
        (suite(CASE, CASE), [("suite.duplicate-id", 8)]),
        ({key: value for key, value in suite(CASE).items() if key != "skill"}, [("triggers.no-skill", 6)]),
        (suite(CASE | {"should_trigger": "yes"}), [("file.schema", 10)]),
        (suite(CASE | {"split": "test"}), [("file.schema", 11)]),
        (suite(CASE, triggers=2), [("file.schema", 2)]),
        (suite(), [("file.schema", 6)]),
        ([CASE], [("file.schema", 1)]),
    ],
    ids=["sound", "twice", "no-skill", "no-boolean", "split", "newer", "empty", "list"],
)
def test_a_suite_is_read_whole_or_not_at_all(tmp_path: Path, value: object, found: list[tuple[str, int]]) -> None:
    """One finding with its line, and no case."""
    cases, findings = load(tmp_path, value)
    if value == suite(CASE, CASE):
        found = [("suite.duplicate-id", 13)]
    assert findings == found
    assert bool(cases) == (found == [])


@pytest.mark.parametrize(
    ("cases", "words"),
    [
        ([CASE, NOT], ["greeter: validation has no request that should or should not load it"]),
        ([*BOTH[:3]], ["greeter: validation has no request that should not load it"]),
        ([BOTH[1], *BOTH[2:]], ["greeter: train has no request that should load it"]),
    ],
)
def test_a_part_of_one_kind_is_a_warning(tmp_path: Path, cases: list[dict[str, Any]], words: list[str]) -> None:
    """What is missing in which split is said; the suite can be used."""
    write_json(tmp_path / "t.json", suite(*cases))
    loaded, findings = load_triggers(tmp_path / "t.json", shown_as="t.json")
    assert len(loaded) == len(cases)
    assert [(finding.severity.value, finding.message) for finding in findings] == [("warning", word) for word in words]


@pytest.fixture
def locked(cli: Cli) -> Cli:
    """A locked project with a trigger suite of the name of its quality suite."""
    build_small(cli.root)
    write_json(cli.root / "evals/triggers.json", suite(*BOTH, suite="quality"))
    assert cli("lock", "--no-evidence").code == 0
    return cli


def test_the_lock_keeps_it_under_a_name_of_its_own(locked: Cli) -> None:
    """`triggers:NAME`, with the digest of each case."""
    suites = json.loads((locked.root / "skills.lock.json").read_text("utf-8"))["suites"]
    assert sorted(suites) == ["quality", "triggers:quality"]
    assert list(suites["triggers:quality"]["cases"]) == ["t1", "t2", "v1", "v2"]
    assert codes(locked) == set()


@pytest.mark.parametrize(
    "change", [{"query": "Greet us."}, {"should_trigger": False}, {"split": "validation"}, {"id": "t9"}], ids=str
)
def test_a_case_changes_under_a_new_version_only(locked: Cli, change: dict[str, Any]) -> None:
    """What is asked, what it should do, where it belongs."""
    path = locked.root / "evals/triggers.json"
    write_json(path, suite(CASE | change, *BOTH[1:], suite="quality"))
    assert codes(locked) == {"lock.suite-edited"}
    write_json(path, suite(CASE | change, *BOTH[1:], suite="quality", version="1.1.0"))
    assert codes(locked) == set()


def checked(cli: Cli) -> set[tuple[str, str]]:
    """Errors of `check` by path and code, the lock's left out."""
    findings = cli("check", "--format", "json").json["findings"]
    return {
        (one["path"], one["code"])
        for one in findings
        if one["severity"] == "error" and not one["code"].startswith("lock.")
    }


def test_check_reads_it(cli: Cli) -> None:
    """An unknown skill, one name for two suites, a missing file that the contract names."""
    names = ["evals/triggers.json", "evals/more.json", "evals/none.json"]
    build_small(cli.root, suites={"triggers": names})
    write_json(cli.root / "evals/triggers.json", suite(*BOTH, skill="nobody"))
    write_json(cli.root / "evals/more.json", suite(*BOTH))
    assert checked(cli) == {
        ("evals/triggers.json", "suite.unknown-skill"),
        ("evals/more.json", "suite.same-name"),
        ("evals/none.json", "suite.missing"),
    }


def test_a_suite_in_a_skill_is_shown_to_the_candidate(cli: Cli) -> None:
    """So that check refuses it."""
    path = "skills/greeter/triggers.json"
    build_small(cli.root, suites={"triggers": [path]})
    write_json(cli.root / path, suite(*BOTH))
    assert checked(cli) == {(path, "suite.inside-skill")}
