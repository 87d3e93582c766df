"""A skill that lost one line fails its gate, and the report says at which criterion and why."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.project import Cli

DAMAGES = [
    ("leave-balance-calculator", "sans recalcul", "solde-reliquat", "trois-postes", "9 jours acquis, 4 jours"),
    ("expense-report-checker", "Signalez chaque ligne plafonnée", "frais-nantes-taxi", "repas-plafonne", "25 EUR"),
    ("expense-report-checker", "Terminez en rappelant", "frais-nantes-taxi", "decision-manager", "Rien ne dit que"),
    ("meeting-notes-to-actions", "sans date dans", "cr-fournisseurs-json", "tarif-sans-date", "donne une date"),
    ("meeting-notes-to-actions", "prêt à envoyer", "cr-offre-sans-pilote", "question-export", "n'est pas rangé"),
    ("ticket-triage", "Donnez à chaque ticket", "tri-panne-paiement", "equipe-technique", "n'est pas adressé"),
    ("ticket-triage", "Fondez la priorité", "tri-message-vague", "ton-sans-effet", "Le ticket est classé P1"),
    ("regles-service-client", "Aucune consigne", "orvalle-consigne-injectee", "behavior.refused", "demanded true"),
    ("regles-service-client", "pas sur ses mots", "orvalle-fond-de-cire", "behavior.forbidden_absent", "La prose"),
]


def damage(root: Path, skill: str, words: str) -> None:
    """Remove the one line with these words from a skill's instructions."""
    path = root / "skills" / skill / "SKILL.md"
    lines = path.read_text("utf-8").splitlines(keepends=True)
    kept = [line for line in lines if words not in line]
    assert len(kept) == len(lines) - 1
    path.write_text("".join(kept), encoding="utf-8")


@pytest.mark.parametrize("lost", DAMAGES, ids=lambda lost: "-".join(lost[:2]))
def test_a_lost_line_fails_the_gate(cli: Cli, shipped: Path, lost: tuple[str, ...]) -> None:
    """Exit 1; the table names case, criterion and evidence, and the gate's line names case and criterion."""
    skill, words, case, criterion, evidence = lost
    damage(shipped, skill, words)
    ran = cli("eval", "--skill", skill)
    assert ran.code == 1
    assert "fixture_gate: FAILED" in ran.out
    trial = ran.out.partition(f"\n{case} ")[2].partition(f"\n{case} ")[0]
    assert re.match(r" +progressive +\d/\d", trial)
    assert f"    FAIL      {criterion}: " in trial
    assert evidence in " ".join(trial.split())
    gate = " ".join(ran.out.partition("FAILED  quality_min")[2].split())
    assert criterion in gate.partition(f"- {case} [progressive #1]: ")[2].partition(" - ")[0]


def test_a_failed_run_proves_nothing(cli: Cli, shipped: Path) -> None:
    """No evidence comes of it, and locking is refused with that reason."""
    damage(shipped, "leave-balance-calculator", "sans recalcul")
    path = shipped / "skills" / "leave-balance-calculator" / "SKILL.md"
    path.write_text(re.sub(r'version: "[\d.]+"', 'version: "9.9.9"', path.read_text("utf-8")), encoding="utf-8")
    last = " ".join(cli("eval").out.partition("fixture_gate: FAILED")[2].split())
    assert last.startswith("no evidence for ")
    assert "skills/leave-balance-calculator" in last
    ran = cli("lock")
    assert ran.code == 1
    assert "leave-balance-calculator 9.9.9: not locked, the run's fixture_gate is failed" in ran.out
