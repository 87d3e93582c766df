"""`skillassay doctor` through the command line: what it says, what it never says, and when it fails."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest
import yaml

from skillassay.isolation.process import Isolation, Probe
from tests.project import Cli, build_small, git, spawn

KEY = "sk-Hostile0123456789"


def items(cli: Cli, topic: str) -> list[dict[str, Any]]:
    """The items of one topic."""
    found = cli("doctor", "--format", "json").json["items"]
    return [item for item in found if item["topic"] == topic]


def test_a_sound_project_has_no_problem(cli: Cli) -> None:
    """Exit 0, and each line says its state first."""
    build_small(cli.root)
    ran = cli("doctor")
    assert ran.code == 0
    assert {line[:8].strip() for line in ran.out.splitlines()[:-1]} == {"ok", "note", ""}
    assert "ok      model candidate: fixture: authored answers, no model" in ran.out
    assert ran.out.splitlines()[-1].startswith("doctor: 0 problems, ")


def test_a_model_without_its_key_is_a_problem(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """The contract names it, so a run could not start; with the key it can be opened, and nobody is asked."""
    build_small(cli.root, candidate={"model": "gemini:flash"})
    ran = cli("doctor")
    assert ran.code == 1
    assert "problem model candidate: gemini:flash: no key for the Gemini API" in ran.out
    assert "do: export GEMINI_API_KEY=…" in ran.out
    monkeypatch.setenv("GEMINI_API_KEY", KEY)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    ran = cli("doctor")
    assert (ran.code, KEY in ran.out + ran.err) == (0, False)
    assert "gemini:flash could be opened; it was not asked" in ran.out
    assert "keys: set: GEMINI_API_KEY" in ran.out


def test_without_a_contract_nothing_is_asked_for(cli: Cli) -> None:
    """The default model has no answers here, which is worth a note and blocks nothing; init is named."""
    ran = cli("doctor")
    assert ran.code in {0, 1}
    assert {item["state"] for item in items(cli, "model candidate")} == {"note"}
    assert "`skillassay init` writes one" in ran.out


@pytest.mark.parametrize(
    "value",
    [
        f"https://{KEY}@example.org/v1",
        f"https://user:{KEY}@example.org/v1",
        f"https://example.org/{KEY}?key={KEY}#{KEY}",
        f"https://{KEY}/v1",
        f"https://{KEY}.example.org/v1",
        f"https://{KEY}",
        KEY,
        f"http://[{KEY}",
        f"https://example.org\x1b[2J:99999/{KEY}",
        f"ftp\x07://::error::{KEY}",
    ],
)
@pytest.mark.parametrize("name", ["OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "HTTPS_PROXY"])
def test_no_value_of_the_environment_is_printed(tmp_path: Path, name: str, value: str) -> None:
    """Of an address its host at most, wherever a key hides in it; never a control character."""
    build_small(tmp_path, candidate={"model": "openai:some"}, judge={"model": "gemini:flash"})  # type: ignore[arg-type]
    contract = tmp_path / "evals/contract.yaml"
    terms = yaml.safe_load(contract.read_text()) | {"judge": {"model": "gemini:flash"}}
    contract.write_text(yaml.safe_dump(terms))
    for form in ("table", "json"):
        done = spawn(tmp_path, "doctor", "--format", form, **{name: value, "OPENAI_API_KEY": KEY, "X_TOKEN": KEY})
        said = (done.stdout + done.stderr).decode()
        assert KEY.lower() not in said.lower()
        assert not any(sign < " " and sign != "\n" for sign in said)
        assert name in said


def test_the_host_of_an_address_is_told(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Host and port, and nothing else of it."""
    monkeypatch.setenv("OPENAI_BASE_URL", "https://models.example.org:8443/v1/path?q=1")
    (item,) = items(cli, "address")
    assert "OPENAI_BASE_URL leads to models.example.org:8443: " in item["says"]
    assert "path" not in item["says"]


def test_what_git_would_not_commit_blocks(cli: Cli) -> None:
    """A skill's file that git ignores is named: the lock would be refused."""
    build_small(cli.root, files={"skills/greeter/notes.log": "x\n", ".gitignore": "*.log\n"})
    git(cli.root, "init", "--quiet")
    assert cli("doctor").code == 1
    (item,) = items(cli, "git ignores")
    assert "skills/greeter/notes.log" in item["says"]


def test_a_shallow_clone_is_told(cli: Cli, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The command that fetches the rest is named."""
    origin = build_small(tmp_path_factory.mktemp("origin"))
    git(origin, "init", "--quiet")
    for message in ("one", "two"):
        (origin / message).touch()
        git(origin, "add", "--all")
        git(origin, "commit", "--quiet", "--message", message)
    git(cli.root, "clone", "--quiet", "--depth", "1", f"file://{origin}", ".")
    (item,) = items(cli, "git")
    assert item["state"] == "note"
    assert "git fetch --unshallow" in item["do"]


def test_a_holdout_that_cannot_be_reached_blocks(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variables are named, the path never."""
    build_small(cli.root, holdout={"suite": "hidden"})
    (item,) = items(cli, "holdout")
    assert (item["state"], "SKILLASSAY_HOLDOUT" in item["says"]) == ("problem", True)
    monkeypatch.setenv("SKILLASSAY_HOLDOUT", "/somewhere/secret.json")
    monkeypatch.setenv("SKILLASSAY_HOLDOUT_KEY", KEY)
    (item,) = items(cli, "holdout")
    assert item["state"] == "problem"
    assert "somewhere" not in json.dumps(item)


def test_a_broken_contract_is_told_with_its_line(cli: Cli) -> None:
    """The rest of the machine is looked at all the same."""
    build_small(cli.root, retention="for ever")
    ran = cli("doctor")
    assert ran.code == 1
    assert "problem contract: evals/contract.yaml:" in ran.out
    assert "ok      python" in ran.out


def test_weak_walls_say_why(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing for namespaces stands there, with what follows from it."""
    weak = Probe(level=Isolation.PROCESS, why="unshare cannot be found")
    monkeypatch.setattr("skillassay.doctor.machine.probe_isolation", lambda: weak)
    (item,) = items(cli, "isolation")
    assert item["state"] == "note"
    assert "unshare cannot be found" in item["says"]
    assert "--allow-unisolated" in item["says"]


def test_runs_are_counted(cli: Cli) -> None:
    """How many are kept, and what they take."""
    build_small(cli.root)
    assert cli("eval").code == 0
    (item,) = items(cli, "runs")
    assert item["says"].startswith("1 in .skillassay/runs; .skillassay holds 0.")
