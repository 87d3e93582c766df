"""The life of a locked skill in a repository: edited, refused, raised, evaluated, locked, merged, compared."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.project import BAD, Cli, Ran, build_small, edit, git, run_folder, small_case, small_rules, write_json

SKILL = Path("skills/greeter/SKILL.md")
NOTES = Path("skills/greeter/references/notes.md")
EVIDENCE = Path("evals/evidence/skills/greeter.json")
LOCK = Path("skills.lock.json")


@pytest.fixture
def locked(cli: Cli) -> Path:
    """A small project in a git repository, evaluated, locked and committed."""
    root = build_small(cli.root, files={NOTES.as_posix(): "Be short.\n", ".gitignore": ".skillassay/\n*.log\n"})
    assert cli("eval").code == 0
    assert cli("lock").code == 0
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "locked")
    return root


def raise_version(root: Path, old: str = "1.0.0", new: str = "1.0.1") -> None:
    """Edit the version by hand."""
    edit(root / SKILL, f'version: "{old}"', f'version: "{new}"')


def trace(root: Path) -> dict[str, tuple[bytes, int]]:
    """Bytes and time of everything a lock may write."""
    paths = [root / LOCK, *root.glob("evals/evidence/**/*.json")]
    return {path.as_posix(): (path.read_bytes(), path.stat().st_mtime_ns) for path in paths if path.exists()}


def flat(ran: Ran) -> str:
    """All that was printed, on one line."""
    return " ".join((ran.out + ran.err).split())


def test_a_locked_project_checks_out(cli: Cli, locked: Path) -> None:
    """Both checks exit 0, and locking again changes no byte."""
    before = trace(locked)
    assert cli("lock", "--check").code == 0
    assert cli("check").code == 0
    assert "unchanged" in cli("lock").out
    assert trace(locked) == before


@pytest.mark.parametrize("command", [("lock", "--check"), ("check",)])
def test_an_edit_without_a_version_is_named(cli: Cli, locked: Path, command: tuple[str, ...]) -> None:
    """Exit 1 with skill, file and version, and the commands that come next."""
    edit(locked / NOTES, "short", "long")
    ran = cli(*command)
    assert ran.code == 1
    assert "lock.edited-without-version" in ran.out
    assert re.search(r"greeter: .*\(1\.0\.0\): references/notes\.md changed", ran.out)
    assert "skillassay bump" in ran.out


@pytest.mark.parametrize("command", [("lock", "--check"), ("check",)])
def test_a_raised_version_asks_for_eval_and_lock(cli: Cli, locked: Path, command: tuple[str, ...]) -> None:
    """Exit 1: both versions, then what to run and in which order."""
    edit(locked / NOTES, "short", "long")
    raise_version(locked)
    ran = cli(*command)
    assert ran.code == 1
    assert "greeter: 1.0.0 -> 1.0.1 is not locked yet" in ran.out
    assert "run `skillassay eval`, then `skillassay lock`" in ran.out


def test_eval_and_lock_make_it_pass(cli: Cli, locked: Path) -> None:
    """The whole way round: edit, version, eval, lock, and both checks exit 0."""
    edit(locked / NOTES, "short", "long")
    raise_version(locked)
    assert cli("lock").code == 1
    assert cli("eval").code == 0
    ran = cli("lock")
    assert ran.code == 0
    assert "1.0.0 -> 1.0.1" in ran.out
    assert (cli("lock", "--check").code, cli("check").code) == (0, 0)
    assert json.loads((locked / LOCK).read_text("utf-8"))["skills"]["skills/greeter"]["version"] == "1.0.1"


def test_relocking_without_a_version_writes_nothing(cli: Cli, locked: Path) -> None:
    """Refused with exit 1, also after a passing evaluation; lock and evidence keep bytes and times."""
    edit(locked / NOTES, "short", "long")
    assert cli("eval").code == 0
    before = trace(locked)
    ran = cli("lock")
    assert ran.code == 1
    assert "refused: nothing was written" in ran.err
    assert "greeter" in ran.out
    assert trace(locked) == before


def test_a_version_alone_is_not_enough(cli: Cli, locked: Path) -> None:
    """A new version without an evaluation of these bytes is refused, and nothing is written."""
    raise_version(locked)
    before = trace(locked)
    ran = cli("lock")
    assert ran.code == 1
    assert "greeter 1.0.1: not locked, no run has evaluated exactly these bytes" in ran.out
    assert trace(locked) == before


@pytest.mark.parametrize("command", [("lock",), ("lock", "--check"), ("lock", "--rebuild")])
def test_merge_markers_are_an_error_with_their_line(cli: Cli, locked: Path, command: tuple[str, ...]) -> None:
    """Exit 3 and the line; the file is left as it is. --rebuild starts from HEAD and writes a good one."""
    lines = (locked / LOCK).read_text("utf-8").splitlines(keepends=True)
    broken = "".join([*lines[:3], "<<<<<<< HEAD\n", *lines[3:5], "=======\n", ">>>>>>> other\n", *lines[5:]])
    (locked / LOCK).write_text(broken, encoding="utf-8")
    before = trace(locked)
    ran = cli(*command)
    if "--rebuild" in command:
        assert ran.code == 0
        assert (locked / LOCK).read_text("utf-8") == "".join(lines)
        return
    assert ran.code == 3
    assert "skills.lock.json:4:" in ran.out + ran.err
    assert trace(locked) == before


def test_base_catches_a_relocked_edit(cli: Cli, locked: Path) -> None:
    """A lock written anew from nothing under the old version is consistent, but not with the base revision."""
    edit(locked / NOTES, "short", "long")
    (locked / LOCK).unlink()
    assert cli("eval").code == 0
    assert cli("lock").code == 0
    assert cli("lock", "--check").code == 0
    for command in (("lock", "--check"), ("check",)):
        ran = cli(*command, "--base", "HEAD")
        assert ran.code == 1
        assert "lock.relocked" in ran.out
        assert "references/notes.md changed" in ran.out


@pytest.mark.parametrize("command", [("lock", "--check"), ("check",)])
@pytest.mark.parametrize("ref", ["origin/main", "--help", "HEAD~9", ""])
def test_a_missing_base_cannot_be_decided(cli: Cli, locked: Path, command: tuple[str, ...], ref: str) -> None:
    """Exit 3 with the revision's name, never 0."""
    ran = cli(*command, f"--base={ref}")
    assert ran.code == 3
    assert f"there is no git revision {ref!r}" in ran.err


