"""Evidence as in-toto statements: read by in-toto's own library, and never more than the evidence says."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from in_toto_attestation.predicates.test_result.v0.test_result_pb2 import TestResult as ResultPb
from in_toto_attestation.v1.statement import Statement

from skillassay.locks.evidence import evidence_from_body
from tests.project import Cli, build_small


@pytest.fixture
def locked(cli: Cli) -> Cli:
    """A project whose one skill was evaluated and locked."""
    build_small(cli.root)
    assert cli("eval").code == 0
    assert cli("lock").code == 0
    return cli


def statements(cli: Cli, *more: str) -> list[dict[str, Any]]:
    """What is exported."""
    return [json.loads(line) for line in cli("export", "--format", "in-toto", *more).out.splitlines()]


def go_hash1(folder: Path) -> str:
    """Go's Hash1 by its definition (golang.org/x/mod/sumdb/dirhash), in hex as in-toto's dirHash wants it."""
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    lines = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in files]
    h1 = "h1:" + base64.b64encode(hashlib.sha256("".join(lines).encode()).digest()).decode()
    return base64.b64decode(h1.removeprefix("h1:")).hex()


def test_in_toto_reads_the_statement_and_its_predicate(locked: Cli) -> None:
    """Its library finds type, subject and digest as it wants them, and every field of test-result v0.1 in its place."""
    (statement,) = statements(locked)
    read = Statement.copy_from_pb(ParseDict(statement, Statement([], "", {}).pb))
    read.validate()
    assert statement["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1"
    predicate = ParseDict(statement["predicate"], ResultPb())
    assert predicate.result == "WARNED"
    assert len(predicate.configuration) == 2


def test_the_subject_is_the_folder_by_its_dir_hash(locked: Cli) -> None:
    """As Go computes it over the files as they lie there."""
    (statement,) = statements(locked)
    digest = go_hash1(locked.root / "skills" / "greeter")
    assert statement["subject"] == [{"name": "skills/greeter", "digest": {"dirHash": digest}}]


def test_the_configuration_names_suite_and_evidence_by_their_bytes(locked: Cli) -> None:
    """Whoever holds the files can verify them."""
    (statement,) = statements(locked)
    for one in statement["predicate"]["configuration"]:
        assert hashlib.sha256((locked.root / one["name"]).read_bytes()).hexdigest() == one["digest"]["sha256"]


def test_a_fixture_is_never_more_than_warned(locked: Cli) -> None:
    """And says which grade it is, beside the lift."""
    predicate = statements(locked)[0]["predicate"]
    assert (predicate["result"], predicate["passedTests"]) == ("WARNED", [])
    assert predicate["warnedTests"] == ["quality/one", "quality/three", "quality/two"]
    assert predicate["configuration"][1]["annotations"]["grade"] == "fixture"


@pytest.mark.parametrize(
    ("changed", "result"), [({}, "PASSED"), ({"waivers": True}, "WARNED"), ({"failed": True}, "WARNED")]
)
def test_only_the_model_gate_without_waiver_or_failed_trial_passes(
    locked: Cli, changed: dict[str, Any], result: str
) -> None:
    """The grade alone is not enough while a waiver stands in for a line, or a trial failed that a share let pass."""
    from skillassay.interop.statement import build_statement
    from skillassay.project import load_project

    body = json.loads((locked.root / "evals/evidence/skills/greeter.json").read_text("utf-8"))
    body["decision"] = {"gate": "model_gate", "grade": "model"}
    if "failed" in changed:
        body["results"]["progressive"]["trials"] |= {"passed": 2, "failed": 1}
    if "waivers" in changed:
        body["waivers"] = [{"waiver": "w", "waiver_digest": "1" * 64, "expires_on": "2027-01-01"}]
    files = load_project(locked.root).usable[0].files
    statement: Any = build_statement(evidence_from_body(body), files, suites={})
    assert statement["predicate"]["result"] == result
    assert bool(statement["predicate"]["passedTests"]) == (result == "PASSED")


def test_folded_files_have_no_dir_hash_and_no_statement(locked: Cli) -> None:
    """A checkout with CRLF verifies against the lock, and its files as stored have another hash: exit 1, named."""
    manifest = locked.root / "skills" / "greeter" / "SKILL.md"
    manifest.write_bytes(manifest.read_bytes().replace(b"\n", b"\r\n"))
    ran = locked("export", "--format", "in-toto")
    assert (ran.code, ran.out.strip()) == (1, "")
    assert "no statement for skills/greeter: line ends" in ran.err


def test_nothing_is_stated_of_what_the_lock_does_not_hold(locked: Cli, tmp_path: Path) -> None:
    """An edit without a new version: exit 1, the finding, and no file."""
    manifest = locked.root / "skills" / "greeter" / "SKILL.md"
    manifest.write_text(manifest.read_text("utf-8") + "More.\n", encoding="utf-8")
    to = tmp_path / "out.jsonl"
    ran = locked("export", "--format", "in-toto", "--output", str(to))
    assert ran.code == 1
    assert "lock." in ran.out
    assert not to.exists()


def test_a_skill_is_named_by_path_or_name(locked: Cli) -> None:
    """An unknown one is wrong usage."""
    assert statements(locked, "greeter") == statements(locked, "skills/greeter") == statements(locked)
    assert locked("export", "nobody", "--format", "in-toto").code == 2
