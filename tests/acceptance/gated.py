"""Projects for acceptance tests of the gate: cases that code decides, behaviour cases, and the lines of a decision."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.project import (
    Cli,
    Ran,
    build_small,
    small_case,
    small_rules,
)

NAMES = ("one", "two", "three")

SAYS_HELLO = {"id": "hello", "type": "contains", "text": "hello"}

CORPUS = {"part": "failure_corpus", "incident": {"id": "INC-7", "root_cause": "the greeting was dropped"}}


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
