"""The script of expense-report-checker, run as its own process and called as a module."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

SCRIPT = Path(__file__).parents[2] / "skills/expense-report-checker/scripts/check_expenses.py"

CAPS = {  # the policy as written for people; None: no cap
    "hotel": Decimal("140.00"),
    "repas": Decimal("25.00"),
    "petit-dejeuner": Decimal("9.00"),
    "taxi": Decimal("40.00"),
    "train": None,
    "transport-local": None,
    "parking": None,
    "peage": None,
    "minibar": Decimal("0.00"),
    "amende": Decimal("0.00"),
}


def _load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_expenses", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "dont_write_bytecode", True)  # a test leaves no file in a skill's folder
        spec.loader.exec_module(module)
    return module


SUBJECT = _load_script()
POLICY: dict[str, Decimal | None] = SUBJECT.parse_policy(SUBJECT.POLICY_PATH.read_text("utf-8"))


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-B", str(SCRIPT), *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=30)


def _total(lines: str) -> Decimal:
    expenses = SUBJECT.parse_expenses(lines, caps=POLICY)
    return sum((item.refundable for item in expenses), Decimal(0))


def _french(amount: Decimal) -> str:
    return f"{amount:.2f}".replace(".", ",")


AMOUNTS = st.decimals(min_value="0.01", max_value="9999.99", places=2)
LINES = st.lists(st.tuples(st.sampled_from(sorted(CAPS)), AMOUNTS, st.integers(1, 9), st.booleans()), min_size=1)


def test_the_policy_table_holds_the_written_caps() -> None:
    """The reference is read whole, with the caps the policy states."""
    assert POLICY == CAPS


def test_lille_prints_the_exact_report() -> None:
    """Text output gives each line its cap and finding, then the two totals."""
    hotel = "plafond 140,00 EUR | remboursable 140,00 EUR"
    result = _run("--lignes", "hotel 152,00; repas 22,40; parking 12,00; repas 16,20; transport-local 6,20")
    assert result.stdout.splitlines() == [
        f"Ligne 1 | hotel | déclaré 152,00 EUR | {hotel} | plafond dépassé de 12,00 EUR",
        "Ligne 2 | repas | déclaré 22,40 EUR | plafond 25,00 EUR | remboursable 22,40 EUR | conforme",
        "Ligne 3 | parking | déclaré 12,00 EUR | sans plafond | remboursable 12,00 EUR | conforme",
        "Ligne 4 | repas | déclaré 16,20 EUR | plafond 25,00 EUR | remboursable 16,20 EUR | conforme",
        "Ligne 5 | transport-local | déclaré 6,20 EUR | sans plafond | remboursable 6,20 EUR | conforme",
        "Total déclaré : 208,80 EUR",
        "Total remboursable : 196,80 EUR",
        "Lignes à signaler : 1",
    ]
    assert (result.returncode, result.stderr) == (0, "")


@given(LINES)
def test_total_is_the_sum_of_what_each_line_admits(lines: list[tuple[str, Decimal, int, bool]]) -> None:
    """The total is the sum over lines with a receipt of min(amount, cap x units)."""
    text = "; ".join(
        f"{code} {_french(amount)} x{units}{'' if receipt else ' sans-justificatif'}"
        for code, amount, units, receipt in lines
    )
    admitted = Decimal(0)
    for code, amount, units, receipt in lines:
        cap = CAPS[code]
        if receipt:
            admitted += amount if cap is None else min(amount, cap * units)
    assert _total(text) == admitted


@given(LINES, st.randoms())
def test_order_does_not_change_the_total(lines: list[tuple[str, Decimal, int, bool]], random: object) -> None:
    """No line pays for another: the total of a note is the total of its lines taken one by one."""
    texts = [f"{code} {_french(amount)} x{units}" for code, amount, units, _ in lines]
    assert _total(";".join(texts)) == sum(_total(text) for text in texts)


@pytest.mark.parametrize("text", ["hotel 290,00 x2", "hotel 290.00 x2", "HÔTEL 290 x2", " hotel  290,0  x2 ; "])
def test_a_line_may_be_spelled_in_several_ways(text: str) -> None:
    """Comma or point, accents, case and spaces do not matter; two nights double the cap."""
    assert _total(text) == Decimal("280.00")


@pytest.mark.parametrize(
    ("line", "finding"),
    [
        ("repas 25,00", "conforme"),
        ("repas 25,01", "plafond dépassé de 0,01 EUR"),
        ("taxi 38,00 sans-justificatif", "en attente de justificatif"),
        ("minibar 9,50", "non remboursable"),
        ("minibar 9,50 sans-justificatif", "non remboursable"),
        ("train 1240,00", "conforme"),
    ],
)
def test_each_line_carries_its_finding(line: str, finding: str) -> None:
    """The finding names the reason of any gap between declared and refundable."""
    assert SUBJECT.parse_expenses(line, caps=POLICY)[0].finding == finding


def test_amounts_are_grouped_by_thousands() -> None:
    """French numbers: a space between thousands, a comma before the cents."""
    assert SUBJECT.euros(Decimal("1234567.8")) == "1 234 567,80 EUR"


def test_json_holds_amounts_as_exact_text() -> None:
    """The JSON form gives the same facts with amounts as decimal strings."""
    document = json.loads(_run("--lignes", "hotel 152; train 64,5", "--format", "json").stdout)
    assert document["total_declare"] == "216.50"
    assert document["total_remboursable"] == "204.50"
    assert document["lignes"][1] == {
        "ligne": 2,
        "code": "train",
        "unites": 1,
        "declare": "64.50",
        "plafond": None,
        "remboursable": "64.50",
        "constat": "conforme",
    }


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("", "aucune dépense"),
        (" ; ", "aucune dépense"),
        ("hotel", "ligne 1 : attendu « code montant »"),
        ("repas 12; avion 300", "ligne 2 : code inconnu « avion »"),
        ("repas 12;; taxi 9", "ligne 2 : attendu"),
        ("repas -5", "montant illisible « -5 »"),
        ("repas 1 240,00", "précision non comprise « 240,00 »"),
        ("repas 12,345", "montant illisible « 12,345 »"),
        ("repas 12EUR", "montant illisible « 12EUR »"),
        ("repas ١٢", "montant illisible"),
        ("repas 0", "supérieur à zéro"),
        ("repas 12 x0", "précision non comprise « x0 »"),
        ("repas 12 x2 x3", "précision non comprise « x2 x3 »"),
    ],
)
def test_bad_lines_are_refused(lines: str, message: str) -> None:
    """A line that cannot be read is named, and nothing is computed."""
    with pytest.raises(SUBJECT.SaisieError, match=message.replace("(", r"\(")):
        SUBJECT.parse_expenses(lines, caps=POLICY)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "erreur : argument manquant : --lignes\n"),
        (["--lignes"], "erreur : argument --lignes: une valeur est attendue\n"),
        (["--lignes", "repas 9", "--devise", "USD"], "erreur : argument inconnu : --devise\n"),
        (["--lignes", "repas 9", "--format", "xml"], "erreur : format inconnu « xml », attendu texte ou json\n"),
        (["--lignes", "repas neuf"], "erreur : ligne 1 : montant illisible « neuf », attendu par exemple 64,00\n"),
    ],
)
def test_bad_usage_exits_2_with_one_line(arguments: list[str], message: str) -> None:
    """Bad input: one message on stderr, nothing on stdout, exit code 2."""
    result = _run(*arguments)
    assert (result.returncode, result.stdout, result.stderr) == (2, "", message)


def test_a_policy_without_table_is_refused() -> None:
    """A reference whose table was lost is an error, not a note without caps."""
    with pytest.raises(SUBJECT.SaisieError, match="barème introuvable"):
        SUBJECT.parse_policy("# Politique\n\nRien.\n")
