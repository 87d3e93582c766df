"""``skillassay compare``: flips both ways, refusals with what differs, and what no comparison qualifies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from skillassay.contract.groups import FIELDS, Field
from skillassay.scoring.comparison import MUST_AGREE
from tests.acceptance.live import LiveServer
from tests.contract.frozen import other_value
from tests.project import BAD, GOOD, JUDGE_RULE, Cli, build_small, edit, small_case, small_rules, write_json

NAMES = ("one", "two", "three")


def answer(root: Path, **said: str) -> None:
    """Let the candidate say these texts, by case, where it has the skill."""
    rules = [rule for name in NAMES for rule in small_rules(name, good=said.get(name, GOOD))]
    write_json(root / "evals/fixtures/all.json", {"fixture": 1, "subject": rules, "judge": [JUDGE_RULE]})


def run(cli: Cli, *options: str, **said: str) -> str:
    """Evaluate with these answers; the run's id."""
    answer(cli.root, **said)
    return str(cli("eval", "--format", "json", *options).json["run"])


def changes(value: Any, direction: str) -> list[tuple[Any, ...]]:
    """The changes of one direction by case, mode, repeat and outcomes."""
    return [
        (one["case"], one["mode"], one["repeat"], one["old"]["status"], one["new"]["status"])
        for one in value["changes"]
        if one["direction"] == direction
    ]


def test_a_case_that_regressed_counts_though_the_average_rose(cli: Cli) -> None:
    """One of three passed and now two do; the one that passed fails, so the comparison fails and names it."""
    build_small(cli.root)
    old, new = run(cli, two=BAD, three=BAD), run(cli, one=BAD)
    ran = cli("compare", old, new, "--format", "json")
    rates = ran.json["rates"]["progressive"]
    assert [rates[side]["passed"] for side in ("old", "new")] == [1, 2]
    assert (ran.code, ran.json["exit_code"], ran.json["regressions"]) == (1, 1, 1)
    modes = ("progressive", "eager")
    assert changes(ran.json, "worse") == [("one", mode, 1, "PASS", "FAIL") for mode in modes]
    assert changes(ran.json, "better") == [(name, mode, 1, "FAIL", "PASS") for name in NAMES[1:] for mode in modes]
    table = cli("compare", old, new)
    assert table.code == 1
    assert "WORSE  quality/one [progressive #1]: PASS 1/1, now FAIL 0/1; now fails: says-hello" in table.out
    assert "REGRESSION in progressive: 1 trial of quality/one, whatever the average" in table.out
    assert "progressive: 1/3 of 3 planned" in table.out


def test_two_equal_runs_have_nothing_to_tell(cli: Cli) -> None:
    """No change, no regression, and the run's own gate passed: 0."""
    build_small(cli.root)
    ran = cli("compare", run(cli), run(cli))
    assert ran.code == 0
    assert "no trial and no criterion was decided otherwise" in ran.out
    assert ran.out.endswith("no regression in progressive\nthe new run's own fixture_gate passed\n")


def test_no_regression_qualifies_no_run_that_its_gate_refused(cli: Cli) -> None:
    """The same failure before and after: nothing got worse, and it still exits 1 and says why."""
    build_small(cli.root)
    ran = cli("compare", run(cli, one=BAD), run(cli, one=BAD))
    assert ran.code == 1
    assert "no regression in progressive" in ran.out
    assert ran.out.endswith("own fixture_gate is failed (quality_min): nothing here qualifies it\n")


def test_a_trial_without_a_score_decides_nothing(cli: Cli) -> None:
    """It passed and has no score now: 3, and no word of a regression."""
    build_small(cli.root)
    old = run(cli)
    rules = [rule for name in NAMES[1:] for rule in small_rules(name)]
    write_json(cli.root / "evals/fixtures/all.json", {"fixture": 1, "subject": rules, "judge": [JUDGE_RULE]})
    new = str(cli("eval", "--format", "json").json["run"])
    ran = cli("compare", old, new)
    assert (ran.code, "REGRESSION" in ran.out) == (3, False)
    assert "undecided: 1 trial in progressive with a score in one run alone" in ran.out


