"""A stored run in the place of the unmutated skill's trials. Owns what makes it the same measurement, and the copy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillassay.errors import InputError
from skillassay.mutation.preparing import MutationPlan
from skillassay.mutation.verdicts import last_records
from skillassay.runs.plan import Mode
from skillassay.runs.record import TrialRecord
from skillassay.runs.store import RunWriter, read_header, read_records, run_folder

_ALIKE = ("models", "fixture_digest", "subject", "skillassay", "retention")


def baseline_records(plan: MutationPlan, header: Mapping[str, Any]) -> Mapping[str, TrialRecord]:
    """The trials of the unmutated skill out of the stored run that stands for them, by id; none where none does.

    Raises :class:`InputError` where that run was of something else.
    """
    if plan.request.baseline is None:
        return {}
    folder = run_folder(plan.prepared.project.root, plan.request.baseline)
    run = read_header(folder)
    differs = [name for name in _ALIKE if run.get(name) != header[name]]
    differs += [f"isolation.{name}" for name in ("level", "scripts") if _walls(run, name) != _walls(header, name)]
    if run["contract"]["binding"] != header["contract"]["binding"]:
        differs.append("terms of the contract")
    skills = [{path: one["digest"] for path, one in each["skills"].items()} for each in (run, header)]
    if skills[0] != skills[1]:
        differs.append("skills")
    wanted = {trial.trial_id for trial in plan.trials}
    there = last_records(one for one in read_records(folder) if one.trial_id in wanted)
    if missing := len(wanted) - len(there):
        differs.append(f"{missing} of {len(wanted)} trials in {Mode.PROGRESSIVE.value}")
    if differs:
        hint = "leave out --baseline: the unmutated skill is then run first"
        raise InputError(f"run {run['id']} is no baseline; then and now differ: {', '.join(differs)}", hint=hint)
    return there


def _walls(header: Mapping[str, Any], name: str) -> Any:
    return header.get("isolation", {}).get(name)


def copy_records(writer: RunWriter, records: Mapping[str, TrialRecord]) -> None:
    """Put records into the session that it does not have yet."""
    known = last_records(read_records(writer.folder))
    for trial_id, record in records.items():
        if trial_id not in known:
            writer.append(writer.retention.keep(record))
