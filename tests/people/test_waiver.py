"""Waivers: what an entry must be, and when it holds."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from skillassay.documents import parse_document
from skillassay.people.waiver import (
    CASE_LINES,
    MAX_DAYS,
    SKILL_LINES,
    Tree,
    Waiver,
    Waivers,
    load_waivers,
    parse_waivers,
    waiver_findings,
)
from skillassay.schema import schema_problems
from tests.people.waivers import APPROVED, DAY, LAST, entry, write_waivers
from tests.project import Cli

SKILL = "skills/greeter"
CASES = {f"quality/{name}": "b" * 64 for name in ("one", "two", "three")}
LOOKED = {("quality_min", SKILL): frozenset(CASES)}
TREE = Tree(skills={SKILL: "a" * 64}, cases={SKILL: CASES}, looked=LOOKED)
NEVER = (
    *("complete", "clean_arms", "digests_match", "contract_complete", "no_leakage", "nothing_held"),
    *("critical_failures", "unsafe_compliance", "required_slices", "no_manual_block", "judge_calibrated", "approved"),
)


def read(*entries: Mapping[str, Any], owner: str | None = None) -> Waivers:
    """The waivers of a file with these entries."""
    text = yaml.safe_dump({"waivers": 1, "granted": list(entries)}, sort_keys=False)
    document, findings = parse_document(text, path="evals/waivers.yaml", is_json=False)
    assert document is not None, findings
    assert schema_problems(document.value, "waivers") == []
    return parse_waivers(document, owner=owner)


def one(**changes: Any) -> Waiver:
    """The waiver of a sound entry."""
    (waiver,) = read(entry(**changes)).granted
    return waiver


def codes(waivers: Waivers, tree: Tree = TREE, day: date = DAY) -> list[str]:
    """What ``check`` finds."""
    return [finding.code for finding in waiver_findings(waivers, tree, day)]


def test_a_sound_waiver_has_no_finding() -> None:
    """Named cases of one skill, a person, at most 90 days."""
    assert codes(read(entry())) == []
    assert codes(read(entry(expires_on=(APPROVED + timedelta(days=MAX_DAYS)).isoformat()))) == []


@pytest.mark.parametrize("line", NEVER)
def test_what_says_that_a_run_means_something_is_nobodys_to_waive(line: str) -> None:
    """Neither with cases nor without."""
    for cases in ({"quality/one": "b" * 64}, None):
        assert codes(read(entry(scope={"line": line, "cases": cases}))) == ["waiver.not-waivable"]


def test_no_line_is_of_both_kinds() -> None:
    """A line is about cases or about a skill."""
    assert CASE_LINES.isdisjoint(SKILL_LINES)


@pytest.mark.parametrize("line", sorted(CASE_LINES))
def test_a_line_about_cases_needs_cases(line: str) -> None:
    """Without one it would cover whatever fails next."""
    assert codes(read(entry(scope={"line": line}))) == []
    assert codes(read(entry(scope={"line": line, "cases": None}))) == ["waiver.over-wide"]


@given(st.dates(date(2026, 1, 1), date(2027, 12, 31)))
def test_it_holds_on_its_days_and_no_other(day: date) -> None:
    """From the approval to the last day, both included."""
    assert (one().lapse(day) is None) is (APPROVED <= day <= LAST)


def test_its_digest_is_of_all_that_it_says() -> None:
    """Each field changed makes another digest; the order of the keys does not."""
    changed: list[dict[str, Any]] = [
        *({"id": "W-2"}, {"reason": "Another reason of some length."}, {"approver": "Jo Berg"}),
        *({"approved_on": (APPROVED + timedelta(days=1)).isoformat()}, {"expires_on": DAY.isoformat()}),
        *({"scope": {"line": "failures"}}, {"scope": {"skill": "skills/x"}}, {"scope": {"skill_digest": "c" * 64}}),
        {"scope": {"cases": {"quality/two": "b" * 64}}},
    ]
    assert len({one().digest, *(one(**change).digest for change in changed)}) == len(changed) + 1
    (turned,) = read(dict(reversed(entry().items()))).granted
    assert turned.digest == one().digest


@pytest.mark.parametrize("sign", "*?[]{}")
def test_any_sign_of_a_pattern_is_a_wildcard(sign: str) -> None:
    """In the line, in the skill, in a case's id."""
    for scope in ({"line": f"quality{sign}"}, {"skill": f"skills/{sign}"}, {"cases": {f"quality/{sign}": "b" * 64}}):
        assert codes(read(entry(scope=scope))) == ["waiver.over-wide"]


@pytest.mark.parametrize(
    "tree",
    [
        Tree(skills={}, cases={}, looked={}),
        Tree(skills={SKILL: "c" * 64}, cases={SKILL: CASES}, looked=LOOKED),
        Tree(skills={SKILL: "a" * 64}, cases={SKILL: {"quality/one": "c" * 64}}, looked=LOOKED),
        Tree(skills={SKILL: "a" * 64}, cases={SKILL: {}}, looked=LOOKED),
    ],
    ids=["no skill", "other bytes", "other case", "no case"],
)
def test_a_stale_one_is_told(tree: Tree) -> None:
    """It covers nothing any more, so it is a warning."""
    assert codes(read(entry()), tree) == ["waiver.stale"]


def test_an_entry_with_a_finding_grants_nothing_and_hides_no_other() -> None:
    """Two entries, one without a person: the other is read, and what is wrong has the line of the entry."""
    waivers = read(entry(id="W-0", approver="the team"), entry())
    assert [waiver.id for waiver in waivers.granted] == ["W-1"]
    (finding,) = waivers.findings
    assert (finding.code, finding.line) == ("waiver.no-person", 3)


@pytest.mark.parametrize(
    "text",
    ["waivers: 2\ngranted: []\n", "granted: []\n", "waivers: 1\n", "waivers: 1\ngranted: [{id: x}]\n", "[", ""],
    ids=["newer", "no version", "no list", "half an entry", "no YAML", "empty"],
)
def test_a_broken_file_grants_nothing(cli: Cli, text: str) -> None:
    """Another version, another shape, no YAML: findings, and no waiver."""
    path = cli.root / "evals/waivers.yaml"
    path.parent.mkdir()
    path.write_text(text, "utf-8")
    waivers = load_waivers(cli.root, owner=None)
    assert waivers.granted == ()
    assert waivers.findings


def test_no_file_is_no_waiver(cli: Cli) -> None:
    """And no finding."""
    assert load_waivers(cli.root, owner=None) == Waivers(lines={})


def test_an_unknown_field_is_refused(cli: Cli) -> None:
    """A waiver may not say more than is checked."""
    (cli.root / "evals").mkdir()
    write_waivers(cli.root, {**entry(), "also": "everything"})
    assert [finding.code for finding in load_waivers(cli.root, owner=None).findings] == ["file.schema"]
