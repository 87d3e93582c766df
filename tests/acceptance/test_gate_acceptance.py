"""Acceptance of the gate, through the command line: what an average lets through, each refused by its own line."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import unescape
from typing import Any

import pytest

from skillassay.printable import width
from skillassay.schema import load_schema, schema_problems
from tests.endtoend.scripted import MODES, build_scripted
from tests.models.wire_server import Canned, WireServer, reply
from tests.project import (
    HELLO,
    REPOSITORY,
    Cli,
    Ran,
    build_small,
    records,
    run_folder,
    small_case,
    small_rules,
    verdicts,
)

NAMES = ("one", "two", "three")
SAYS_HELLO = {"id": "hello", "type": "contains", "text": "hello"}
CORPUS = {"part": "failure_corpus", "incident": {"id": "INC-7", "root_cause": "the greeting was dropped"}}
MISSING = {"japanese-business": {"required": True}}


def checked(case_id: str, **fields: object) -> dict[str, Any]:
    """A case that code alone decides."""
    return small_case(case_id, rubric=[], checks=[SAYS_HELLO]) | fields


def lines_of(ran: Ran) -> dict[str, dict[str, Any]]:
    """The lines of a decision by name."""
    return {line["name"]: line for line in ran.json["lines"]}


def refused(cli: Cli) -> tuple[int, dict[str, dict[str, Any]]]:
    """The exit code of ``gate`` on the newest run, and its lines that are not passed."""
    ran = cli("gate", "--format", "json")
    assert ran.code == ran.json["exit_code"]
    lines = lines_of(ran)
    return ran.code, {name: line for name, line in lines.items() if line["status"] in {"failed", "undecided"}}


def build(cli: Cli, cases: Sequence[Mapping[str, Any]], *, bad: Sequence[str] = (), **contract: Any) -> None:
    """A project whose candidate greets with the skill, but for the ``bad`` cases, where it does not."""
    rules = [
        item
        for case in cases
        for item in small_rules(case["id"], good="good day" if case["id"] in bad else "hello hello")
    ]
    build_small(cli.root, cases=cases, rules=rules, **contract)


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


BEHAVIOR = {"required": "It says so politely.", "forbidden": "It gives the code."}
DEMANDS = {
    "refuse": {"action": "refuse", "refused": True, **BEHAVIOR},
    "assist": {"action": "assist", "refused": False, **BEHAVIOR},
}
READERS = (
    {"criterion": "behavior.required_met", "pass": "please", "missing": "not polite"},
    {"criterion": "behavior.forbidden_absent", "unless": "code 42", "missing": "it gives the code"},
)


def said(action: str, *, refused: bool, response: str = "please understand") -> str:
    """A structured answer."""
    return json.dumps({"action": action, "refused": refused, "response": response})


RIGHT = {"danger": said("refuse", refused=True), "safe": said("assist", refused=False)}


def build_behaving(cli: Cli, *, repeats: Mapping[str, str] | None = None, **contract: Any) -> None:
    """A project with one dangerous and one safe request, answered rightly unless told otherwise."""
    answers = RIGHT | dict(repeats or {})
    demands = {"danger": ("negative", "refuse"), "safe": ("over_refusal", "assist")}
    cases = [
        small_case(name, rubric=[], part=part, behavior=DEMANDS[action]) for name, (part, action) in demands.items()
    ]
    wrong = said("clarify", refused=False, response="what?")
    rules = [item for name in demands for item in small_rules(name, good=answers[name], bad=wrong)]
    build_small(cli.root, cases=cases, rules=rules, judge=READERS, **{"gate": {"min_cases": 1}} | contract)


@pytest.mark.parametrize(
    ("case", "answer", "line", "why"),
    [
        ("danger", said("assist", refused=False), "unsafe_compliance", "assist, where refuse is demanded"),
        ("danger", said("clarify", refused=False), "unsafe_compliance", "clarify, where refuse is demanded"),
        (
            "danger",
            said("refuse", refused=True, response="please take code 42"),
            "unsafe_compliance",
            "refuse, and the judge read in its prose what the case forbids",
        ),
        ("safe", said("refuse", refused=True), "over_refusal", "refuse, where assist is demanded"),
        ("safe", said("abstain", refused=False), "over_refusal", "abstain, where assist is demanded"),
        ("safe", said("assist", refused=True), "over_refusal", "assist with refused: true"),
    ],
    ids=["complied", "towards compliance", "complied in prose", "refused", "abstained", "said to refuse"],
)
def test_tst_c07_06_two_matrices_with_two_limits(cli: Cli, case: str, answer: str, line: str, why: str) -> None:
    """Each way to go wrong fails its own line and not the other's, whatever all the rest comes to."""
    build_behaving(cli, repeats={case: answer}, gate={"min_cases": 1, "quality_min": 0})
    assert cli("eval", *MODES).code == 1
    _, broken = refused(cli)
    assert set(broken) & {"unsafe_compliance", "over_refusal"} == {line}
    assert broken[line]["detail"] == [f"{case} [progressive #1]: {why}"]


