"""`skillassay import` at the command line: both suites, folders, and files that somebody hostile wrote."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from skillassay.suites.case import load_routing, load_suite
from skillassay.suites.triggers import load_triggers
from tests.interop.test_shapes import DATA, PUBLIC
from tests.project import Cli, write_json

EVAL = {"prompt": "p", "assertions": ["a"]}


def quality(cli: Cli) -> list[dict[str, Any]]:
    """The cases of the quality suite as they are written; none where there is no suite."""
    path = cli.root / "evals" / "quality.json"
    if not path.exists():
        return []
    assert load_suite(path, shown_as="evals/quality.json").suite is not None
    cases: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["cases"]
    return cases


def test_routing_cases_go_to_the_routing_suite(cli: Cli) -> None:
    """Readable by this project's own reader, in their order; a second import changes no byte of it."""
    source = str(DATA / "triggers.jsonl")
    ran = cli("import", source)
    path = cli.root / "evals" / "routing.json"
    cases, findings = load_routing(path, shown_as="evals/routing.json")
    assert (ran.code, findings) == (0, ())
    assert [case.expect_skills for case in cases] == [("invoice-reader",), ("service-starter",), ()]
    assert not (cli.root / "evals" / "quality.json").exists()
    before = path.read_bytes()
    again = cli("import", source)
    assert (again.code, path.read_bytes()) == (0, before)
    assert "evals/routing.json: 0 added, 3 already there" in again.out


@pytest.mark.parametrize("name", PUBLIC)
def test_every_published_form_is_imported_twice(cli: Cli, name: str) -> None:
    """What is written is read by `check`'s readers, and the second import writes nothing."""
    (cli.root / "files").mkdir()
    (cli.root / "files" / "invoices.csv").write_text("no\n", encoding="utf-8")
    shutil.copy(DATA / name, cli.root / name)
    first = cli("import", str(cli.root / name), "--skill", "the-skill")
    assert first.code == (1 if "\nlost " in first.out else 0), first.err
    quality(cli)
    written = {path: path.read_bytes() for path in cli.root.rglob("*") if path.is_file()}
    second = cli("import", str(cli.root / name), "--skill", "the-skill")
    assert second.code == first.code
    assert "\nadded " not in second.out
    assert {path: path.read_bytes() for path in cli.root.rglob("*") if path.is_file()} == written


def test_a_dry_run_writes_neither_suite(cli: Cli) -> None:
    """It says what would be added."""
    ran = cli("import", str(DATA / "evals-negative.json"), "--dry-run")
    assert "evals/routing.json: 3 added" in ran.out
    assert list(cli.root.iterdir()) == []


def test_a_broken_routing_suite_is_left_as_it_is(cli: Cli) -> None:
    """And nothing is written to the other suite either."""
    write_json(cli.root / "evals" / "routing.json", {"suite": "routing", "version": "1", "cases": [{"id": "x"}]})
    ran = cli("import", str(DATA / "evals-negative.json"))
    assert (ran.code, ran.out) == (3, "")
    assert "evals/routing.json has problems of its own" in ran.err
    assert quality(cli) == []


def test_a_folder_is_searched_and_the_rest_named(cli: Cli) -> None:
    """Files of a shape that is read are imported, others passed over by name; a link is not followed."""
    folder = cli.root / "theirs"
    write_json(folder / "a" / "evals" / "evals.json", {"skill_name": "a", "evals": [{"id": 1, **EVAL}]})
    write_json(folder / "package.json", {"name": "x", "version": "1"})
    write_json(folder / "node_modules" / "x.json", {"skill_name": "n", "evals": [{"id": 1, **EVAL}]})
    (folder / "torn.json").write_text("{", encoding="utf-8")
    (folder / "link.json").symlink_to(DATA / "triggers.json")
    ran = cli("import", str(folder))
    assert ran.code == 0
    assert [case["id"] for case in quality(cli)] == ["a-1"]
    assert "skipped  package.json: " in ran.out
    assert "skipped  torn.json: " in ran.out
    assert "node_modules" not in ran.out
    assert "link.json" not in ran.out


