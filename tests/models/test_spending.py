"""The file of what judges spent: limits by run and by day, over processes, and what of it cannot be read."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from skillassay.contract.terms import BudgetTerms
from skillassay.errors import StoreError
from skillassay.models.spending import SPENDING_FILE, Amount, Charge, Hit, SpendingLedger
from tests.project import REPOSITORY

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)


def charge(tokens: int = 10, money: str | None = None, *, run: str = "r", free: bool = False) -> Charge:
    """An attempt of so much."""
    amount = Amount(tokens=tokens, money=None if money is None else Decimal(money))
    return Charge(run=run, model="gemini:m", amount=amount, currency=None if money is None else "USD", free=free)


def reserved(ledger: SpendingLedger, wanted: Charge, limits: BudgetTerms) -> str:
    """The id of an attempt that fits."""
    call = ledger.reserve(wanted, limits)
    assert isinstance(call, str)
    return call


def hit(ledger: SpendingLedger, wanted: Charge, limits: BudgetTerms) -> Hit:
    """The limit that an attempt would pass."""
    found = ledger.reserve(wanted, limits)
    assert isinstance(found, Hit)
    return found


def lines(root: Path) -> list[str]:
    """The lines of the file."""
    return (root / SPENDING_FILE).read_text(encoding="utf-8").splitlines()


def test_a_limit_may_be_reached_and_not_passed(tmp_path: Path) -> None:
    """30 of 30 fit in three attempts; the next token does not, and the refusal names limit and numbers."""
    ledger, limits = SpendingLedger(tmp_path), BudgetTerms(tokens=30)
    for _ in range(3):
        reserved(ledger, charge(), limits)
    found = hit(ledger, charge(1), limits)
    assert found.limit == "tokens"
    assert found.words == (
        "budget.judge.tokens is 30 tokens; 30 spent or reserved in this run, and this call may take 1 more"
    )
    assert len(lines(tmp_path)) == 3


def test_what_was_used_takes_the_reservations_place(tmp_path: Path) -> None:
    """25 of 30 reserved and 5 used leave 25."""
    ledger, limits = SpendingLedger(tmp_path), BudgetTerms(tokens=30)
    ledger.settle(reserved(ledger, charge(25), limits), Amount(tokens=5, money=None))
    assert ledger.spent(run="r").tokens == 5
    reserved(ledger, charge(25), limits)
    assert hit(ledger, charge(1), limits).limit == "tokens"


def test_money_is_added_exactly(tmp_path: Path) -> None:
    """0.1 and 0.2 fill 0.3 to the last digit, which binary floats would pass."""
    ledger, limits = SpendingLedger(tmp_path), BudgetTerms(money=Decimal("0.3"))
    reserved(ledger, charge(1, "0.1"), limits)
    reserved(ledger, charge(1, "0.2"), limits)
    found = hit(ledger, charge(1, "0.000000000000000001"), limits)
    assert found.limit == "money"
    assert "is 0.3 USD; 0.3 spent or reserved" in found.words


def test_a_run_has_its_own_limit_and_a_day_one_for_all(tmp_path: Path) -> None:
    """Another run begins at 0 of its limit; the day's counts both."""
    ledger, limits = SpendingLedger(tmp_path), BudgetTerms(tokens=10, tokens_per_day=15)
    reserved(ledger, charge(10, run="a"), limits)
    assert hit(ledger, charge(1, run="a"), limits).limit == "tokens"
    reserved(ledger, charge(5, run="b"), limits)
    assert hit(ledger, charge(1, run="b"), limits).limit == "tokens_per_day"


def test_a_day_ends_at_midnight_utc(tmp_path: Path) -> None:
    """What was reserved before it is of the day before, also when it is settled after; a run's limit knows no day."""
    now = [datetime(2026, 12, 1, 23, 59, 59, tzinfo=UTC)]
    ledger = SpendingLedger(tmp_path, now=lambda: now[0])
    limits = BudgetTerms(tokens=16, money_per_day=Decimal(1))
    call = reserved(ledger, charge(8, "1"), limits)
    assert hit(ledger, charge(8, "0.01"), limits).limit == "money_per_day"
    now[0] = datetime(2026, 12, 2, tzinfo=UTC)
    ledger.settle(call, Amount(tokens=8, money=Decimal(1)))
    reserved(ledger, charge(8, "1"), limits)
    assert [ledger.spent(day=day).money for day in ("2026-12-01", "2026-12-02")] == [Decimal(1)] * 2
    assert hit(ledger, charge(1, "0"), limits).limit == "tokens"


def test_another_reader_sees_the_same(tmp_path: Path) -> None:
    """A resumed run begins from what is on the disk."""
    first, limits = SpendingLedger(tmp_path), BudgetTerms(tokens=30)
    first.settle(reserved(first, charge(20), limits), Amount(tokens=7, money=None))
    reserved(first, charge(20), limits)
    assert SpendingLedger(tmp_path).spent(run="r").tokens == 27
    assert hit(SpendingLedger(tmp_path), charge(4), limits).limit == "tokens"


