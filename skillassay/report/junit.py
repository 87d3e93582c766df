"""The report as JUnit XML, for the readers of CI services. Owns what is a failure there and what an error.

Two suites: ``gate`` has a test for each line of the decision, ``trials`` one for each planned trial. Failed is a
*failure*; what could not be decided, a trial without a score or an open line, is an *error* and no failure. An arm that
a skill is measured against (none, eager and the like) is *skipped* whatever it came to: that a baseline fails is no
fault of anybody, and its result stands in the message. Names are unique, since some readers keep only the first of two.
There is no standard; elements and attributes are those that common readers share
(https://github.com/testmoapp/junitxml).
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree as ET  # only writes

from skillassay.gate.lines import GateLine, Status
from skillassay.printable import one_line, visible_text
from skillassay.report.base import RunView, failed_lines, score_text
from skillassay.runs.plan import Mode
from skillassay.scoring.scores import Row

MAX_CHARS = 10_000
"""Of the text of one test; the record has the rest."""


def render_junit(view: RunView) -> str:
    """The decision and all trials as one document."""
    gate = _suite("gate", [_line(line, view) for line in view.assessment.decision.lines])
    trials = _suite("trials", [_trial(row, view) for row in view.assessment.scores.rows])
    root = ET.Element("testsuites", {"name": "skillassay", **_sums((gate, trials))})
    properties = ET.Element("properties")
    gate.insert(0, properties)
    for name, value in _facts(view):
        ET.SubElement(properties, "property", {"name": name, "value": one_line(value)})
    root.extend((gate, trials))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _facts(view: RunView) -> Iterable[tuple[str, str]]:
    yield "decision", f"{view.assessment.decision.gate} {view.assessment.decision.status.value}"
    yield "models", view.model_line
    if view.sample_line is not None:
        yield "sample", view.sample_line
    if view.notice is not None:
        yield "notice", view.notice
    yield "run", view.header["id"]
    yield "content_digest", view.assessment.content_digest


_COUNTED = ("tests", "failures", "errors", "skipped")


def _suite(name: str, cases: list[ET.Element]) -> ET.Element:
    found = {word: sum(case.find(tag) is not None for case in cases) for tag, word in _TAGS.items()}
    counts = {"tests": len(cases), **found}
    suite = ET.Element("testsuite", {"name": name, **{word: str(counts[word]) for word in _COUNTED}})
    suite.extend(cases)
    return suite


_TAGS = {"failure": "failures", "error": "errors", "skipped": "skipped"}


def _sums(suites: Iterable[ET.Element]) -> dict[str, str]:
    suites = list(suites)
    return {word: str(sum(int(suite.get(word, "0")) for suite in suites)) for word in _COUNTED}


_ENDS = {Status.FAILED: "failure", Status.UNDECIDED: "error", Status.NOT_APPLICABLE: "skipped"}


def _line(line: GateLine, view: RunView) -> ET.Element:
    case = ET.Element("testcase", {"classname": view.assessment.decision.gate, "name": line.name})
    tag = _ENDS.get(line.status)
    if tag is not None:
        message = f"{line.number}; limit: {line.limit}"
        _end(case, tag, kind=line.status.value, message=message, text="\n".join(line.detail))
    return case


def _trial(row: Row, view: RunView) -> ET.Element:
    planned, record = row.planned, row.record
    case = ET.Element(
        "testcase",
        {
            "classname": one_line(f"{planned.skill_path}.{planned.suite}"),
            "name": one_line(f"{planned.case_id} [{planned.mode.value} #{planned.repeat}]"),
            "time": f"{record.duration_s:.3f}",
        },
    )
    outcome = record.outcome
    lines = [f"{f'{word} {name}'.strip()}: {text}" for word, name, text in failed_lines(row, view.facts)]
    text = "\n".join(lines)
    if planned.mode is not Mode.PROGRESSIVE:
        _end(case, "skipped", kind=None, message=f"compared with: {outcome.status} {score_text(record)}", text="")
    elif outcome.status == "FAIL":
        _end(case, "failure", kind=outcome.kind or "criteria", message=f"{score_text(record)} criteria", text=text)
    elif not outcome.scored:
        reason = outcome.reason.value if outcome.reason else "unknown"
        _end(case, "error", kind=reason, message=f"UNSCORED: {reason}: {outcome.detail or 'no detail'}", text=text)
    return case


def _end(case: ET.Element, tag: str, *, kind: str | None, message: str, text: str) -> None:
    attributes = {"message": one_line(message, 1000), **({"type": kind} if kind is not None else {})}
    element = ET.SubElement(case, tag, attributes)
    shown = visible_text(text)
    if shown:
        element.text = shown if len(shown) <= MAX_CHARS else f"{shown[:MAX_CHARS]}… ({len(shown)} characters in all)"