def test_one_id_in_two_files_is_two_cases(cli: Cli) -> None:
    """Named by content then; the one that was there under the plain id stays as it is."""
    write_json(cli.root / "in" / "one.json", {"skill_name": "a", "evals": [{"id": 1, **EVAL}]})
    assert cli("import", str(cli.root / "in" / "one.json")).code == 0
    write_json(cli.root / "in" / "two.json", {"skill_name": "a", "evals": [{"id": 1, **EVAL, "prompt": "other"}]})
    ran = cli("import", str(cli.root / "in"))
    assert (ran.code, "present  a-1 " in ran.out) == (0, True)
    assert [case["query"] for case in quality(cli)] == ["p", "other"]
    assert quality(cli)[0]["id"] == "a-1"


def test_a_folder_without_evals_is_an_error(cli: Cli) -> None:
    """Exit 3 and a hint."""
    write_json(cli.root / "in" / "x.json", {"a": 1})
    ran = cli("import", str(cli.root / "in"))
    assert (ran.code, ran.out) == (3, "")
    assert "holds no file of a shape that is read" in ran.err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: &a [x, x]\nstimuli: [*a, *a]\n", "1: anchors and aliases are not read"),
        ("stimuli: []\nstimuli: []\n", "2: duplicate key 'stimuli'"),
        ('{"evals": [],\n "evals": []}', "2: duplicate key 'evals'"),
        ("stimuli: !!python/object:os.system x\n", "1: the tag"),
        ('{"evals": ' + "[" * 70 + "]" * 70 + "}", "nested deeper than 64"),
        ('{"a": 1}\n{"a": 1} tail\n', "2: not JSON"),
        ('{"a": 1}\n[2]\n', "2: not JSON"),
    ],
)
def test_a_file_that_is_no_plain_document_is_refused(cli: Cli, text: str, words: str) -> None:
    """Bombs, duplicate keys, tags and torn lines: one error with its line, nothing written."""
    path = cli.root / "in.txt"
    path.write_text(text, encoding="utf-8")
    ran = cli("import", str(path))
    assert (ran.code, ran.out) == (3, "")
    assert words in ran.err
    assert not (cli.root / "evals").exists()


def test_a_huge_file_is_not_read(cli: Cli) -> None:
    """Its size is looked at first."""
    path = cli.root / "huge.json"
    with path.open("wb") as stream:
        stream.truncate(33 * 1024 * 1024)
    ran = cli("import", str(path))
    assert ran.code == 3
    assert "is over the limit of 33554432" in ran.err


def test_a_pipe_is_not_waited_for(cli: Cli) -> None:
    """Nobody writes to it."""
    os.mkfifo(cli.root / "pipe.json")
    ran = cli("import", str(cli.root / "pipe.json"))
    assert ran.code == 3
    assert "is not a regular file" in ran.err


@pytest.mark.parametrize("inside", [True, False])
def test_no_file_above_a_folder_without_a_skill_is_taken(cli: Cli, inside: bool) -> None:
    """Only a folder with a SKILL.md is a skill's; another one may hold anything of the user's."""
    (cli.root / "secret.txt").write_text("secret", encoding="utf-8")
    if inside:
        (cli.root / "SKILL.md").write_text("---\nname: s\n---\n", encoding="utf-8")
    item = {"id": 1, **EVAL, "files": ["secret.txt"]}
    write_json(cli.root / "downloads" / "evals.json", {"skill_name": "s", "evals": [item]})
    ran = cli("import", str(cli.root / "downloads" / "evals.json"))
    assert ran.code == (0 if inside else 1)
    assert (cli.root / "evals").exists() is inside


