"""`skillassay triggers`: how often does a request load its skill, and what is shown of which split?"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.models.wire_server import Canned, WireServer, chat, reply
from tests.project import Cli, build_small, edit, rule, write_json

LOAD = {"calls": [{"name": "load_skill", "args": {"skill_name": "greeter"}}]}
CALL = {"functionCall": {"name": "load_skill", "args": {"skill_name": "greeter"}}}
DOWN = {"error": {"code": 500, "status": "INTERNAL", "message": "down"}}
RULES = [
    rule("one", {"text": "hello"}, prompt=["Say hello twice"]),
    rule("one", LOAD, tools=["load_skill"]),
    rule("two", {"text": "good day"}),
    rule("three", DOWN),
]
LOADED, LEFT, BLOCKED = (reply(CALL), reply({"text": "hi"})), (reply({"text": "hi"}),), (reply(finish="SAFETY"),)


def case(case_id: str, query: str, *, should: bool, split: str = "train") -> dict[str, Any]:
    """A case whose query is answered by the rules of that name."""
    return {"id": case_id, "query": f"Greet {query}.", "should_trigger": should, "split": split}


HIT, MISS = case("hit", "one", should=True), case("miss", "two", should=True)
FALSE, LEAVE = case("false", "one", should=False), case("leave", "two", should=False)
OPEN = case("open", "three", should=False)
VALIDATION = [
    case("v-hit", "one", should=True, split="validation"),
    case("v-no", "two", should=False, split="validation"),
]


def project(cli: Cli, *cases: dict[str, Any], **contract: Any) -> None:
    """A small project with these cases."""
    build_small(cli.root, rules=RULES, **contract)
    head = {"triggers": 1, "suite": "greetings", "version": "1.0.0", "skill": "greeter"}
    write_json(cli.root / "evals/triggers.json", {**head, "cases": list(cases)})


def looks(cli: Cli) -> list[dict[str, Any]]:
    """What was written down."""
    path = cli.root / ".skillassay/triggers.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


@pytest.mark.parametrize(
    ("cases", "code"),
    [
        ([HIT, LEAVE], 0),
        ([HIT, MISS], 1),
        ([FALSE], 1),
        ([HIT, OPEN], 3),
        ([FALSE, OPEN], 1),
    ],
    ids=["as-they-should", "missed", "false", "open", "false-and-open"],
)
def test_the_decision(cli: Cli, cases: list[dict[str, Any]], code: int) -> None:
    """0 all as they should, 1 one otherwise, 3 one without a score; a provider that is down passes no negative."""
    project(cli, *cases)
    assert cli("triggers").code == code


def test_the_tables(cli: Cli) -> None:
    """Each cell has one request and its three runs; the false, missed and open ones are named."""
    project(cli, HIT, MISS, FALSE, LEAVE, OPEN)
    ran = cli("triggers", "--format", "json")
    (skill,) = ran.json["skills"]
    cells = ("true_loaded", "missed", "false_loaded", "true_left", "open_should", "open_should_not")
    assert [skill["requests"][cell] for cell in cells] == [1, 1, 1, 1, 0, 1]
    assert [skill["runs"][cell] for cell in cells] == [3, 3, 3, 3, 0, 3]
    assert (skill["false_triggers"], skill["missed"], skill["open"]) == (["false"], ["miss"], ["open"])
    assert [(skill[name]["k"], skill[name]["n"]) for name in ("recall", "precision")] == [(1, 2), (1, 2)]
    open_case = next(one for one in ran.json["cases"] if one["id"] == "open")
    assert (open_case["status"], open_case["unscored"]) == ("UNSCORED", {"provider_error": 3})
    assert open_case["rate"] == {"k": 0, "n": 0, "interval": None}
    assert (ran.json["exit_code"], ran.code) == (1, 1)


def test_the_terminal_names_them_too(cli: Cli) -> None:
    """On lines of 80 columns, with the reason of what is open."""
    project(cli, HIT, MISS, FALSE, OPEN)
    ran = cli("triggers", "--repeats", "2")
    assert "FIXTURE RUN" in ran.err
    assert max(map(len, ran.out.splitlines())) <= 80
    for line in ("  false      false", "  missed     miss", "  open       open"):
        assert line in ran.out.splitlines()
    assert "loaded greeter in 2 of 2 scored [0.34, 1.00]; it should\n" in ran.out
    assert "unscored: 2 provider_error; provider_error (candidate): HTTP 500" in ran.out
    assert "1/4 requests of train as they should, 2 runs each" in ran.out


def asked(cli: Cli, monkeypatch: pytest.MonkeyPatch, *runs: tuple[Canned, ...]) -> Any:
    """The request `hit`, run as often as told on a server that answers so."""
    monkeypatch.setenv("GEMINI_API_KEY", "k")
    project(cli, HIT)
    with WireServer(*(one for run in runs for one in run)) as server:
        options = ("--model", "gemini:some", "--base-url", server.base_url, "--repeats", str(len(runs)))
        ran = cli("triggers", *options, "--format", "json")
        assert len(server.seen) == sum(map(len, runs))
    (one,) = ran.json["cases"]
    return ran.code, one["status"], (one["rate"]["k"], one["rate"]["n"], one["planned"])


def test_a_rate_is_over_the_runs(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of three on a model over HTTP."""
    assert asked(cli, monkeypatch, LOADED, LEFT, LOADED) == (0, "PASS", (2, 3, 3))


