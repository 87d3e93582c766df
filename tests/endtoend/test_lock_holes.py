"""Ways round the lock that a reviewer found, each tried on a whole project: none of them ends in a green check."""

from __future__ import annotations

import json
import os
import shutil
import zlib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.project import BAD, GOOD, Cli, build_small, edit, git, small_rules, write_json

SKILL = Path("skills/greeter/SKILL.md")
EVIDENCE = Path("evals/evidence/skills/greeter.json")
LOCK = Path("skills.lock.json")
CHECKS = [("check",), ("lock", "--check")]


@pytest.fixture
def locked(cli: Cli) -> Path:
    """A small project in a git repository, evaluated, locked and committed."""
    root = build_small(cli.root, files={".gitignore": ".skillassay/\n"}, skills=["skills/*", "more/*"])
    assert cli("eval").code == 0
    assert cli("lock").code == 0
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "locked")
    return root


def contract(root: Path, **fields: Any) -> None:
    """Change fields of the contract."""
    path = root / "evals/contract.yaml"
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text("utf-8")) | fields), encoding="utf-8")


def answer_with(root: Path, good: str) -> None:
    """Author other answers for all three cases."""
    path = root / "evals/fixtures/all.json"
    fixtures = json.loads(path.read_text("utf-8"))
    fixtures["subject"] = [rule for name in ("one", "two", "three") for rule in small_rules(name, good=good)]
    write_json(path, fixtures)


@pytest.mark.parametrize("code", ["digest.link-dangles", "skill.frontmatter-invalid", "lock.relocked", "nonsense"])
def test_no_contract_downgrades_what_hides_a_skill(cli: Cli, locked: Path, code: str) -> None:
    """The code itself is an error, and the unreadable skill one of its own; the lock keeps the skill."""
    contract(locked, check={"downgrade": [code]})
    if code == "digest.link-dangles":
        (locked / "skills/greeter/x").symlink_to("nowhere")
    else:
        (locked / SKILL).write_text("---\nname: greeter: x\n---\nEVIL\n", encoding="utf-8")
    before = (locked / LOCK).read_bytes()
    for command, exit_code in (*((one, 1) for one in CHECKS[:1]), (CHECKS[1], 3)):
        ran = cli(*command)
        assert ran.code == exit_code
        assert "contract.not-downgradable" in ran.out
        assert "lock.unverifiable" in ran.out
    assert cli("lock").code == 3
    assert cli("lock", "--no-evidence").code == 3
    assert (locked / LOCK).read_bytes() == before


def test_evidence_edited_by_hand_is_not_blessed_by_locking(cli: Cli, locked: Path) -> None:
    """Not figures of the locked version, and not new bytes under a forged file."""
    shutil.rmtree(locked / ".skillassay")
    body = json.loads((locked / EVIDENCE).read_text("utf-8"))
    body["results"]["none"]["k"] = 0
    write_json(locked / EVIDENCE, body)
    assert cli("lock").code == 1
    assert cli("lock", "--rebuild").code == 1
    assert cli("check").code == 1


def test_a_merged_lock_is_rebuilt_from_both_sides(cli: Cli, locked: Path) -> None:
    """What the other branch evaluated and locked need not be evaluated again where the lock conflicted."""
    git(locked, "checkout", "--quiet", "-b", "theirs")
    edit(locked / SKILL, 'version: "1.0.0"', 'version: "1.1.0"')
    assert (cli("eval").code, cli("lock").code) == (0, 0)
    git(locked, "commit", "--quiet", "--all", "--message", "theirs")
    git(locked, "checkout", "--quiet", "main")
    git(locked, "commit", "--quiet", "--allow-empty", "--message", "ours")
    git(locked, "merge", "--quiet", "--no-commit", "--no-ff", "theirs")
    shutil.rmtree(locked / ".skillassay")
    (locked / LOCK).write_text("<<<<<<< HEAD\n", encoding="utf-8")
    assert cli("lock", "--rebuild").code == 0
    assert cli("check").code == 0


