"""Evidence as an in-toto Statement v1 with the test-result predicate. Owns the mapping; signs nothing.

Statement: https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md; predicate (v0.1):
https://github.com/in-toto/attestation/blob/main/spec/predicates/test-result.md. The subject is the skill's folder with
in-toto's ``dirHash``, which is the digest here too wherever folding changed nothing; where it did, there is no
``dirHash`` of the files as stored, and no statement. Of evidence that is a fixture's or ``declared``, rests on a
waiver, or holds a trial that failed, the result is WARNED, never PASSED: a consumer that knows no other word must not
take it for more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillassay.canonical import Json, sha256_hex
from skillassay.locks.evidence import Evidence, evidence_bytes, evidence_path
from skillassay.skills.digest import SkillFiles

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://in-toto.io/attestation/test-result/v0.1"
_MODEL = "model"


def build_statement(evidence: Evidence, files: SkillFiles, *, suites: Mapping[str, str]) -> dict[str, Json] | None:
    """The statement about one skill; None where its files have no ``dirHash`` as they are stored.

    ``suites`` maps the path of each suite of the project to the SHA-256 of its bytes.
    """
    if files.dir_hash is None:
        return None
    tests = sorted(evidence.cases)
    is_full = evidence.grade == _MODEL and not evidence.waivers and not _n_failed(evidence)
    return {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": evidence.skill_path, "digest": {"dirHash": files.dir_hash}}],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "result": "PASSED" if is_full else "WARNED",
            "configuration": [
                *({"name": path, "digest": {"sha256": digest}} for path, digest in sorted(suites.items())),
                {
                    "name": evidence_path(evidence.skill_path),
                    "digest": {"sha256": sha256_hex(evidence_bytes(evidence.body))},
                    "annotations": _annotations(evidence, files),
                },
            ],
            "passedTests": tests if is_full else [],
            "warnedTests": [] if is_full else tests,
            "failedTests": [],
        },
    }


def _n_failed(evidence: Evidence) -> int:
    """Progressive trials that are not PASS: a gate may let a case pass by its share, and no evidence says which."""
    trials: Mapping[str, Any] = evidence.body["results"]["progressive"]["trials"]
    return int(trials["planned"]) - int(trials["passed"])


def _annotations(evidence: Evidence, files: SkillFiles) -> dict[str, Json]:
    """What a reader must know beside the word: the grade, who answered and judged, and the lift with its interval."""
    body: Mapping[str, Any] = evidence.body
    return {
        "skillVersion": evidence.version,
        "grade": evidence.grade,
        "waivers": list(evidence.waived),
        "models": {side: model["label"] for side, model in body["models"].items() if isinstance(model, Mapping)},
        "judgeIndependent": body["models"].get("independent"),
        "lift": body.get("lift"),
        "trials": body["results"]["progressive"]["trials"],
        "leftOutOfDigest": list(files.left_out),
        "runId": evidence.run_id,
        "contentDigest": body["run"]["content_digest"],
    }
