"""What a model, a judge or a service says never leaves its place in a report: no format, terminal or CI obeys it."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from skillassay.cli.main import main
from skillassay.printable import width
from tests.project import SETTINGS, Cli, build_small, rule, small_case

CELLS = json.loads((Path(__file__).parents[1] / "data/public/ci/adobe-skills-59/cells.json").read_text("utf-8"))
"""Texts that end a table, as reported publicly."""

HOSTILE = [
    *(cell for cell in CELLS if cell),
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b2J \x7f",
    "left \u202egnihton\u202c \u2066x\u2069 \u200b\ufeff\xad",
    "a\u2028b\u2029c\x85d\x0be\x0cf\rg",
    "::error file=x,line=1::forged",
    "\n  ::add-mask::forged",
    "text ##[error]forged ##vso[task.complete result=Failed]forged",
    "</script><script>alert(1)</script></td></table>",
    "\\| a \\\n| b | c |\n|---|---|",
    "[link](javascript:alert(1)) <img src=x onerror=alert(1)> &lt;b&gt; @octocat #1 https://e.example www.e.example",
    "```\n| x |\n```",
    "日本語の長い文" * 60,
    "wall" * 50_000,
    "e" + "\u0301" * 500,
]


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which each text comes from the candidate, from the judge, and from the service's error message."""
    root = tmp_path_factory.mktemp("hostile")
    cases, rules, judge = [], [], []
    for number, text in enumerate(HOSTILE):
        check = {"id": "says-nothing", "type": "not_regex", "pattern": r"(?s)\A.{1,400}"}
        criterion = {"id": f"c-{number:02}", "text": text[:500] or "x"}
        cases.append(small_case(f"t{number:02}x", checks=[check], rubric=[criterion]))
        rules.append(rule(f"t{number:02}x", {"text": text}))
        judge.append({"criterion": criterion["id"], "pass": "never said", "missing": text[:4000] or "x"})
        cases.append(small_case(f"e{number:02}x"))
        failure = {"code": 400, "status": "INVALID_ARGUMENT", "message": text}
        rules.append(rule(f"e{number:02}x", {"error": failure}))
    build_small(root, cases=cases, rules=rules, judge=judge)
    with pytest.MonkeyPatch.context() as patch:
        for name in SETTINGS:
            patch.delenv(name, raising=False)
        assert main(["--root", str(root), "--quiet", "eval", "--mode", "progressive", "--jobs", "8"]) == 1
    return root


@pytest.fixture
def say(spoken: Path, capsys: pytest.CaptureFixture[str], quiet_environment: None) -> Cli:
    """The command line at that run."""
    return Cli(spoken, capsys)


OUTPUTS = [
    ("report",),
    ("report", "--format", "markdown"),
    ("report", "--format", "json"),
    ("gate",),
    ("gate", "--format", "json"),
]


@pytest.mark.parametrize("arguments", OUTPUTS, ids=" ".join)
def test_nothing_hidden_is_printed(say: Cli, arguments: tuple[str, ...]) -> None:
    """No control character but the line feed, no direction, no zero-width character, in any format."""
    out = say(*arguments).out
    assert "t00x" in out
    assert {c for c in out if c != "\n" and unicodedata.category(c) in {"Cc", "Cf", "Zl", "Zp", "Cs"}} == set()


@pytest.mark.parametrize("arguments", OUTPUTS, ids=" ".join)
def test_no_workflow_command_is_printed(say: Cli, arguments: tuple[str, ...]) -> None:
    """GitHub takes `::x::` at the start of a line, blanks or not, and `##[` anywhere; Azure `##vso[` anywhere."""
    out = say(*arguments).out
    assert [line for line in out.split("\n") if line.lstrip().startswith("::")] == []
    assert "##[" not in out
    assert "##vso[" not in out


def test_the_table_keeps_its_shape(say: Cli) -> None:
    """One row a trial, and no line wider than 80 columns whatever was said."""
    lines = say("report").out.splitlines()
    rows = [line for line in lines if re.match(r"[te]\d\dx +progressive +(\d/\d|--) +\d ", line)]
    assert len(rows) == 2 * len(HOSTILE)
    assert [line for line in lines if width(line) > 80] == []


def test_the_markdown_keeps_its_tables(say: Cli) -> None:
    """Every row of a table has the bars of its head, no blank line ends one, and nothing in a cell is markup."""
    lines = say("report", "--format", "markdown").out.splitlines()
    bars = 0
    n_rows = 0
    for line, before in zip(lines, ["", *lines], strict=False):
        if not line.startswith("|"):
            continue
        if not before.startswith("|"):
            bars = line.count("|")
        assert line.count("|") == bars
        n_rows += line.startswith(("| t", "| e"))
        assert not re.search(r"[<>`*\[\]]|\(http|javascript:|(?<!&)#|@(?!&)", line.replace("&#8203;", ""))
    assert n_rows >= 2 * len(HOSTILE)


def test_the_json_keeps_every_character(say: Cli, spoken: Path) -> None:
    """What is escaped for the log is the same text for a program."""
    result: dict[str, Any] = json.loads(say("report", "--format", "json").out)
    shown = {trial["case"]: trial for trial in result["trials"]}
    for number, text in enumerate(HOSTILE):
        (mark,) = [mark for mark in shown[f"t{number:02}x"]["marks"] if mark["by"] == "judge"]
        assert mark["evidence"] == text[:4000]
