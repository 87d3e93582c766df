"""`suite show --at RUN`: the cases of a past verdict, rebuilt from its run and held against its digests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillassay.canonical import digest_of
from skillassay.suites.case import load_suite
from tests.project import Cli, build_small, edit, run_folder, small_case, write_json

NOTE = "Names: Zoë, 佐藤.\r\n"


@pytest.fixture
def ran(cli: Cli) -> Cli:
    """A project that was evaluated, with a file beside its suite."""
    cases = [small_case("one", files=["note.txt"], note="for people"), small_case("two"), small_case("three")]
    build_small(cli.root, cases=cases)
    (cli.root / "evals/note.txt").write_bytes(NOTE.encode())
    assert cli("eval").code in {0, 1}
    return cli


def shown(cli: Cli, *arguments: str) -> dict[str, Any]:
    """What `suite show` says as JSON."""
    ran = cli("suite", "show", *arguments, "--format", "json")
    assert ran.code == 0, ran
    value: dict[str, Any] = ran.json
    return value


def test_a_past_runs_cases_are_as_they_were(ran: Cli) -> None:
    """After the suite and its file were changed and then removed, the run still shows the old cases, file and all."""
    before = load_suite(ran.root / "evals/quality.json", shown_as="q").draft.cases
    (ran.root / "evals/note.txt").unlink()
    write_json(ran.root / "evals/quality.json", {"suite": "quality", "version": "2.0.0", "cases": [small_case("new")]})
    value = shown(ran, "--at", run_folder(ran.root).name)
    (suite,) = value["suites"]
    assert (suite["suite"], suite["version"]) == ("quality", "1.0.0")
    assert [(case["id"], case["digest"]) for case in suite["cases"]] == [(case.id, case.digest) for case in before]
    assert all(digest_of(case["case"]) == case["digest"] for case in suite["cases"])
    assert list(value["files"].values()) == [{"text": NOTE.replace("\r\n", "\n")}]
    text = ran("suite", "show", "--at", run_folder(ran.root).name).out
    assert "query: Greet one." in text
    assert "Names: Zoë, 佐藤." in text
    assert "Greet new" not in text


def test_now_is_what_the_run_had_while_nothing_changed(ran: Cli) -> None:
    """The same cases from the project and from the run; routing cases are shown too, and no run plans them."""
    now, then = shown(ran), shown(ran, "--at", run_folder(ran.root).name)
    assert now["suites"] == then["suites"]
    routing = {"id": "r1", "query": "Greet me.", "expect": {"skills": ["greeter"]}}
    write_json(ran.root / "evals/routing.json", {"suite": "ways", "version": "1.0.0", "cases": [routing]})
    assert [suite["suite"] for suite in shown(ran)["suites"]] == ["quality", "ways"]


@pytest.mark.parametrize(
    ("old", "new"),
    [("Greet two.", "Greet you."), ('"version": "1.0.0"', '"version": "1.0.1"')],
    ids=["query", "version"],
)
def test_a_changed_file_of_a_run_is_refused(ran: Cli, old: str, new: str) -> None:
    """Nobody is shown cases that the run did not have: exit 3."""
    edit(run_folder(ran.root) / "cases.json", old, new)
    refused = ran("suite", "show", "--at", run_folder(ran.root).name)
    assert (refused.code, "is not what the run wrote" in refused.err) == (3, True)


def test_a_case_that_differs_from_the_header_is_refused(ran: Cli) -> None:
    """Also where somebody brought the file's own digest in the header up to date."""
    folder: Path = run_folder(ran.root)
    edit(folder / "cases.json", "Greet two.", "Greet you.")
    from skillassay.canonical import sha256_hex

    header = json.loads((folder / "run.json").read_text("utf-8"))
    header["cases_file"] = sha256_hex((folder / "cases.json").read_bytes())
    write_json(folder / "run.json", header)
    refused = ran("suite", "show", "--at", folder.name)
    assert (refused.code, "case quality/two has another digest" in refused.err) == (3, True)


def test_a_run_from_before_says_that_it_kept_none(ran: Cli) -> None:
    """An older run has digests only, and the message says where they are."""
    folder = run_folder(ran.root)
    header = json.loads((folder / "run.json").read_text("utf-8"))
    del header["cases_file"]
    write_json(folder / "run.json", header)
    refused = ran("suite", "show", "--at", folder.name)
    assert (refused.code, "before runs kept their cases" in refused.err) == (3, True)


def test_under_retention_hash_a_run_keeps_digests_alone(cli: Cli) -> None:
    """Ids and digests are there; no text of a case is in the run's folder."""
    build_small(cli.root, retention="hash")
    assert cli("eval").code == 0
    value = shown(cli, "--at", run_folder(cli.root).name)
    assert [sorted(case) for case in value["suites"][0]["cases"]] == [["digest", "id"]] * 3
    assert value["files"] == {}
    assert b"Greet one" not in (run_folder(cli.root) / "cases.json").read_bytes()


def test_one_suite_can_be_asked_for(ran: Cli) -> None:
    """By name; another name is a mistake of the caller."""
    assert [suite["suite"] for suite in shown(ran, "quality")["suites"]] == ["quality"]
    assert ran("suite", "show", "nobody").code == 2
