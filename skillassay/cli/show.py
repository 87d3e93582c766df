"""Rendering a view in the format a command asks for, and the step summary of a CI service."""

from __future__ import annotations

import os
from pathlib import Path

from skillassay.cli.output import columns, emit, emit_json, say
from skillassay.people.governed import people_json
from skillassay.report.base import RunView
from skillassay.report.document import SUMMARY_BYTES, render_markdown
from skillassay.report.table import render_table
from skillassay.runs.results import build_result

FORMATS = ("table", "markdown", "json", "html")


def show(view: RunView, form: str) -> None:
    """Print the view."""
    if form == "json":
        result = build_result(view.facts, view.assessment, view.header, occurred_at=view.occurred_at)
        emit_json(result | people_json(view.assessment, view.effective))
    elif form == "html":
        from skillassay.report.html import render_html

        emit(render_html(view).removesuffix("\n"))
    else:
        emit(render_markdown(view) if form == "markdown" else render_table(view, columns=columns()))


def append_step_summary(view: RunView) -> None:
    """Append the report to the file that GITHUB_STEP_SUMMARY names, within what the service accepts for it."""
    name = os.environ.get("GITHUB_STEP_SUMMARY")
    if not name:
        return
    path = Path(name)
    try:
        used = path.stat().st_size if path.exists() else 0
        text = render_markdown(view, max_bytes=SUMMARY_BYTES - used - 1)
        if used + 1 + len(text.encode()) > SUMMARY_BYTES:
            say(f"warning: the step summary is full ({used} bytes), so nothing was added to it")
            return
        with path.open("ab") as handle:
            handle.write(f"\n{text}".encode())
    except OSError as error:
        say(f"warning: the step summary {name} cannot be written: {error.strerror}")
