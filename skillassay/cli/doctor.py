"""``skillassay doctor``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from skillassay.cli.output import counted, emit, emit_json
from skillassay.contract.contract import Contract, load_contract
from skillassay.doctor.base import Item, State, problem
from skillassay.doctor.machine import machine_items
from skillassay.doctor.naming import model_items
from skillassay.doctor.project import project_items
from skillassay.doctor.surroundings import surrounding_items
from skillassay.errors import Exit
from skillassay.printable import one_line
from skillassay.project import load_project


@click.command("doctor")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.pass_context
def command(ctx: click.Context, *, form: str) -> int:
    """Explain what a run would meet here: each thing ok, a note or a problem, with what to do about it.

    Python, packages and extras; programs on the PATH; keys by the names of their variables and addresses by their
    hosts, never a value; walls for scripts; git; contract, models, holdout, lock and stored runs.

    Reads the project, the environment and what is installed; asks no model and no network; writes nothing.

    Exit codes: 0 nothing is in the way; 1 a problem blocks what the contract asks for; 2 wrong usage.
    """
    items = tuple(_items(Path(ctx.obj["root"])))
    problems = [item for item in items if item.state is State.PROBLEM]
    if form == "json":
        shown = [{"topic": i.topic, "state": i.state.value, "says": i.says, "do": i.do} for i in items]
        emit_json({"blocked": bool(problems), "items": shown})
    else:
        for item in items:
            emit(f"{item.state.value:8}{item.topic}: {one_line(item.says)}")
            if item.do is not None and item.state is not State.OK:
                emit(f"        do: {one_line(item.do)}")
        notes = sum(item.state is State.NOTE for item in items)
        emit(f"doctor: {counted(len(problems), 'problem')}, {counted(notes, 'note')}")
    return int(Exit.FAILED if problems else Exit.PASSED)


def _items(root: Path) -> Iterator[Item]:
    yield from machine_items(root)
    contract, findings = load_contract(root)
    if contract is None:
        yield from surrounding_items(Contract())
        for finding in findings:
            place = f"{finding.path}:{finding.line}" if finding.line else finding.path
            yield problem("contract", f"{place}: {finding.message}", finding.hint)
        return
    yield from surrounding_items(contract)
    yield from project_items(load_project(root))
    yield from model_items(root, contract)
