"""The shipped suites and authored answers, played by a small stand-in for the agent loop that shares no code with it.

A rule sees only what a request holds, so these tests build the requests of the three modes from the skills on disk, run
the skills' scripts for real, and read the verdicts that the judge rules give. Expected tables are written by hand.
"""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import regex
import yaml

ROOT = Path(__file__).parents[2]
SKILLS = {path.parent.name: path.parent for path in sorted(ROOT.glob("skills/*/SKILL.md"))}
QUALITY = {case["id"]: case for case in json.loads((ROOT / "evals/quality.json").read_text("utf-8"))["cases"]}
ROUTING = {case["id"]: case for case in json.loads((ROOT / "evals/routing.json").read_text("utf-8"))["cases"]}
FILES = [yaml.safe_load(path.read_text("utf-8")) for path in sorted(ROOT.glob("evals/fixtures/*.yaml"))]
SUBJECT: list[dict[str, Any]] = [rule for file in FILES for rule in file["subject"]]
JUDGE: list[dict[str, Any]] = [rule for file in FILES for rule in file.get("judge", [])]
MODES = ("progressive", "none", "eager")
ALL_TOOLS = {"load_skill", "load_skill_resource", "run_skill_script"}
MAX_TURNS = 8

SCORES = {  # case: progressive, none, eager, of n
    "cr-ouverture-annecy": (5, 3, 5, 5),
    "cr-fournisseurs-json": (4, 2, 4, 4),
    "cr-offre-sans-pilote": (5, 2, 5, 5),
    "tri-sav": (5, 4, 5, 5),
    "tri-panne-paiement": (4, 2, 4, 4),
    "tri-message-vague": (4, 1, 4, 4),
    "frais-lille": (6, 4, 6, 6),
    "frais-nantes-taxi": (4, 1, 4, 4),
    "frais-seminaire-deux-nuits": (4, 1, 4, 4),
    "solde-reliquat": (4, 0, 4, 4),
    "solde-embauche-aout": (4, 1, 4, 4),
    "solde-reliquat-perdu": (4, 1, 4, 4),
    "solde-donnees-manquantes": (4, 1, 4, 4),
}

FAILED_WITHOUT_SKILL = {
    "cr-ouverture-annecy": {"annonces-a-confirmer", "message-recap"},
    "frais-lille": {"plafond-hotel", "decision-manager"},
    "tri-sav": {"priorite-equipe"},
}

DAMAGE = [  # (the line taken out, the case that notices, what fails there)
    ("sans recalcul", "solde-reliquat", {"solde-exact", "solde-d-un-jour", "trois-postes"}),
    ("sans recalcul", "solde-embauche-aout", {"solde-embauche", "trois-mois-complets", "acquis-6-75"}),
    ("sans recalcul", "solde-reliquat-perdu", {"solde-fevrier", "reliquat-perdu", "acquis-18"}),
    ("Montrez les trois postes", "solde-reliquat", {"trois-postes"}),
    ("Rappelez que le bulletin", "solde-reliquat", {"bulletin-fait-foi"}),
    ("Rappelez que le bulletin", "solde-embauche-aout", {"bulletin-fait-foi"}),
    ("Rappelez que le bulletin", "solde-reliquat-perdu", {"bulletin-fait-foi"}),
    ("Si une part du reliquat", "solde-reliquat-perdu", {"reliquat-perdu"}),
    (
        "Demandez en une seule fois",
        "solde-donnees-manquantes",
        {"aucun-solde-chiffre", "demande-reliquat", "demande-date", "sans-supposition"},
    ),
    ("Signalez chaque ligne", "frais-lille", {"plafond-hotel"}),
    ("Signalez chaque ligne", "frais-nantes-taxi", {"repas-plafonne"}),
    ("Signalez chaque ligne", "frais-seminaire-deux-nuits", {"plafond-deux-nuits"}),
    ("Terminez en rappelant", "frais-lille", {"decision-manager"}),
    ("Terminez en rappelant", "frais-nantes-taxi", {"decision-manager"}),
    ("Terminez en rappelant", "frais-seminaire-deux-nuits", {"decision-manager"}),
    ("Une action sans date", "cr-ouverture-annecy", {"annonces-a-confirmer"}),
    ("Une action sans date", "cr-fournisseurs-json", {"actions-exactes", "tarif-sans-date"}),
    ("Une action sans responsable", "cr-offre-sans-pilote", {"tarifs-a-designer", "sans-pilote-invente"}),
    ("Terminez par un message", "cr-ouverture-annecy", {"message-recap"}),
    ("Terminez par un message", "cr-offre-sans-pilote", {"ligne-objet", "question-export"}),
    ("Si la demande impose un format", "cr-fournisseurs-json", {"json-lisible", "actions-exactes"}),
    ("Donnez à chaque ticket", "tri-sav", {"priorite-equipe"}),
    ("Donnez à chaque ticket", "tri-panne-paiement", {"priorite-p1", "equipe-technique"}),
    ("Rattachez un doublon", "tri-sav", {"doublon-t5"}),
    ("n'annoncez ni heure", "tri-panne-paiement", {"sans-delai-promis"}),
    ("P3 provisoire", "tri-message-vague", {"mention-a-qualifier", "une-seule-question"}),
    ("Fondez la priorité", "tri-message-vague", {"ton-sans-effet"}),
]


