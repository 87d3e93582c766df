"""Expected values that a candidate can copy: from the query, the case's files, or the skill. Owns what each means.

In the query a value is given away in every mode: the case measures copying; where it is one of several options there,
nothing is given away, and it is a note. In a file of the case it may be what is to
be found there, so that this is a note. In the skill a whole answer or a figure is the case's own answer, and the lift
measures that it stands there; a word that must occur is what a skill is there to teach, and a note.
"""

from __future__ import annotations

from collections.abc import Iterator

from skillassay.findings import Severity, register
from skillassay.suites.lints.base import Doubt, LintedCase, SkillTexts, doubt, listed, quoted
from skillassay.suites.lints.expected import Expected, expected_values

IN_QUERY = register("suite.expected-in-query", "A value that a case expects stands in its query.")
IN_FILES = register("suite.expected-in-files", "A value that a case expects stands in one of its files.")
IN_SKILL = register("suite.expected-in-skill", "A value that a case expects stands in its skill.")


def leaking_doubts(linted: LintedCase, skill: SkillTexts | None) -> Iterator[Doubt]:
    """For each expected value the places where it can be copied from; one in the query is told there alone."""
    case = linted.case
    for value in expected_values(case):
        words = f"{quoted(value.text)} is expected"
        if value.stands_in(case.query):
            hint = "ask so that the answer has to be worked out, or check something that the query does not say"
            message, severity = f"{words} and stands in the query", Severity.WARNING
            if value.is_option_in(case.query):
                hint = "fine where one of several is to be chosen"
                message, severity = f"{message}, as one of several options", Severity.NOTE
            yield doubt(IN_QUERY, severity, linted, message, hint=hint, item=value.item)
            continue
        files = [file.path for file in case.files if file.text is not None and value.stands_in(file.text)]
        if files:
            hint = "fine where it is to be found there; otherwise take it out of the file"
            message = f"{words} and stands in {listed(files)}"
            yield doubt(IN_FILES, Severity.NOTE, linted, message, hint=hint, item=value.item)
        yield from _in_skill(linted, value, skill, words)


def _in_skill(linted: LintedCase, value: Expected, skill: SkillTexts | None, words: str) -> Iterator[Doubt]:
    if skill is None:
        return
    places = ["the skill's text"] if value.stands_in(skill.body) else []
    places += [path for path, text in sorted(skill.files.items()) if value.stands_in(text)]
    if not places:
        return
    message = f"{words} and stands in {listed(places)}"
    if value.is_answer:
        hint = "ask about another instance: a lift on this one shows that the skill holds the answer"
        yield doubt(IN_SKILL, Severity.WARNING, linted, message, hint=hint, item=value.item)
    else:
        hint = "fine where the skill teaches the word; it must not be the answer of this one case"
        yield doubt(IN_SKILL, Severity.NOTE, linted, message, hint=hint, item=value.item)