def test_an_error_is_not_scored(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of two scored are decided, and the run is not complete."""
    assert asked(cli, monkeypatch, LOADED, BLOCKED, LOADED) == (3, "PASS", (2, 2, 3))


def test_an_error_behind_a_load_is_not_scored(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loaded, then blocked: neither loaded nor not."""
    assert asked(cli, monkeypatch, (reply(CALL), *BLOCKED), LEFT) == (3, "UNSCORED", (0, 1, 2))


def test_a_skill_loaded_late_counts(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind another tool's call, which decides nothing."""
    first = reply({"functionCall": {"name": "load_skill", "args": {"skill_name": "no-such"}}})
    assert asked(cli, monkeypatch, (first, *LOADED)) == (0, "PASS", (1, 1, 1))


def test_an_openai_endpoint_is_asked_as_well(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chat completion with the call, then the answer."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    project(cli, HIT)
    function = {"name": "load_skill", "arguments": json.dumps({"skill_name": "greeter"})}
    call = chat(finish="tool_calls", tool_calls=[{"id": "1", "type": "function", "function": function}])
    with WireServer(call, chat("hi")) as server:
        ran = cli("triggers", "--model", "openai:some", "--base-url", f"{server.base_url}/v1", "--repeats", "1")
    assert ran.code == 0, ran.err + ran.out


def test_the_threshold_is_the_contracts(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of three do not reach 0.7."""
    monkeypatch.setenv("GEMINI_API_KEY", "k")
    project(cli, HIT, triggers={"threshold": 0.7})
    with WireServer(*LOADED, *LEFT, *LOADED) as server:
        ran = cli("triggers", "--model", "gemini:some", "--base-url", server.base_url, "--format", "json")
    assert (ran.code, ran.json["threshold"]) == (1, "7/10")


def test_validation_is_not_looked_at_unasked(cli: Cli) -> None:
    """Neither asked, nor shown, nor in any number, nor written down; that there is some is said."""
    project(cli, HIT, LEAVE, *VALIDATION)
    for form in ("table", "json"):
        ran = cli("triggers", "--format", form)
        assert ran.code == 0
        assert "v-hit" not in ran.out
        assert "v-no" not in ran.out
    assert ran.json["cases_in_other_split"] == 2
    assert sum(ran.json["skills"][0]["requests"].values()) == 2
    assert "2 more in validation, not shown" in cli("triggers").out
    assert looks(cli) == []


def test_a_split_that_is_asked_for_stands_alone(cli: Cli) -> None:
    """Nothing of the training part is in it."""
    project(cli, HIT, FALSE, *VALIDATION)
    ran = cli("triggers", "--split", "validation", "--format", "json")
    assert ran.code == 0
    assert [one["id"] for one in ran.json["cases"]] == ["v-hit", "v-no"]
    assert sum(ran.json["skills"][0]["requests"].values()) == 2


def test_every_look_is_counted(cli: Cli) -> None:
    """A line for each run, and how many states of the skill were tried on the same cases."""
    project(cli, HIT, LEAVE, *VALIDATION)
    first = cli("triggers", "--split", "validation").out
    assert "looked at 1 time here, with 1 state of skills/greeter" in " ".join(first.split())
    edit(cli.root / "skills/greeter/SKILL.md", "Says hello the way", "Says hello to anybody the way")
    second = cli("triggers", "--split", "validation", "--format", "json").json["looks"]
    assert second == [{"suite": "greetings", "skill": "skills/greeter", "n_looks": 2, "n_states": 2}]
    third = " ".join(cli("triggers", "--split", "validation", "--case", "v-no").out.split())
    assert "looked at 3 times here, with 2 states of skills/greeter; what is chosen by it is tuned on it" in third
    assert [sorted(line["cases"]) for line in looks(cli)] == [["v-hit", "v-no"], ["v-hit", "v-no"], ["v-no"]]


def test_a_look_is_written_down_before_a_request_is_sent(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks and leaves no line: where it cannot be written, nothing is asked; exit 3."""
    monkeypatch.setenv("GEMINI_API_KEY", "k")
    project(cli, *VALIDATION)
    (cli.root / ".skillassay").mkdir()
    (cli.root / ".skillassay/triggers.jsonl").symlink_to(cli.root / "elsewhere")
    with WireServer(*LEFT) as server:
        ran = cli("triggers", "--split", "validation", "--model", "gemini:some", "--base-url", server.base_url)
        assert server.seen == []
    assert ran.code == 3
    assert "is a link" in ran.err
    assert not (cli.root / "elsewhere").exists()


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--case", "v-hit"], 3, "the 1 that fit are in validation: --split validation"),
        (["--case", "nobody"], 2, "there is no trigger case 'nobody'"),
        (["--skill", "nobody"], 2, "there is no skill 'nobody'"),
        (["--repeats", "0"], 2, "0 is not in the range"),
        (["--split", "all"], 2, "'all' is not one of"),
        (["--subject", "codex", "--model", "fixture"], 2, "codex does not tell which skills it loaded"),
        (["--model", "replay:x"], 2, "no trigger case can be answered from a recording"),
    ],
)
def test_what_cannot_be_asked(cli: Cli, options: list[str], code: int, words: str) -> None:
    """Said before anything is sent."""
    project(cli, HIT, *VALIDATION)
    ran = cli("triggers", *options)
    assert (ran.code, ran.out) == (code, "")
    assert words in ran.err


def test_no_suite_is_no_success(cli: Cli) -> None:
    """Exit 3 with what to write."""
    build_small(cli.root)
    ran = cli("triggers")
    assert ran.code == 3
    assert "write evals/triggers.json" in ran.err


def test_two_skills_are_told_apart(cli: Cli) -> None:
    """A request that loads another skill is no load of its own, and the other is named."""
    project(cli, HIT)
    other = cli.root / "skills/other"
    shutil.copytree(cli.root / "skills/greeter", other)
    text = (other / "SKILL.md").read_text("utf-8")
    (other / "SKILL.md").write_text(text.replace("greeter", "other"), encoding="utf-8")
    edit(cli.root / "evals/triggers.json", '"skill": "greeter"', '"skill": "other"')
    ran = cli("triggers", "--format", "json")
    (one,) = ran.json["cases"]
    assert (one["status"], one["rate"]["k"], one["other_skills"]) == ("FAIL", 0, {"greeter": 3})
    assert [skill["skill"] for skill in ran.json["skills"]] == ["other"]


def test_under_retention_hash_no_word_of_a_model_is_told(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A skill's name that a model made up, and an error's message."""
    monkeypatch.setenv("GEMINI_API_KEY", "k")
    project(cli, HIT, retention="hash")
    made_up = reply({"functionCall": {"name": "load_skill", "args": {"skill_name": "zzsecret"}}})
    with WireServer(made_up, *LOADED, reply({"text": "zzsecret"}, finish="zzsecret")) as server:
        ran = cli("triggers", "--model", "gemini:some", "--base-url", server.base_url, "--repeats", "2")
    assert ran.code == 3
    assert "zzsecret" not in ran.out + ran.err
    assert "loaded greeter in 1 of 1 scored, 2 planned" in ran.out


def test_the_page_shows_a_suite_that_is_one(cli: Cli) -> None:
    """The JSON of docs/reference/triggers.md is read as it stands."""
    page = (Path(__file__).parents[2] / "docs/reference/triggers.md").read_text("utf-8")
    build_small(cli.root)
    suite = page.split("```json\n")[1].split("```")[0]
    (cli.root / "evals/triggers.json").write_text(suite, encoding="utf-8")
    found = cli("check", "--format", "json").json["findings"]
    assert [one for one in found if one["path"] == "evals/triggers.json"] == []