def test_a_file_that_git_ignores_is_refused(cli: Cli, locked: Path) -> None:
    """CI would not have it: the file is named and nothing is written."""
    (locked / "skills/greeter/references/trace.log").write_text("x\n", encoding="utf-8")
    raise_version(locked)
    assert cli("eval").code == 0
    before = trace(locked)
    ran = cli("lock")
    assert ran.code == 1
    assert "skills/greeter/references/trace.log" in ran.out
    assert "lock.git-ignored" in ran.out
    assert trace(locked) == before


@pytest.mark.parametrize(
    "part", [("--case", "one"), ("--mode", "progressive", "--mode", "none"), ("--case", "one", "--case", "two")]
)
def test_a_part_of_a_run_is_no_evidence(cli: Cli, locked: Path, part: tuple[str, ...]) -> None:
    """A run over some cases or modes passes its gate and still proves nothing."""
    raise_version(locked)
    ran = cli("eval", *part)
    assert ran.code == 0
    assert "no evidence for skills/greeter: the run covered a part of its cases or modes" in flat(ran)
    assert cli("lock").code == 1


def test_parts_do_not_add_up(cli: Cli, locked: Path) -> None:
    """One run a mode covers everything, and none of them compared anything."""
    raise_version(locked)
    for mode in ("progressive", "none", "eager"):
        cli("eval", "--mode", mode)
    assert cli("lock").code == 1


