"""Facts about the shipped skills and suites that need no model: pattern of the exercise, samples, arithmetic, spec."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import regex
import yaml

ROOT = Path(__file__).parents[2]
SKILLS = sorted(path.parent for path in ROOT.glob("skills/*/SKILL.md"))
CASES: dict[str, dict[str, Any]] = {
    case["id"]: case for case in json.loads((ROOT / "evals/quality.json").read_text("utf-8"))["cases"]
}
BALANCE = regex.compile(CASES["solde-reliquat"]["checks"][0]["pattern"])
PATTERN_CHECKS = [
    (case["id"], check) for case in CASES.values() for check in case.get("checks", []) if "pattern" in check
]


@pytest.mark.parametrize(
    "text", ["1 jour", "**1** jour", "1,0 j", "1.0 jour", "1\u00a0jour", "1\u202fjour", "**1 jour**", "= 1 jour ouvré"]
)
def test_the_balance_is_recognised(text: str) -> None:
    """The exercise's pattern accepts one day however it is set."""
    assert BALANCE.search(text)


@pytest.mark.parametrize(
    "text",
    [
        *("2,1 jours", "12,1 jours", "-1 jour", "\u22121 jour", "\u20111 jour", "\u20131 jour", "-**1** jour"),
        *("11 jours", "1,5 jour", "1,05 jour", "21 j", "1er juin", "1 jardin"),
    ],
)
def test_another_balance_is_not(text: str) -> None:
    """The exercise's pattern refuses other numbers, negative ones, and words that begin alike."""
    assert BALANCE.search(text) is None


def test_the_expected_balance_stands_nowhere_in_the_skill() -> None:
    """Neither body, reference nor script gives away the answer of the exercise."""
    files = [path for path in (ROOT / "skills/leave-balance-calculator").rglob("*") if path.suffix in {".md", ".py"}]
    assert len(files) == 3
    assert [path.name for path in files if BALANCE.search(path.read_text("utf-8"))] == []


def test_the_line_of_the_exercise_is_one_list_item() -> None:
    """The line against recalculating is a single list item, and no other file of a skill repeats it."""
    lines = [
        line
        for skill in SKILLS
        for path in skill.rglob("*.md")
        for line in path.read_text("utf-8").splitlines()
        if "sans recalcul" in line
    ]
    assert len(lines) == 1
    assert lines[0].startswith("- ")


@pytest.mark.parametrize(("name", "check"), PATTERN_CHECKS, ids=[f"{n}:{c['id']}" for n, c in PATTERN_CHECKS])
def test_samples_fit_their_pattern(name: str, check: dict[str, Any]) -> None:
    """Each sample of a pattern check is decided as its list says."""
    wanted = check["type"] == "regex"
    for label, texts in check["samples"].items():
        for text in texts:
            assert (bool(regex.search(check["pattern"], text)) == wanted) == (label == "pass"), text


def test_every_check_has_samples() -> None:
    """No check ships without a text it accepts and one it refuses."""
    checks = [check for case in CASES.values() for check in case.get("checks", [])]
    assert all(check["samples"]["pass"] and check["samples"]["fail"] for check in checks)


def test_two_wrongs_give_the_right_total() -> None:
    """Lille: paying the hotel over its cap and refusing the parking cancel out to the cent."""
    amounts = [
        Decimal(text.replace(",", ".")) for text in regex.findall(r"\d+,\d\d(?= EUR)", CASES["frais-lille"]["query"])
    ]
    hotel, _, parking, _, _ = amounts
    others = sum(amounts) - hotel - parking
    assert (hotel, parking, others) == (Decimal("152.00"), Decimal("12.00"), Decimal("44.80"))
    assert Decimal(140) + parking + others == hotel + others == Decimal("196.80")


@pytest.mark.parametrize("skill", SKILLS, ids=[path.name for path in SKILLS])
def test_a_skill_is_lean_and_valid(skill: Path) -> None:
    """Name as the folder, description within the limit, only the four fields, a quoted version, a short body."""
    text = (skill / "SKILL.md").read_text("utf-8")
    meta = yaml.safe_load(text.split("---\n")[1])
    assert set(meta) == {"name", "description", "license", "metadata"}
    assert meta["name"] == skill.name
    assert len(meta["description"]) <= 1024
    assert meta["license"] == "MIT"
    assert regex.fullmatch(r"\d+\.\d+\.\d+", meta["metadata"]["version"])
    assert len(text.splitlines()) < 120


@pytest.mark.parametrize("skill", SKILLS, ids=[path.name for path in SKILLS])
def test_every_path_a_body_names_exists(skill: Path) -> None:
    """A body points only at files that ship with it."""
    paths = regex.findall(r"(?:scripts|references)/[\w.-]+", (skill / "SKILL.md").read_text("utf-8"))
    assert [path for path in paths if not (skill / path).is_file()] == []
