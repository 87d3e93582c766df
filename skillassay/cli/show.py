"""Rendering a view in the format a command asks for, and the step summary of a CI service."""

from __future__ import annotations

import os
from pathlib import Path

from skillassay.canonical import pretty_text, write_atomic
from skillassay.cli.output import columns, emit, emit_commands, emit_json, say
from skillassay.errors import InputError
from skillassay.people.governed import people_json
from skillassay.report.annotated import decision_annotations
from skillassay.report.annotations import render_annotations
from skillassay.report.base import RunView
from skillassay.report.document import SUMMARY_BYTES, render_markdown
from skillassay.report.junit import render_junit
from skillassay.report.spreadsheet import render_csv
from skillassay.report.table import render_table
from skillassay.runs.results import build_result

FORMATS = ("table", "markdown", "json", "html", "junit", "csv", "github")


def show(view: RunView, form: str) -> None:
    """Print the view."""
    if form == "json":
        emit_json(_json(view))
        return
    emit(_text(view, form))
    if form == "github":
        emit_commands(render_annotations(decision_annotations(view)))


def write(view: RunView, form: str, to: Path) -> None:
    """Write the view to a file, whole or not at all. Raises :class:`InputError`."""
    text = pretty_text(_json(view)) if form == "json" else _text(view, form)
    try:
        write_atomic(to, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise InputError(f"{to} cannot be written: {error.strerror or error}", hint="name another file") from error


def _json(view: RunView) -> dict[str, object]:
    result = build_result(view.facts, view.assessment, view.header, occurred_at=view.occurred_at)
    return result | people_json(view.assessment, view.effective)


def _text(view: RunView, form: str) -> str:
    if form == "html":
        from skillassay.report.html import render_html
        from skillassay.runs.linted import lint_of_run

        return render_html(view, lint_of_run(view.root, view))
    others = {"markdown": render_markdown, "junit": render_junit, "csv": render_csv}
    return others[form](view) if form in others else render_table(view, columns=columns())


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
