"""The guide about answers made elsewhere: its list is read as it stands, and each of its commands runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.endtoend.test_score_workspace import run
from tests.project import BAD, GOOD, REPOSITORY, Cli, build_small, small_case, write_json

PAGE = (REPOSITORY / "docs/guides/score-elsewhere.md").read_text(encoding="utf-8")
COMMANDS = [
    line
    for block in re.findall(r"```sh\n(.*?)```", PAGE, flags=re.DOTALL)
    for line in block.splitlines()
    if line.startswith("skillassay ")
]
EXPECTED = {"score": 3, "import": 0, "scorecard": 0, "events": 0}
"""What each command of the page ends with here: to score is at best undecided."""


@pytest.fixture
def root(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with the files that the page speaks of, as the current folder."""
    build_small(cli.root, cases=[small_case("one"), small_case("two"), small_case("three")])
    (block,) = re.findall(r"```json\n(.*?)```", PAGE, flags=re.DOTALL)
    for name, text in {
        "answers.jsonl": block,
        "two.md": GOOD,
        "answers/one.md": GOOD,
        "answers/none/one.md": BAD,
    }.items():
        (cli.root / name).parent.mkdir(exist_ok=True)
        (cli.root / name).write_text(text, encoding="utf-8")
    evals = [{"id": 7, "prompt": "Greet one.", "assertions": ["The answer says hello."]}]
    write_json(cli.root / "evals" / "evals.json", {"skill_name": "greeter", "evals": evals})
    top = cli.root / "greeter-workspace" / "iteration-1" / "eval-7"
    run(top / "with_skill" / "run-1", {"answer.md": GOOD, "more.md": "more"})
    run(top / "without_skill" / "run-1", {"answer.md": BAD})
    monkeypatch.chdir(cli.root)
    return cli.root


def test_every_command_of_the_page_runs(cli: Cli, root: Path) -> None:
    """In the order of the page; RUN is the newest run of the same answers."""
    assert len(COMMANDS) == 7
    for line in COMMANDS:
        words = shlex.split(line)[1:]
        if "RUN" in words:
            assert cli(*words[: words.index("--resume")]).code == 3
            words[words.index("RUN")] = max((root / ".skillassay" / "runs").iterdir()).name
        ran = cli(*words)
        assert ran.code == EXPECTED[words[0]], (line, ran.err)
