"""What becomes of each field of each shape, from the files of the data folder."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from skillassay.interop.exchange import Imported
from skillassay.interop.importing import load_source, read_import
from tests.interop.test_shapes import DATA


def read(name: str, *, skill: str | None = None, source: Path | None = None) -> Imported:
    """A file of the data folder, mapped."""
    return read_import(load_source(DATA / name), source=source or DATA / name, skill=skill)


def plain(checks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Checks without ids and notes."""
    return [{key: check[key] for key in check if key not in {"id", "note"}} for check in checks]


def case(imported: Imported, name: str) -> Any:
    """The quality case of this id."""
    return {one["id"]: one for one in imported.cases}[name]


def routed(imported: Imported) -> dict[str, Any]:
    """What each routing case expects, by id."""
    return {one["id"]: one["expect"] for one in imported.routing}


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    """A skill with the file of invoices, and the evals.json beside it."""
    folder = tmp_path / "invoice-reader"
    (folder / "evals" / "files").mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: invoice-reader\n---\n", encoding="utf-8")
    (folder / "evals" / "files" / "invoices.csv").write_text("no;due\n17;May\n", encoding="utf-8")
    shutil.copy(DATA / "evals-assertions.json", folder / "evals" / "evals.json")
    return folder


def test_evals_with_assertions(skill: Path) -> None:
    """Statements word for word, expected output for the judge, files from either folder, a name as a note."""
    imported = read("evals-assertions.json", source=skill / "evals" / "evals.json")
    assert imported.lost == ()
    assert case(imported, "invoice-reader-1") == {
        "id": "invoice-reader-1",
        "skill": "invoice-reader",
        "query": "Which invoice is overdue?",
        "files": ["files/invoice-reader/evals/files/invoices.csv"],
        "rubric": ["Names invoice 17.", "Says by how many days it is overdue."],
        "reference": "Invoice 17 is overdue by nine days.",
    }
    assert case(imported, "invoice-reader-two-currencies")["note"] == "Two currencies"


def test_evals_with_expectations() -> None:
    """Numbers as ids, an id from the content where there is none, fields of the file that have no place."""
    imported = read("evals-expectations.json")
    first, second = imported.cases
    assert (first["id"], first["note"], first["rubric"]) == (
        "invoice-reader-7",
        "overdue",
        ["Says that it is not paid."],
    )
    assert second["id"].startswith("invoice-reader-")
    assert len(second["id"]) == len("invoice-reader-") + 8
    assert [line.split(": ")[1] for line in imported.lost] == ["field 'scope'", "field 'suite_name'"]


def test_assertion_objects() -> None:
    """Exact ones are checks, statements keep their names, and a pattern that the engine refuses is listed."""
    imported = read("evals-objects.json")
    (only,) = imported.cases
    assert plain(only["checks"]) == [
        {"type": "regex", "pattern": r"\b17\b"},
        {"type": "not_contains", "text": "$"},
        {"type": "contains", "text": "overdue"},
    ]
    assert only["checks"][0]["note"] == "Invoice 17 is on the list"
    assert only["rubric"] == [
        {"id": "sorted", "text": "The list is sorted by date."},
        {"id": "has-total", "text": "A total stands below the list"},
        {"id": "currency", "text": "The currency of the total (expected: EUR)"},
        "Reads well",
        "Group left open",
    ]
    assert len(imported.lost) == 2
    assert "cannot be compiled" in imported.lost[0]
    assert "of assertion 'Group left open' the fields pattern, type" in imported.lost[1]


@pytest.mark.parametrize("kind", ["not_contains", "not-regex", "output_not_matches"])
def test_a_ban_is_never_read_as_a_demand(kind: str) -> None:
    """A negative assertion without its operand is listed, and no judge is asked to look for what must not be there."""
    item = {"id": "a", "prompt": "P", "assertions": [{"type": kind, "text": "password"}, "It is short."]}
    imported = read_import({"skill_name": "s", "evals": [item]}, source=DATA / "evals.json", skill=None)
    (only,) = imported.cases
    assert only["rubric"] == ["It is short."]
    assert any("'password'" in words and kind in words for words in imported.lost)


def test_evals_that_say_which_skill_should_answer() -> None:
    """null and should_trigger are routing cases; a skill that is expected beside statements is told with the case."""
    imported = read("evals-negative.json")
    (positive,) = imported.cases
    assert positive["expect"] == {"skills": ["invoice-reader"], "scripts": ["invoice-reader/scripts/read.py"]}
    assert routed(imported) == {
        "invoice-reader-2": {"skills": []},
        "invoice-reader-3": {"skills": ["invoice-reader"]},
        "invoice-reader-4": {"skills": []},
    }
    assert [line for line in imported.lost if "'Is a poem.', since a routing case" in line] == list(imported.lost)