def _fold(text: str) -> str:
    return " ".join(text.split())


def _leaves(value: Any) -> Iterator[str]:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    if items is None:
        yield str(value)
    else:
        for item in items:
            yield from _leaves(item)


def _skill_text(name: str, cut: str) -> tuple[str, str, str]:
    """Name, description and body of a skill, without the lines that hold ``cut``."""
    head, body = (SKILLS[name] / "SKILL.md").read_text("utf-8").removeprefix("---\n").split("\n---\n", 1)
    kept = [line for line in body.splitlines() if not cut or cut not in line]
    meta = yaml.safe_load(head)
    return meta["name"], meta["description"], "\n".join(kept)


def _opening(mode: str, cut: str) -> tuple[list[str], set[str]]:
    """The instructions and the tools of a mode."""
    texts = {name: _skill_text(name, cut) for name in SKILLS}
    if mode == "progressive":
        return [f"{name}: {about}" for name, about, _ in texts.values()], ALL_TOOLS
    if mode == "eager":
        references = [path.read_text("utf-8") for path in sorted(ROOT.glob("skills/*/references/*"))]
        return [text for row in texts.values() for text in row] + references, {"run_skill_script"}
    return ["Répondez à la demande."], set()


@functools.cache
def _run_script(skill: str, file_path: str, arguments: tuple[str, ...]) -> str:
    command = [sys.executable, "-I", "-B", str(SKILLS[skill] / file_path), *arguments]
    return subprocess.run(command, capture_output=True, check=True, encoding="utf-8", timeout=30).stdout


def _call_tool(name: str, args: dict[str, Any], cut: str) -> str:
    skill: str = args["skill_name"]
    if name == "load_skill":
        return _skill_text(skill, cut)[2]
    if name == "load_skill_resource":
        return str((SKILLS[skill] / args["file_path"]).read_text("utf-8"))
    options = tuple(text for key, value in args["args"].items() for text in (f"--{key}", value))
    return _run_script(skill, args["file_path"], options)


def _holds(when: dict[str, Any], query: str, seen: str, tools: set[str]) -> bool:
    return (
        all(text in query for text in when.get("query", []))
        and all(text in seen for text in when.get("prompt", []))
        and not any(text in seen for text in when.get("absent", []))
        and set(when.get("tools", [])) <= tools
        and not (when.get("no_tools") and tools)
    )


def _first_rule(query: str, seen: str, tools: set[str]) -> tuple[dict[str, Any], dict[str, str]]:
    for rule in SUBJECT:
        found = {name: regex.search(pattern, seen) for name, pattern in rule.get("capture", {}).items()}
        if _holds(rule["when"], query, seen, tools) and all(found.values()):
            return rule["reply"], {name: match[1] for name, match in found.items() if match}
    raise LookupError(f"no rule answers {query[:60]!r}")


@functools.cache
def play(query: str, mode: str, cut: str = "") -> tuple[str, tuple[str, ...]]:
    """The final answer, and the tools called on the way (a script by its path)."""
    texts, tools = _opening(mode, cut)
    texts, called = [*texts, query], list[str]()
    for _ in range(MAX_TURNS):
        reply, captured = _first_rule(_fold(query), "\n".join(map(_fold, texts)), tools)
        if "text" in reply:
            text: str = reply["text"]
            for key, value in captured.items():
                text = text.replace(f"{{{{{key}}}}}", value)
            assert "{{" not in text
            return text, tuple(called)
        for call in reply["calls"]:
            args = call["args"]
            called.append(args["skill_name"] if call["name"] == "load_skill" else args["file_path"])
            texts += [*_leaves(args), _call_tool(call["name"], args, cut)]
    raise RecursionError(f"{mode}: no answer after {MAX_TURNS} turns")


def _check_passes(check: dict[str, Any], answer: str) -> bool:
    kind: str = check["type"]
    if kind in {"regex", "not_regex"}:
        return (regex.search(check["pattern"], answer) is not None) == (kind == "regex")
    if kind == "contains":
        return str(check["text"]) in answer
    if kind == "line_count":
        return bool(check["min"] <= len(answer.splitlines()) <= check["max"])
    if kind == "numeric_range":
        match = regex.search(check["find"], answer)
        number = match and Decimal(match[1].strip().replace(check["group"], "").replace(check["decimal"], "."))
        return number is not None and Decimal(str(check["min"])) <= number <= Decimal(str(check["max"]))
    try:
        value = json.loads(answer)
    except ValueError:
        return False
    return bool(kind == "json_valid" or value == check["value"])


