"""Holes of waivers that an attack found, through the command line: no line is waived whole, nobody approves alone,
and a script that reads the JSON learns what the command exits by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from skillassay import clock
from skillassay.schema import schema_problems
from tests.acceptance.gated import CORPUS, build, checked
from tests.endtoend.scripted import MODES
from tests.people.waivers import DAY, fitting, write_waivers
from tests.project import Cli, Ran, edit

GOOD = tuple(checked(f"c{i}") for i in range(4))
LENIENT = {"quality_min": 0}
ROUGH = {"slices": {"rough": {"required": False, "quality_min": 1}}, "gate": LENIENT}


@pytest.fixture(autouse=True)
def _today(monkeypatch: pytest.MonkeyPatch) -> None:
    """The day on which the waivers of these tests are in force."""
    monkeypatch.setattr(clock, "today", lambda: DAY)


def evaluate(cli: Cli, special: Sequence[Mapping[str, Any]], *, bad: Sequence[str], **contract: Any) -> None:
    """A run of four good cases and special ones, which fails on the bad."""
    build(cli, [*GOOD, *special], bad=bad, **contract)
    ran = cli("eval", *MODES)
    assert ran.code == 1, ran.out + ran.err


def gate(cli: Cli, *options: str) -> Ran:
    """``gate --format json``, whose output has its published shape."""
    ran = cli("gate", "--format", "json", *options)
    assert schema_problems(ran.json, "gate") == []
    return ran


def checks(cli: Cli) -> list[str]:
    """What ``check`` says of waivers."""
    findings = cli("check", "--format", "json").json["findings"]
    return [item["code"] for item in findings if item["code"].startswith("waiver.")]


@pytest.mark.parametrize(
    ("line", "fields", "contract"),
    [
        ("failure_corpus", CORPUS, {"gate": LENIENT}),
        ("over_refusal", {"part": "over_refusal"}, {"gate": LENIENT}),
        ("slice_quality", {"slice": "rough"}, ROUGH),
    ],
)
@pytest.mark.parametrize("split", [False, True], ids=["in one", "in two"])
def test_all_that_a_line_looks_at_is_not_waived(
    cli: Cli, line: str, fields: Mapping[str, Any], contract: Mapping[str, Any], split: bool
) -> None:
    """Two cases out of six, and both that the line looks at: `check` refuses, and the gate fails as recorded."""
    evaluate(cli, [checked(name, **fields) for name in ("x", "y")], bad=["x", "y"], **contract)
    parts = [("x",), ("y",)] if split else [("x", "y")]
    scope = {"scope": {"line": line}}
    write_waivers(cli.root, *(fitting(cli.root, *part, id=f"W-{i}", **scope) for i, part in enumerate(parts)))
    assert set(checks(cli)) == {"waiver.over-wide"}
    ran = gate(cli, "--with-waivers")
    assert (ran.code, ran.json["effective"]["waived"]) == (1, [])
    assert {one["why"] for one in ran.json["effective"]["not_counted"]} == {
        f"all 2 cases of skills/greeter that {line} looks at are waived"
    }


def test_the_only_case_that_a_line_looks_at_is_the_line(cli: Cli) -> None:
    """One incident in all: its waiver would be the waiver of `failure_corpus`, so it covers nothing."""
    evaluate(cli, [checked("old", **CORPUS)], bad=["old"], gate=LENIENT)
    write_waivers(cli.root, fitting(cli.root, "old", scope={"line": "failure_corpus"}))
    assert checks(cli) == ["waiver.over-wide"]
    ran = gate(cli, "--with-waivers")
    assert ran.code == 1
    (refused,) = ran.json["effective"]["not_counted"]
    assert refused["why"] == "the one case of skills/greeter that failure_corpus looks at is waived"


def test_one_of_two_incidents_is_an_exception(cli: Cli) -> None:
    """The line still guards the other: exit 0 with the option, and the same waiver proves nothing once it is alone."""
    evaluate(cli, [checked(name, **CORPUS) for name in ("old", "older")], bad=["old"], gate=LENIENT)
    write_waivers(cli.root, fitting(cli.root, "old", scope={"line": "failure_corpus"}))
    assert checks(cli) == []
    assert gate(cli, "--with-waivers").code == 0
    assert cli("eval", *MODES, "--case", "old").code == 1
    assert gate(cli, "--with-waivers").json["effective"]["waived"] == []


def test_the_spread_of_the_cases_with_a_limit_is_not_waived_whole(cli: Cli) -> None:
    """`variance` looks at the slice that has a limit: known to `check` before any run."""
    special = [checked(name, slice="steady") for name in ("x", "y")]
    evaluate(cli, special, bad=["x"], slices={"steady": {"required": False, "variance_max": 0}})
    write_waivers(cli.root, fitting(cli.root, "x", scope={"line": "variance"}))
    assert checks(cli) == []
    write_waivers(cli.root, fitting(cli.root, "x", "y", scope={"line": "variance"}))
    assert checks(cli) == ["waiver.over-wide"]


@pytest.mark.parametrize(
    "approver", ["Dr. Aiko Mori, QA lead", "Mori, Aiko", "aiko.mori@example.com", "AÏKO MORI", "A. Mori", "Mori-san"]
)
def test_a_title_makes_no_second_person(cli: Cli, approver: str) -> None:
    """The owner approves the owner's own exception, in whatever dress: refused by `check`, unusable for the gate."""
    evaluate(cli, [], bad=["c0"])
    edit(cli.root / "evals/contract.yaml", "owner: the tests", "owner: Aiko Mori")
    write_waivers(cli.root, fitting(cli.root, "c0", approver=approver))
    assert checks(cli) == ["waiver.self-approved"]
    assert cli("gate", "--with-waivers").code == 3


def test_the_json_says_what_the_command_exits_by(cli: Cli) -> None:
    """Recorded at the top, 1; effective below, 0, by which the command exits. Without the option there is no second."""
    evaluate(cli, [], bad=["c0"])
    write_waivers(cli.root, fitting(cli.root, "c0"))
    plain, waived = gate(cli), gate(cli, "--with-waivers")
    assert (plain.code, plain.json["exit_code"], "effective" in plain.json) == (1, 1, False)
    assert (waived.code, waived.json["exit_code"], waived.json["effective"]["exit_code"]) == (0, 1, 0)
    assert waived.json["effective"]["decision"]["exit_code"] == 0
