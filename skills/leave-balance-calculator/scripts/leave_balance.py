"""Calcule un solde de congés en jours ouvrés à une date donnée.

Les valeurs de la règle sont lues dans `references/regles-conges.md`. Le résultat ne
dépend que des arguments et de ce fichier : ni horloge, ni réseau, ni réglage régional.
Une donnée manquante ou illisible donne un seul message et le code de sortie 2.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import sys
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import NoReturn

RULES_PATH = Path(__file__).resolve().parent.parent / "references" / "regles-conges.md"
NUMBER = re.compile(r"[0-9]{1,3}(?:[.,][0-9]{1,2})?")
ISO_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
DAY_MONTH = re.compile(r"([0-9]{2})-([0-9]{2})")
COMMON_YEAR = 2001
HALF_DAY = Decimal("0.5")
ZERO = Decimal(0)


class SaisieError(Exception):
    """La demande ou la règle ne permet pas de calculer ; le texte dit pourquoi."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Valeurs de la règle, telles que le tableau de référence les donne."""

    period_start: tuple[int, int]
    monthly_days: Decimal
    carry_over_end: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Ce que la personne déclare."""

    hired: date
    carry_over: Decimal
    taken: Decimal
    on: date
    taken_before_end: Decimal | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """Le solde et les postes qui le composent."""

    since: date
    months: int
    accrued: Decimal
    carry_over_end: date
    carry_over_kept: Decimal
    carry_over_lost: Decimal
    taken: Decimal
    on: date

    @property
    def days(self) -> Decimal:
        """Solde en jours ouvrés."""
        return self.carry_over_kept + self.accrued - self.taken


def parse_days(text: str, *, name: str) -> Decimal:
    """Lit un nombre de jours positif ou nul, à la française ou avec un point."""
    if not NUMBER.fullmatch(text):
        raise SaisieError(f"{name} : nombre de jours illisible « {text} », attendu par exemple 4 ou 4,5")
    return Decimal(text.replace(",", "."))


def parse_date(text: str, *, name: str) -> date:
    """Lit une date AAAA-MM-JJ."""
    if ISO_DATE.fullmatch(text):
        try:
            return date.fromisoformat(text)
        except ValueError:
            pass
    raise SaisieError(f"{name} : date illisible « {text} », attendu AAAA-MM-JJ")


def parse_rules(text: str) -> Rules:
    """Extrait les trois valeurs du tableau « Paramètres »."""
    values: dict[str, str] = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and len(cells) == 3:
            values[cells[0]] = cells[1]
    if "droit-mensuel" not in values:
        raise SaisieError(f"droit-mensuel introuvable dans {RULES_PATH.name}")
    return Rules(
        period_start=parse_day_month(values.get("debut-periode", ""), name="debut-periode"),
        monthly_days=parse_days(values["droit-mensuel"], name="droit-mensuel"),
        carry_over_end=parse_day_month(values.get("fin-reliquat", ""), name="fin-reliquat"),
    )


def parse_day_month(text: str, *, name: str) -> tuple[int, int]:
    """Lit un jour JJ-MM qui existe tous les ans et renvoie (mois, jour)."""
    match = DAY_MONTH.fullmatch(text)
    if match:
        try:
            day = date(COMMON_YEAR, int(match[2]), int(match[1]))
        except ValueError:
            pass
        else:
            return day.month, day.day
    raise SaisieError(f"{name} : jour illisible « {text} » dans {RULES_PATH.name}, attendu JJ-MM")


def first_on_or_after(start: date, month_day: tuple[int, int]) -> date:
    """Première date de ce jour et de ce mois qui n'est pas avant le début."""
    candidate = date(start.year, *month_day)
    return candidate if candidate >= start else date(start.year + 1, *month_day)


def completed_months(start: date, on: date) -> int:
    """Compte les mois entiers entre deux dates ; un mois sans le quantième se complète au 1er suivant."""
    months = (on.year - start.year) * 12 + on.month - start.month
    return months - (on.day < start.day)


def compute_balance(request: Request, *, rules: Rules) -> Balance:
    """Applique la règle ; refuse une demande qui ne peut pas être vraie."""
    if request.on < request.hired:
        raise SaisieError("--date : le solde est demandé avant la date d'entrée")
    if request.taken % HALF_DAY:
        raise SaisieError("--pris : les congés se posent par journée ou demi-journée")
    period_start = date(request.on.year, *rules.period_start)
    if period_start > request.on:
        period_start = date(request.on.year - 1, *rules.period_start)
    since = max(period_start, request.hired)
    months = completed_months(since, request.on)
    end = first_on_or_after(period_start, rules.carry_over_end)
    kept = kept_carry_over(request, end=end)
    return Balance(
        since=since,
        months=months,
        accrued=months * rules.monthly_days,
        carry_over_end=end,
        carry_over_kept=kept,
        carry_over_lost=request.carry_over - kept,
        taken=request.taken,
        on=request.on,
    )


def kept_carry_over(request: Request, *, end: date) -> Decimal:
    """Part du reliquat qui compte encore à la date demandée."""
    before = request.taken_before_end
    if before is not None and before > request.taken:
        raise SaisieError("--pris-avant-echeance : plus de jours que --pris n'en compte")
    if request.on <= end or request.carry_over == 0:
        return request.carry_over
    if before is None:
        if request.taken == 0:
            return ZERO
        raise SaisieError(f"donnée manquante : --pris-avant-echeance, jours posés jusqu'au {french_date(end)}")
    return min(request.carry_over, before)


