"""Identical arms and a placebo beside every lift, through the command line."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skillassay.fixture.server import FixtureServer
from tests.endtoend.recorded import LiveServer
from tests.project import Cli, build_small, edit, records, rule, run_folder, small_case, small_rules

SKILL = "skills/greeter/SKILL.md"
NAMES = ("one", "two", "three", "four", "five", "six")
MODES = ("progressive", "none", "eager", "again", "placebo")
CALL = {"calls": [{"name": "load_skill", "args": {"skill_name": "greeter"}}]}
NEUTRAL = "heron is at the edge"
"""What the placebo of the skill below says; the heading above it has room for one letter."""


def loading(name: str) -> list[dict[str, Any]]:
    """Rules of a model that loads the skill and does what its body says: nothing special with a placebo."""
    return [
        rule(name, CALL, tools=["load_skill"], absent=["Say hello twice", NEUTRAL]),
        rule(name, {"text": "hello hello"}, prompt=["Say hello twice"]),
        rule(name, {"text": "good day"}),
    ]


@pytest.fixture
def root(cli: Cli) -> Path:
    """Six cases, each passed by whoever reads the body."""
    return build_small(
        cli.root, cases=[small_case(name) for name in NAMES], rules=[made for name in NAMES for made in loading(name)]
    )


def noise(cli: Cli) -> Any:
    """What the newest run says of noise."""
    return cli("report", "--format", "json").json["metrics"].get("noise")


def test_identical_arms_give_no_verdict(cli: Cli, root: Path) -> None:
    """A model that answers alike to what is alike: the A/A difference is exactly 0, and neither helps nor hurts."""
    ran = cli("eval", "--noise")
    assert ran.code == 0, ran.out + ran.err
    told = noise(cli)["skills/greeter"]
    assert (told["identical_arms"], told["a_a"]["mean"], told["a_a"]["word"]) == ("again", 0.0, "inconclusive")
    assert told["a_a"]["progressive"] == told["a_a"]["again"] == {"k": 6, "n": 6}
    low, high = told["a_a"]["interval"]
    assert low < 0 < high
    assert told["floor"] == max(-low, high)
    assert told["floor"] < 1.0
    assert told["word"] == "beyond the noise floor"
    said = " ".join(ran.out.split())
    assert "identical arms (progressive - again): +0.00 95 % [" in said
    assert f"skills/greeter: lift +1.00 is beyond the noise floor ({told['floor']:.2f})" in said
    markdown = html.unescape(cli("report", "--format", "markdown").out)
    assert "identical arms (progressive - again): +0.00" in markdown


def test_the_placebo_is_what_any_skill_would_do(cli: Cli, root: Path) -> None:
    """It is loaded as the skill is, says nothing of the task, and so brings nothing: all of the lift is the body's."""
    assert cli("eval", "--noise").code == 0
    told = noise(cli)["skills/greeter"]
    assert (told["placebo_effect"]["mean"], told["over_placebo"]["mean"]) == (0.0, 1.0)
    assert told["placebo_effect"]["placebo"] == told["placebo_effect"]["none"] == {"k": 0, "n": 6}
    by_mode: dict[str, list[dict[str, Any]]] = {mode: [] for mode in MODES}
    for record in records(root):
        by_mode[record["mode"]].append(record)
    for placebo, progressive in zip(by_mode["placebo"], by_mode["progressive"], strict=True):
        assert placebo["activated"] == ["greeter"]
        assert placebo["arm"] == progressive["arm"]
        assert NEUTRAL in json.dumps(placebo["transcript"])
        assert "Say hello twice" not in json.dumps(placebo["transcript"])


def test_a_lift_that_chance_can_make_is_within_the_floor(cli: Cli) -> None:
    """One case of six gains all: 0.17 is less than what six differences of 0 leave open."""
    rules = [made for name in NAMES[1:] for made in small_rules(name, bad="hello")]
    build_small(cli.root, cases=[small_case(name) for name in NAMES], rules=small_rules("one") + rules)
    ran = cli("eval", "--noise")
    assert ran.code == 0, ran.out + ran.err
    assert noise(cli)["skills/greeter"]["word"] == "within the noise floor"
    assert "skills/greeter: lift +0.17 is within the noise floor" in " ".join(ran.out.split())


