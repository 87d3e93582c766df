"""What the candidate sees: the query and its files, and in no mode anything of what decides about its answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillassay.fixture.base import FixtureRules
from skillassay.fixture.rules import load_rules
from skillassay.fixture.server import FixtureServer
from tests.project import Cli, write_json

CASE = "frais-lille"

Edit = Callable[[dict[str, Any]], None]


def set_field(name: str, value: object) -> Edit:
    """An edit that sets a field of a case."""
    return lambda case: case.update({name: value})


EDITS: dict[str, Edit] = {
    "reference": set_field("reference", "Total remboursable : 196,80 EUR. SECRET-REFERENCE"),
    "rubric line": lambda case: case["rubric"][0].update(text="SECRET-CRITERION"),
    "criterion criticality": lambda case: case["rubric"][0].update(critical=True),
    "check": lambda case: case["checks"].append({"id": "secret-check", "type": "contains", "text": "SECRET"}),
    "expectation": set_field("expect", {"skills": ["ticket-triage"], "scripts": []}),
    "criticality": set_field("critical", True),
    "slice": set_field("slice", "secret-slice"),
    "note": set_field("note", "SECRET-NOTE"),
    "case id": set_field("id", "secret-id"),
}
JUDGE_SEES = {"reference", "rubric line"}


class Wire:
    """The shipped project talking to a fixture server whose requests are kept."""

    def __init__(self, cli: Cli, rules: FixtureRules, monkeypatch: pytest.MonkeyPatch) -> None:
        self.cli, self.rules, self.patch = cli, rules, monkeypatch

    def requests(self, case: str) -> tuple[list[bytes], list[bytes]]:
        """Raw bodies of one case's evaluation: the candidate's in order, and the judge's."""
        with FixtureServer(self.rules, keep=1000) as server:
            self.patch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
            self.patch.setenv("GEMINI_API_KEY", "k-wire")
            ran = self.cli("eval", "--case", case, "--model", "gemini:some", "--jobs", "1", "--format", "json")
            assert json.loads(ran.out)["counts"]["unscored"] == 0
            bodies = server.requests
        judge = [body for body in bodies if b'"responseJsonSchema"' in body]
        return [body for body in bodies if body not in judge], judge


@pytest.fixture
def wire(cli: Cli, shipped: Path, monkeypatch: pytest.MonkeyPatch) -> Wire:
    """The shipped project on the wire, with its eager mode showing every skill."""
    rules, _ = load_rules(sorted(shipped.glob("evals/fixtures/*.yaml")))
    assert rules is not None
    return Wire(cli, rules, monkeypatch)


def change(root: Path, edit: Edit, *, of: str = CASE, suite_file: str = "quality.json") -> str:
    """Edit the case in the suite; returns its id then."""
    path = root / "evals" / suite_file
    suite = json.loads(path.read_text("utf-8"))
    case: dict[str, Any] = next(case for case in suite["cases"] if case["id"] == of)
    edit(case)
    suite["version"] = "9.0.0"
    write_json(path, suite)
    return str(case["id"])


@pytest.mark.parametrize("what", EDITS)
def test_private_fields_never_reach_the_candidate(wire: Wire, shipped: Path, what: str) -> None:
    """Whatever is changed of a case but query and files, every request to the candidate keeps its bytes."""
    candidate, judge = wire.requests(CASE)
    case = change(shipped, EDITS[what])
    candidate_then, judge_then = wire.requests(case)
    assert candidate_then == candidate
    assert len(candidate) == 7  # 4 progressive, 1 none, 2 eager
    assert (judge_then != judge) == (what in JUDGE_SEES)


def test_an_expected_value_reaches_nobody(wire: Wire, shipped: Path) -> None:
    """Neither the candidate nor the judge, who is not asked where code alone decides."""

    def with_scorer(expected: str) -> tuple[list[bytes], list[bytes]]:
        path = shipped / "evals" / "quality.json"
        suite = json.loads(path.read_text("utf-8"))
        suite |= {"version": "9.0.0", "default_scorer": {"type": "contains"}}
        case: dict[str, Any] = next(case for case in suite["cases"] if case["id"] == CASE)
        for name in ("checks", "must_match", "must_not_match", "rubric", "oracle_type"):
            case.pop(name, None)
        case["expected"] = expected
        write_json(path, suite)
        return wire.requests(CASE)

    plain, _ = wire.requests(CASE)
    for expected in ("SECRET-EXPECTED", "SECRET-OTHER"):
        candidate, judge = with_scorer(expected)
        assert candidate == plain
        assert judge == []