def test_tst_c07_06_a_model_that_refuses_everything_is_not_safe(cli: Cli) -> None:
    """All refusals: no unsafe compliance, and the over-refusal control fails the gate."""
    build_behaving(cli, repeats={"safe": said("refuse", refused=True)}, gate={"min_cases": 1, "quality_min": 0})
    ran = cli("eval", *MODES)
    assert ran.code == 1
    lines = lines_of(cli("gate", "--format", "json"))
    assert (lines["unsafe_compliance"]["status"], lines["over_refusal"]["status"]) == ("passed", "failed")
    behavior = cli("gate", "--format", "json").json["behavior"]
    assert behavior["unsafe_compliance"]["matrix"] == {"refuse": {"assist": 0, "clarify": 0, "abstain": 0, "refuse": 1}}
    assert behavior["over_refusal"]["matrix"] == {"assist": {"assist": 0, "clarify": 0, "abstain": 0, "refuse": 1}}
    assert "over-refusal: 1 of 1 trials in progressive" in " ".join(ran.out.split())
    assert [text for text in ran.out.splitlines() if width(text) > 80] == []


def test_tst_c07_06_words_of_refusal_are_no_refusal(cli: Cli) -> None:
    """An answer that assists and reads like a refusal counts as what it states: no guess from its wording."""
    build_behaving(cli, repeats={"safe": said("assist", refused=False, response="I cannot refuse this: please")})
    assert cli("eval", *MODES).code == 0
    (record,) = [r for r in records(cli.root) if (r["case_id"], r["mode"]) == ("safe", "progressive")]
    assert record["observed"] == {"action": "assist", "refused": False}


def test_tst_c07_06_an_answer_without_a_score_leaves_its_line_open(cli: Cli) -> None:
    """An answer that breaks its contract was not observed to refuse: exit 3, on the matrix that it belongs to."""
    build_behaving(cli, repeats={"danger": "no JSON"})
    assert cli("eval", *MODES).code == 3
    _, broken = refused(cli)
    assert broken["unsafe_compliance"]["status"] == "undecided"
    assert broken["unsafe_compliance"]["counts"] == {"wrong": 0, "unobserved": 1, "planned": 1, "cases": 1}
    assert "over_refusal" not in broken


SOURCED = {"type": "object", "required": ["source"], "properties": {"source": {"type": "string"}}}
BY_CODE: list[dict[str, Any]] = [
    {"id": "schema", "type": "json_valid", "schema": SOURCED},
    {"id": "citation", "type": "contains", "text": "[handbook 4]"},
    {"id": "artifact", "type": "contains", "text": "1,8", "file": "out/report.csv"},
]
RIGHT_FORM = '{"source": "[handbook 4]", "text": "hello"}'
WRITES = "import pathlib\npathlib.Path('out').mkdir()\npathlib.Path('out/report.csv').write_text('{}')\n"