def test_without_the_arms_nothing_is_said(cli: Cli, root: Path) -> None:
    """No line and no field."""
    ran = cli("eval")
    assert "noise" not in ran.out
    assert "identical" not in ran.out
    assert noise(cli) is None


def test_they_enter_neither_score_nor_evidence(cli: Cli, root: Path) -> None:
    """Score, lift, and what evidence binds and tells are those of the run without them; it is evidence all the same."""
    told = []
    for options in ((), ("--noise",)):
        assert cli("eval", *options).code == 0
        result = cli("report", "--format", "json").json
        newest = max((root / ".skillassay" / "runs").iterdir())
        evidence = json.loads((newest / "result.json").read_text("utf-8"))["evidence"]["skills/greeter"]
        evidence.pop("run")
        told.append((result["score"], result["metrics"]["lift"], result["metrics"]["prices"], evidence))
    assert told[0] == told[1]
    assert set(told[0][3]["results"]) == {"progressive", "none", "eager"}


def test_their_cost_is_in_the_plan(cli: Cli, root: Path) -> None:
    """Twice as many tool-using trials more, each counted with all its turns."""
    plain, more = (cli("eval", "--dry-run", *options).out for options in ((), ("--noise",)))
    turns = 12  # the contract's default of candidate.turn_limit
    assert f"at most {6 * (2 * turns + 1)} candidate calls" in plain
    assert f"at most {6 * (4 * turns + 1)} candidate calls" in more
    assert "18 trials" in plain
    assert "30 trials" in more


def test_each_comes_alone_by_its_name(cli: Cli, root: Path) -> None:
    """`--mode again` and `--mode placebo` as any other mode."""
    assert cli("eval", "--mode", "progressive", "--mode", "again").code == 3
    assert [record["mode"] for record in records(root)].count("again") == 6
    told = noise(cli)["skills/greeter"]
    assert (told["a_a"]["mean"], told["word"], told["placebo_effect"], told["over_placebo"]) == (0.0, None, None, None)


def test_repeats_are_identical_arms_too(cli: Cli, root: Path) -> None:
    """The odd ones against the even ones, and called so."""
    ran = cli("eval", "--repeats", "3")
    told = noise(cli)["skills/greeter"]
    assert told["identical_arms"] == "repeats"
    assert told["a_a"]["odd_repeats"] == {"k": 12, "n": 12}
    assert told["a_a"]["even_repeats"] == {"k": 6, "n": 6}
    assert "again" not in told["a_a"]
    assert "identical arms (odd - even repeats of progressive" in " ".join(ran.out.split())


def test_an_error_in_such_an_arm_leaves_the_run_incomplete(cli: Cli, root: Path) -> None:
    """Nothing that was planned vanishes: exit 3, and the floor is not known."""
    path = root / "evals/fixtures/all.json"
    fixtures = json.loads(path.read_text("utf-8"))
    failing = {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "no"}}
    fixtures["subject"].insert(0, rule("one", failing, prompt=[NEUTRAL]) | {"id": "failing"})
    path.write_text(json.dumps(fixtures), encoding="utf-8")
    ran = cli("eval", "--noise")
    assert ran.code == 3
    assert "one [placebo #1]" in " ".join(ran.out.split())
    told = noise(cli)["skills/greeter"]
    assert told["over_placebo"]["cases"] == 5
    assert told["word"] == "beyond the noise floor"


