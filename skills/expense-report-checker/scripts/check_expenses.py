"""Contrôle les lignes d'une note de frais d'après le barème de la politique.

Le barème est lu dans `references/politique-frais.md`, seule source des plafonds.
Le résultat ne dépend que des arguments et de ce fichier. Une saisie ou un barème
illisible donne un seul message sur la sortie d'erreur et le code de sortie 2.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import sys
import unicodedata
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import NoReturn

POLICY_PATH = Path(__file__).resolve().parent.parent / "references" / "politique-frais.md"
AMOUNT = re.compile(r"[0-9]{1,7}(?:[.,][0-9]{1,2})?")
QUANTITY = re.compile(r"x([1-9][0-9]{0,2})")
NO_RECEIPT = "sans-justificatif"
NO_CAP = "aucun"
ZERO = Decimal("0.00")


class SaisieError(Exception):
    """La demande ou le barème ne permet pas de calculer ; le texte dit pourquoi."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expense:
    """Une ligne de la note, avec ce que le barème en admet."""

    number: int
    code: str
    amount: Decimal
    quantity: int
    receipt: bool
    unit_cap: Decimal | None

    @property
    def cap(self) -> Decimal | None:
        """Plafond de la ligne entière ; None quand le barème n'en fixe pas."""
        return None if self.unit_cap is None else self.unit_cap * self.quantity

    @property
    def refundable(self) -> Decimal:
        """Part remboursable ; zéro tant que le justificatif manque."""
        if not self.receipt:
            return ZERO
        return self.amount if self.cap is None else min(self.amount, self.cap)

    @property
    def finding(self) -> str:
        """Constat en clair, motif de tout écart entre déclaré et remboursable."""
        if self.cap is not None and self.cap == 0:
            return "non remboursable"
        if not self.receipt:
            return "en attente de justificatif"
        if self.refundable < self.amount:
            return f"plafond dépassé de {euros(self.amount - self.refundable)}"
        return "conforme"


def euros(value: Decimal) -> str:
    """Écrit un montant à la française, deux décimales et espace des milliers."""
    return f"{value:,.2f} EUR".replace(",", " ").replace(".", ",")


def fold_code(text: str) -> str:
    """Ramène un code à des minuscules sans accent, pour comparer sans surprise."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def parse_amount(text: str, *, where: str) -> Decimal:
    """Lit un montant positif d'au plus deux décimales."""
    if not AMOUNT.fullmatch(text):
        raise SaisieError(f"{where} : montant illisible « {text} », attendu par exemple 64,00")
    return Decimal(text.replace(",", ".")).quantize(ZERO)


def parse_policy(text: str) -> dict[str, Decimal | None]:
    """Extrait du tableau « Barème » le plafond unitaire de chaque code."""
    caps: dict[str, Decimal | None] = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|") or len(cells) != 4 or cells[0] == "code" or set(cells[0]) <= {"-", ":"}:
            continue
        caps[cells[0]] = None if cells[2] == NO_CAP else parse_amount(cells[2], where=f"barème, {cells[0]}")
    if not caps:
        raise SaisieError(f"barème introuvable dans {POLICY_PATH.name}")
    return caps


def parse_expenses(text: str, *, caps: dict[str, Decimal | None]) -> tuple[Expense, ...]:
    """Lit les dépenses `code montant [xN] [sans-justificatif]`, séparées par des points-virgules."""
    pieces = [piece.split() for piece in text.split(";")]
    while pieces and not pieces[-1]:
        pieces.pop()
    if not pieces:
        raise SaisieError("aucune dépense : --lignes est vide")
    return tuple(parse_expense(words, number=number, caps=caps) for number, words in enumerate(pieces, start=1))


