"""Mutants of a shipped skill, on its authored answers: a demonstration of every kind, killed where its authors foresaw.

What must come out is read off the skill, its script and its suite: the script computes with the table of the reference
file; no case has a negative balance, and none wants JSON.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skillassay.mutation.mutants import Kind
from tests.project import Cli

SKILL = "leave-balance-calculator"
WHOLE = ("description", "script-reference", "script-file", "reference-file", "reference-empty")
KILLED = {
    "## Règles": ("section", "solde-d-un-jour"),
    "- Annoncez le solde imprimé par le script": ("list-item", "solde-d-un-jour"),
    "- Rappelez que le bulletin de paie fait foi": ("list-item", "bulletin-fait-foi"),
    "- Demandez en une seule fois les données": ("list-item", "demande-reliquat"),
    "| droit-mensuel | 2,25 |": ("table-row", "acquis-6-75"),
    "2,25 -> 4,50": ("number", "acquis-6-75"),
}
SURVIVES = ("- Si le solde est négatif", "| `--format` |")


@pytest.fixture
def found(shipped: Path, cli: Cli) -> dict[str, Any]:
    """The mutants that are named above."""
    listed = cli("mutate", SKILL, "--dry-run", "--format", "json").json["mutants"]
    named = (*KILLED, *SURVIVES)
    only = [one["id"] for one in listed if one["kind"] in WHOLE or one["text"].startswith(named)]
    assert len(only) == len(WHOLE) + len(named)
    ran = cli("--quiet", "mutate", SKILL, *(word for name in only for word in ("--only", name)), "--format", "json")
    assert (ran.code, ran.err) == (0, "")
    value: dict[str, Any] = ran.json
    return value


def test_a_mutant_of_each_kind_is_killed_and_some_survive(found: dict[str, Any]) -> None:
    """Every kind has one that a case notices; what no case is about survives; nothing is left open."""
    killed = {one["kind"] for one in found["mutants"] if one["outcome"] == "killed"}
    assert killed == {kind.value for kind in Kind}
    survived = [one["text"] for one in found["mutants"] if one["outcome"] == "survived"]
    assert sorted(text[:12] for text in survived) == sorted(text[:12] for text in SURVIVES)
    assert found["score"]["undecided"] == 0
    assert all(one["can_kill"] for one in found["unmutated"])
    by_text = {one["text"]: one for one in found["mutants"]}
    for begin, (kind, criterion) in KILLED.items():
        (mutant,) = [one for text, one in by_text.items() if text.startswith(begin)]
        assert mutant["kind"] == kind
        assert criterion in {one["criterion"] for one in mutant["failing"] if one["kills"]}, begin
    assert found["notices"][0].startswith("FIXTURE: authored answers")
