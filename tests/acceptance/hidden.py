"""A small project with a hidden holdout outside it: every text of the holdout carries a mark that can be looked for."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.every_byte import mark
from tests.project import JUDGE_RULE, Cli, Ran, build_small, small_rules, write_json

KEY = "0f" * 32
MARKS = ("query", "rubric", "expected", "file", "variant")
QUERY = (
    f"Greet the guests of the harbour festival who come back late from the night ferry, and name {mark('query')} "
    "before anybody else"
)

SAYS = {
    "id": "hidden-hello",
    "text": f"The answer says hello in the manner of {mark('rubric')} and of nobody else at all.",
}
RULES = (
    *(rule for name in ("one", "two", "three") for rule in small_rules(name)),
    {
        "id": "hidden-good",
        "when": {"prompt": ["greeter"]},
        "capture": {"who": "name (Zqxv[a-z]+vxqZ) before"},
        "reply": {"text": "hello {{who}} hello"},
    },
    {"id": "hidden-bad", "when": {"absent": ["greeter"]}, "reply": {"text": "good day"}},
)
JUDGE = (JUDGE_RULE, {"criterion": "hidden-hello", "pass": "hello .* hello", "missing": "No hello stands there."})


def hidden_case(case_id: str, **fields: object) -> dict[str, Any]:
    """A case of the holdout with a mark in each of its texts."""
    return {
        "id": case_id,
        "skill": "greeter",
        "query": QUERY,
        "files": ["guests.txt"],
        "checks": [{"id": "not-expected", "type": "not_contains", "text": f"never say {mark('expected')}"}],
        "rubric": [SAYS],
        "acceptable_variants": [f"hello in another way {mark('variant')}"],
        "note": "for people",
    } | fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """The command line at the project, and the holdout's file."""

    cli: Cli
    suite: Path

    @property
    def root(self) -> Path:
        """The project."""
        return self.cli.root

    def write(self, *cases: Mapping[str, Any], version: str = "1.0.0") -> None:
        """Write the suite outside the project."""
        write_json(self.suite, {"suite": "hidden", "version": version, "cases": list(cases)})

    def runs(self) -> list[str]:
        """The ids of all runs, oldest first."""
        return sorted(path.name for path in (self.root / ".skillassay" / "runs").iterdir())

    def records(self, run: str) -> list[dict[str, Any]]:
        """The records of a run about the holdout."""
        path = self.root / ".skillassay" / "runs" / run / "trials.jsonl"
        lines = [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
        return [line for line in lines if line["suite"] == "hidden"]

    def forget(self, run: str) -> None:
        """Remove a run."""
        shutil.rmtree(self.root / ".skillassay" / "runs" / run)

    def sealed(self) -> dict[str, Any]:
        """The committed file."""
        value: dict[str, Any] = json.loads((self.root / "evals" / "holdout.json").read_text("utf-8"))
        return value

    def decided(self, *arguments: str) -> tuple[Ran, dict[str, Any]]:
        """A command that decides, with its lines by name."""
        ran = self.cli(*arguments, "--format", "json")
        lines = ran.json["lines"] if "lines" in ran.json else ran.json["decision"]["lines"]
        return ran, {line["name"]: line for line in lines}


def build_hidden(cli: Cli, outside: Path, patch: pytest.MonkeyPatch, **contract: Any) -> Hidden:
    """Build both and seal the holdout."""
    build_small(cli.root, rules=RULES, judge=JUDGE, holdout={"suite": "hidden"}, **contract)
    hidden = Hidden(cli=cli, suite=outside / "holdout.json")
    (outside / "guests.txt").write_text(f"The guests of the late ferry are led by {mark('file')}.\n", encoding="utf-8")
    hidden.write(hidden_case("h-ferry"))
    patch.setenv("SKILLASSAY_HOLDOUT", str(hidden.suite))
    patch.setenv("SKILLASSAY_HOLDOUT_KEY", KEY)
    ran = cli("holdout", "seal")
    assert (ran.code, ran.err) == (0, "")
    return hidden
