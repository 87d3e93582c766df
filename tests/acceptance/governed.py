"""Four cases of which one fails, for tests of what people decide about a run."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.people.waivers import LAST
from tests.project import Cli, Ran, build_small, small_case, small_rules

NAMES = ("one", "two", "three", "four")

NEXT = LAST + timedelta(days=1)


def build(root: Path, *, bad: tuple[str, ...] = ("one",), **more: Any) -> None:
    """Four cases; with the skill the ``bad`` ones fail, without it all do."""
    critical = more.pop("critical", ())
    cases = [small_case(name, **({"critical": True} if name in critical else {})) for name in NAMES]
    rules = [item for name in NAMES for item in small_rules(name, good="good day" if name in bad else "hello hello")]
    build_small(root, cases=cases, rules=rules, **more)


def gate(cli: Cli, *options: str) -> Ran:
    """``gate --with-waivers`` on the newest run, as JSON."""
    return cli("gate", "--with-waivers", "--format", "json", *options)


def lines(decision: dict[str, Any]) -> dict[str, str]:
    """The status of each line of a decision."""
    return {line["name"]: line["status"] for line in decision["lines"]}