def parse_expense(words: list[str], *, number: int, caps: dict[str, Decimal | None]) -> Expense:
    """Lit une dépense ; le message d'erreur porte son numéro."""
    where = f"ligne {number}"
    if len(words) < 2:
        raise SaisieError(f"{where} : attendu « code montant », lu « {' '.join(words)} »")
    code = fold_code(words[0])
    if code not in caps:
        raise SaisieError(f"{where} : code inconnu « {words[0]} » ; codes admis : {', '.join(caps)}")
    amount = parse_amount(words[1], where=where)
    if amount == 0:
        raise SaisieError(f"{where} : le montant doit être supérieur à zéro")
    quantities = [match[1] for word in words[2:] if (match := QUANTITY.fullmatch(word))]
    receipts = [word for word in words[2:] if word == NO_RECEIPT]
    extra = [word for word in words[2:] if word != NO_RECEIPT and not QUANTITY.fullmatch(word)]
    if extra or len(quantities) > 1 or len(receipts) > 1:
        shown = " ".join(extra or words[2:])
        raise SaisieError(f"{where} : précision non comprise « {shown} », attendu xN ou {NO_RECEIPT}")
    quantity = int(quantities[0]) if quantities else 1
    return Expense(
        number=number, code=code, amount=amount, quantity=quantity, receipt=not receipts, unit_cap=caps[code]
    )


def render_text(expenses: tuple[Expense, ...]) -> str:
    """Écrit une ligne par dépense puis les totaux."""
    lines = []
    for item in expenses:
        cap = "sans plafond" if item.cap is None else f"plafond {euros(item.cap)}"
        parts = (
            f"Ligne {item.number}",
            item.code if item.quantity == 1 else f"{item.code} x{item.quantity}",
            f"déclaré {euros(item.amount)}",
            cap,
            f"remboursable {euros(item.refundable)}",
            item.finding,
        )
        lines.append(" | ".join(parts))
    lines.append(f"Total déclaré : {euros(sum((item.amount for item in expenses), ZERO))}")
    lines.append(f"Total remboursable : {euros(sum((item.refundable for item in expenses), ZERO))}")
    lines.append(f"Lignes à signaler : {sum(item.finding != 'conforme' for item in expenses)}")
    return "\n".join(lines)


def render_json(expenses: tuple[Expense, ...]) -> str:
    """Écrit les mêmes faits en JSON, montants en texte pour rester exacts."""
    document = {
        "lignes": [
            {
                "ligne": item.number,
                "code": item.code,
                "unites": item.quantity,
                "declare": str(item.amount),
                "plafond": None if item.cap is None else str(item.cap),
                "remboursable": str(item.refundable),
                "constat": item.finding,
            }
            for item in expenses
        ],
        "total_declare": str(sum((item.amount for item in expenses), ZERO)),
        "total_remboursable": str(sum((item.refundable for item in expenses), ZERO)),
    }
    return json.dumps(document, ensure_ascii=False, indent=2)


class FrenchParser(argparse.ArgumentParser):
    """Analyseur dont l'erreur tient en une ligne."""

    def error(self, message: str) -> NoReturn:
        """Imprime le message seul et sort avec le code 2."""
        self.exit(2, f"erreur : {message.replace('expected one argument', 'une valeur est attendue')}\n")


def build_parser() -> argparse.ArgumentParser:
    """Décrit les options."""
    parser = FrenchParser(prog="check_expenses.py", description="Contrôle une note de frais.", allow_abbrev=False)
    parser.add_argument("--lignes", help="dépenses « code montant [xN] [sans-justificatif] », séparées par « ; »")
    parser.add_argument("--format", default="texte", help="texte ou json")
    return parser


def main(argv: list[str] | None = None) -> int:
    """Contrôle la note et renvoie le code de sortie."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")
    parser = build_parser()
    options, unknown = parser.parse_known_args(argv)
    if unknown:
        parser.error(f"argument inconnu : {unknown[0]}")
    if options.lignes is None:
        parser.error("argument manquant : --lignes")
    if options.format not in {"texte", "json"}:
        parser.error(f"format inconnu « {options.format} », attendu texte ou json")
    try:
        caps = parse_policy(POLICY_PATH.read_text(encoding="utf-8"))
        expenses = parse_expenses(options.lignes, caps=caps)
    except OSError:
        parser.error(f"barème illisible : {POLICY_PATH.name}")
    except SaisieError as error:
        parser.error(str(error))
    print(render_json(expenses) if options.format == "json" else render_text(expenses))
    return 0


if __name__ == "__main__":
    sys.exit(main())
