"""``skillassay suite lint`` through the command line: exit codes, what it reads, and that it writes nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.every_byte import found_in, tree_bytes
from tests.acceptance.hidden import MARKS, Hidden
from tests.conftest import Evaluated
from tests.project import BAD, GOOD, HELLO, REPOSITORY, Cli, build_small, edit, rule, small_case, small_rules

FORBIDS = {"id": "no-date", "type": "not_contains", "text": "tomorrow"}
SHORT = {"id": "short", "type": "line_count", "max": 99}
HELLO_CHECK = {"id": "hello", "type": "contains", "text": "hello hello"}
_TRIALS = {f"suite.{name}" for name in ("saturated", "never-passed", "no-difference", "none-better", "flaky")}
PAGE = REPOSITORY / "docs" / "reference" / "suite-lint.md"


def kinds(report: dict[str, Any]) -> dict[str, list[str | None]]:
    """The cases of each kind of finding."""
    found: dict[str, list[str | None]] = {}
    for one in report["findings"]:
        found.setdefault(one["code"], []).append(one["case"])
    return found


def lint(cli: Cli, *arguments: str, code: int = 0) -> Any:
    """The report as JSON."""
    ran = cli("suite", "lint", "--format", "json", *arguments)
    assert (ran.code, ran.err) == (code, "")
    return ran.json


def test_what_must_be_mended_fails(cli: Cli) -> None:
    """Exit 1 for a case that passes on an empty answer; a rubric makes it a warning, which fails under --strict."""
    build_small(cli.root, cases=[small_case("one", checks=[FORBIDS], rubric=[])])
    report = lint(cli, code=1)
    assert report["passed"] is False
    assert kinds(report)["suite.case-passes-idly"] == ["one"]
    (cli.root / "evals/quality.json").write_text(
        json.dumps({"suite": "quality", "version": "1.0.0", "cases": [small_case("one", checks=[SHORT])]}),
        encoding="utf-8",
    )
    assert lint(cli)["passed"] is True
    assert lint(cli, "--strict", code=1)["passed"] is False


def test_two_cases_in_one_kind_are_counted_of_all(cli: Cli) -> None:
    """The summary says x of y cases, and how often no judge was asked."""
    cases = [small_case(name, checks=checks) for name, checks in zip("abc", [[SHORT], [SHORT], []], strict=True)]
    build_small(cli.root, cases=cases)
    report = lint(cli)
    (kind,) = (one for one in report["summary"] if one["code"] == "suite.case-passes-idly")
    assert (kind["severity"], kind["findings"], kind["affected"], kind["of"]) == ("warning", 2, 2, 3)
    assert report["not_looked_at"] == {"criteria": 3, "hidden_cases": 0, "routing_cases": 0}
    assert [one["passes"] for one in report["idle"]] == [["empty", "blank", "refusal", "query", "skill"]] * 2


def test_a_broken_suite_is_told_as_by_check(cli: Cli) -> None:
    """Exit 3 with the findings of `check`: a pattern that matches everything is one of them."""
    build_small(cli.root, cases=[small_case("one", must_match=".*")])
    checked, linted = cli("check"), cli("suite", "lint")
    assert (checked.code, linted.code, linted.out) == (1, 3, "")
    (line,) = (line for line in linted.err.splitlines() if "suite.bad-check" in line)
    assert line in checked.out.splitlines()


@pytest.mark.parametrize("arguments", [(), ("--format", "json"), ("--format", "markdown"), ("--notes", "--no-runs")])
def test_it_writes_nothing(
    evaluated: Evaluated, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    """Every byte below the project is what it was."""
    before = dict(tree_bytes(evaluated.root))
    assert Cli(evaluated.root, capsys)("suite", "lint", *arguments).code == 0
    assert dict(tree_bytes(evaluated.root)) == before


def test_the_table_keeps_to_eighty_columns(evaluated: Evaluated, capsys: pytest.CaptureFixture[str]) -> None:
    """The shipped suites, notes included."""
    out = Cli(evaluated.root, capsys)("suite", "lint", "--notes").out
    assert "suite.case-passes-idly" in out
    assert max(map(len, out.splitlines())) <= 80


def test_without_a_run_it_says_so(cli: Cli) -> None:
    """Nothing is said of trials; a run that is named must be there."""
    build_small(cli.root)
    assert lint(cli)["trials"] is None
    assert "No stored run was looked at" in cli("suite", "lint").out
    assert cli("suite", "lint", "--run", "2026").code == 3
    assert cli("suite", "lint", "--run", "2026", "--no-runs").code == 2


@pytest.fixture
def ran_twice(cli: Cli) -> Cli:
    """A project with two comparable runs of two repeats: a saturated case, one that never passes, and a sound one."""
    rules = [rule("one", {"text": GOOD}), rule("two", {"text": BAD}), *small_rules("three")]
    build_small(cli.root, rules=rules)
    for _ in range(2):
        assert cli("--quiet", "eval", "--repeats", "2").code == 1
    return cli


def test_stored_runs_show_which_cases_tell_nothing_apart(ran_twice: Cli) -> None:
    """Both runs count together: 3 modes, 2 repeats, 2 runs are 12 trials a case, all of them scored."""
    report = lint(ran_twice)
    found = kinds(report)
    assert (found["suite.saturated"], found["suite.never-passed"]) == (["one"], ["two"])
    assert found["suite.always-fails"] == ["two"]
    assert not {code for code, cases in found.items() if "three" in cases} & _TRIALS
    trials = report["trials"]
    assert (len(trials["runs"]), trials["trials"], trials["scored"], trials["fixture"]) == (2, 36, 36, True)
    (kind,) = (one for one in report["summary"] if one["code"] == "suite.saturated")
    assert (kind["affected"], kind["of"]) == (1, 3)


def test_a_named_run_is_looked_at_alone(ran_twice: Cli) -> None:
    """Six trials a case, of that run."""
    first = min(path.name for path in (ran_twice.root / ".skillassay/runs").iterdir())
    trials = lint(ran_twice, "--run", first)["trials"]
    assert (trials["runs"], trials["trials"]) == ([first], 18)


def test_a_run_under_other_terms_is_set_aside(ran_twice: Cli) -> None:
    """The newest run, and what compares with it by the rules of `compare`; the reason is told."""
    edit(ran_twice.root / "evals/contract.yaml", "version: 1.0.0", "version: 1.0.0\ngate:\n  failures_max: 70")
    assert ran_twice("--quiet", "eval", "--repeats", "2").code == 1
    report = lint(ran_twice)
    assert len(report["trials"]["runs"]) == 1
    assert [one["why"].startswith("gate.") for one in report["set_aside"]] == [True, True]


def test_a_case_edited_since_is_set_aside(ran_twice: Cli) -> None:
    """What its trials showed, they showed of another case."""
    suite = ran_twice.root / "evals/quality.json"
    edit(suite, '"Greet one."', '"Greet one, please."')
    report = lint(ran_twice)
    assert report["trials"]["edited"] == ["quality/one"]
    assert "suite.saturated" not in kinds(report)


def test_a_damaged_run_is_set_aside_and_an_error_by_name(ran_twice: Cli) -> None:
    """Only what was asked for must be readable."""
    newest = max((ran_twice.root / ".skillassay/runs").iterdir())
    (newest / "trials.jsonl").write_bytes(b"{}\n")
    report = lint(ran_twice)
    assert [one["run"] for one in report["set_aside"]] == [newest.name]
    assert len(report["trials"]["runs"]) == 1
    assert ran_twice("suite", "lint", "--run", newest.name).code == 3


def test_the_hidden_holdout_is_counted_and_not_read(hidden: Hidden) -> None:
    """No text of it in any output, whether or not its folder is named; its trials are set aside."""
    assert hidden.cli("--quiet", "eval", "--repeats", "2").code in {0, 1}
    for arguments in ((), ("--format", "json"), ("--format", "markdown"), ("--notes",)):
        ran = hidden.cli("suite", "lint", *arguments)
        assert ran.code == 0
        assert not found_in((ran.out + ran.err).encode(), MARKS)
    report = lint(hidden.cli)
    assert report["not_looked_at"]["hidden_cases"] == 1
    assert report["trials"]["hidden_trials"] == 6
    assert "h-ferry" not in json.dumps(report)


def test_every_field_and_kind_is_documented(cli: Cli) -> None:
    """suite-lint.md names each field of the JSON and each kind that a lint can find."""
    build_small(cli.root)
    page = PAGE.read_text(encoding="utf-8")
    report = lint(cli)
    names = {*report, *report["not_looked_at"], *report["findings"][0], *report["summary"][0]}
    assert {name for name in names if f"`{name}`" not in page} == set()
    registered = {
        code
        for folder in ("suites/lints/*.py", "scoring/discrimination.py")
        for path in Path(REPOSITORY / "skillassay").glob(folder)
        for code in re.findall(r'register\(\s*"(suite\.[a-z-]+)"', path.read_text(encoding="utf-8"))
    }
    assert len(registered) > 20
    assert {code for code in registered if f"`{code}`" not in page} == set()


def test_check_does_none_of_it(cli: Cli) -> None:
    """`check` stays as fast as it is: no kind of the lint is among its findings."""
    build_small(cli.root, cases=[small_case("one", checks=[FORBIDS, HELLO_CHECK], rubric=[HELLO])])
    assert "suite.no-negative-control" in kinds(lint(cli))
    assert "suite.no-negative-control" not in cli("check", "--notes").out
