"""What stored runs prove for a lock. Reads records, runs nothing.

The newest run that decided on exactly these bytes, cases and terms counts, also when it says no: running until
something passes and locking that is not offered. A partial or interrupted run decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skillassay.canonical import sha256_hex
from skillassay.evidence import EvidenceProblem, Expected, evidence_bytes, evidence_from_body
from skillassay.relock import Proof
from skillassay.store import RUNS, list_runs, read_header, read_result


def find_proofs(root: Path, expected: Mapping[str, Expected]) -> dict[str, Proof]:
    """By skill path, what the newest run says that decided on exactly what is expected; no entry where none did.

    Each run's header is read once, and its result only if the run is about a skill still sought.
    """
    proofs: dict[str, Proof] = {}
    for run_id in reversed(list_runs(root)):
        sought = [path for path in expected if path not in proofs]
        if not sought:
            break
        folder = root / RUNS / run_id
        header = read_header(folder)
        about = [path for path in sought if _is_about(header, expected[path], path)]
        result = read_result(folder) if about else None
        if result is not None and not result["interrupted"]:
            proofs |= {path: _proof_of(result, path, run_id) for path in about}
    return proofs


def _proof_of(result: Mapping[str, Any], skill_path: str, run_id: str) -> Proof:
    body = result["evidence"].get(skill_path)
    if body is None:
        why_not = f"{result['no_evidence'][skill_path]} ({run_id})"
        return Proof(data=None, sha256=None, evidence=None, why_not=why_not)
    try:
        evidence = evidence_from_body(body)
    except EvidenceProblem as problem:
        return Proof(data=None, sha256=None, evidence=None, why_not=f"the evidence of run {run_id} {problem}")
    data = evidence_bytes(body)
    return Proof(data=data, sha256=sha256_hex(data), evidence=evidence, why_not=None)


def _is_about(header: Mapping[str, Any], expected: Expected, skill_path: str) -> bool:
    """Whether a run was about these bytes, cases and terms as a whole: a partial run decides nothing."""
    skill = header["skills"].get(skill_path)
    if skill is None or skill["digest"] != expected.skill_digest:
        return False
    if header["binding_digest"] != expected.binding:
        return False
    if any(header["cases"].get(name) != digest for name, digest in expected.cases.items()):
        return False
    return skill_path in header["facts"]["whole_skills"]
