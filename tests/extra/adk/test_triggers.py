"""`skillassay triggers` through both engines: what a subject loads is its own."""

from __future__ import annotations

from tests.project import Cli, build_small, rule, write_json

LOAD = {"calls": [{"name": "load_skill", "args": {"skill_name": "greeter"}}]}


def test_each_engine_has_a_table_of_its_own(cli: Cli) -> None:
    """A model that loads the skill only where it stands in the prompt: in the loop, and never through ADK."""
    rules = [
        rule("one", {"text": "hello hello"}, prompt=["Say hello twice"]),
        rule("one", LOAD, prompt=["<available_skills>"], tools=["load_skill"]),
        rule("one", {"text": "good day"}),
    ]
    build_small(cli.root, rules=rules)
    case = {"id": "hit", "query": "Greet one.", "should_trigger": True, "split": "train"}
    head = {"triggers": 1, "suite": "greetings", "version": "1.0.0", "skill": "greeter"}
    write_json(cli.root / "evals/triggers.json", {**head, "cases": [case]})
    ran = cli("triggers", "--subject", "loop", "--subject", "adk", "--repeats", "2", "--format", "json")
    assert ran.code == 1, ran.err
    rates = {one["subject"]: (one["status"], one["rate"]["k"], one["rate"]["n"]) for one in ran.json["cases"]}
    assert rates == {"loop": ("PASS", 2, 2), "adk": ("FAIL", 0, 2)}
    assert [(skill["subject"], skill["recall"]["k"]) for skill in ran.json["skills"]] == [("loop", 1), ("adk", 0)]


def test_adk_loads_what_a_request_is_for(cli: Cli) -> None:
    """A model that loads the skill whatever the prompt says of it passes through ADK as well."""
    rules = [
        rule("one", {"text": "hello hello"}, prompt=["Say hello twice"]),
        rule("one", LOAD, tools=["load_skill"]),
    ]
    build_small(cli.root, rules=rules)
    case = {"id": "hit", "query": "Greet one.", "should_trigger": True, "split": "train"}
    head = {"triggers": 1, "suite": "greetings", "version": "1.0.0", "skill": "greeter"}
    write_json(cli.root / "evals/triggers.json", {**head, "cases": [case]})
    assert cli("triggers", "--subject", "adk", "--repeats", "2").code == 0
