"""What a person who labels is shown: what the judge is shown, and nothing else. Who reads verdicts sees those too."""

from __future__ import annotations

from skillassay.calibration.items import Item
from skillassay.errors import TrialError
from skillassay.judging.behavior import parse_answer
from skillassay.printable import one_line
from skillassay.report.layout import whole

RULE = "-"
TAB = 4
_MOST_INDENT = 40


def render_item(item: Item, *, n_left: int, with_answer: bool, columns: int) -> str:
    """One criterion; with the query, its files and the answer where they are not on the screen already."""
    lines = [RULE * columns, *(_asked(item, columns) if with_answer else ())]
    lines += _part(f"criterion, {n_left} left", item.criterion.text, columns)
    return "\n".join(lines)


def render_verdict(item: Item, judged: tuple[str, str], *, n_left: int, with_answer: bool, columns: int) -> str:
    """As above, with what the judge said of the criterion: its verdict and its evidence."""
    verdict, evidence = judged
    lines = [render_item(item, n_left=n_left, with_answer=with_answer, columns=columns)]
    lines += _part("the judge says", verdict, columns)
    lines += _part("its evidence", evidence or "(none)", columns)
    return "\n".join(lines)


def _asked(item: Item, columns: int) -> list[str]:
    lines = _part("query", item.case.query, columns)
    for file in item.case.files:
        lines += _part(f"file {one_line(file.path)}", file.text or "(not a text)", columns)
    if item.case.reference is not None:
        lines += _part("reference (an answer known to be right)", item.case.reference, columns)
    return [*lines, *_answer(item, columns)]


def _answer(item: Item, columns: int) -> list[str]:
    """The answer whole, however long. Of a behaviour case its parts, as the judge reads them."""
    text = item.answer.text
    if item.case.behavior is None:
        return _part("answer", text, columns)
    try:
        said = parse_answer(text)
    except TrialError:
        return _part("answer (not of the shape asked for)", text, columns)
    title = f"answer (action {one_line(said.action)}, {'refused' if said.refused else 'not refused'})"
    return _part(title, said.response, columns)


def _part(title: str, text: str, columns: int) -> list[str]:
    return [f"{title}:", *(part for line in text.split("\n") for part in _wrapped(line, columns))]


def _wrapped(line: str, columns: int) -> list[str]:
    """One line of a text, its indentation kept: code and lists mean something by it."""
    expanded = line.expandtabs(TAB)
    n_indent = min(len(expanded) - len(expanded.lstrip(" ")), _MOST_INDENT, columns // 2)
    indent = " " * (2 + n_indent)
    shown = one_line(line).strip()
    return whole(shown, columns, lead=indent) if shown else [""]
