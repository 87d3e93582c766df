"""A repository whose own places are links: no command writes to where they lead."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillassay.fixture.rules import load_rules
from skillassay.fixture.server import FixtureServer
from tests.project import Cli, Ran, build_small, run_folder

PLACES = {
    "eval": [".skillassay", ".skillassay/runs", ".skillassay/.gitignore"],
    "lock": ["skills.lock.json", "evals/evidence", "evals/evidence/skills", "evals/evidence/skills/greeter.json"],
    "record": ["evals/recordings", "evals/recordings/it.jsonl"],
}


@pytest.fixture
def victim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the user's."""
    folder = tmp_path_factory.mktemp("victim")
    (folder / "file").write_text("mine\n")
    return folder


def tree(folder: Path) -> dict[str, bytes]:
    """What lies in a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def run(cli: Cli, name: str, monkeypatch: pytest.MonkeyPatch) -> Ran:
    """Run a command; what is recorded comes from a service with the project's authored answers."""
    if name != "record":
        return cli(name)
    rules, _ = load_rules(sorted(cli.root.glob("evals/fixtures/*.json")))
    assert rules is not None
    monkeypatch.setenv("GEMINI_API_KEY", "k")
    with FixtureServer(rules) as service:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", service.base_url)
        return cli("record", "--model", "gemini:live", "--to", "evals/recordings/it.jsonl")


@pytest.mark.parametrize("is_folder", [True, False], ids=["folder", "nothing"])
@pytest.mark.parametrize(("command", "place"), [(name, place) for name, places in PLACES.items() for place in places])
def test_no_command_writes_through_a_link(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, victim: Path, command: str, place: str, *, is_folder: bool
) -> None:
    """The link is named and the user's folder is as it was. Exit 3; but what was paid for is recorded elsewhere."""
    root = build_small(cli.root)
    if command == "lock":
        assert cli("eval").code == 0
    (root / place).parent.mkdir(parents=True, exist_ok=True)
    (root / place).symlink_to(victim if is_folder else victim / "new")
    before = tree(victim)
    ran = run(cli, command, monkeypatch)
    assert tree(victim) == before
    assert command == "record" or ran.code == 3, ran.out
    assert place in ran.out + ran.err


@pytest.mark.parametrize("name", ["trials.jsonl", "events.jsonl", "result.json", "hash.key"])
def test_a_run_with_a_link_is_not_gone_on_with(cli: Cli, victim: Path, name: str) -> None:
    """A repository may ship a run; what its files are links to stays as it is."""
    root = build_small(cli.root)
    assert cli("eval").code == 0
    run = run_folder(root)
    (run / name).unlink(missing_ok=True)
    (run / name).symlink_to(victim / "file")
    ran = cli("eval", "--resume", run.name)
    assert ran.code == 3, ran.out
    assert (victim / "file").read_text() == "mine\n"