def test_two_readers_see_each_others_lines(tmp_path: Path) -> None:
    """Each time before it decides."""
    limits = BudgetTerms(tokens_per_day=20)
    first, second = SpendingLedger(tmp_path), SpendingLedger(tmp_path)
    reserved(first, charge(10, run="a"), limits)
    reserved(second, charge(10, run="b"), limits)
    assert hit(first, charge(1, run="a"), limits).limit == "tokens_per_day"


def test_authored_answers_cost_tokens_and_no_money(tmp_path: Path) -> None:
    """They count against tokens alone, and are no gap in a sum of money."""
    ledger, limits = SpendingLedger(tmp_path), BudgetTerms(tokens=20, money=Decimal(0))
    reserved(ledger, charge(10, free=True), limits)
    assert ledger.spent(run="r") == Amount(tokens=10, money=Decimal(0))
    reserved(ledger, charge(10, "0"), limits)
    assert hit(ledger, charge(1, free=True), limits).limit == "tokens"


def test_an_attempt_that_was_made_is_booked_past_the_limit(tmp_path: Path) -> None:
    """It cannot be refused any more."""
    ledger, limits = SpendingLedger(tmp_path), BudgetTerms(tokens=5)
    assert isinstance(ledger.reserve(charge(10), limits, anyhow=True), str)
    assert ledger.spent(run="r").tokens == 10


def test_a_price_that_was_not_known_is_no_zero(tmp_path: Path) -> None:
    """Calls without a price leave a sum of money unknown, so nothing more is spent under a limit of money."""
    ledger = SpendingLedger(tmp_path)
    reserved(ledger, charge(10), BudgetTerms(tokens=100))
    with pytest.raises(StoreError, match="gemini:m whose price was not known"):
        ledger.reserve(charge(10, "1"), BudgetTerms(money=Decimal(9)))
    assert ledger.spent(run="r").money is None


def test_another_currency_is_not_added(tmp_path: Path) -> None:
    """1 EUR and 1 USD are not 2."""
    ledger, limits = SpendingLedger(tmp_path), BudgetTerms(money=Decimal(9))
    reserved(ledger, charge(10, "1"), limits)
    other = Charge(run="r", model="gemini:m", amount=Amount(tokens=1, money=Decimal(1)), currency="EUR")
    with pytest.raises(StoreError, match="amounts in USD, the prices are in EUR"):
        ledger.reserve(other, limits)


GOOD = {
    "spending": 1,
    "event": "reserved",
    "call": "c",
    "run": "r",
    "at": "2026-12-01T00:00:00Z",
    "model": "m",
    "tokens": 1,
    "money": None,
    "currency": None,
}
SETTLED = {"spending": 1, "event": "settled", "call": "c", "tokens": 1, "money": None}


@pytest.mark.parametrize(
    "bad",
    [
        "{}",
        "not json",
        "[]",
        json.dumps(GOOD | {"spending": 2}),
        json.dumps(GOOD | {"event": "paid"}),
        json.dumps(GOOD | {"tokens": -1}),
        json.dumps(GOOD | {"tokens": True}),
        json.dumps(GOOD | {"money": 0.1}),
        json.dumps(GOOD | {"at": "yesterday"}),
        json.dumps(GOOD | {"run": ""}),
        json.dumps(GOOD) + "\n" + json.dumps(GOOD),
        json.dumps(SETTLED),
        "\n".join(map(json.dumps, (GOOD, SETTLED, SETTLED))),
        json.dumps(GOOD)[:30],
    ],
)
def test_a_line_that_cannot_be_read_refuses_all(tmp_path: Path, bad: str) -> None:
    """Whatever stands after it, and as often as it is asked: of a torn file nobody knows the sum."""
    path = tmp_path / SPENDING_FILE
    path.parent.mkdir()
    text = f"{bad}\n{json.dumps(GOOD | {'call': 'd'})}\n"
    path.write_text(text, encoding="utf-8")
    ledger = SpendingLedger(tmp_path)
    for _ in range(2):
        with pytest.raises(StoreError):
            ledger.reserve(charge(), BudgetTerms(tokens=100))
    assert path.read_text(encoding="utf-8") == text


def test_a_torn_last_line_is_no_attempt(tmp_path: Path) -> None:
    """Its writer was killed before the call that it would have allowed; it is cut with the next line."""
    ledger, limits = SpendingLedger(tmp_path), BudgetTerms(tokens=20)
    reserved(ledger, charge(), limits)
    with (tmp_path / SPENDING_FILE).open("a", encoding="utf-8") as file:
        file.write(json.dumps(GOOD)[:40])
    reserved(SpendingLedger(tmp_path), charge(), limits)
    assert [json.loads(line)["tokens"] for line in lines(tmp_path)] == [10, 10]


