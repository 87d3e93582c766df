"""Whatever stands in a file: every case is carried or listed, ids come from content, and nothing is dropped unsaid."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillassay.documents import parse_document
from skillassay.interop.exchange import Imported, merge_cases
from skillassay.interop.importing import load_source, read_import
from skillassay.suites.case import parse_suite
from skillassay.suites.files import CaseFile, CaseFileProblem
from tests.interop.test_shapes import DATA

SOURCE = Path("evals.json")
QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
words = st.text(alphabet="abc é☃\n'\"\\(<", min_size=0, max_size=12)
anything = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)


def item(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """A case of which each field may be missing, fitting, or anything."""
    loose = {name: value | anything for name, value in fields.items()}
    return st.fixed_dictionaries({}, optional={**loose, "more": anything}) | anything


statement = words | st.fixed_dictionaries(
    {"text": words}, optional={"type": words, "pattern": words, "name": words, "phrase": words}
)
skill_names = st.none() | st.sampled_from(["s", "t"])
evals = st.fixed_dictionaries(
    {
        "skill_name": st.just("s"),
        "evals": st.lists(
            item(
                id=words | st.integers(0, 3),
                prompt=words,
                assertions=st.lists(statement, max_size=3),
                expected_output=words,
                expected_skill=skill_names,
                should_trigger=st.booleans(),
                files=st.lists(words, max_size=2),
            ),
            max_size=5,
        ),
    }
)
questions = st.lists(
    item(question=words, expected_skill=skill_names, expected_behavior=st.lists(words, max_size=3), ground_truth=words),
    max_size=5,
).map(lambda items: [{"id": "q", "question": "Q?", "expected_skill": "s"}, *items])
scenarios = st.lists(
    item(name=words, prompt=words, rubric=st.lists(words, max_size=2), expect_activation=st.booleans()), max_size=5
).map(lambda items: {"scenarios": [{"name": "n", "rubric": ["r"], "prompt": "p"}, *items]})
patterns = st.lists(
    item(name=words, prompt=words, expected_patterns=st.lists(words, max_size=2), tags=st.lists(words)), max_size=5
).map(lambda items: {"scenarios": [{"name": "n", "expected_patterns": ["r"], "prompt": "p"}, *items]})
grader = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["output-matches", "skill-invocation", "other", "file-contains"]),
        "config": st.dictionaries(st.sampled_from(["pattern", "required", "disallowed", "path", "value"]), anything),
    }
)
stimuli = st.fixed_dictionaries(
    {"stimuli": st.lists(item(name=words, prompt=words, graders=st.lists(grader | anything, max_size=3)), max_size=5)}
)
triggers = st.lists(item(query=words, should_trigger=st.booleans(), expected_skill=skill_names), max_size=5).map(
    lambda items: [{"query": "q", "should_trigger": True}, *items]
)
files = st.one_of(evals, questions, scenarios, patterns, stimuli, triggers)


def items_of(value: Any) -> list[Any]:
    """The cases of a generated file."""
    if isinstance(value, list):
        return value
    (found,) = (value[key] for key in ("evals", "scenarios", "stimuli") if key in value)
    return list(found)


def no_file(_: str) -> CaseFile:
    """No generated case may keep a file: none of them exists."""
    raise CaseFileProblem("does not exist")


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No name that is drawn is a file."""
    monkeypatch.chdir(tmp_path)


@settings(QUICK, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(files, st.booleans())
def test_every_case_is_carried_or_listed(value: Any, with_triggers: bool) -> None:
    """Cases read are cases carried and cases refused, and each refused one has its line."""
    imported = read_import(value, source=SOURCE, skill="s", with_triggers=with_triggers)
    carried = len(imported.cases) + len(imported.routing) + len(imported.triggers)
    assert imported.n_read == len(items_of(value)) == carried + imported.n_refused
    named = {line.split(":")[0] for line in imported.lost if ": not carried, " in line}
    assert len(named) >= imported.n_refused


@settings(QUICK, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(files)
def test_what_is_carried_is_a_suite(value: Any) -> None:
    """Our own reader finds nothing wrong with it."""
    imported = read_import(value, source=SOURCE, skill="s")
    if imported.cases:
        text = json.dumps({"suite": "s", "version": "1", "cases": imported.cases})
        document, _ = parse_document(text, path="s.json", is_json=True)
        assert document is not None
        assert parse_suite(document, read_file=no_file).findings == ()


@settings(QUICK, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(evals)
def test_no_statement_is_dropped_unsaid(value: Any) -> None:
    """The text of each assertion is a criterion, a check, or stands in a line about its case."""
    imported = read_import(value, source=SOURCE, skill="s")
    carried = json.dumps([imported.cases, imported.routing], ensure_ascii=False)
    for index, one in enumerate(value["evals"]):
        told = [line for line in imported.lost if line.startswith((f"evals[{index}]:", f"evals[{index}] ("))]
        refused = any(": not carried, " in line for line in told)
        listed = one.get("assertions") if isinstance(one, dict) else None
        for entry in listed if isinstance(listed, list) and not refused else ():
            text = entry.get("text") if isinstance(entry, dict) else entry
            if isinstance(text, str) and text.strip():
                is_carried = json.dumps(text, ensure_ascii=False)[1:-1] in carried
                assert is_carried or any(repr(text)[1:-1] in line for line in told), (entry, told)


def bodies(imported: Imported) -> list[str]:
    """All cases with their ids, in one order."""
    return sorted(json.dumps(one, sort_keys=True) for one in (*imported.cases, *imported.routing))


@settings(QUICK, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(evals, st.randoms())
def test_an_id_does_not_say_where_a_case_stood(value: Any, random: Any) -> None:
    """The same cases in another order have the same ids."""
    before = bodies(read_import(value, source=SOURCE, skill="s"))
    random.shuffle(value["evals"])
    assert bodies(read_import(value, source=SOURCE, skill="s")) == before


@settings(QUICK, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(evals)
def test_importing_twice_adds_nothing(value: Any) -> None:
    """Nor when cases came one by one, so that ids that collide were free at first."""
    cases = read_import(value, source=SOURCE, skill="s").cases
    once = merge_cases([], cases, shown_as="x")
    assert merge_cases(once.document, cases, shown_as="x").added == ()
    first = read_import({**value, "evals": value["evals"][:1]}, source=SOURCE, skill="s").cases
    grown = merge_cases(merge_cases([], first, shown_as="x").document, cases, shown_as="x")
    assert len(grown.document) == len(once.document)


@pytest.mark.parametrize("name", sorted(path.name for path in DATA.iterdir()))
def test_published_forms_lose_no_case(name: str) -> None:
    """Of each form of the data folder, every case is carried or listed."""
    imported = read_import(load_source(DATA / name), source=DATA / name, skill="s")
    assert imported.n_read == len(imported.cases) + len(imported.routing) + imported.n_refused