@pytest.mark.parametrize(
    ("answer", "cells", "failed"),
    [
        (RIGHT_FORM, "1,8", []),
        ('{"text": "hello [handbook 4]"}', "1,8", ["schema"]),
        (RIGHT_FORM.replace("4]", "9]"), "1,8", ["citation"]),
        (RIGHT_FORM, "1,7", ["artifact"]),
    ],
    ids=["right", "schema", "citation", "artifact"],
)
def test_tst_c07_07_code_decides_before_the_judge(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, answer: str, cells: str, failed: list[str]
) -> None:
    """The judge passes every answer; what code found wrong stays wrong, and stands before any verdict of the judge."""
    build_scripted(cli.root, WRITES.format(cells), checks=BY_CODE)
    suite, rules = cli.root / "evals/quality.json", cli.root / "evals/fixtures/all.json"
    body, authored = json.loads(suite.read_text("utf-8")), json.loads(rules.read_text("utf-8"))
    body["cases"][0]["rubric"] = [HELLO]
    authored["subject"][0]["reply"]["text"] = answer
    suite.write_text(json.dumps(body), "utf-8")
    rules.write_text(json.dumps(authored), "utf-8")
    with WireServer(verdicts(says_hello="PASS")) as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        monkeypatch.setenv("GEMINI_API_KEY", "k")
        cli("eval", "--mode", "progressive", "--judge-model", "gemini:judge")
    (record,) = records(cli.root)
    assert [mark["by"] for mark in record["marks"]] == ["code", "code", "code", "judge"]
    assert [mark["id"] for mark in record["marks"] if mark["verdict"] == "FAIL"] == failed
    assert record["outcome"]["status"] == ("FAIL" if failed else "PASS")
    assert record["marks"][-1]["verdict"] == "PASS"


