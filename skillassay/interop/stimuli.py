"""Files of ``stimuli`` with graders. Owns what their fields become.

    {"name", "defaults", "scoring", "stimuli": [{"name", "prompt" | "turns", "environment", "constraints", "rubric",
      "graders": [{"type", "config"}], "tags"}]}

``output-*`` graders become checks as they are written, ``skill-invocation`` and ``constraints.expect_skills`` the
skills that are expected. What looks at files by a pattern, at tool calls, at a shell, or asks a judge a question of its
own is lost. A stimulus of several turns is not carried: a case here is one request.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from skillassay.canonical import Json
from skillassay.interop.collecting import Collection
from skillassay.interop.drafts import Draft
from skillassay.interop.scenarios import add_file_check, expect_activation, kind_of, note_tags

TOP = frozenset({"stimuli", "skill", "skill_name"})
_FIELDS = frozenset({"name", "prompt", "turns", "graders", "rubric", "tags", "expect_activation", "constraints"})
_OUTPUT = {"matches": "pattern", "not-matches": "pattern", "contains": "substring", "not-contains": "substring"}
_FILES = {"file-contains": "contains", "file-not-contains": "not_contains"}


def stimuli_skill(value: Mapping[str, Any]) -> str | None:
    """The skill that a file is about: by its tag, else the only one of its environment."""
    tags, environment = value.get("tags"), value.get("environment")
    tagged = tags.get("skill") if isinstance(tags, Mapping) else None
    if isinstance(tagged, str) and tagged:
        return tagged
    paths = environment.get("skills") if isinstance(environment, Mapping) else None
    if isinstance(paths, list) and len(paths) == 1 and isinstance(paths[0], str):
        return PurePosixPath(paths[0]).name or None
    return None


def read_stimuli(value: Mapping[str, Any], into: Collection) -> None:
    """All stimuli of a file."""
    into.lose_fields(value, TOP)
    for index, item in enumerate(value["stimuli"]):
        draft = into.draft(f"stimuli[{index}]", item, id_key="name")
        if draft is not None:
            _fill(draft, into)
            into.add(draft)


def _fill(draft: Draft, into: Collection) -> None:
    draft.name("name")
    if "turns" in draft.item:
        draft.refuse("it has several turns, and a case is one request")
    draft.query = draft.text("prompt") or ("" if "turns" in draft.item else None)
    for entry in draft.entries("rubric"):
        if isinstance(entry, str) and entry.strip():
            draft.add_statement(entry)
        else:
            draft.lose("an entry of rubric without text")
    for entry in draft.entries("graders"):
        _add_grader(draft, entry, into)
    _expect(draft, into)
    if draft.item.get("environment"):
        draft.notes.append("imported without its environment")
    note_tags(draft)
    draft.lose_fields(_FIELDS)


def _expect(draft: Draft, into: Collection) -> None:
    constraints = draft.item.get("constraints")
    if isinstance(constraints, Mapping):
        skills = _texts(constraints.get("expect_skills"))
        if skills:
            draft.expect([into.name_of(name) for name in skills], where="'expect_skills'")
        draft.lose_fields({"expect_skills"} if skills else (), of=constraints, named="of constraints the ")
    elif constraints is not None:
        draft.lose("field 'constraints', which is no object")
    if "expect_activation" in draft.item:
        expect_activation(draft, draft.item["expect_activation"])


def _add_grader(draft: Draft, entry: Json, into: Collection) -> None:
    kind = entry.get("type") if isinstance(entry, Mapping) else None
    if not isinstance(entry, Mapping) or not isinstance(kind, str):
        draft.lose("a grader without a type")
        return
    config = entry.get("config")
    config = config if isinstance(config, Mapping) else {}
    what, known = f"grader {kind}", set[str]()
    key = _OUTPUT.get(kind.removeprefix("output-")) if kind.startswith("output-") else None
    name = entry.get("name") if isinstance(entry.get("name"), str) else None
    if key is not None and isinstance(config.get(key), str):
        known = {key}
        words = {"pattern" if key == "pattern" else "text": config[key]}
        draft.add_check(kind_of(kind), what=what, note=name, **words)
    elif kind in _FILES and isinstance(config.get("value"), str):
        known = {"path", "value"}
        add_file_check(draft, _FILES[kind], path=config.get("path"), text=config["value"], what=what)
    elif kind == "skill-invocation" and (_texts(config.get("required")) or _texts(config.get("disallowed"))):
        known = {"required", "disallowed"}
        _invoke(draft, config, into)
    else:
        draft.lose(what + (f" ({', '.join(sorted(map(str, config)))})" if config else ""))
        return
    draft.lose_fields(known, of=config, named=f"of {what} the ")
    draft.lose_fields({"type", "config", "name"}, of=entry, named=f"of {what} the ")


def _invoke(draft: Draft, config: Mapping[str, Any], into: Collection) -> None:
    required = [into.name_of(name) for name in _texts(config.get("required"))]
    barred = [into.name_of(name) for name in _texts(config.get("disallowed"))]
    if barred and not required:
        draft.notes.append(f"must not activate {', '.join(barred)}")
    draft.expect(required, where="'skill-invocation'")


def _texts(value: Json) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