@pytest.mark.parametrize("command", CHECKS)
def test_a_moved_and_edited_skill_needs_a_version(cli: Cli, locked: Path, command: tuple[str, ...]) -> None:
    """Another folder is no new version: check, lock and a lock written anew against the base all say so."""
    (locked / "more").mkdir()
    shutil.move(locked / "skills/greeter", locked / "more/greeter")
    edit(locked / "more/greeter/SKILL.md", "Say hello twice", "Say hello, say bye")
    assert cli("eval").code == 0
    assert "lock.moved-edited" in cli(*command).out
    ran = cli("lock")
    assert ran.code == 1
    assert "lock.moved-edited" in ran.out
    (locked / LOCK).unlink()
    assert cli("lock").code == 0
    ran = cli(*command, "--base", "HEAD")
    assert ran.code == 1
    assert "lock.relocked" in ran.out


def test_a_ratchet_is_not_reset_by_removing_the_lock(cli: Cli, locked: Path) -> None:
    """Against the base it shows that there was evidence."""
    contract(locked, lock={"requires": "fixture", "require_evidence": "ratchet"})
    for folder in (".skillassay", "evals/evidence"):
        shutil.rmtree(locked / folder)
    (locked / LOCK).unlink()
    edit(locked / SKILL, 'version: "1.0.0"', 'version: "1.0.1"')
    assert cli("lock").code == 0
    ran = cli("check", "--base", "HEAD")
    assert ran.code == 1
    assert "lock.evidence-lost" in ran.out


@pytest.mark.parametrize(
    ("change", "code"),
    [({"suite": "other"}, "lock.case-moved-edited"), ({"version": "0.0.1"}, "lock.suite-went-back")],
)
def test_a_suite_is_not_weakened_under_another_name_or_version(
    cli: Cli, locked: Path, change: dict[str, str], code: str
) -> None:
    """In check, lock and against the base."""
    path = locked / "evals/quality.json"
    suite = json.loads(path.read_text("utf-8")) | change
    suite["cases"][0]["rubric"] = [{"id": "says-hello", "text": "Anything."}]
    write_json(path, suite)
    assert cli("eval").code == 0
    for command in (*CHECKS, ("lock",)):
        ran = cli(*command)
        assert ran.code == 1
        assert code in ran.out
    (locked / LOCK).unlink()
    assert cli("lock").code == 0
    assert code in cli("check", "--base", "HEAD").out


@pytest.mark.parametrize("command", [*CHECKS, ("lock",)])
def test_a_manual_block_holds_for_the_lock(cli: Cli, locked: Path, command: tuple[str, ...]) -> None:
    """Exit 1 with its text, until it is gone."""
    contract(locked, gate={"manual_block": "legal says no"})
    ran = cli(*command)
    assert ran.code == 1
    assert "lock.blocked" in ran.out
    assert "legal says no" in ran.out


def test_evidence_of_a_stricter_run_is_accepted(cli: Cli, locked: Path) -> None:
    """--quality-min only raises the limit, so that what passed passes under the contract's."""
    edit(locked / SKILL, 'version: "1.0.0"', 'version: "1.0.1"')
    assert cli("eval", "--quality-min", "0.9").code == 0
    assert cli("lock").code == 0
    assert cli("check").code == 0
    contract(locked, gate={"quality_min": 0.95})
    ran = cli("check")
    assert ran.code == 1
    assert "gate.quality_min 9/10, not 19/20" in " ".join(ran.out.split())


def test_the_newest_failure_is_told_and_refused_to_refresh(cli: Cli, locked: Path) -> None:
    """Committed evidence is kept with a warning; --refresh asks for the newest run, which said no."""
    answer_with(locked, BAD)
    assert cli("eval").code == 1
    ran = cli("lock")
    assert ran.code == 0
    assert "gives none: the run's fixture_gate is failed" in ran.out
    ran = cli("lock", "--refresh")
    assert ran.code == 1
    assert "lock.newest-run-failed" in ran.out


def test_running_until_it_passes_is_written_down(cli: Cli, locked: Path) -> None:
    """The earlier runs are counted in the evidence, and locking says so each time."""
    edit(locked / SKILL, 'version: "1.0.0"', 'version: "1.0.1"')
    for good, code in ((BAD, 1), (BAD, 1), (GOOD, 0)):
        answer_with(locked, good)
        assert cli("eval").code == code
    assert "2 of 2 earlier runs on the same bytes" in cli("lock").out
    assert json.loads((locked / EVIDENCE).read_text("utf-8"))["attempts"] == {"passed": 0, "failed": 2}
    shutil.rmtree(locked / ".skillassay")
    ran = cli("lock")
    assert "unchanged" in ran.out
    assert "2 of 2 earlier runs" in ran.out