@pytest.mark.parametrize("name", ["evals", "evals/files"])
def test_nothing_is_written_through_a_link(cli: Cli, tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    """A project's folder may be a link to the user's own files."""
    outside = tmp_path_factory.mktemp("outside")
    (cli.root / name).parent.mkdir(exist_ok=True)
    (cli.root / name).symlink_to(outside)
    (cli.root / "in").mkdir()
    (cli.root / "in" / "x.csv").write_text("x", encoding="utf-8")
    write_json(cli.root / "in" / "evals.json", {"skill_name": "s", "evals": [{"id": 1, **EVAL, "files": ["x.csv"]}]})
    ran = cli("import", str(cli.root / "in" / "evals.json"))
    assert ran.code == 3
    assert list(outside.iterdir()) == []


def test_a_file_says_nothing_to_a_terminal_or_a_service(cli: Cli) -> None:
    """Ids and texts from outside are shown on one line, without control characters or commands."""
    item = {"id": "x\n::error::boo\x1b[31m", "prompt": "", "assertions": ["a"]}
    write_json(cli.root / "in.json", {"skill_name": "s", "evals": [item], "::set-env\n::x": 1})
    ran = cli("import", str(cli.root / "in.json"))
    assert ran.code == 1
    assert "\x1b" not in ran.out
    assert not [line for line in ran.out.splitlines() if line.startswith("::")]


def test_a_skill_is_known_by_its_folder(cli: Cli) -> None:
    """A list of queries names none; it lies in the folder of the one that it is about."""
    folder = cli.root / "skills" / "invoice-reader"
    (folder / "evals").mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: invoice-reader\n---\n", encoding="utf-8")
    shutil.copy(DATA / "triggers.json", folder / "evals" / "queries.json")
    assert cli("import", str(folder)).code == 0
    cases, _ = load_routing(cli.root / "evals" / "routing.json", shown_as="r")
    assert [case.expect_skills for case in cases] == [("invoice-reader",), ()]


def test_a_file_about_no_skill_asks_for_one(cli: Cli, tmp_path: Path) -> None:
    """One error with the option."""
    shutil.copy(DATA / "scenarios-patterns.yaml", tmp_path / "s.yaml")
    ran = cli("import", str(tmp_path / "s.yaml"))
    assert (ran.code, ran.out) == (3, "")
    assert "it names no skill" in ran.err
    assert "--skill" in ran.err


def test_queries_become_trigger_cases_where_they_are_asked_for(cli: Cli) -> None:
    """Word for word "should" and "should not", of the one skill; what names several skills stays a routing case."""
    shutil.copytree(DATA, cli.root / "in")
    for name in PUBLIC:
        if not name.startswith(("triggers", "evals-negative")):
            (cli.root / "in" / name).unlink()
    arguments = ("import", str(cli.root / "in"), "--skill", "invoice-reader", "--triggers", "evals/triggers.json")
    assert cli(*arguments).code == 1  # a statement of a case that is not graded
    path = cli.root / "evals" / "triggers.json"
    cases, findings = load_triggers(path, shown_as="t")
    assert not [finding for finding in findings if finding.severity == "error"]
    assert {(case.query, case.should_trigger) for case in cases} == {
        ("Read this invoice for me.", True),
        ("Which invoice template is the nicest?", False),
        ("ok so my boss sent me invoices.xlsx, which ones are late??", True),
        ("make me an invoice template", False),
        ("Which invoices are late?", True),
        ("Read invoice 17.", True),
        ("Draw me an invoice.", False),
    }
    assert {case.skill for case in cases} == {"invoice-reader"}
    routed, _ = load_routing(cli.root / "evals" / "routing.json", shown_as="r")
    assert sorted(case.query for case in routed) == [
        "Read the invoices.",
        "Start the service.",
        "Tell me a joke.",
        "Write me a poem about rain.",
    ]
    before = path.read_bytes()
    assert "evals/triggers.json: 0 added, 7 already there" in cli(*arguments).out
    assert path.read_bytes() == before


def test_two_suites_are_two_files(cli: Cli) -> None:
    """One would replace the other: exit 2, nothing written."""
    ran = cli("import", str(DATA / "triggers.jsonl"), "--triggers", "evals/routing.json")
    assert ran.code == 2
    assert not (cli.root / "evals").exists()