def french_date(day: date) -> str:
    """Écrit une date JJ/MM/AAAA."""
    return f"{day.day:02d}/{day.month:02d}/{day.year:04d}"


def french_number(value: Decimal) -> str:
    """Écrit un nombre à virgule, sans zéro inutile."""
    text = f"{value:f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text).replace(".", ",")


def french_days(value: Decimal) -> str:
    """Écrit un nombre de jours ; le pluriel commence à deux."""
    return f"{french_number(value)} {'jours' if abs(value) >= 2 else 'jour'}"


def render_text(balance: Balance, *, rules: Rules) -> str:
    """Écrit le détail puis le solde."""
    end = french_date(balance.carry_over_end)
    rate = french_number(rules.monthly_days)
    lines = [
        f"Mois complets depuis le {french_date(balance.since)} : {balance.months}",
        f"Acquis : {french_days(balance.accrued)} ({balance.months} x {rate})",
        f"Reliquat retenu : {french_days(balance.carry_over_kept)} (utilisable jusqu'au {end})",
    ]
    if balance.carry_over_lost:
        lost_since = french_date(balance.carry_over_end + timedelta(days=1))
        lines.append(f"Reliquat perdu : {french_days(balance.carry_over_lost)} (depuis le {lost_since})")
    lines.append(f"Pris : {french_days(balance.taken)}")
    suffix = "ouvrés" if abs(balance.days) >= 2 else "ouvré"
    lines.append(f"Solde au {french_date(balance.on)} : {french_days(balance.days)} {suffix}")
    if balance.days < 0:
        lines.append("Attention : solde négatif, des jours sont pris par anticipation.")
    return "\n".join(lines)


def render_json(balance: Balance) -> str:
    """Écrit les mêmes faits en JSON, nombres de jours en texte pour rester exacts."""
    document = {
        "date": balance.on.isoformat(),
        "depart_du_decompte": balance.since.isoformat(),
        "mois_complets": balance.months,
        "acquis": french_number(balance.accrued).replace(",", "."),
        "reliquat_retenu": french_number(balance.carry_over_kept).replace(",", "."),
        "reliquat_perdu": french_number(balance.carry_over_lost).replace(",", "."),
        "pris": french_number(balance.taken).replace(",", "."),
        "solde": french_number(balance.days).replace(",", "."),
    }
    return json.dumps(document, ensure_ascii=False, indent=2)


class FrenchParser(argparse.ArgumentParser):
    """Analyseur dont l'erreur tient en une ligne."""

    def error(self, message: str) -> NoReturn:
        """Imprime le message seul et sort avec le code 2."""
        self.exit(2, f"erreur : {message.replace('expected one argument', 'une valeur est attendue')}\n")


def build_parser() -> argparse.ArgumentParser:
    """Décrit les options."""
    parser = FrenchParser(prog="leave_balance.py", description="Calcule un solde de congés.", allow_abbrev=False)
    parser.add_argument("--entree", help="date d'entrée, AAAA-MM-JJ")
    parser.add_argument("--reliquat", help="jours reportés de la période précédente")
    parser.add_argument("--pris", help="jours posés depuis le début de la période")
    parser.add_argument("--date", help="date du solde, AAAA-MM-JJ")
    parser.add_argument("--pris-avant-echeance", help="jours posés avant la fin du reliquat, une fois celle-ci passée")
    parser.add_argument("--format", default="texte", help="texte ou json")
    return parser


def parse_request(options: argparse.Namespace) -> Request:
    """Contrôle et convertit les options."""
    missing = [f"--{name}" for name in ("entree", "reliquat", "pris", "date") if getattr(options, name) is None]
    if missing:
        raise SaisieError(f"donnée manquante : {', '.join(missing)}")
    if options.format not in {"texte", "json"}:
        raise SaisieError(f"--format : « {options.format} » inconnu, attendu texte ou json")
    before = options.pris_avant_echeance
    return Request(
        hired=parse_date(options.entree, name="--entree"),
        carry_over=parse_days(options.reliquat, name="--reliquat"),
        taken=parse_days(options.pris, name="--pris"),
        on=parse_date(options.date, name="--date"),
        taken_before_end=None if before is None else parse_days(before, name="--pris-avant-echeance"),
    )


def main(argv: list[str] | None = None) -> int:
    """Calcule le solde et renvoie le code de sortie."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")
    parser = build_parser()
    options, unknown = parser.parse_known_args(argv)
    try:
        if unknown:
            raise SaisieError(f"argument inconnu : {unknown[0]}")
        request = parse_request(options)
        rules = parse_rules(RULES_PATH.read_text(encoding="utf-8"))
        balance = compute_balance(request, rules=rules)
    except OSError:
        parser.error(f"règles illisibles : {RULES_PATH.name}")
    except SaisieError as error:
        parser.error(str(error))
    print(render_json(balance) if options.format == "json" else render_text(balance, rules=rules))
    return 0


if __name__ == "__main__":
    sys.exit(main())
