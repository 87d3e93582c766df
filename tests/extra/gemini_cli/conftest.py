"""The program, a user's home that must reach nobody, and an evaluation of one case."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from skillassay.fixture.rules import load_rules
from tests.extra.gemini_cli.program import KEY, RULES, SCRIPT, NamedServer, Run
from tests.project import Cli, build_small, small_case, write_json


@pytest.fixture(autouse=True)
def _installed() -> None:
    assert shutil.which("gemini"), "make test-gemini-cli installs the program and puts it on the PATH"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quiet_environment: None) -> Path:
    """A user's home: a login, which a judge needs, and instructions and a skill, which must reach nobody."""
    folder = tmp_path / "home"
    (folder / ".gemini" / "skills" / "spy").mkdir(parents=True)
    (folder / ".gemini" / "GEMINI.md").write_text("MARKER of the user", "utf-8")
    (folder / ".gemini" / "skills" / "spy" / "SKILL.md").write_text(
        "---\nname: spy\ndescription: MARKER of a skill.\n---\nMARKER\n", "utf-8"
    )
    write_json(folder / ".gemini" / "settings.json", {"security": {"auth": {"selectedType": "gemini-api-key"}}})
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def evaluate(cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Evaluate one case in one mode by these rules; the judge is the embedded fixture."""

    def run(
        mode: str,
        rules: Sequence[Mapping[str, Any]] = RULES,
        *,
        asked: str = "gemini:some-model",
        given: Mapping[str, str] | None = None,
        **contract: Any,
    ) -> Run:
        root = cli.root / f"project-{mode}"
        files = {"skills/greeter/scripts/greet.py": SCRIPT, **{f"evals/{n}": text for n, text in (given or {}).items()}}
        case = small_case("one", **({"files": list(given)} if given else {}))
        build_small(root, rules=[], cases=[case], files=files, **contract)
        write_json(root / "rules.json", {"fixture": 1, "subject": list(rules)})
        own, findings = load_rules([root / "rules.json"])
        assert own is not None, findings
        with NamedServer(own, keep=50) as server:
            monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
            monkeypatch.setenv("GEMINI_API_KEY", KEY)
            options = ("--subject", "gemini-cli", "--model", asked, "--judge-model", "fixture")
            ran = Cli(root, cli._capture)("eval", *options, "--mode", mode)
            return Run(ran, root, server.requests)

    return run