def answer_with(root: Path, good: str) -> None:
    """Author other answers for all three cases."""
    path = root / "evals/fixtures/all.json"
    fixtures = json.loads(path.read_text("utf-8"))
    fixtures["subject"] = [rule for name in ("one", "two", "three") for rule in small_rules(name, good=good)]
    write_json(path, fixtures)


def test_an_older_pass_does_not_replace_a_newer_failure(cli: Cli, locked: Path) -> None:
    """Running until something passes is not offered: the newest decision on these bytes counts."""
    raise_version(locked)
    assert cli("eval").code == 0
    answer_with(locked, BAD)
    assert cli("eval").code == 1
    ran = cli("lock")
    assert ran.code == 1
    assert "the run's fixture_gate is failed" in ran.out


def test_a_newer_pass_replaces_an_older_failure(cli: Cli, locked: Path) -> None:
    """Within one second, too: the newest run sorts last."""
    raise_version(locked)
    answer_with(locked, BAD)
    assert cli("eval").code == 1
    answer_with(locked, "hello again")
    assert cli("eval").code == 0
    assert cli("lock").code == 0


TAMPERED = [
    ('"grade": "fixture"', '"grade": "model"'),
    ('"k": 3', '"k": 2'),
    ('"version": "1.0.0"', '"version": "1.0.1"'),
    ('"passed": 3', '"passed": 33'),
]


@pytest.mark.parametrize(("old", "new"), TAMPERED)
@pytest.mark.parametrize("command", [("lock", "--check"), ("check",)])
def test_tampered_evidence_fails(cli: Cli, locked: Path, command: tuple[str, ...], old: str, new: str) -> None:
    """Any other byte in a committed evidence file is a finding that names it."""
    text = (locked / EVIDENCE).read_text("utf-8")
    assert old in text
    (locked / EVIDENCE).write_text(text.replace(old, new), encoding="utf-8")
    ran = cli(*command)
    assert ran.code == 1
    assert EVIDENCE.as_posix() in ran.out


@pytest.mark.parametrize("command", [("lock", "--check"), ("check",)])
def test_lost_evidence_fails(cli: Cli, locked: Path, command: tuple[str, ...]) -> None:
    """A locked evidence file that is gone is a finding."""
    (locked / EVIDENCE).unlink()
    ran = cli(*command)
    assert ran.code == 1
    assert EVIDENCE.as_posix() in ran.out


def test_a_changed_case_needs_a_new_evaluation(cli: Cli, locked: Path) -> None:
    """Evidence is bound to the skill's cases: a case that changed under a new suite version is not proven."""
    cases = [small_case("one", note="other"), small_case("two"), small_case("three", query="Greet three, please.")]
    write_json(locked / "evals/quality.json", {"suite": "quality", "version": "1.1.0", "cases": cases})
    ran = cli("check")
    assert ran.code == 1
    assert "lock.evidence-other-cases" in ran.out


def test_a_changed_case_under_one_suite_version_is_named(cli: Cli, locked: Path) -> None:
    """Suites are append-only per version."""
    cases = [small_case("one"), small_case("two"), small_case("three", query="Greet three, please.")]
    write_json(locked / "evals/quality.json", {"suite": "quality", "version": "1.0.0", "cases": cases})
    ran = cli("check")
    assert ran.code == 1
    assert "case three changed under the same suite version" in ran.out


def test_a_broken_skill_is_named_and_hides_nothing(cli: Cli, locked: Path) -> None:
    """lock --check on an unreadable skill cannot say that all is as locked, and names the file."""
    (locked / SKILL).write_text("---\nname: greeter: x\n---\n", encoding="utf-8")
    ran = cli("lock", "--check")
    assert ran.code == 3
    assert SKILL.as_posix() in ran.out
    assert "is locked and not in the tree" not in ran.out


def test_a_damaged_run_stops_a_lock(cli: Cli, locked: Path) -> None:
    """A stored run whose header cannot be read might be the newest decision: exit 3, naming the file."""
    raise_version(locked)
    (run_folder(locked) / "run.json").write_text('{"run": 1,', encoding="utf-8")
    ran = cli("lock")
    assert ran.code == 3
    assert "run.json" in ran.err