def test_fewer_criteria_met_is_worse_though_it_failed_before(cli: Cli) -> None:
    """A case at 1 of 2 that falls to 0 of 2 did not flip, and got worse all the same."""
    rubric = [{"id": "says-hello", "text": "It says hello."}, {"id": "says-bye", "text": "It says bye."}]
    judge = [JUDGE_RULE, {"criterion": "says-bye", "pass": "(?i)bye", "missing": "No bye stands there."}]
    cases = [small_case("one", rubric=rubric), *(small_case(name) for name in NAMES[1:])]
    build_small(cli.root, cases=cases, judge=judge)
    ids = []
    for text in ("hello", "good day"):
        rules = [rule for name in NAMES for rule in small_rules(name, good=text if name == "one" else GOOD)]
        write_json(cli.root / "evals/fixtures/all.json", {"fixture": 1, "subject": rules, "judge": judge})
        ids.append(str(cli("eval", "--format", "json").json["run"]))
    ran = cli("compare", *ids, "--format", "json")
    (change,) = (one for one in ran.json["changes"] if one["mode"] == "progressive")
    assert (change["flip"], change["direction"], change["now_failed"]) == (False, "worse", ["says-hello"])
    assert (ran.code, ran.json["regressions"]) == (1, 1)


def test_another_skill_is_what_is_compared(cli: Cli) -> None:
    """A new version of the skill is no obstacle, and is told."""
    build_small(cli.root)
    old = run(cli)
    edit(cli.root / "skills/greeter/SKILL.md", '"1.0.0"', '"1.1.0"')
    ran = cli("compare", old, run(cli), "--format", "json")
    assert ran.code == 0
    assert "candidate.config_version.skills/greeter: 1.0.0 and 1.1.0" in ran.json["allowed_differences"]


def test_the_worse_trial_of_several_repeats_is_named(cli: Cli) -> None:
    """Each repeat is compared with itself."""
    build_small(cli.root)
    old, new = run(cli, "--repeats", "2"), run(cli, "--repeats", "2", one=BAD)
    value = cli("compare", old, new, "--format", "json").json
    assert [(case, repeat) for case, mode, repeat, *_ in changes(value, "worse") if mode == "progressive"] == [
        ("one", 1),
        ("one", 2),
    ]


AGREED = [field for field in FIELDS if field.path in MUST_AGREE and "const" not in field.schema]


@pytest.fixture
def pair(cli: Cli) -> tuple[Cli, str, Path]:
    """A project with one run twice: the command line, the run's id, and the header of its twin."""
    build_small(cli.root)
    old = run(cli)
    return cli, old, cli.root / ".skillassay/runs" / run(cli) / "run.json"


def change(header: Path, how: Mapping[str, Any]) -> None:
    """Set fields ``group.field`` of the frozen contract in a header."""
    value = json.loads(header.read_text(encoding="utf-8"))
    for path, one in how.items():
        group, name = path.split(".")
        value["contract"]["groups"][group][name] = one
    header.write_text(json.dumps(value), encoding="utf-8")


@pytest.mark.parametrize("field", AGREED, ids=lambda field: field.path)
def test_each_field_that_must_agree_is_named_and_refused(pair: tuple[Cli, str, Path], field: Field) -> None:
    """Another suite, scorer, judge, rubric, machine or limit asks another question: 3, and no number is compared."""
    cli, old, header = pair
    change(header, {field.path: other_value(field.schema)})
    ran = cli("compare", old, header.parent.name)
    assert (ran.code, "do not compare" in ran.out, "planned [" in ran.out) == (3, True, False)
    assert f"\n  {field.path}" in ran.out
    value = cli("compare", old, header.parent.name, "--format", "json").json
    assert (value["compatible"], value["exit_code"]) == (False, 3)
    assert all(words.startswith(field.path) for words in value["differences"])


def test_all_differences_are_listed_at_once(pair: tuple[Cli, str, Path]) -> None:
    """Not the first alone."""
    cli, old, header = pair
    change(header, {"scoring.code_digest": "1" * 64, "judgment.judge_id": "gemini:other", "identity.id": "another"})
    ran = cli("compare", old, header.parent.name)
    assert [line.split(":")[0].strip() for line in ran.out.split("\n")[1:4]] == [
        "identity.id",
        "scoring.code_digest",
        "judgment.judge_id",
    ]


