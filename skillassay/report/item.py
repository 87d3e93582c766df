"""What a person who labels is shown: what the judge is shown, and nothing else."""

from __future__ import annotations

import textwrap

from skillassay.calibration.items import Item
from skillassay.printable import one_line

RULE = "-"
MAX_FILE_CHARS = 20_000


def render_item(item: Item, *, n_left: int, with_answer: bool, columns: int) -> str:
    """One criterion; with the query, its files and the answer where they are not on the screen already."""
    lines = [RULE * columns]
    if with_answer:
        lines += _part("query", item.case.query, columns)
        for file in item.case.files:
            lines += _part(f"file {one_line(file.path)}", file.text or "(not a text)", columns)
        if item.case.reference is not None:
            lines += _part("reference (an answer known to be right)", item.case.reference, columns)
        lines += _part("answer", item.answer.text, columns)
    lines += _part(f"criterion, {n_left} left", item.criterion.text, columns)
    return "\n".join(lines)


def _part(title: str, text: str, columns: int) -> list[str]:
    shown = text if len(text) <= MAX_FILE_CHARS else f"{text[:MAX_FILE_CHARS]} … ({len(text)} characters in all)"
    lines = [f"{title}:"]
    for line in shown.split("\n"):
        lines += [f"  {part}" for part in textwrap.wrap(one_line(line), columns - 2) or [""]]
    return lines
