"""Labels made elsewhere, taken into ``evals/labels.jsonl``. All of a file or nothing of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skillassay.calibration.items import judged_criteria
from skillassay.calibration.labels import DECIDED, Label, LabelledAnswer, append_answer, append_label, read_labels
from skillassay.canonical import JsonProblem, parse_json
from skillassay.errors import InputError
from skillassay.project import load_project
from skillassay.runs.store import now_utc
from skillassay.suites.case import Case

MAX_BYTES = 50_000_000
_FIELDS = ("suite", "case", "answer", "criterion", "verdict")


def import_labels(root: Path, source: Path, *, by: str, origin: str) -> int:
    """Append every label of ``source`` and return how many. Raises :class:`InputError` for the first that is none."""
    cases = {(case.suite, case.id): case for case in load_project(root).cases}
    labels = [_label(value, where, cases) for where, value in _lines(source)]
    known = set(read_labels(root).answers)
    for answer, criterion, verdict in labels:
        if answer.id not in known:
            append_answer(root, answer)
            known.add(answer.id)
        label = Label(answer=answer.id, criterion=criterion, verdict=verdict, by=by, at=now_utc(), origin=origin)
        append_label(root, label)
    return len(labels)


def _lines(source: Path) -> list[tuple[str, Mapping[str, Any]]]:
    try:
        if source.stat().st_size > MAX_BYTES:
            raise InputError(f"{source} has more than {MAX_BYTES} bytes", hint="split it")
        text = source.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{source} cannot be read: {error}", hint="name a file of JSON lines, in UTF-8") from error
    found: list[tuple[str, Mapping[str, Any]]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{source}, line {number}"
        try:
            value = parse_json(line)
        except JsonProblem as error:
            raise InputError(f"{where}: {error}", hint="one JSON object a line; nothing was taken") from error
        if not isinstance(value, dict):
            raise InputError(f"{where}: is no object", hint="one JSON object a line; nothing was taken")
        found.append((where, value))
    return found


def _label(
    value: Mapping[str, Any], where: str, cases: Mapping[tuple[str, str], Case]
) -> tuple[LabelledAnswer, str, str]:
    wrong = [name for name in _FIELDS if not isinstance(value.get(name), str)]
    if wrong:
        raise InputError(f"{where}: {wrong[0]} is no text", hint=f"fields: {', '.join(_FIELDS)}; nothing was taken")
    case = cases.get((value["suite"], value["case"]))
    if case is None:
        message = f"{where}: no suite has the case {value['suite']}/{value['case']}"
        raise InputError(message, hint="name a case as it is now; nothing was taken")
    criteria = [criterion.id for criterion in judged_criteria(case)]
    if value["criterion"] not in criteria:
        message = f"{where}: no judge decides {value['criterion']!r} of {case.id}"
        raise InputError(message, hint=f"criteria: {', '.join(criteria) or 'none'}; nothing was taken")
    if value["verdict"] not in DECIDED:
        message = f"{where}: verdict {value['verdict']!r} is neither pass nor fail"
        raise InputError(message, hint="leave out what nobody decided; nothing was taken")
    answer = LabelledAnswer(suite=case.suite, case_id=case.id, case_digest=case.digest, text=value["answer"])
    return answer, value["criterion"], value["verdict"]
