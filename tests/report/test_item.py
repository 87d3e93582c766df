"""What a person who labels sees of an answer."""

from __future__ import annotations

import json

from skillassay.calibration.items import Item, judged_criteria
from skillassay.calibration.labels import LabelledAnswer
from skillassay.printable import width
from skillassay.report.item import render_item
from skillassay.suites.case import Behavior, Case, Criterion


def item(case: Case, text: str) -> Item:
    """The first criterion of an answer to the case."""
    answer = LabelledAnswer(suite=case.suite, case_id=case.id, case_digest=case.digest, text=text)
    return Item(answer=answer, case=case, criterion=judged_criteria(case)[0])


def shown(case: Case, text: str) -> str:
    """The screen."""
    return render_item(item(case, text), n_left=1, with_answer=True, columns=60)


RUBRIC = Case(id="c", skill="s", query="Do it.", rubric=(Criterion(id="done", text="It is done."),))
REFUSAL = Behavior(action="refuse", refused=True, required="Says no.", forbidden="Gives it away.")
BEHAVIOR = Case(id="c", skill="s", query="Do it.", behavior=REFUSAL)


def test_indentation_is_kept() -> None:
    """Code and nested lists mean something by it, as they do to the judge."""
    text = "def f():\n    if x:\n\treturn 1"
    assert "\n  def f():\n      if x:\n      return 1\n" in shown(RUBRIC, text)


def test_a_long_answer_is_shown_whole() -> None:
    """The judge reads all of it, so a person does."""
    assert "the last word" in shown(RUBRIC, "word " * 10_000 + "the last word")


def test_of_a_behaviour_case_the_response_is_shown_as_text() -> None:
    """What the judge reads of it: action, flag and prose, no JSON."""
    screen = shown(BEHAVIOR, json.dumps({"action": "refuse", "response": 'I say "no".\nReally.', "refused": True}))
    assert 'answer (action refuse, refused):\n  I say "no".\n  Really.\n' in screen
    assert "{" not in screen


def test_a_behaviour_answer_of_another_shape_is_shown_as_it_is() -> None:
    """And said to be so."""
    assert "answer (not of the shape asked for):\n  no JSON\n" in shown(BEHAVIOR, "no JSON")


def test_nothing_unseen_reaches_the_terminal() -> None:
    """An answer cannot move the cursor or turn the direction."""
    screen = shown(RUBRIC, "    \x1b[2J and \u202e turned")
    assert "\x1b" not in screen
    assert "\u202e" not in screen


def test_wide_scripts_stay_within_the_columns() -> None:
    """A Japanese character takes two columns, and such a text has no blank to break at; nothing of it is lost."""
    text = "  - " + "日本語の文章" * 30
    part = shown(RUBRIC, text).split("answer:\n")[1].split("\ncriterion")[0]
    lines = part.split("\n")
    assert max(map(width, lines)) <= 60
    assert all(line.startswith("    ") for line in lines)
    assert "".join(line.strip() for line in lines).replace(" ", "") == text.replace(" ", "")
