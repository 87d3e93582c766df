"""What a report says to do next: once a cause, with the whole command."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from skillassay.gate.lines import Decision, GateLine, Status
from skillassay.report.hints import Hint, hints_of

RECORDED = {"label": "replay:t.jsonl", "name": "t.jsonl", "is_fixture": False, "is_replay": True}
LIVE = {"label": "gemini:now", "name": "now", "is_fixture": False, "is_replay": False}
FIXTURE = {"label": "fixture", "name": "fixture", "is_fixture": True, "is_replay": False}


def of(label: str) -> dict[str, Any]:
    """The recording as a side that holds the answers of this model."""
    return RECORDED | {"recorded": {"label": label}}


def hints(*kinds: str | None, candidate: dict[str, Any], judge: dict[str, Any], **given: Any) -> list[Hint]:
    """The hints of a run whose trials ended so."""
    rows = [SimpleNamespace(record=SimpleNamespace(outcome=SimpleNamespace(kind=kind))) for kind in kinds]
    view: Any = SimpleNamespace(
        assessment=SimpleNamespace(
            scores=SimpleNamespace(rows=rows), decision=Decision(gate="model_gate", lines=given.get("lines", ()))
        ),
        facts=SimpleNamespace(plan=SimpleNamespace(repeats=given.get("repeats", 1))),
        header={
            "id": "r-1",
            "models": {"candidate": candidate, "judge": judge},
            "settings": {"given": {"base": given.get("base")}},
        },
        root=given.get("root", Path()),
    )
    return list(hints_of(view))


MISS = "replay_miss"
COMMANDS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any], str]] = {
    "one model": (of("gemini:x"), of("gemini:x"), {}, "--model gemini:x --to t.jsonl"),
    "another judge": (of("gemini:x"), of("openai:j"), {}, "--model gemini:x --judge-model openai:j --to t.jsonl"),
    "a live judge": (of("gemini:x"), LIVE, {}, "--model gemini:x --judge-model gemini:now --to t.jsonl"),
    "a live candidate": (LIVE, of("gemini:j"), {}, "--model gemini:now --judge-model gemini:j --to t.jsonl"),
    "repeats and base": (
        of("gemini:x"), of("gemini:x"), {"repeats": 3, "base": "main"},
        "--model gemini:x --repeats 3 --base main --to t.jsonl",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_a_miss_says_how_to_record_anew(name: str) -> None:
    """The command names candidate, judge where it is another one, what was asked besides, and the file."""
    candidate, judge, given, words = COMMANDS[name]
    (hint,) = hints(MISS, MISS, None, candidate=candidate, judge=judge, **given)
    assert hint == Hint(text="2 trials lack a recorded call; record anew:", command=f"skillassay record {words}")


def test_the_project_s_folder_is_part_of_the_command() -> None:
    """Where the command that ran was given one; quoted where a shell would take it apart."""
    (hint,) = hints(MISS, candidate=of("gemini:x"), judge=of("gemini:x"), root=Path("/some where"))
    assert hint.command == "skillassay --root '/some where' record --model gemini:x --to t.jsonl"


def test_no_command_records_authored_answers() -> None:
    """A recorded judge beside the fixture: it was another candidate's, which this run does not know."""
    (hint,) = hints(MISS, candidate=FIXTURE, judge=of("gemini:x"))
    assert hint.command is None
    assert "another candidate" in hint.text


def test_nothing_is_said_where_nothing_is_missing() -> None:
    """Other errors have no hint here."""
    assert hints("quota", None, candidate=LIVE, judge=LIVE) == []


def test_a_script_that_was_not_run_is_counted_once() -> None:
    """However many trials asked for one."""
    (hint,) = hints("script_refused", "script_refused", candidate=LIVE, judge=LIVE)
    assert hint.text.startswith("2 trials asked for a script that was not run; --allow-unisolated ")


@pytest.mark.parametrize(("status", "n_hints"), [(Status.FAILED, 1), (Status.PASSED, 0)])
def test_a_rubric_that_nobody_read_under_says_how(status: Status, n_hints: int) -> None:
    """The command names the run, and is there while the line fails."""
    line = GateLine(name="verdicts_read", status=status, number="", limit="", live_only=True)
    found = hints(candidate=of("gemini:x"), judge=of("gemini:x"), lines=(line,))
    assert [hint.command for hint in found] == ["skillassay read r-1 --by NAME"] * n_hints