def test_questions() -> None:
    """Expected behaviour is the rubric, the ground truth the reference; each case is about the skill it expects."""
    imported = read("questions-list.json")
    (graded,) = imported.cases
    assert graded == {
        "id": "service-starter-q-1",
        "skill": "service-starter",
        "query": "Start the service.",
        "rubric": ["Runs the start script.", "Names the port."],
        "reference": "The service runs on port 8080.",
        "expect": {"skills": ["service-starter"], "scripts": ["service-starter/scripts/start.sh"]},
    }
    assert routed(imported) == {"service-stopper-q-2": {"skills": ["service-stopper"]}, "q-3": {"skills": []}}
    assert len(imported.lost) == 3  # two ground truths and a statement of cases that are not graded
    assert (imported.n_read, imported.n_refused) == (3, 0)


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("questions-wrapper.json", ["service-starter-w-1"]),
        ("questions-one.json", ["service-starter-o-1"]),
        ("questions-empty.json", []),
    ],
)
def test_other_forms_of_questions(name: str, ids: list[str]) -> None:
    """Under a skill, alone, or none at all; nothing is lost."""
    imported = read(name)
    assert [one["id"] for one in imported.cases] == ids
    assert imported.lost == ()


def test_scenarios_with_patterns() -> None:
    """Looked for literally, as there: a parenthesis is a parenthesis. The authored answer is listed and not carried."""
    imported = read("scenarios-patterns.yaml", skill="queue-client")
    first = case(imported, "queue-client-basic-client")
    assert plain(first["checks"]) == [
        {"type": "contains", "text": "QueueClient("},
        {"type": "contains", "text": "client.send()"},
        {"type": "not_contains", "text": "password="},
    ]
    assert first["note"] == "basic_client; tags: basic, client"
    assert [line.partition(": ")[2] for line in imported.lost] == [
        "field 'config'",
        "field 'mock_response'",
        "expected_patterns '': text is empty, and the empty text stands in every answer",
    ]


def test_scenarios_with_a_rubric() -> None:
    """Outputs are compared without regard to case and files with it, as there; the rest is listed."""
    imported = read("scenarios-rubric.yaml", skill="memory-leaks")
    (first,) = imported.cases
    assert plain(first["checks"]) == [
        {"type": "regex", "pattern": "(?i)(event handler|static list)"},
        {"type": "not_contains", "text": "reinstall", "ignore_case": True},
        {"type": "contains", "text": "static", "file": "notes/leak.md"},
    ]
    assert first["rubric"] == ["Names the static list as the cause."]
    assert first["expect"] == {"skills": ["memory-leaks"]}
    assert first["note"] == "Finds the leak; imported without its setup"
    *told, last = (line.split("): ")[1] for line in imported.lost)
    assert told == [
        "assertion file_exists (path 'notes/leak.md')",
        "assertion file_contains on '**/*.cs': a check reads one file",
        "assertion exit_success",
        "field 'expect_tools'",
        "field 'setup'",
        "field 'timeout'",
    ]
    assert last == "check not_regex '(?i)leak', since a routing case is not graded"
    assert routed(imported) == {"memory-leaks-not-about-memory": {"skills": []}}


def test_stimuli() -> None:
    """The skill is the tag's; what only says which skill answers is a routing case; several turns are not carried."""
    imported = read("stimuli.yaml")
    (graded,) = imported.cases
    assert plain(graded["checks"]) == [{"type": "regex", "pattern": "June"}, {"type": "contains", "text": "EUR"}]
    assert graded["checks"][0]["note"] == "names-june"
    assert graded["rubric"] == ["Says how sure the forecast is."]
    assert graded["expect"] == {"skills": ["cost-report"]}
    assert routed(imported) == {
        "cost-report-asks-for-costs": {"skills": ["cost-report"]},
        "cost-report-other-topic": {"skills": []},
    }
    assert (imported.n_read, imported.n_refused) == (4, 1)
    for words in ("several turns", "'environment'", "'max_turns'", "file-matches", "tool-calls", "grader prompt"):
        assert [line for line in imported.lost if words in line], words


@pytest.mark.parametrize(
    ("name", "skill", "expected"),
    [
        ("triggers.json", "invoice-reader", [["invoice-reader"], []]),
        ("triggers.jsonl", None, [["invoice-reader"], ["service-starter"], []]),
        ("triggers-two-lists.json", "invoice-reader", [["invoice-reader"], ["invoice-reader"], []]),
    ],
)
def test_trigger_queries(name: str, skill: str | None, expected: list[list[str]]) -> None:
    """Each is a routing case, in the order of the file; nothing is lost."""
    imported = read(name, skill=skill)
    assert [one["expect"]["skills"] for one in imported.routing] == expected
    assert (imported.cases, imported.lost) == ((), ())


def test_a_query_that_must_not_trigger_says_whom() -> None:
    """That no skill should answer says more than the file did: the note keeps what it said."""
    assert read("triggers.json", skill="invoice-reader").routing[1]["note"] == "must not activate invoice-reader"


def test_the_skill_that_was_asked_for_stands_for_the_files_own() -> None:
    """Wherever the file names it, and nowhere else."""
    imported = read("evals-negative.json", skill="invoices")
    assert imported.cases[0]["expect"] == {"skills": ["invoices"], "scripts": ["invoices/scripts/read.py"]}
    other = read("questions-list.json", skill="starter")
    assert [one["skill"] for one in other.cases] == ["service-starter"]