def test_runs_of_other_trials_do_not_compare(cli: Cli) -> None:
    """A part of the cases is another question, whichever of the two has it."""
    build_small(cli.root)
    whole, part = run(cli), run(cli, "--case", "one", "--case", "two", "--case", "three", "--repeats", "2")
    ran = cli("compare", whole, part)
    assert ran.code == 3
    assert "planned in the second alone: one [eager #2], one [none #2], one [progressive #2] and 6 more" in ran.out
    assert "planned in the first alone" not in ran.out


def test_an_edited_case_does_not_compare_with_itself(cli: Cli) -> None:
    """Though its suite kept its version, and nothing of it that a judge sees changed."""
    build_small(cli.root)
    old = run(cli)
    edit(cli.root / "evals/quality.json", '"query": "Greet one."', '"query": "Greet one. "')
    ran = cli("compare", old, run(cli))
    assert (ran.code, "cases that were edited in between: quality/one" in ran.out) == (3, True)


def test_an_unknown_run_cannot_be_compared(cli: Cli) -> None:
    """3, as for every command that reads runs."""
    build_small(cli.root)
    old = run(cli)
    ran = cli("compare", old, "2001")
    assert (ran.code, "no run is named '2001'" in ran.err) == (3, True)


def live(cli: Cli, server: LiveServer, monkeypatch: pytest.MonkeyPatch, *, below: str = "") -> str:
    """A run whose judge sits behind this server, at an address ``below`` it; its id."""
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url + below)
    monkeypatch.setenv("GEMINI_API_KEY", "k")
    return str(cli("eval", "--judge-model", "gemini:judge", "--format", "json").json["run"])


def test_judges_at_two_endpoints_are_two_judges(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same name elsewhere may be another model: nothing is compared, and both places are named."""
    build_small(cli.root)
    with LiveServer() as first, LiveServer() as second:
        runs = [live(cli, server, monkeypatch) for server in (first, second)]
        ran = cli("compare", *runs, "--format", "json")
    assert ran.code == 3
    assert ran.json["differences"] == [f"the judge's endpoint: {first.base_url} and {second.base_url}"]


def test_a_judge_that_answered_under_another_name_is_another_judge(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """One endpoint, one name asked for, two models that answered."""
    build_small(cli.root)
    with LiveServer() as server:
        old = live(cli, server, monkeypatch)
        server.judge_name = "judge-2026-02"
        new = live(cli, server, monkeypatch)
        ran = cli("compare", old, new, "--format", "json")
    assert ran.code == 3
    assert ran.json["differences"] == ["the judge's name as answered: judge-2026-01 and judge-2026-02"]


def test_judges_at_two_addresses_of_one_endpoint_are_two_judges(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not shown of an address, such as a deployment in its query, may choose another model."""
    build_small(cli.root)
    with LiveServer() as server:
        runs = [live(cli, server, monkeypatch, below=f"?deployment={name}") for name in ("small", "large")]
        ran = cli("compare", *runs, "--format", "json")
    assert ran.code == 3
    same = f"{server.base_url} and {server.base_url}"
    assert ran.json["differences"] == [f"the judge's endpoint: {same} (another address below it)"]


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (("j-1", None), ["the judge's name as answered: j-1 and unknown"]),
        ((None, "j-1"), ["the judge's name as answered: unknown and j-1"]),
        ((None, None), []),
        (("j-1", "j-1"), []),
    ],
    ids=str,
)
def test_a_name_that_one_run_alone_knows_is_told(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, names: tuple[str | None, str | None], told: list[str]
) -> None:
    """Nobody can say that these are two judges, so the runs compare; a reader is told what is not known."""
    build_small(cli.root)
    runs = []
    with LiveServer() as server:
        for name in names:
            server.judge_name = name
            runs.append(live(cli, server, monkeypatch))
        ran = cli("compare", *runs, "--format", "json")
    assert ran.json["compatible"] is True
    assert [words for words in ran.json["allowed_differences"] if "judge" in words] == told
