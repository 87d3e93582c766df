"""What stored runs prove for a lock. Reads records, runs nothing.

The newest run that decided on exactly these bytes, cases and terms counts, also when it says no. A partial, interrupted
or undecided run decides nothing. How many runs decided before it goes into its evidence, so that running until
something passes is seen by whoever reads the lock's evidence; whoever removes runs removes them from the count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from skillassay.canonical import sha256_hex
from skillassay.contract.frozen import require_whole
from skillassay.locks.evidence import EvidenceProblem, Expected, evidence_bytes, evidence_from_body
from skillassay.locks.relock import Proof
from skillassay.locks.terms import differing_terms
from skillassay.people.adjudication import adjudication_json, read_adjudications
from skillassay.runs.store import RUNS, list_runs, read_header, read_result


@dataclass(slots=True, kw_only=True)
class _Tally:
    """The decided runs about one skill so far, oldest first."""

    passed: int = 0
    failed: int = 0
    newest: Proof | None = None
    known: set[str] = field(default_factory=set)


def find_proofs(root: Path, expected: Mapping[str, Expected]) -> dict[str, Proof]:
    """By skill path, what the newest run says that decided on exactly what is expected; no entry where none did.

    Each run's header is read once, and its result only if the run is about a skill sought.
    """
    tallies: dict[str, _Tally] = {}
    for run_id in list_runs(root):
        folder = root / RUNS / run_id
        header = read_header(folder)
        about = [path for path, wanted in expected.items() if _is_about(header, wanted)]
        result = read_result(folder) if about else None
        if result is None or result["interrupted"]:
            continue
        require_whole(header, result)
        spoken = _spoken_since(folder, result)
        for path in about:
            tally = tallies.setdefault(path, _Tally())
            _count(tally, result, expected[path], header, run_id)
            if spoken is not None:
                tally.newest = Proof(data=None, sha256=None, evidence=None, why_not=f"{spoken} ({run_id})")
    return {
        path: replace(tally.newest, known=frozenset(tally.known))
        for path, tally in tallies.items()
        if tally.newest is not None
    }


def _spoken_since(folder: Path, result: Mapping[str, Any]) -> str | None:
    """Why the evidence of a run is behind what people said of it; None where it is not.

    They may hold it, or take back a word that it rests on: only a decision that knows their words proves anything.
    """
    ended = result["occurred_at"]
    known = [item for body in result["evidence"].values() for item in body.get("adjudications", ())]
    for item in read_adjudications(folder):
        if item.at > ended or (item.at == ended and adjudication_json(item) not in known):
            what = f"{item.by} said {item.verdict} of a case after its evidence was made"
            return f"{what}; run `skillassay eval --resume`"
    return None


def find_other_terms(root: Path, expected: Mapping[str, Expected]) -> dict[str, str]:
    """By skill path, the newest whole run on these bytes and cases that was made under other terms, and which."""
    found = {}
    for run_id in list_runs(root) if expected else ():
        header = read_header(root / RUNS / run_id)
        for path, wanted in expected.items():
            differs = differing_terms(header["contract"]["binding"], wanted.terms)
            if differs and _is_about_skill(header, wanted):
                found[path] = f"run {run_id} evaluated these bytes under other terms: {'; '.join(differs)}"
    return found


def _count(
    tally: _Tally, result: Mapping[str, Any], expected: Expected, header: Mapping[str, Any], run_id: str
) -> None:
    """Add one run, if it decided."""
    body = result["evidence"].get(expected.skill_path)
    if body is not None:
        proof = _proof_of(body | {"attempts": {"passed": tally.passed, "failed": tally.failed}}, run_id)
        tally.newest = proof
        tally.passed += 1
        tally.known |= {proof.sha256} if proof.sha256 is not None else set()
        return
    # A failure under a stricter limit than the contract's says nothing about the contract's, and a lack of
    # certification nothing about the skill.
    said_no = result["decision"]["status"] == "failed" and not result["decision"]["declared"]
    if said_no and header["contract"]["binding"] == expected.terms:
        why_not = f"{result['no_evidence'][expected.skill_path]} ({run_id})"
        tally.newest = Proof(data=None, sha256=None, evidence=None, why_not=why_not)
        tally.failed += 1


def _proof_of(body: Mapping[str, Any], run_id: str) -> Proof:
    try:
        evidence = evidence_from_body(body)
    except EvidenceProblem as problem:
        return Proof(data=None, sha256=None, evidence=None, why_not=f"the evidence of run {run_id} {problem}")
    data = evidence_bytes(body)
    return Proof(data=data, sha256=sha256_hex(data), evidence=evidence, why_not=None)


def _is_about(header: Mapping[str, Any], expected: Expected) -> bool:
    """Whether a run was about these bytes, cases and terms as a whole."""
    return not differing_terms(header["contract"]["binding"], expected.terms) and _is_about_skill(header, expected)


def _is_about_skill(header: Mapping[str, Any], expected: Expected) -> bool:
    """Whether a run was about these bytes and cases as a whole: a partial run decides nothing."""
    skill = header["skills"].get(expected.skill_path)
    if skill is None or skill["digest"] != expected.skill_digest:
        return False
    if any(header["cases"].get(name) != digest for name, digest in expected.cases.items()):
        return False
    return expected.skill_path in header["facts"]["whole_skills"]
