"""What an author meets first: a branch behind its base, a dry run without answers, a run under another model."""

from __future__ import annotations

from pathlib import Path

from skillassay.cli.main import main
from tests.project import Cli, build_small, edit, git, run_folder

NOTES = Path("skills/greeter/references/notes.md")


def locked(cli: Cli) -> Path:
    """A small project in a git repository, evaluated, locked and committed on main."""
    root = build_small(cli.root, files={NOTES.as_posix(): "Be short.\n"})
    assert cli("eval").code == 0
    assert cli("lock").code == 0
    git(root, "init", "--quiet", "--initial-branch", "main")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "locked")
    return root


def test_runs_keep_themselves_out_of_git(cli: Cli) -> None:
    """Raw answers are nobody's to commit, whatever the project's own .gitignore says."""
    root = locked(cli)
    assert git(root, "ls-files", ".skillassay") == ""


def test_a_branch_behind_its_base_is_compared_where_it_left(cli: Cli) -> None:
    """What main did to a skill since then is no change of this branch."""
    root = locked(cli)
    git(root, "branch", "behind")
    edit(root / NOTES, "short", "brief")
    assert main(["--root", str(root), "bump", "greeter", "patch"]) == 0
    assert cli("eval").code == 0
    assert cli("lock").code == 0
    git(root, "commit", "--all", "--quiet", "--message", "moved on")
    git(root, "checkout", "--quiet", "behind")
    assert cli("check", "--base", "main").code == 0


def test_ignored_evidence_is_refused_before_ci_misses_it(cli: Cli) -> None:
    """A lock whose evidence git would not commit fails in every clone."""
    root = locked(cli)
    (root / ".gitignore").write_text("/evals/evidence/\n", encoding="utf-8")
    git(root, "rm", "-r", "--cached", "--quiet", "evals/evidence")
    ran = cli("lock")
    assert ran.code == 1
    assert "lock.git-ignored" in ran.out
    assert "evals/evidence/skills/greeter.json" in ran.out


def test_a_dry_run_needs_no_answers(cli: Cli) -> None:
    """The plan and its highest cost, without a rule of the fixture; the run itself is refused."""
    build_small(cli.root, rules=[])
    for path in (cli.root / "evals/fixtures").iterdir():
        path.unlink()
    ran = cli("eval", "--dry-run")
    assert ran.code == 0
    assert "9 trials" in ran.out
    assert cli("eval").code == 3


def test_a_run_under_another_model_says_what_it_would_need(cli: Cli) -> None:
    """The contract names the models that evidence is about; the run says so, not only the lock."""
    build_small(cli.root, candidate={"model": "gemini:flash"})
    ran = cli("eval", "--model", "fixture")
    assert ran.code == 0
    assert "it counts only if" in ran.out
    assert "gemini:flash" in " ".join(ran.out.split())


def test_a_run_without_its_end_is_not_called_passed(cli: Cli) -> None:
    """Word and exit code agree: a run that never got to its result is undecided."""
    locked(cli)
    (run_folder(cli.root) / "result.json").unlink()
    ran = cli("gate")
    assert ran.code == 3
    assert "fixture_gate: UNDECIDED" in ran.out


def test_import_stays_in_the_project(cli: Cli, tmp_path: Path) -> None:
    """No suite is written outside the root."""
    source = tmp_path / "evals.json"
    source.write_text('{"skill_name": "s", "evals": [{"id": 1, "prompt": "p", "assertions": ["a"]}]}', encoding="utf-8")
    assert cli("import", str(source), "--into", "../outside.json").code == 3
    assert not (cli.root.parent / "outside.json").exists()