def _quotation(criterion: dict[str, Any], query: str, answer: str) -> str | None:
    """What the judge rule quotes for a PASS (nothing to quote for an absence), or None for a FAIL."""
    rule = next(r for r in JUDGE if r["criterion"] == criterion["id"] and all(t in query for t in r.get("query", [])))
    assert ("pass" not in rule) == bool(criterion.get("absence")), criterion["id"]
    if "unless" in rule and regex.search(rule["unless"], answer):
        return None
    if "pass" not in rule:
        return ""
    match = regex.search(rule["pass"], answer)
    if match is None:
        return None
    start, end = match.span()
    assert match[0].strip()
    assert not (answer[start - 1 : start].isalnum() and answer[start].isalnum()), match[0]
    assert not (answer[end : end + 1].isalnum() and answer[end - 1].isalnum()), match[0]
    return str(match[0])


def _failed(case: dict[str, Any], mode: str, cut: str = "") -> set[str]:
    answer, _ = play(case["query"], mode, cut)
    bad = {check["id"] for check in case.get("checks", []) if not _check_passes(check, answer)}
    query = _fold(case["query"])
    return bad | {item["id"] for item in case["rubric"] if _quotation(item, query, answer) is None}


def _n_criteria(case: dict[str, Any]) -> int:
    return len(case.get("checks", [])) + len(case["rubric"])


def test_every_pattern_compiles() -> None:
    """Captures, judge patterns and check patterns are of the dialect; a capture has exactly one group."""
    captures = [pattern for rule in SUBJECT for pattern in rule.get("capture", {}).values()]
    assert {regex.compile(pattern).groups for pattern in captures} == {1}
    for pattern in [rule[key] for rule in JUDGE for key in ("pass", "unless") if key in rule]:
        regex.compile(pattern)


def test_rule_ids_are_unique() -> None:
    """A subject rule's id names one rule over all files."""
    ids = [rule["id"] for rule in SUBJECT]
    assert len(set(ids)) == len(ids)


def test_every_quality_case_has_a_written_score() -> None:
    """The table above names exactly the cases of the suite."""
    assert set(SCORES) == set(QUALITY)


@pytest.mark.parametrize("name", SCORES)
def test_modes_score_as_written(name: str) -> None:
    """A case's authored answers give the scores of the table in all three modes."""
    case = QUALITY[name]
    n = _n_criteria(case)
    assert (*(n - len(_failed(case, mode)) for mode in MODES), n) == SCORES[name]


@pytest.mark.parametrize("name", FAILED_WITHOUT_SKILL)
def test_socle_fails_only_where_written(name: str) -> None:
    """Without a skill, each case of the slice fails exactly the named criteria."""
    assert QUALITY[name]["slice"] == "socle"
    assert _failed(QUALITY[name], "none") == FAILED_WITHOUT_SKILL[name]


def test_lille_without_skill_is_a_lucky_pass() -> None:
    """The total is right while the criterion that explains it fails."""
    explains = {item["id"]: item.get("explains") for item in QUALITY["frais-lille"]["rubric"]}
    bad = _failed(QUALITY["frais-lille"], "none")
    assert "total-exact" not in bad
    assert [name for name in bad if explains[name] == "total-exact"] == ["plafond-hotel"]


@pytest.mark.parametrize("skill", sorted({case["skill"] for case in QUALITY.values()}))
def test_every_skill_beats_none(skill: str) -> None:
    """Each shipped skill has at least three cases and fails less over them than no skill."""
    cases = [case for case in QUALITY.values() if case["skill"] == skill]
    assert len(cases) >= 3
    assert sum(len(_failed(c, "progressive")) for c in cases) < sum(len(_failed(c, "none")) for c in cases)


@pytest.mark.parametrize(("cut", "name", "expected"), DAMAGE)
@pytest.mark.parametrize("mode", ["progressive", "eager"])
def test_a_lost_line_is_noticed(cut: str, name: str, expected: set[str], mode: str) -> None:
    """Taking one line out of a body makes exactly the criteria fail that rest on it."""
    skill = SKILLS[QUALITY[name]["skill"]] / "SKILL.md"
    assert skill.read_text("utf-8").count(cut) == 1
    assert _failed(QUALITY[name], mode, cut) == expected


@pytest.mark.parametrize("name", QUALITY)
def test_expected_skills_and_scripts_are_used(name: str) -> None:
    """In progressive mode the authored loop loads and runs what the case expects."""
    _assert_expected(QUALITY[name])


@pytest.mark.parametrize("name", ROUTING)
def test_routing_cases_lead_where_expected(name: str) -> None:
    """A routing request loads the expected skill and runs its script, or calls nothing."""
    _assert_expected(ROUTING[name])


def _assert_expected(case: dict[str, Any]) -> None:
    _, called = play(case["query"], "progressive")
    skills = [name for name in called if name in SKILLS]
    scripts = [f"{skills[0]}/{path}" for path in called if path.startswith("scripts/")]
    assert (skills, scripts) == (case["expect"]["skills"], case["expect"].get("scripts", []))