def test_a_failure_under_a_stricter_limit_is_passed_over(cli: Cli, locked: Path) -> None:
    """What is not enough for 1.0 may well be for the contract's 0.5."""
    two = [{"id": "says-hello", "text": "The answer says hello."}, {"id": "says-bye", "text": "It says bye."}]
    path = locked / "evals/quality.json"
    suite = json.loads(path.read_text("utf-8")) | {"version": "1.1.0"}
    suite["cases"] = [case | {"rubric": two} for case in suite["cases"]]
    write_json(path, suite)
    fixtures = json.loads((locked / "evals/fixtures/all.json").read_text("utf-8"))
    fixtures["judge"].append({"criterion": "says-bye", "pass": "(?i)bye", "missing": "No bye."})
    write_json(locked / "evals/fixtures/all.json", fixtures)
    contract(locked, gate={"quality_min": 0.5})
    assert cli("eval").code == 0
    assert cli("eval", "--quality-min", "1").code == 1
    ran = cli("lock")
    assert ran.code == 0
    assert "evidence" in ran.out
    assert "earlier run" not in ran.out


def test_an_undecided_run_is_passed_over(cli: Cli, locked: Path) -> None:
    """A provider that failed says nothing against the skill."""
    edit(locked / SKILL, 'version: "1.0.0"', 'version: "1.0.1"')
    assert cli("eval").code == 0
    path = locked / "evals/fixtures/all.json"
    text = path.read_text("utf-8")
    fixtures = json.loads(text)
    error = {"error": {"code": 400, "status": "BAD", "message": "no"}}
    fixtures["subject"].insert(0, {"id": "err", "when": {"query": ["Greet two."]}, "reply": error})
    write_json(path, fixtures)
    assert cli("eval").code == 3
    path.write_text(text, encoding="utf-8")
    assert cli("lock").code == 0


@pytest.mark.parametrize("kind", ["pipe", "folder"])
@pytest.mark.parametrize("place", [LOCK, EVIDENCE], ids=["lock", "evidence"])
def test_a_pipe_or_folder_in_place_of_a_file_is_a_finding(cli: Cli, locked: Path, place: Path, kind: str) -> None:
    """It is not waited for, and nothing passes."""
    (locked / place).unlink()
    if kind == "pipe":
        os.mkfifo(locked / place)
    else:
        (locked / place).mkdir()
    ran = cli("check")
    assert ran.code == 1
    assert place.as_posix() in ran.out
    assert "is not a regular file" in " ".join(ran.out.split())
    assert cli("lock", "--check").code == (3 if place == LOCK else 1)


def test_other_answers_than_the_evidence_was_made_on_are_a_warning(cli: Cli, locked: Path) -> None:
    """Two authors who both add answers must be able to merge."""
    assert "fixtures" in json.loads((locked / EVIDENCE).read_text("utf-8"))
    answer_with(locked, "hello and welcome")
    ran = cli("check")
    assert ran.code == 0
    assert "lock.fixtures-changed" in ran.out


def test_a_lock_edited_by_hand_is_named(cli: Cli, locked: Path) -> None:
    """Files, name and evidence that do not belong together."""
    lock = json.loads((locked / LOCK).read_text("utf-8"))
    entry = lock["skills"]["skills/greeter"]
    entry["files"], entry["name"], entry["evidence"]["file"] = {"SKILL.md": "0" * 64}, "other", "/etc/passwd"
    write_json(locked / LOCK, lock)
    ran = cli("check")
    assert ran.code == 1
    assert "lock.hand-edited" in ran.out


def test_a_base_that_git_cannot_read_is_no_empty_lock(cli: Cli, locked: Path) -> None:
    """The revision is there and its lock's bytes are not: exit 3. A revision without a lock is fine."""
    git(locked, "rm", "--quiet", "--cached", LOCK.as_posix())
    git(locked, "commit", "--quiet", "--message", "no lock")
    assert cli("check", "--base", "HEAD").code == 0
    loose = [path for path in (locked / ".git/objects").glob("??/*") if path.is_file()]
    git(locked, "tag", "locked", "HEAD~1")
    for path in loose:
        if b'"lockfileVersion"' in _inflated(path):
            path.unlink()
    for command in CHECKS:
        ran = cli(*command, "--base", "locked")
        assert ran.code == 3
        assert "git cannot read the lock at 'locked'" in ran.err


def _inflated(path: Path) -> bytes:
    return zlib.decompress(path.read_bytes())
