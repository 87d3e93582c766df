"""Skeletons of cases made from a skill's own text, for a person to fill in. Owns what is quoted, invents no answer.

Each skill gets three: the everyday request that its description promises, one rule of its body, and one example or the
case at its edge. What its text gives stands in the note, which nobody is asked; query and criterion are marked, and a
suite that still holds the mark is refused (:data:`skillassay.suites.facts.UNFILLED`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from skillassay.canonical import Json
from skillassay.printable import one_line
from skillassay.skills.skill import Skill
from skillassay.suites.facts import UNFILLED_MARK

SHOWN_CHARS = 240
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n(.*?)^ {0,3}\1", re.MULTILINE | re.DOTALL)
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(\S.*)$", re.MULTILINE)
_HEADING = re.compile(r"^#{2,6}\s+(\S.*?)\s*#*$", re.MULTILINE)
_EXAMPLE = re.compile(r"example|beispiel|exemple|ejemplo|esempio|例", re.IGNORECASE)
_DEMANDS = re.compile(
    r"\b(?:never|always|must|only|do not|don't|nie|immer|nur|jamais|toujours|nunca|siempre)\b|\d", re.IGNORECASE
)

_NOTE = (
    "Skeletons made from the skills' own text. Each text that begins with the mark is to be written anew: the query as "
    "a user would write it, the criterion as something that can be seen in an answer. Until then `check` refuses it."
)


def build_suite(named: Mapping[str, Skill], *, suite: str, schema: str) -> bytes:
    """A suite of skeletons for skills, by the name that a case calls each by."""
    taken: set[str] = set()
    cases = [case for called, skill in named.items() for case in _cases(called, skill, taken)]
    body = {"$schema": schema, "suite": suite, "version": "0.1.0", "note": _NOTE, "cases": cases}
    # In the order in which it is read: sorted keys would put the query last.
    return (json.dumps(body, ensure_ascii=False, indent=2) + "\n").encode()


def _cases(called: str, skill: Skill, taken: set[str]) -> Iterator[dict[str, Json]]:
    rule = _rule(skill.body)
    edge, from_where = _edge(skill.body)
    plans = (
        (
            "everyday",
            "an ordinary request, as a user would write it, with all the data that it takes",
            "what is seen in a right answer and missing in one without the skill",
            f"The description says: {_shown(skill.description)}",
        ),
        (
            "rule",
            "a request whose answer goes wrong where this rule is not kept",
            "how one sees in the answer that the rule was kept",
            f"The skill says: {_shown(rule)}" if rule else "The skill has no list of rules: take its firmest sentence.",
        ),
        (
            "edge",
            "a hard request: incomplete, contradictory, or just beside what the skill is for",
            "what a careful answer does there, and a careless one does not",
            f"{from_where}: {_shown(edge)}" if edge else "The skill has no example: ask the one who knows the work.",
        ),
    )
    stem = _stem(skill, taken)
    for kind, query, criterion, note in plans:
        yield {
            "id": f"{stem}-{kind}",
            "skill": called,
            "note": note,
            "query": f"{UNFILLED_MARK} {query}",
            "rubric": [{"id": "seen", "text": f"{UNFILLED_MARK} {criterion}"}],
        }


def _stem(skill: Skill, taken: set[str]) -> str:
    stem = re.sub(r"[^a-z0-9]+", "-", skill.name.lower()).strip("-")[:60].strip("-") or "skill"
    name, n = stem, 1
    while name in taken:
        n += 1
        name = f"{stem}-{n}"
    taken.add(name)
    return name


def _rule(body: str) -> str | None:
    items = _ITEM.findall(_FENCE.sub("", body))
    return next((item for item in items if _DEMANDS.search(item)), items[0] if items else None)


def _edge(body: str) -> tuple[str | None, str]:
    """An example of the body, else its last heading, with what it is."""
    headings: Sequence[re.Match[str]] = list(_HEADING.finditer(body))
    for heading in headings:
        if _EXAMPLE.search(heading[1]):
            rest = re.split(r"^#{1,6}\s", body[heading.end() :], maxsplit=1, flags=re.MULTILINE)[0].strip()
            fence = _FENCE.search(rest + "\n")
            return (fence[2].strip() if fence and fence[2].strip() else rest) or heading[1], "An example of the skill"
    return (headings[-1][1], "A section of the skill") if headings else (None, "")


def _shown(text: str) -> str:
    return one_line(text, SHOWN_CHARS)