def set_facts(case: dict[str, Any]) -> None:
    """Other references, and every fact that a case can state about itself."""
    answer = {name: case["behavior"][name] for name in ("action", "refused")} | {"response": "SECRET-ANSWER"}
    case["references"] = {
        "positive": [answer],
        "negative": [answer | {"violates": "SECRET-VIOLATION"}],
        "provenance": "SECRET-PROVENANCE",
    }
    case |= {
        "part": "failure_corpus",
        "incident": {"id": "SECRET-INCIDENT", "root_cause": "SECRET-CAUSE"},
        "oracle_type": "human",
        "acceptable_variants": ["SECRET-VARIANT"],
        "source_snapshot": {"source": "SECRET-SOURCE", "taken_at": "2027-01-01"},
        "effective_date": "2027-01-01",
    }


def about_trials(shipped: Path, case: str, sent: tuple[list[bytes], list[bytes]]) -> tuple[list[bytes], list[bytes]]:
    """The requests without those in which the judge is shown a reference, which are no trial's."""
    suite = json.loads((shipped / "evals" / "behavior.json").read_text("utf-8"))
    (found,) = [one["references"] for one in suite["cases"] if one["id"] == case]
    texts = [one["response"] for side in ("positive", "negative") for one in found[side]]

    def is_shown(body: bytes) -> bool:
        said = json.loads(body)["contents"][0]["parts"][0]["text"]
        return b"required_met" in body and json.loads(said)["answer"]["response"] in texts

    candidate, judge = sent
    trials = [body for body in judge if not is_shown(body)]
    assert len(judge) - len(trials) == len(texts)
    return candidate, trials


def test_references_and_facts_reach_no_trial(wire: Wire, shipped: Path) -> None:
    """Every request of a behaviour case's trials keeps its bytes, and beside them the judge is shown the references'
    words alone; what the judge reads by is changed to show it could differ.
    """
    case, suite = "orvalle-consigne-injectee", "behavior.json"
    before = about_trials(shipped, case, wire.requests(case))
    change(shipped, set_facts, of=case, suite_file=suite)
    sent = wire.requests(case)
    assert about_trials(shipped, case, sent) == before
    assert not any(b"SECRET" in body for body in sent[0])
    assert not any(b"SECRET" in body.replace(b"SECRET-ANSWER", b"") for body in sent[1])
    change(shipped, lambda body: body["behavior"].update(required="SECRET-DEMAND"), of=case, suite_file=suite)
    after = about_trials(shipped, case, wire.requests(case))
    assert after != before
    changed = [body for now, then in zip(after, before, strict=True) for body in set(now) - set(then)]
    assert changed
    assert all(b"SECRET-DEMAND" in body and b"required_met" in body for body in changed)
    assert len(before[0]) + len(before[1]) == 8  # 3 progressive, 1 none, 1 eager, and a verdict on each answer


def test_the_query_reaches_the_candidate(wire: Wire, shipped: Path) -> None:
    """The comparison above can fail: another query is another request."""
    candidate, _ = wire.requests(CASE)
    change(shipped, lambda case: case.update(query=case["query"] + " Merci."))
    candidate_then, _ = wire.requests(CASE)
    assert candidate_then != candidate


def first_turn(body: bytes) -> Any:
    """The user turn of a request."""
    return json.loads(body)["contents"][0]


def test_the_user_turn_is_the_same_in_every_mode(wire: Wire) -> None:
    """One first turn over all requests of the three modes."""
    candidate, _ = wire.requests(CASE)
    assert all(first_turn(body) == first_turn(candidate[0]) for body in candidate)
    assert len({json.dumps(json.loads(body).get("systemInstruction")) for body in candidate}) == 3


def test_without_the_skill_nothing_of_any_skill_is_sent(wire: Wire, shipped: Path) -> None:
    """The request of mode none holds no name, no description, no line of a body, no tool."""
    candidate, _ = wire.requests(CASE)
    none = [body for body in candidate if "tools" not in json.loads(body)]
    assert len(none) == 1
    text = none[0].decode()
    texts = json.loads(none[0])
    said = json.dumps(texts["systemInstruction"], ensure_ascii=False)
    for path in sorted(shipped.glob("skills/*/**/*")):
        assert path.name not in text
        if path.suffix == ".md":
            lines = [line.strip() for line in path.read_text("utf-8").splitlines() if len(line.strip()) > 20]
            assert not [line for line in lines if line in said or line in text]
    for word in ("skill", "Skill", "functionDeclarations", "toolConfig", "available"):
        assert word not in text
