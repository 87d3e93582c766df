"""The ``evals.json`` of the Agent Skills guide and of skill-creator. Owns what its fields become.

    {"skill_name", "evals": [{"id", "prompt", "expected_output", "files", "assertions" | "expectations"}]}

Both names of the list are in use, ids are numbers or texts, and an assertion is a text or an object. Published files
add ``expected_skill`` (null: no skill should answer), ``should_trigger``, ``expected_script``, ``name``, ``eval_name``.
``expected_output`` is the judge's ``reference`` and is never shown to the candidate.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillassay.canonical import Json
from skillassay.interop.collecting import Collection
from skillassay.interop.drafts import Draft, not_activating

TOP = frozenset({"skill_name", "evals"})
_FIELDS = frozenset({
    "id", "prompt", "query", "expected_output", "files", "assertions", "expectations", "name", "eval_name",
    "expected_skill", "expected_script", "should_trigger",
})  # fmt: skip
_KINDS = {
    **dict.fromkeys(("regex", "matches", "output_matches", "pattern"), "regex"),
    **dict.fromkeys(("not_regex", "not_matches", "output_not_matches"), "not_regex"),
    **dict.fromkeys(("contains", "output_contains", "phrase", "substring"), "contains"),
    **dict.fromkeys(("not_contains", "output_not_contains"), "not_contains"),
}
_JUDGED = frozenset({"llm", "llm_judge", "judge", "rubric"})


def read_evals(value: Mapping[str, Any], into: Collection) -> None:
    """All evals of a file."""
    into.lose_fields(value, TOP)
    for index, item in enumerate(value["evals"]):
        draft = into.draft(f"evals[{index}]", item)
        if draft is not None:
            _fill(draft, into)
            into.add(draft)


def _fill(draft: Draft, into: Collection) -> None:
    draft.name("id", "name", "eval_name")
    draft.query = draft.text("prompt", "query")
    for key in ("assertions", "expectations"):
        for entry in draft.entries(key):
            add_assertion(draft, entry)
    draft.reference = draft.text("expected_output")
    draft.files = draft.entries("files")
    expect_skill(draft, into)
    draft.expect_script(draft.item.get("expected_script"))
    draft.lose_fields(_FIELDS)


def expect_skill(draft: Draft, into: Collection) -> None:
    """``expected_skill`` and ``should_trigger``: the skills that the case should lead to."""
    if "expected_skill" in draft.item:
        name = draft.item["expected_skill"]
        if name is None:
            _expect_none(draft)
        elif isinstance(name, str) and name.strip():
            draft.expect([into.name_of(name)], where="'expected_skill'")
            draft.skill = into.name_of(name)
        else:
            draft.lose("field 'expected_skill', which is neither a name nor null")
    if "should_trigger" in draft.item:
        wanted = draft.item["should_trigger"]
        if not isinstance(wanted, bool):
            draft.lose("field 'should_trigger', which is neither true nor false")
            return
        if "expected_skill" not in draft.item:
            draft.should_trigger = wanted
        if not wanted:
            _expect_none(draft)
        elif draft.skill is None:
            draft.refuse("it should trigger and names no skill: name it with --skill")
        elif not draft.skills:  # a skill that the case names itself is the one that should trigger
            draft.expect([draft.skill], where="'should_trigger'")


def _expect_none(draft: Draft) -> None:
    if draft.skill is not None and draft.skills is None:
        draft.notes.append(not_activating(draft.skill))
    draft.expect([], where="that no skill should answer")


def add_assertion(draft: Draft, entry: Json) -> None:
    """A statement for the judge, or a check where the entry says exactly what code can decide."""
    if isinstance(entry, str) and entry.strip():
        draft.add_statement(entry)
    elif not isinstance(entry, Mapping):
        draft.lose("an assertion without text")
    elif not _add_exact(draft, entry):
        _add_stated(draft, entry)


def _add_exact(draft: Draft, entry: Mapping[str, Any]) -> bool:
    """``type`` with ``pattern``, or a ``phrase``: a check that says what the entry says."""
    stated = entry.get("type", "phrase" if "phrase" in entry else None)
    kind = _KINDS.get(stated.replace("-", "_")) if isinstance(stated, str) else None
    keys = ("pattern",) if kind in {"regex", "not_regex"} else ("phrase", "pattern", "value")
    key = next((key for key in keys if isinstance(entry.get(key), str) and entry[key]), None)
    if kind is None or key is None:
        return False
    words = {"pattern": entry[key]} if "regex" in kind else {"text": entry[key]}
    told = [entry[name] for name in ("name", "text") if isinstance(entry.get(name), str) and entry[name].strip()]
    note = ": ".join(dict.fromkeys(told)) or None
    is_built = draft.add_check(kind, note=note, what=f"of assertion {entry[key][:60]!r}", **words)
    if is_built:
        draft.lose_fields({"type", "text", "name", key}, of=entry, named=f"of assertion {entry[key][:60]!r} the ")
    return is_built


def _add_stated(draft: Draft, entry: Mapping[str, Any]) -> None:
    text, known = entry.get("text"), {"text", "name"}
    if text is None and isinstance(entry.get("check"), str):
        text, known = _checked(entry), {"check", "expected", "name"}
    if not isinstance(text, str) or not text.strip():
        draft.lose("an assertion without text")
        return
    if str(entry.get("type", "")).replace("-", "_").startswith(("not_", "output_not_", "no_")):
        # Whether the text is what must not stand there, or says so in words, nobody can tell: read as a demand it would
        # turn the case round.
        draft.lose(f"assertion {text[:60]!r} of the type {str(entry['type'])[:40]!r} without its operand")
        return
    name = entry.get("name")
    draft.add_statement(text, name=name if isinstance(name, str) else None)
    known |= {"type"} if entry.get("type") in _JUDGED else set()
    more = ", ".join(sorted(set(map(str, entry)) - known))
    if more:
        draft.lose(f"of assertion {text[:60]!r} the fields {more}")


def _checked(entry: Mapping[str, Any]) -> str:
    """``check`` with what is ``expected`` of it, in one sentence; that it holds needs no words."""
    expected = entry.get("expected", True)
    if expected is True:
        return str(entry["check"])
    shown = str(expected).lower() if isinstance(expected, bool) else str(expected)
    return f"{entry['check']} (expected: {shown})"