def test_the_header_names_the_placebo_and_older_headers_read(cli: Cli, root: Path) -> None:
    """The digest of its bytes; a run without the arm has no such field, and is resumed and shown as ever."""
    assert cli("eval", "--noise").code == 0
    header = json.loads((run_folder(root) / "run.json").read_text("utf-8"))
    assert set(header["placebo"]) == {"skills/greeter"}
    assert header["placebo"]["skills/greeter"]["digest"] != header["skills"]["skills/greeter"]["digest"]
    assert cli("eval").code == 0
    plain = max((root / ".skillassay" / "runs").iterdir())
    assert "placebo" not in json.loads((plain / "run.json").read_text("utf-8"))
    assert cli("eval", "--resume", plain.name).code == 0
    assert cli("eval", "--like", plain.name).code == 0


def test_a_run_with_them_goes_on_and_is_made_again(cli: Cli, root: Path) -> None:
    """`--resume` finds every trial done; `--like` is the same run; an edited skill is another one, placebo included."""
    assert cli("eval", "--noise").code == 0
    folder = run_folder(root)
    n_records = len(records(root))
    assert cli("eval", "--resume", folder.name).code == 0
    assert len(records(root)) == n_records == 30
    assert cli("eval", "--like", folder.name).code == 0
    first, second = sorted((root / ".skillassay" / "runs").iterdir())
    digests = {json.loads((run / "result.json").read_text("utf-8"))["content_digest"] for run in (first, second)}
    assert len(digests) == 1
    assert cli("compare", first.name, second.name).code == 0
    edit(root / SKILL, "Say hello twice", "Say hello twice or more")
    ran = cli("eval", "--like", first.name)
    assert ran.code == 3
    assert "placebo: skills/greeter" in " ".join(ran.err.split())


@pytest.fixture
def live(cli: Cli, root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FixtureServer]:
    """A service of which no two answers are the same."""
    monkeypatch.setenv("GEMINI_API_KEY", "k-noise")
    with LiveServer(root) as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        yield server


def answers(root: Path, mode: str) -> list[str]:
    """The answers of one mode in the newest run."""
    newest = max((root / ".skillassay" / "runs").iterdir())
    found = [json.loads(line) for line in (newest / "trials.jsonl").read_bytes().split(b"\n") if line]
    return sorted(record["answer"] for record in found if record["mode"] == mode)


def test_the_cache_gives_no_answer_of_the_one_arm_to_the_other(cli: Cli, root: Path, live: FixtureServer) -> None:
    """Byte for byte the same requests, and every trial has an answer of its own, in a second run the one it had."""
    for _ in range(2):
        cli("eval", "--model", "gemini:live", "--cache", "--noise")
        first, second = answers(root, "progressive"), answers(root, "again")
        assert len({*first, *second}) == 12
    runs = sorted((root / ".skillassay" / "runs").iterdir())
    told = [json.loads((run / "result.json").read_text("utf-8")) for run in runs]
    assert told[1]["metrics"]["cache"]["cached_calls"] == told[1]["metrics"]["cache"]["calls"]
    assert told[0]["content_digest"] == told[1]["content_digest"]


def test_a_recording_keeps_both_and_gives_each_its_own(cli: Cli, root: Path, live: FixtureServer) -> None:
    """The replay has the answers of both arms again."""
    cli("record", "--model", "gemini:live", "--to", "evals/recordings/all.jsonl", "--noise")
    then = [answers(root, mode) for mode in MODES]
    assert len({*then[0], *then[3]}) == 12
    cli("eval", "--model", "replay:evals/recordings/all.jsonl", "--noise")
    assert [answers(root, mode) for mode in MODES] == then


def test_a_recording_without_the_arm_answers_nothing_for_it(cli: Cli, root: Path, live: FixtureServer) -> None:
    """The answer of `progressive` to the same request would make both alike by construction: a miss, and exit 3."""
    cli("record", "--model", "gemini:live", "--to", "evals/recordings/all.jsonl")
    ran = cli("eval", "--model", "replay:evals/recordings/all.jsonl", "--mode", "progressive", "--mode", "again")
    assert ran.code == 3
    said = " ".join(ran.out.split())
    assert "no call of the candidate was recorded for quality/one/again/1" in said
    assert noise(cli)["skills/greeter"]["floor"] is None
