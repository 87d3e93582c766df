"""The script of leave-balance-calculator, run as its own process and called as a module."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

SCRIPT = Path(__file__).parents[2] / "skills/leave-balance-calculator/scripts/leave_balance.py"


def _load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("leave_balance", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "dont_write_bytecode", True)  # a test leaves no file in a skill's folder
        spec.loader.exec_module(module)
    return module


SUBJECT = _load_script()
RULES = SUBJECT.parse_rules(SUBJECT.RULES_PATH.read_text("utf-8"))


def _run(arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-B", str(SCRIPT), *arguments.split()]
    return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=30)


def _balance(
    on: str, *, hired: str = "2019-03-04", carry_over: str = "0", taken: str = "0", before: str | None = None
) -> Any:
    request = SUBJECT.Request(
        hired=date.fromisoformat(hired),
        carry_over=Decimal(carry_over),
        taken=Decimal(taken),
        on=date.fromisoformat(on),
        taken_before_end=None if before is None else Decimal(before),
    )
    return SUBJECT.compute_balance(request, rules=RULES)


def months_by_walking(start: date, on: date) -> int:
    """The written definition, walked day by day: a month is complete on the same day number, else on the next 1st."""
    n = 0
    month_of_next = (start.year * 12 + start.month - 1) + 1
    day = start
    while day < on:
        day += timedelta(days=1)
        index = day.year * 12 + day.month - 1
        if (index == month_of_next and day.day == start.day) or (index == month_of_next + 1 and day.day == 1):
            n, month_of_next = n + 1, month_of_next + 1
    return n


DAYS = st.dates(min_value=date(2020, 1, 1), max_value=date(2032, 12, 31))
HALVES = st.integers(0, 80).map(lambda n: Decimal(n) / 2)


def test_the_reference_holds_the_written_rule() -> None:
    """1 June, 2.25 days a month, carry-over until 31 December."""
    assert (RULES.period_start, RULES.monthly_days, RULES.carry_over_end) == ((6, 1), Decimal("2.25"), (12, 31))


@pytest.mark.parametrize(
    ("taken", "shown"), [("12", "1 jour ouvré"), ("7", "6 jours ouvrés"), ("4,5", "8,5 jours ouvrés")]
)
def test_october_balance_is_printed(taken: str, shown: str) -> None:
    """Hired in 2019, four days carried over: 4 + 4 x 2.25 less what was taken."""
    result = _run(f"--entree 2019-03-04 --reliquat 4 --pris {taken} --date 2026-10-15")
    assert result.stdout.splitlines() == [
        "Mois complets depuis le 01/06/2026 : 4",
        "Acquis : 9 jours (4 x 2,25)",
        "Reliquat retenu : 4 jours (utilisable jusqu'au 31/12/2026)",
        f"Pris : {taken} jours",
        f"Solde au 15/10/2026 : {shown}",
    ]
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize(
    ("start", "on", "months"),
    [
        ("2026-06-01", "2026-06-30", 0),
        ("2026-06-01", "2026-07-01", 1),
        ("2026-06-01", "2026-09-30", 3),
        ("2026-06-01", "2026-10-01", 4),
        ("2026-08-17", "2026-09-16", 0),
        ("2026-08-17", "2026-09-17", 1),
        ("2027-01-31", "2027-02-28", 0),
        ("2027-01-31", "2027-03-01", 1),
        ("2027-01-31", "2027-03-31", 2),
        ("2028-01-30", "2028-02-29", 0),
        ("2028-01-29", "2028-02-29", 1),
        ("2026-08-31", "2026-09-30", 0),
        ("2026-08-31", "2026-10-01", 1),
    ],
)
def test_months_complete_on_the_written_day(start: str, on: str, months: int) -> None:
    """A month is complete on the same day number, or on the following 1st where that day does not exist."""
    assert SUBJECT.completed_months(date.fromisoformat(start), date.fromisoformat(on)) == months


@given(DAYS, st.integers(0, 364))
def test_months_agree_with_a_walk_through_the_calendar(start: date, n_days: int) -> None:
    """The count equals the written definition applied day by day."""
    on = start + timedelta(days=n_days)
    assert SUBJECT.completed_months(start, on) == months_by_walking(start, on)


@given(DAYS, HALVES, HALVES)
def test_each_day_taken_costs_one_day(on: date, taken: Decimal, carry_over: Decimal) -> None:
    """One more day taken lowers the balance by exactly one day, on any date."""
    first, second = (
        _balance(on.isoformat(), carry_over=str(carry_over), taken=str(t), before="0").days for t in (taken, taken + 1)
    )
    assert first - second == 1


@given(DAYS)
def test_nothing_but_completed_months_accrues(on: date) -> None:
    """Without carry-over and without leave, the balance is 2.25 for each completed month since 1 June."""
    june = date(on.year - (on < date(on.year, 6, 1)), 6, 1)
    assert _balance(on.isoformat()).days == Decimal("2.25") * months_by_walking(june, on)


@given(DAYS, HALVES, HALVES, HALVES)
def test_kept_and_lost_add_up_to_the_carry_over(on: date, carry_over: Decimal, taken: Decimal, before: Decimal) -> None:
    """No day of the carry-over vanishes without being called lost, and none is lost before its end."""
    result = _balance(on.isoformat(), carry_over=str(carry_over), taken=str(taken + before), before=str(before))
    assert result.carry_over_kept + result.carry_over_lost == carry_over
    assert on > result.carry_over_end or result.carry_over_lost == 0


@pytest.mark.parametrize(
    ("on", "before", "kept"),
    [("2026-12-31", None, "5"), ("2027-01-01", "3", "3"), ("2027-05-31", "9", "5"), ("2027-06-01", None, "5")],
)
def test_carry_over_ends_with_december(on: str, before: str | None, kept: str) -> None:
    """Usable through 31 December; afterwards only the part that leave taken by then had used."""
    assert _balance(on, carry_over="5", taken="9", before=before).carry_over_kept == Decimal(kept)


def test_a_late_hire_accrues_from_the_day_of_hire() -> None:
    """Hired on 17 August: three completed months by 1 December, and not the months before."""
    result = _balance("2026-12-01", hired="2026-08-17", taken="2")
    assert (result.months, result.days) == (3, Decimal("4.75"))


def test_a_lost_part_is_printed() -> None:
    """After the end of the carry-over, the text names what was lost and since when."""
    text = _run("--entree 2015-09-01 --reliquat 5 --pris 9 --date 2027-02-10 --pris-avant-echeance 3").stdout
    assert "Reliquat perdu : 2 jours (depuis le 01/01/2027)\n" in text
    assert "Solde au 10/02/2027 : 12 jours ouvrés\n" in text


def test_a_negative_balance_is_named() -> None:
    """Leave taken in advance gives a negative balance and a warning line."""
    lines = _run("--entree 2020-01-06 --reliquat 0 --pris 3,5 --date 2026-07-01").stdout.splitlines()
    assert lines[-2:] == [
        "Solde au 01/07/2026 : -1,25 jour ouvré",
        "Attention : solde négatif, des jours sont pris par anticipation.",
    ]


def test_json_holds_days_as_exact_text() -> None:
    """The JSON form gives the same facts with days as decimal strings."""
    arguments = "--entree 2026-08-17 --reliquat 0 --pris 2 --date 2026-12-01 --format json"
    assert json.loads(_run(arguments).stdout) == {
        "date": "2026-12-01",
        "depart_du_decompte": "2026-08-17",
        "mois_complets": 3,
        "acquis": "6.75",
        "reliquat_retenu": "0",
        "reliquat_perdu": "0",
        "pris": "2",
        "solde": "4.75",
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--entree 2019-03-04 --pris 2", "donnée manquante : --reliquat, --date"),
        ("--entree 04/03/2019 --reliquat 0 --pris 2 --date 2026-10-15", "--entree : date illisible « 04/03/2019 »"),
        ("--entree 2019-02-29 --reliquat 0 --pris 2 --date 2026-10-15", "--entree : date illisible « 2019-02-29 »"),
        ("--entree 2019-03-04 --reliquat 0 --pris 2 --date 2019-03-03", "--date : le solde est demandé avant"),
        ("--entree 2019-03-04 --reliquat 0 --pris -2 --date 2026-10-15", "--pris : nombre de jours illisible « -2 »"),
        ("--entree 2019-03-04 --reliquat 0 --pris 2,3 --date 2026-10-15", "--pris : les congés se posent par"),
        ("--entree 2019-03-04 --reliquat 5 --pris 9 --date 2027-02-10", "donnée manquante : --pris-avant-echeance"),
        (
            "--entree 2019-03-04 --reliquat 5 --pris 2 --date 2027-02-10 --pris-avant-echeance 3",
            "--pris-avant-echeance : plus de jours",
        ),
        ("--entree 2019-03-04 --reliquat 0 --pris 2 --date 2026-10-15 --pays FR", "argument inconnu : --pays"),
        ("--entree 2019-03-04 --reliquat 0 --pris 2 --date 2026-10-15 --format xml", "--format : « xml » inconnu"),
        ("--entree", "argument --entree: une valeur est attendue"),
    ],
)
def test_bad_input_exits_2_with_one_line(arguments: str, message: str) -> None:
    """Bad input: one message on stderr that names the datum, nothing on stdout, exit code 2."""
    result = _run(arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"erreur : {message}")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("old", "new"), [("| 2,25 |", "| beaucoup |"), ("| 01-06 |", "| 31-06 |"), ("| fin-reliquat |", "| fin |")]
)
def test_a_broken_reference_is_refused(old: str, new: str) -> None:
    """A parameter that is lost or unreadable is an error, not a default."""
    text = SUBJECT.RULES_PATH.read_text("utf-8")
    assert old in text
    with pytest.raises(SUBJECT.SaisieError):
        SUBJECT.parse_rules(text.replace(old, new))
