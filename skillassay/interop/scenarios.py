"""Files of ``scenarios``: with patterns of the answer, or with assertions and a rubric. Owns what their fields become.

    {"config", "scenarios": [{"name", "prompt", "expected_patterns", "forbidden_patterns", "mock_response", "tags"}]}
    {"scenarios": [{"name", "prompt", "assertions": [{"type", …}], "rubric", "setup", "timeout", "expect_activation"}]}

The first kind's "patterns" are looked for literally by the tool they come from, so they become ``contains`` and
``not_contains``: read as expressions, ``client.send()`` would mean something else. The second kind compares outputs
without regard to case, and files with it. A ``mock_response`` is an authored answer and is carried nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from skillassay.canonical import Json
from skillassay.interop.collecting import Collection
from skillassay.interop.drafts import Draft, not_activating

_PATTERNS = frozenset({"name", "prompt", "expected_patterns", "forbidden_patterns", "tags"})
_RUBRICS = frozenset({"name", "prompt", "assertions", "rubric", "expect_activation", "tags"})
_FILE_CHECKS = {"file_contains": "contains", "file_not_contains": "not_contains"}
_GLOB = frozenset("*?[{")
TOP = frozenset({"scenarios", "skill", "skill_name"})


def read_patterns(value: Mapping[str, Any], into: Collection) -> None:
    """Scenarios with expected and forbidden patterns."""
    _read(value, into, _fill_patterns)


def read_rubrics(value: Mapping[str, Any], into: Collection) -> None:
    """Scenarios with assertions and a rubric."""
    _read(value, into, _fill_rubrics)


def _read(value: Mapping[str, Any], into: Collection, fill: Callable[[Draft], None]) -> None:
    into.lose_fields(value, TOP)
    for index, item in enumerate(value["scenarios"]):
        draft = into.draft(f"scenarios[{index}]", item, id_key="name")
        if draft is not None:
            draft.name("name")
            draft.query = draft.text("prompt")
            fill(draft)
            note_tags(draft)
            into.add(draft)


def note_tags(draft: Draft) -> None:
    """Tags are for people, and so is a note."""
    tags = draft.item.get("tags")
    if isinstance(tags, Mapping):
        tags = [f"{key}={value}" for key, value in tags.items()]
    if isinstance(tags, list) and tags:
        draft.notes.append("tags: " + ", ".join(map(str, tags)))
    elif tags:
        draft.lose("field 'tags', which is neither a list nor an object")


def _fill_patterns(draft: Draft) -> None:
    for key, kind in (("expected_patterns", "contains"), ("forbidden_patterns", "not_contains")):
        for entry in draft.entries(key):
            if isinstance(entry, str):
                draft.add_check(kind, what=f"{key} {entry[:60]!r}", text=entry)
            else:
                draft.lose(f"an entry of {key} that is no text")
    draft.lose_fields(_PATTERNS)


def _fill_rubrics(draft: Draft) -> None:
    for entry in draft.entries("rubric"):
        if isinstance(entry, str) and entry.strip():
            draft.add_statement(entry)
        else:
            draft.lose("an entry of rubric without text")
    for entry in draft.entries("assertions"):
        _add_assertion(draft, entry)
    if "expect_activation" in draft.item:
        expect_activation(draft, draft.item["expect_activation"])
    if draft.item.get("setup"):
        draft.notes.append("imported without its setup")
    draft.lose_fields(_RUBRICS)


def expect_activation(draft: Draft, wanted: Json) -> None:
    """Whether the skill should be activated."""
    if not isinstance(wanted, bool):
        draft.lose("field 'expect_activation', which is neither true nor false")
    elif draft.skill is not None:
        if not wanted:
            draft.notes.append(not_activating(draft.skill))
        draft.should_trigger = wanted
        draft.expect([draft.skill] if wanted else [], where="'expect_activation'")


def _add_assertion(draft: Draft, entry: Json) -> None:
    kind = entry.get("type") if isinstance(entry, Mapping) else None
    if not isinstance(entry, Mapping) or not isinstance(kind, str):
        draft.lose("an assertion without a type")
        return
    value, pattern, path = (entry.get(key) for key in ("value", "pattern", "path"))
    known = {"type"}
    what = f"assertion {kind}"
    if kind in {"output_matches", "output_not_matches"} and isinstance(pattern, str):
        known |= {"pattern"}
        draft.add_check(kind_of(kind), what=what, pattern=f"(?i){pattern}")
    elif kind in {"output_contains", "output_not_contains"} and isinstance(value, str):
        known |= {"value"}
        draft.add_check(kind_of(kind), what=what, text=value, ignore_case=True)
    elif kind in _FILE_CHECKS and isinstance(value, str):
        known |= {"value", "path"}
        add_file_check(draft, _FILE_CHECKS[kind], path=path, text=value, what=what)
    else:
        draft.lose(f"{what}{_shown(entry)}")
        return
    draft.lose_fields(known, of=entry, named=f"of {what} the ")


def kind_of(name: str) -> str:
    """The check here for ``output_contains``, ``output-not-matches`` and their like."""
    plain = name.replace("-", "_").removeprefix("output_")
    return plain.replace("matches", "regex")


def add_file_check(draft: Draft, kind: str, *, path: Json, text: str, what: str) -> None:
    """A check on one file. A pattern of paths is lost: here a check reads the one file that it names."""
    if not isinstance(path, str) or set(path) & _GLOB:
        draft.lose(f"{what} on {str(path)[:60]!r}: a check reads one file")
    else:
        draft.add_check(kind, what=what, text=text, file=path)


def _shown(entry: Mapping[str, Any]) -> str:
    told = [f"{key} {str(entry[key])[:60]!r}" for key in ("path", "value", "pattern", "command_to_run") if key in entry]
    return f" ({', '.join(told)})" if told else ""
