"""Acceptance of the gate, through the command line: what an average lets through, each refused by its own line."""

from __future__ import annotations

import json

import pytest

from tests.acceptance.gated import CORPUS, NAMES, build, checked, refused
from tests.endtoend.scripted import MODES, build_scripted
from tests.project import (
    Cli,
    build_small,
    run_folder,
    small_case,
    small_rules,
)

MISSING = {"japanese-business": {"required": True}}


def test_a_good_project_passes_and_shows_none_of_it(cli: Cli) -> None:
    """Exit 0, and a report without slices, repeats, parts or matrices has no word of them."""
    build(cli, [checked(name) for name in NAMES])
    ran = cli("eval", *MODES)
    assert ran.code == 0, ran.out + ran.err
    for word in ("slice", "flaky", "pass^", "unsafe", "over-refusal", "variance", "worst_case"):
        assert word not in ran.out
    shown = cli("gate", "--format", "json").json
    assert (shown["slices"], shown["behavior"], shown["repeats"]) == ([], {}, None)
    names = {line["name"] for line in shown["lines"]}
    asked = {"worst_case", "failures", "failure_corpus", "required_slices", "slice_quality", "variance"}
    assert names.isdisjoint(asked | {"unsafe_compliance", "over_refusal"})


def test_tst_c07_04_a_failure_that_came_back_blocks(cli: Cli) -> None:
    """One case of the failure corpus fails among many that pass: exit 1, with incident and root cause."""
    cases = [*(checked(f"c{i}") for i in range(9)), checked("old", **CORPUS)]
    build(cli, cases, bad=["old"], gate={"quality_min": 0})
    assert cli("eval", *MODES).code == 1
    code, broken = refused(cli)
    assert (code, set(broken)) == (1, {"failure_corpus"})
    assert broken["failure_corpus"]["detail"] == [
        "old [progressive #1]: incident INC-7 is back (root cause: the greeting was dropped), failed: hello"
    ]
    assert broken["failure_corpus"]["counts"] == {"failed": 1, "scored": 1, "planned": 1}


def test_tst_c07_04_one_without_a_score_is_open(cli: Cli) -> None:
    """A corpus case that could not be scored is neither back nor gone: exit 3."""
    build_small(
        cli.root,
        cases=[*(checked(name) for name in NAMES), checked("old", **CORPUS)],
        rules=[item for name in NAMES for item in small_rules(name)],
    )
    assert cli("eval", *MODES).code == 3
    _, broken = refused(cli)
    assert broken["failure_corpus"]["status"] == "undecided"


def test_tst_c07_05_a_missing_required_slice_is_not_hidden(cli: Cli) -> None:
    """Every trial passes and no case is in the required slice: exit 1, by the line that names it."""
    build(cli, [checked(name) for name in NAMES], slices=MISSING)
    ran = cli("eval", *MODES)
    assert ran.code == 1
    code, broken = refused(cli)
    assert (code, set(broken)) == (1, {"required_slices"})
    assert broken["required_slices"]["detail"] == ["japanese-business: required, and no case of the suites is in it"]
    assert "3/3 of 3 planned" in ran.out


@pytest.mark.parametrize(
    ("selected", "code", "words"),
    [(["one"], 3, "none of its 1 cases is planned"), (["one", "ja"], 0, "")],
    ids=["not planned", "planned"],
)
def test_tst_c07_05_a_slice_must_be_in_the_run(cli: Cli, selected: list[str], code: int, words: str) -> None:
    """A case that is in the suite and not in the run leaves the slice open."""
    cases = [*(checked(name) for name in NAMES), checked("ja", slice="japanese-business")]
    build(cli, cases, slices=MISSING)
    cli("eval", *MODES, *(part for name in selected for part in ("--case", name)))
    ended, broken = refused(cli)
    assert ended == code
    assert words in "".join(broken.get("required_slices", {}).get("detail", ()))