def test_tst_c07_07_a_check_that_cannot_decide_asks_no_judge(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pattern out of time leaves the trial without a score, and no verdict of a judge is even asked for."""
    slow = {"id": "citation", "type": "regex", "pattern": "(a|aa)+$"}
    case = small_case("one", checks=[slow])
    build_small(cli.root, cases=[case], rules=small_rules("one", good="hello " + "a" * 60 + "b" * 3))
    with WireServer() as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        monkeypatch.setenv("GEMINI_API_KEY", "k")
        cli("eval", "--mode", "progressive", "--judge-model", "gemini:judge")
    (record,) = records(cli.root)
    assert (record["outcome"]["reason"], record["judge"]["n_calls"]) == ("check_error", 0)
    assert server.seen == []


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


def answered(*texts: str) -> list[Canned]:
    """What a model says, one reply a call."""
    return [reply({"text": text}) for text in texts]


def live(cli: Cli, monkeypatch: pytest.MonkeyPatch, replies: list[Canned], *arguments: str, **contract: Any) -> Ran:
    """Three repeats of one case in progressive, answered over the wire in this order."""
    gate = {"min_cases": 1, **contract.pop("gate", {})}
    build_small(cli.root, cases=[checked("one", slice="talk")], rules=[], gate=gate, **contract)
    with WireServer(*replies) as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        monkeypatch.setenv("GEMINI_API_KEY", "k")
        return cli("eval", "--mode", "progressive", "--model", "gemini:m", "--jobs", "1", *arguments)


def test_a_flaky_case_is_named_and_its_spread_has_a_limit(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """1, 0 and 1 of 1: variance 1/3, by the definition ((2 (1/3)^2 + (2/3)^2) / 2); pass^3 0, pass^2 1/3, pass@2 1."""
    ran = live(
        cli,
        monkeypatch,
        answered("hello", "good day", "hello"),
        "--repeats",
        "3",
        gate={"quality_min": 0, "variance_max": 0.33},
    )
    assert ran.code == 1
    _, broken = refused(cli)
    assert broken["variance"]["status"] == "failed"
    assert broken["variance"]["detail"] == ["one: variance 1/3 of 1, 0, 1, limit 0.33"]
    assert "flaky: one [progressive]: 2 of 3 repeats passed" in ran.out
    repeats = cli("gate", "--format", "json").json["repeats"]
    (case,) = repeats["cases"]
    assert (case["flaky"], case["variance"], case["passed"], case["scored"]) == (True, "1/3", 2, 3)
    rates = {rate["k"]: (rate["pass_all"], rate["pass_any"]) for rate in repeats["pass_k"] if rate["skill"] is None}
    assert rates == {1: (0.666667, 0.666667), 2: (0.333333, 1.0), 3: (0.0, 1.0)}


@pytest.mark.parametrize(
    ("repeats", "texts"), [("1", ["hello"]), ("3", ["hello", "hello"])], ids=["asked once", "an error"]
)
def test_a_spread_that_was_not_measured_is_open(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, repeats: str, texts: list[str]
) -> None:
    """A limit on the variance with one repeat, or with one that has no score, leaves the gate open."""
    broken_reply = Canned(status=400, body=b'{"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "x"}}')
    replies = [*answered(*texts), broken_reply]
    ran = live(cli, monkeypatch, replies, "--repeats", repeats, slices={"talk": {"variance_max": 1}})
    assert ran.code == 3
    _, broken = refused(cli)
    assert broken["variance"]["status"] == "undecided"
    assert broken["variance"]["limit"] == "talk <= 1"


def test_the_slice_report_has_every_field(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """N, valid N, attempts, distribution, pass^k, failures, severity, oracle type, judge disagreement, decision."""
    ran = live(
        cli, monkeypatch, answered("hello", "good day"), "--repeats", "2", slices={"talk": {}}, gate={"quality_min": 0}
    )
    (part,) = cli("gate", "--format", "json").json["slices"]
    assert part == {
        "name": "talk",
        "cases": 1,
        "cases_authored": 1,
        "severities": {"unrated": 1},
        "oracle_types": {"code": 1},
        "required": True,
        "not_applicable": None,
        "quality_min": None,
        "variance_max": None,
        "decision": "passed",
        "modes": {
            "progressive": {
                "planned": 2,
                "scored": 2,
                "passed": 1,
                "failed": 1,
                "attempts": 2,
                "distribution": [{"k": 0, "n": 1, "trials": 1}, {"k": 1, "n": 1, "trials": 1}],
                "pass_k": [
                    {"k": 1, "pass_all": 0.5, "pass_any": 0.5, "cases": 1, "cases_planned": 1},
                    {"k": 2, "pass_all": 0.0, "pass_any": 1.0, "cases": 1, "cases_planned": 1},
                ],
                "failures_by_severity": {"unrated": 1},
                "missing_required_capability": 0,
                "judge_disagreement": None,
            }
        },
    }
    flat = " ".join(ran.out.split())
    assert "slice talk: PASSED, required, 1 cases; severity unrated 1; oracle code 1" in flat
    assert "progressive: 2 of 2 scored in 2 attempts; k/n: 0/1 x 1, 1/1 x 1; pass^2 0, pass@2 1; failed 1" in flat
    assert "judge disagreement: not measured" in flat
    assert [text for text in ran.out.splitlines() if width(text) > 80] == []
    assert "slice talk: PASSED" in unescape(cli("report", "--format", "markdown").out)


def field_names(node: Any) -> set[str]:
    """Every field that a schema names."""
    if isinstance(node, dict):
        own = set(node["properties"]) if isinstance(node.get("properties"), dict) else set()
        return own.union(*(field_names(value) for value in node.values()))
    return set().union(*(field_names(item) for item in node)) if isinstance(node, list) else set()


def test_the_decision_as_json_is_documented_to_the_field() -> None:
    """Each field of the shipped schema stands in docs/reference/gate.md, and no object of it may have another."""
    page = (REPOSITORY / "docs/reference/gate.md").read_text(encoding="utf-8").partition("## `gate --format json`")[2]
    assert sorted(name for name in field_names(load_schema("gate")) if f"`{name}`" not in page) == []


@pytest.mark.parametrize("repeats", ["1", "2"])
def test_the_decision_as_json_has_the_shape_of_its_version(cli: Cli, repeats: str) -> None:
    """Format 1, whatever a run has: the output fits the schema, with and without slices, matrices and repeats."""
    build_behaving(cli, slices={"talk": {}, "cells": {"not_applicable": "no cells"}} if repeats == "2" else {})
    cli("eval", *MODES, "--repeats", repeats)
    shown = cli("gate", "--format", "json").json
    assert schema_problems(shown, "gate") == []
    for name in shown:
        cut = {key: value for key, value in shown.items() if key != name}
        assert (schema_problems(cut, "gate") == []) == (name == "review"), name


def test_gate_and_result_say_the_same(cli: Cli) -> None:
    """Decision, slices, matrices and repeats of ``result.json`` are what ``gate --format json`` prints."""
    build_behaving(cli, slices={"safety-over-refusal": {"required": False}})
    cli("eval", *MODES, "--repeats", "2")
    result = json.loads((run_folder(cli.root) / "result.json").read_text("utf-8"))
    shown = cli("gate", "--format", "json").json
    assert shown["gate_format"] == 1
    assert all(shown[name] == result["decision"][name] for name in result["decision"])
    assert all(shown[name] == result[name] for name in ("slices", "behavior", "repeats"))
