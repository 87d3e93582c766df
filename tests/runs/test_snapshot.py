"""The files of a run: what is copied, what stops a run, what is left behind."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest

from skillassay.errors import InputError
from skillassay.prompts import system_instruction
from skillassay.runs.moving import moved_paths
from skillassay.runs.plan import Mode
from skillassay.runs.preparation import EvalRequest, Prepared, prepare
from skillassay.runs.snapshot import take_snapshot
from tests.project import build_small, small_case

NOTE, SCRIPT = "skills/greeter/references/note.md", "skills/greeter/scripts/x.sh"
INPUT = "evals/files/in.txt"


@pytest.fixture
def prepared(tmp_path: Path, quiet_environment: None, monkeypatch: pytest.MonkeyPatch) -> Prepared:
    """A project with a reference, a script and a file of a case, prepared; temporary folders lie in a place of ours."""
    root = tmp_path / "project"
    root.mkdir()
    cases = [small_case(name, files=["files/in.txt"]) for name in ("one", "two", "three")]
    build_small(root, cases=cases, files={NOTE: "RULE-A\n", SCRIPT: "echo A\n", INPUT: "A\n"})
    (root / SCRIPT).chmod(0o755)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    return prepare(EvalRequest(root=root, cases=("one", "two")))


def left_over(prepared: Prepared) -> list[Path]:
    """What lies in the place for temporary folders."""
    return list((prepared.project.root.parent / "tmp").iterdir())


def test_trials_read_copies(prepared: Prepared) -> None:
    """No edit of the project, in place or by a new file, reaches a resource, a script, a prompt or a case's file."""
    root = prepared.project.root
    with take_snapshot(prepared.project.usable, prepared.cases) as frozen:
        for path in (NOTE, SCRIPT, INPUT):
            (root / path).write_text("EVIL\n", encoding="utf-8")
        skill = frozen.catalog.skills[0]
        assert skill.files["references/note.md"].source.read_text("utf-8") == "RULE-A\n"
        script = skill.files["scripts/x.sh"].source
        assert (script.read_text("utf-8"), stat.S_IMODE(script.stat().st_mode)) == ("echo A\n", 0o755)
        assert [file.source.read_text("utf-8") for case in frozen.cases for file in case.files] == ["A\n", "A\n"]
        shown = system_instruction(
            Mode.EAGER, general="G", skills=frozen.prompt_skills, eager_scope="catalog", skill_path=skill.path
        )
        assert "RULE-A" in shown
        (folder,) = left_over(prepared)
        assert all(file.source.parent == folder for file in skill.files.values())
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert left_over(prepared) == []


@pytest.mark.parametrize("path", [NOTE, SCRIPT, INPUT, "skills/greeter/SKILL.md"])
@pytest.mark.parametrize("what", ["edited", "gone", "a pipe"])
def test_a_file_that_is_not_the_planned_one_stops_the_run(prepared: Prepared, path: str, what: str) -> None:
    """Edited, removed or replaced by a pipe after it was planned: an error with its name, and nothing left behind."""
    file = prepared.project.root / path
    file.unlink()
    if what == "edited":
        file.write_text("EVIL\n", encoding="utf-8")
    elif what == "a pipe":
        os.mkfifo(file)
    with (
        pytest.raises(InputError, match=f"files changed while the run was being prepared: .*{file.name}"),
        take_snapshot(prepared.project.usable, prepared.cases),
    ):
        raise AssertionError
    assert left_over(prepared) == []


def test_windows_line_ends_are_the_planned_file(prepared: Prepared) -> None:
    """A text with CRLF has the digest of its LF form; its copy has the bytes as they lie there."""
    (prepared.project.root / INPUT).write_bytes(b"A\r\n")
    with take_snapshot(prepared.project.usable, prepared.cases) as frozen:
        assert frozen.cases[0].files[0].source.read_bytes() == b"A\r\n"


def test_an_interrupt_leaves_nothing_behind(prepared: Prepared) -> None:
    """Ctrl-C in the middle of a run removes the copies too."""
    with pytest.raises(KeyboardInterrupt), take_snapshot(prepared.project.usable, prepared.cases):
        raise KeyboardInterrupt
    assert left_over(prepared) == []


@pytest.mark.parametrize(
    ("path", "moved"),
    [(NOTE, "skills/greeter"), (SCRIPT, "skills/greeter"), (INPUT, "evals/quality.json")],
)
def test_what_moved_is_named(prepared: Prepared, path: str, moved: str) -> None:
    """A skill by its folder; a case's file by its suite, whose digest covers it."""
    assert moved_paths(prepared) == ()
    (prepared.project.root / path).write_text("B\n", encoding="utf-8")
    assert moved_paths(prepared) == (moved,)


@pytest.mark.parametrize("text", ["[]", "{", None])
def test_a_suite_that_moved_is_named(prepared: Prepared, text: str | None) -> None:
    """Emptied, broken or removed."""
    suite = prepared.project.root / "evals/quality.json"
    suite.unlink()
    if text is not None:
        suite.write_text(text, encoding="utf-8")
    assert moved_paths(prepared) == ("evals/quality.json",)