def test_a_slice_that_does_not_apply_is_no_capability_that_is_missing(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first stands apart with its reason and keeps nothing open; the second is a trial without a score: exit 3."""
    build_scripted(cli.root, "print('hello')")
    contract = cli.root / "evals/contract.yaml"
    contract.write_text(
        contract.read_text("utf-8")
        + "slices:\n  tool-action: {required: true}\n  spreadsheet: {not_applicable: no cells here}\n",
        encoding="utf-8",
    )
    suite = cli.root / "evals/quality.json"
    suite.write_text(suite.read_text("utf-8").replace('"id": "one"', '"id": "one", "slice": "tool-action"'), "utf-8")
    assert cli("eval", *MODES).code == 0
    passed = {part["name"]: part for part in cli("gate", "--format", "json").json["slices"]}
    assert (
        passed["spreadsheet"] | {"decision": "not_applicable", "not_applicable": "no cells here", "modes": {}}
        == (passed["spreadsheet"])
    )
    assert passed["tool-action"]["decision"] == "passed"
    # A script for which this machine has no interpreter is rightly asked for, and cannot run.
    monkeypatch.setattr("skillassay.isolation.script.SYSTEM_PATH", "/nowhere")
    script = cli.root / "skills/greeter/scripts/act.py"
    script.rename(script.with_suffix(".sh"))
    rules = cli.root / "evals/fixtures/all.json"
    rules.write_text(rules.read_text("utf-8").replace("act.py", "act.sh"), "utf-8")
    assert cli("eval", *MODES).code == 3
    code, broken = refused(cli)
    assert code == 3
    assert broken["required_slices"]["detail"] == [
        "tool-action: 1 of 1 trials have no score, 1 of them for a missing_required_capability",
        "spreadsheet: not applicable: no cells here",
    ]


def test_an_average_of_99_and_one_critical_failure(cli: Cli) -> None:
    """99 of 100 criteria, every case above the limit, one critical failure: refused by that line alone."""
    words = [f"word{i}" for i in range(5)]
    checks = [{"id": word, "type": "contains", "text": word} for word in words]
    cases = [small_case(f"c{i}", rubric=[], checks=checks, critical=i == 7) for i in range(20)]
    rules = [
        item for case in cases for item in small_rules(case["id"], good=" ".join(words[: 4 if case["critical"] else 5]))
    ]
    build_small(cli.root, cases=cases, rules=rules)
    assert cli("eval", *MODES).code == 1
    result = json.loads((run_folder(cli.root) / "result.json").read_text("utf-8"))
    assert result["score"] == {"k": 99, "n": 100}
    _, broken = refused(cli)
    assert set(broken) == {"critical_failures"}
    assert broken["critical_failures"]["detail"] == ["c7 [progressive #1], failed: word4"]


def test_a_slice_has_a_limit_of_its_own(cli: Cli) -> None:
    """4 of 5 is enough for the gate and not for this slice, which is named with case and limit."""
    words = [f"word{i}" for i in range(5)]
    checks = [{"id": word, "type": "contains", "text": word} for word in words]
    cases = [small_case(name, rubric=[], checks=checks, slice="legal" if name == "two" else "rest") for name in NAMES]
    rules = [item for name in NAMES for item in small_rules(name, good=" ".join(words[:4]))]
    build_small(cli.root, cases=cases, rules=rules, slices={"legal": {"quality_min": 0.9}, "rest": {}})
    assert cli("eval", *MODES).code == 1
    _, broken = refused(cli)
    assert set(broken) == {"slice_quality"}
    assert broken["slice_quality"]["detail"] == ["legal: two [progressive #1]: 4/5, limit 0.9, failed: word4"]
    decisions = {part["name"]: part["decision"] for part in cli("gate", "--format", "json").json["slices"]}
    assert decisions == {"legal": "failed", "rest": "passed"}


@pytest.mark.parametrize(("limit", "line"), [({"worst_case_min": 1}, "worst_case"), ({"failures_max": 0}, "failures")])
def test_worst_case_and_failure_count_have_limits(cli: Cli, limit: dict[str, int], line: str) -> None:
    """One case of three at 4 of 5 passes the gate, and fails a limit on the worst case or on the number of failures."""
    words = [f"word{i}" for i in range(5)]
    checks = [{"id": word, "type": "contains", "text": word} for word in words]
    rules = [i for name in NAMES for i in small_rules(name, good=" ".join(words[: 4 if name == "two" else 5]))]
    build_small(cli.root, cases=[small_case(name, rubric=[], checks=checks) for name in NAMES], rules=rules, gate=limit)
    assert cli("eval", *MODES).code == 1
    _, broken = refused(cli)
    assert set(broken) == {line}
    assert broken[line]["detail"][0].startswith("two [progressive #1]")
