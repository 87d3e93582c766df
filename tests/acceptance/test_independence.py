"""Whether the judge is known to be independent of the candidate: said by every report, in every format."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import unescape
from xml.etree import ElementTree as ET

import pytest

from tests.acceptance.live import LiveServer
from tests.project import Cli, build_small, write_json

SHARED, APART = "NOT independent of the candidate", "(independent)"


@pytest.fixture(params=[True, False], ids=["independent", "dependent"])
def run(cli: Cli, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Cli, bool]]:
    """A live run whose judge is another model than its candidate, at another place or at the same."""
    build_small(cli.root)
    with LiveServer() as server, LiveServer() as other:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        monkeypatch.setenv("GEMINI_API_KEY", "k")
        monkeypatch.setenv("SKILLASSAY_JUDGE_API_KEY", "j")
        where = ("--judge-base-url", other.base_url) if request.param else ()
        ran = cli("eval", "--model", "gemini:candidate", "--judge-model", "gemini:judge", *where, "--format", "json")
        assert ran.json["independent"] is request.param
        yield cli, request.param


@pytest.mark.parametrize("form", ["table", "markdown", "html", "junit", "github"])
def test_a_report_in_words_says_it(run: tuple[Cli, bool], form: str) -> None:
    """The one or the other, never both and never nothing."""
    cli, independent = run
    out = " ".join(unescape(cli("report", "--format", form).out).split())
    assert (APART in out, SHARED in out) == (independent, not independent)


def test_a_table_of_trials_says_it_in_each_row(run: tuple[Cli, bool]) -> None:
    """A row is copied without its neighbours."""
    cli, independent = run
    head, *rows = (line.split(",") for line in cli("report", "--format", "csv").out.splitlines())
    place = head.index("judge_independent") - len(head)
    assert {row[place] for row in rows} == {"yes" if independent else "no"}


def test_junit_keeps_it_as_a_property(run: tuple[Cli, bool]) -> None:
    """Where readers of properties look."""
    cli, independent = run
    root = ET.fromstring(cli("report", "--format", "junit").out)
    said = [item.get("value", "") for item in root.iter("property") if item.get("name") == "models"]
    assert [SHARED in text for text in said] == [not independent]


@pytest.mark.parametrize("command", ["report", "gate"])
def test_json_has_a_field(run: tuple[Cli, bool], command: str) -> None:
    """True or false, in the result and in the decision alone."""
    cli, independent = run
    assert cli(command, "--format", "json").json["independent"] is independent


def test_the_decision_alone_says_it(run: tuple[Cli, bool]) -> None:
    """``gate`` shows no figure of a judge without it."""
    cli, independent = run
    out = " ".join(cli("gate").out.split())
    assert (APART in out, SHARED in out) == (independent, not independent)


def test_a_comparison_says_it_of_both_runs(run: tuple[Cli, bool]) -> None:
    """In words and as fields."""
    cli, independent = run
    name = cli("report", "--format", "json").json["run"]
    told = cli("compare", name, name, "--format", "json").json
    assert told["independent"] == {"old": independent, "new": independent}
    out = " ".join(cli("compare", name, name).out.split())
    for side in ("old", "new"):
        word = "independent" if independent else "NOT known to be independent"
        assert f"the judge of the {side} run is {word} of its candidate" in out


def test_who_approves_sees_it(run: tuple[Cli, bool]) -> None:
    """Before a name is given for the result."""
    cli, independent = run
    ran = cli("approve")
    out = " ".join(ran.out.split())
    assert ran.code == 0, ran.err
    assert (APART in out, SHARED in out) == (independent, not independent)


def test_the_record_says_it(run: tuple[Cli, bool]) -> None:
    """In the header, which every report reads."""
    cli, independent = run
    (header,) = (cli.root / ".skillassay" / "runs").glob("*/run.json")
    assert json.loads(header.read_text("utf-8"))["models"]["independent"] is independent


@pytest.mark.parametrize("independent", [True, False, None])
def test_the_lock_says_it_of_committed_evidence(cli: Cli, independent: bool | None) -> None:
    """``lock --check`` names the skills whose evidence a live judge gave that is not known to be independent."""
    build_small(cli.root)
    cli("eval")
    assert cli("lock").code == 0
    path = cli.root / "evals" / "evidence" / "skills" / "greeter.json"
    word = "evidence by a judge that is NOT known to be independent of the candidate: skills/greeter"
    assert word not in cli("lock", "--check").out
    body = json.loads(path.read_text("utf-8"))
    body["decision"]["gate"] = "model_gate"
    body["models"] |= {"independent": independent}
    write_json(path, body)
    assert (word in cli("lock", "--check").out) is (independent is not True)