def test_a_file_that_became_shorter_is_refused(tmp_path: Path) -> None:
    """Somebody took away what was spent while it was in use."""
    ledger, limits = SpendingLedger(tmp_path), BudgetTerms(tokens=100)
    reserved(ledger, charge(), limits)
    (tmp_path / SPENDING_FILE).write_text("", encoding="utf-8")
    with pytest.raises(StoreError, match="not the file any more"):
        ledger.reserve(charge(), limits)
    (tmp_path / SPENDING_FILE).unlink()
    with pytest.raises(StoreError, match="is gone"):
        ledger.reserve(charge(), limits)


@pytest.mark.parametrize("name", [SPENDING_FILE, ".skillassay/spending.lock"])
@pytest.mark.parametrize("how", ["folder", "link"])
def test_a_place_that_cannot_be_used_is_an_error(tmp_path: Path, name: str, how: str) -> None:
    """A folder where a file should be, or a link, through which nothing is written."""
    path = tmp_path / name
    path.parent.mkdir()
    if how == "folder":
        path.mkdir()
    else:
        path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError):
        SpendingLedger(tmp_path).reserve(charge(), BudgetTerms(tokens=100))
    assert not (tmp_path / "elsewhere").exists()


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """Reading it would never end."""
    (tmp_path / ".skillassay").mkdir()
    os.mkfifo(tmp_path / SPENDING_FILE)
    with pytest.raises(StoreError, match="regular file"):
        SpendingLedger(tmp_path).reserve(charge(), BudgetTerms(tokens=100))


def test_nothing_is_decided_while_another_process_decides(tmp_path: Path) -> None:
    """Whoever holds the lock is waited for, and what it wrote is read before the limit is looked at."""
    ledger, limits = SpendingLedger(tmp_path), BudgetTerms(tokens=20)
    reserved(ledger, charge(), limits)
    with ThreadPoolExecutor(1) as threads, (tmp_path / ".skillassay/spending.lock").open("r+") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        found = threads.submit(ledger.reserve, charge(), limits)
        assert wait([found], timeout=0.2).not_done == {found}
        with (tmp_path / SPENDING_FILE).open("a", encoding="utf-8") as file:
            file.write(json.dumps(GOOD) + "\n")
        fcntl.flock(other, fcntl.LOCK_UN)
        assert isinstance(found.result(timeout=30), Hit)


SPENDER = """
import sys
from pathlib import Path
from skillassay.contract.terms import BudgetTerms
from skillassay.models.spending import Amount, Charge, SpendingLedger
ledger, run = SpendingLedger(Path(sys.argv[1])), sys.argv[2]
wanted = Charge(run=run, model="m", amount=Amount(tokens=7, money=None))
print("ready", flush=True)
sys.stdin.readline()
n = 0
while isinstance(call := ledger.reserve(wanted, BudgetTerms(tokens_per_day=int(sys.argv[3]))), str):
    n += 1
    print(call, flush=True)
    if n % 2:
        ledger.settle(call, Amount(tokens=5, money=None))
    if len(sys.argv) > 4:
        sys.stdin.readline()
"""


def spenders(root: Path, runs: Sequence[str], limit: int, *more: str) -> list[subprocess.Popen[str]]:
    """Processes that each spend until they are refused, begun together."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", SPENDER, str(root), run, str(limit), *more],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=REPOSITORY,
        )
        for run in runs
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    return started


def test_two_processes_never_pass_the_limit_of_a_day(tmp_path: Path) -> None:
    """Two runs at once spend the same 100 tokens to the last that fits, and no more."""
    for process in spenders(tmp_path, ("a", "b"), 100):
        process.communicate(timeout=60)
        assert process.returncode == 0
    entries = [json.loads(line) for line in lines(tmp_path)]
    held: dict[str, int] = {}
    for entry in entries:  # in the order in which they were written: at no time was more held than the limit
        held[entry["call"]] = entry["tokens"]
        assert sum(held.values()) <= 100
    assert 100 - sum(held.values()) < 7
    assert {entry["run"] for entry in entries if entry["event"] == "reserved"} <= {"a", "b"}


def test_a_reservation_of_a_killed_process_counts_as_spent(tmp_path: Path) -> None:
    """Nobody knows whether its call was made. The lock dies with the process."""
    (process,) = spenders(tmp_path, ("a",), 100, "wait")
    assert process.stdout is not None
    process.stdout.readline()  # the first is settled with 5
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()
    process.stdout.readline()  # the second is reserved with 7 and never settled
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    assert SpendingLedger(tmp_path).spent(run="a").tokens == 12
    assert hit(SpendingLedger(tmp_path), charge(89), BudgetTerms(tokens_per_day=100)).limit == "tokens_per_day"
