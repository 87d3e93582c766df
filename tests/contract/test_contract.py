"""The evaluation contract: defaults, refusals, what evidence binds, and a limit that may only rise."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml

from skillassay.contract.contract import (
    BAD_PATH,
    DEFAULT_GLOBS,
    CandidateTerms,
    Contract,
    GateTerms,
    LockTerms,
    Models,
    Prompts,
    SliceTerms,
    build_contract,
    exact_fraction,
    load_contract,
    raised_quality_min,
)
from skillassay.contract.downgrades import DOWNGRADABLE, NOT_DOWNGRADABLE
from skillassay.contract.limits import gate_from_json, gate_to_json, slices_from_json, slices_to_json
from skillassay.errors import UsageError
from skillassay.findings import CODES, Finding
from skillassay.schema import load_schema

NAMES: dict[str, Any] = {"models": Models(candidate="m", judge="j"), "prompts": Prompts(candidate="p", judge="q")}


def load(root: Path, text: str) -> tuple[Contract | None, tuple[Finding, ...]]:
    """The contract of a project with this text."""
    (root / "evals").mkdir(exist_ok=True)
    (root / "evals/contract.yaml").write_text(text, encoding="utf-8")
    return load_contract(root)


def built(**fields: Any) -> Contract:
    """A contract from a document with these parts."""
    return build_contract({"contract": 1, **fields})


def test_without_a_file_the_defaults_hold_under_ratchet(tmp_path: Path) -> None:
    """Nothing there can have been evaluated yet."""
    contract, findings = load_contract(tmp_path)
    assert findings == ()
    assert contract == Contract(lock=LockTerms(require_evidence="ratchet"))


def test_a_contract_of_one_line_has_every_default(tmp_path: Path) -> None:
    """Only ``contract: 1`` is required; with a file all evidence is."""
    contract, findings = load(tmp_path, "contract: 1\n")
    assert findings == ()
    assert contract is not None
    assert (contract.skills, contract.lock.require_evidence, contract.lock.requires) == (
        DEFAULT_GLOBS,
        "all",
        "declared",
    )
    assert contract.gate == GateTerms(quality_min=Fraction(4, 5), min_cases=3, lift_rule="point", manual_block=None)
    assert (contract.eager_scope, contract.candidate.turn_limit, contract.suites_named) == ("skill", 12, frozenset())


def test_a_dangling_link_is_no_missing_contract(tmp_path: Path) -> None:
    """A broken contract never falls back to looser defaults."""
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals/contract.yaml").symlink_to("gone.yaml")
    contract, findings = load_contract(tmp_path)
    assert contract is None
    assert len(findings) == 1


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("contract: 2\n", 1),
        ("contract: true\n", 1),
        ("owner: me\n", 1),
        ("contract: 1\nsurprise: 2\n", 1),
        ("contract: 1\ngate:\n  quality_min: 1.5\n", 3),
        ("contract: 1\ngate:\n  lift_rule: hope\n", 3),
        ("contract: 1\ncandidate:\n  turn_limit: 0\n", 3),
        ("contract: 1\nlock:\n  requires: nothing\n", 3),
        ("contract: 1\nskills: []\n", 2),
    ],
)
def test_what_the_format_does_not_know_is_an_error_at_its_line(tmp_path: Path, text: str, line: int) -> None:
    """Nothing is guessed or passed over."""
    contract, (finding,) = load(tmp_path, text)
    assert contract is None
    assert finding.line == line


@pytest.mark.parametrize("glob", ["../x/*", "/etc/*", "~/skills/*", "a/../../b", "skills\\*", "C:/skills/*"])
@pytest.mark.parametrize("field", ["skills", "fixtures", "suites"])
def test_paths_that_leave_the_project_are_findings(tmp_path: Path, field: str, glob: str) -> None:
    """Each with its line, beside whatever else is wrong, and before anything searches there."""
    names = ["good/*", glob]
    body = {"contract": 1, field: {"quality": names} if field == "suites" else names}
    contract, (finding,) = load(tmp_path, yaml.safe_dump(body, sort_keys=False))
    assert contract is None
    assert (finding.code, finding.line) == (BAD_PATH, 5 if field == "suites" else 4)
    assert glob in finding.message.replace("\\\\", "\\")


@pytest.mark.parametrize(
    ("part", "one", "other"),
    [
        ("candidate", {"temperature": 0}, {"temperature": 0.0}),
        ("candidate", {"max_output_tokens": 100}, {"max_output_tokens": 100.0}),
        ("candidate", {"seed": 7}, {"seed": 7.0}),
        ("gate", {"quality_min": 0.9}, {"quality_min": 0.90}),
        ("gate", {"min_cases": 3}, {}),
        ("lock", {"requires": "model"}, {"require_evidence": "ratchet", "ignore": ["*.log"]}),
    ],
)
def test_two_spellings_of_one_contract_bind_the_same(part: str, one: dict[str, Any], other: dict[str, Any]) -> None:
    """How a number is written, a default written out, and the lock's rules void no evidence."""
    bindings = [json.dumps(built(**{part: body}).binding(**NAMES), sort_keys=True) for body in (one, other)]
    assert bindings[0] == bindings[1]


@pytest.mark.parametrize(
    "change",
    [
        *({"candidate": {field: value}} for field, value in (("temperature", 1), ("seed", 1), ("turn_limit", 3))),
        *({"candidate": {field: value}} for field, value in (("max_output_tokens", 9), ("instructions", "Be brief."))),
        {"judge": {"max_output_tokens": 9}},
        {"eager": {"scope": "catalog"}},
        *(
            {"gate": {field: value}}
            for field, value in (("quality_min", 0.9), ("min_cases", 4), ("lift_rule", "bound"))
        ),
    ],
    ids=str,
)
def test_what_changes_answers_or_verdicts_is_bound(change: dict[str, Any]) -> None:
    """Candidate, judge and gate rules: another value makes another binding."""
    assert built(**change).binding(**NAMES) != built().binding(**NAMES)


@pytest.mark.parametrize("side", ["models", "prompts"])
@pytest.mark.parametrize("who", ["candidate", "judge"])
def test_models_and_prompts_of_the_run_are_bound(side: str, who: str) -> None:
    """Another model or another fixed prompt is another experiment."""
    names: dict[str, Any] = {**NAMES, side: replace(NAMES[side], **{who: "other"})}
    assert built().binding(**names) != built().binding(**NAMES)


@pytest.mark.parametrize(
    "change",
    [{"owner": "me"}, {"skills": ["x/*"]}, {"candidate": {"timeout_s": 5}}, {"check": {"downgrade": ["a.b"]}}],
    ids=str,
)
def test_what_changes_neither_is_free(change: dict[str, Any]) -> None:
    """Owner, globs, time limits and the checks' severities void no evidence."""
    assert built(**change).binding(**NAMES) == built().binding(**NAMES)


def test_every_field_of_the_schema_is_read() -> None:
    """A term that the schema accepts is a field of its data class: none is silently dropped."""
    for part, kind in (("candidate", CandidateTerms), ("gate", GateTerms), ("lock", LockTerms)):
        assert set(load_schema("contract")["properties"][part]["properties"]) == set(kind.__dataclass_fields__)


@pytest.mark.parametrize(("number", "fraction"), [(0.8, "4/5"), (0.1, "1/10"), (1, "1"), ("0.29", "29/100"), (0, "0")])
def test_a_decimal_is_the_fraction_it_says(number: float | str, fraction: str) -> None:
    """0.8 is 4/5, not the binary number beside it."""
    assert exact_fraction(number) == Fraction(fraction)


@pytest.mark.parametrize(
    ("wanted", "result"), [(None, "4/5"), ("0.8", "4/5"), ("0.80", "4/5"), (".9", "9/10"), ("1", "1")]
)
def test_the_limit_may_be_raised(wanted: str | None, result: str) -> None:
    """From the contract's limit up to 1."""
    assert raised_quality_min(GateTerms(), wanted) == Fraction(result)


@pytest.mark.parametrize(
    "wanted",
    ["0.79", "0", "-1", "1.01", "2", "nan", "inf", "-Infinity", "1e999999999", "0.9x", "", " 0.9", "٠.٩", "9/10"],
)
def test_the_limit_is_never_lowered(wanted: str) -> None:
    """Lower, above 1 or not a number: a usage error that says what may be given."""
    with pytest.raises(UsageError) as caught:
        raised_quality_min(GateTerms(), wanted)
    assert caught.value.hint


def test_only_rules_of_the_specification_can_be_downgraded(tmp_path: Path) -> None:
    """Each other code, known or not, is an error with its line and has no effect; the rest holds."""
    text = "contract: 1\nowner: me\ncheck:\n  downgrade:\n  - skill.name-folder\n"
    contract, findings = load(tmp_path, f"{text}  - digest.link-dangles\n  - lock.relocked\n  - nonsense\n")
    assert contract is not None
    assert (contract.owner, contract.downgrade) == ("me", frozenset({"skill.name-folder"}))
    assert [(one.code, one.line) for one in findings] == [(NOT_DOWNGRADABLE, line) for line in (6, 7, 8)]
    assert "'digest.link-dangles'" in findings[0].message


def test_what_can_be_downgraded_is_a_known_rule_about_skills() -> None:
    """And none that keeps a skill from being read."""
    assert set(CODES) >= DOWNGRADABLE
    assert all(code.startswith("skill.") for code in DOWNGRADABLE)
    assert not {"skill.frontmatter-invalid", "skill.name-missing", "skill.not-utf8"} & DOWNGRADABLE


def test_endpoint_and_subject_are_bound_where_they_are_named() -> None:
    """Another endpoint or subject is another experiment; a contract that names none binds what it bound before."""
    plain = built().binding(**NAMES)
    named = built(
        candidate={"endpoint": "https://models.example/v1/", "subject": "adk"}, judge={"endpoint": "http://127.0.0.1:9"}
    ).binding(**NAMES)
    assert isinstance(plain, dict)
    assert isinstance(named, dict)
    assert named["candidate"] == plain["candidate"] | {"endpoint": "https://models.example/v1", "subject": "adk"}
    assert named["judge"] == plain["judge"] | {"endpoint": "http://127.0.0.1:9"}
    assert built(candidate={"subject": "loop"}).binding(**NAMES) == plain


@pytest.mark.parametrize("url", ["models.example", "https://user:pass@models.example", "https://m.example/?key=1", ""])
def test_an_endpoint_holds_no_credential(tmp_path: Path, url: str) -> None:
    """A contract is committed: neither user nor query stands in it, and an address has a scheme."""
    contract, findings = load(tmp_path, f"contract: 1\ncandidate: {{endpoint: '{url}'}}\n")
    assert contract is None
    assert "candidate" in findings[0].message


def test_limits_are_read_exactly() -> None:
    """Every share is the fraction that its decimal text says, and a whole number is one however it is written."""
    gate = built(gate={"variance_max": 0.1, "worst_case_min": 0.7966, "failures_max": 2.0, "over_refusal_max": 0}).gate
    assert (gate.variance_max, gate.worst_case_min) == (Fraction(1, 10), Fraction(7966, 10000))
    assert (gate.failures_max, type(gate.failures_max), gate.over_refusal_max) == (2, int, Fraction(0))


def test_slices_are_required_unless_the_contract_says_otherwise() -> None:
    """A slice that is listed is required; one that is not applicable has a reason instead."""
    slices = built(
        slices={"a": {"quality_min": 0.9}, "b": {"not_applicable": "no files"}, "c": {"required": False}}
    ).slices
    assert slices == {
        "a": SliceTerms(required=True, quality_min=Fraction(9, 10)),
        "b": SliceTerms(required=False, not_applicable="no files"),
        "c": SliceTerms(required=False),
    }


@pytest.mark.parametrize(
    "text",
    [
        "slices: {a: {not_applicable: x, required: true}}",
        "slices: {a: {not_applicable: ''}}",
        "slices: {a: {not_applicable: '  '}}",
        "gate: {failures_max: 1.5}",
        "gate: {failure_corpus: dirty}",
        "gate: {variance_max: -0.1}",
        "risk_class: extreme",
        "scoring: {metric: accuracy}",
        "judge: {order: shuffled}",
        "retention: none",
        "holdout: {digests: evals/holdout.json}",
        "freshness: {max_age_days: 0}",
        "dataset: {snapshot_time: yesterday}",
        "id: two words",
    ],
)
def test_what_nothing_would_act_on_is_refused(tmp_path: Path, text: str) -> None:
    """A limit, rule or word that the program does not have is an error at its line, not a comment."""
    contract, (finding,) = load(tmp_path, f"contract: 1\n{text}\n")
    assert contract is None
    assert finding.line == 2


NEW_RULES: tuple[dict[str, Any], ...] = (
    *({"gate": {name: value}} for name, value in (("variance_max", 0.1), ("worst_case_min", 0.5), ("failures_max", 0))),
    *({"gate": {name: 0.5}} for name in ("unsafe_compliance_max", "over_refusal_max")),
    {"slices": {"a": {"required": True}}},
    {"holdout": {"suite": "hidden"}},
    {"freshness": {"max_age_days": 30}},
    {"dataset": {"leakage": "suspected"}},
)


@pytest.mark.parametrize("change", NEW_RULES, ids=str)
def test_a_rule_is_bound_where_it_is_not_at_its_default(change: dict[str, Any]) -> None:
    """Evidence from before there was the rule stays valid under a contract that does not use it."""
    assert built(**change).binding(**NAMES) != built().binding(**NAMES)


@pytest.mark.parametrize(
    "change",
    [
        {"id": "x", "version": "2", "owner": "o", "purpose": "p", "risk_class": "high"},
        {"dataset": {"provenance": "p", "license": "MIT", "snapshot_time": "2026-01-01", "leakage": "none_known"}},
        {"retention": "hash"},
        {"judge": {"human_adjudication": "somebody"}},
        {"gate": {"manual_block": "not yet"}},
        {"gate": {"unsafe_compliance_max": 0, "over_refusal_max": 0.0, "failure_corpus": "clean"}},
        {"environment": {"id": "e", "locale": "C"}},
    ],
    ids=str,
)
def test_words_and_written_defaults_bind_nothing(change: dict[str, Any]) -> None:
    """Identity, words on the dataset but a suspicion, retention and a default that is written out change no verdict."""
    assert built(**change).binding(**NAMES) == built().binding(**NAMES)


def test_a_gates_terms_survive_a_run_record() -> None:
    """Exactly, through JSON."""
    terms = built(
        gate={"quality_min": 0.7966, "variance_max": 0.1, "failures_max": 3}, slices={"a": {"quality_min": 0.3}}
    )
    stored = json.loads(json.dumps([gate_to_json(terms.gate), slices_to_json(terms.slices)]))
    assert (gate_from_json(stored[0]), slices_from_json(stored[1])) == (terms.gate, terms.slices)


def test_the_holdouts_file_stays_in_the_project(tmp_path: Path) -> None:
    """Its digests are committed, so their path is one of the project."""
    contract, (finding,) = load(tmp_path, "contract: 1\nholdout: {suite: s, digests: ../h.json}\n")
    assert contract is None
    assert (finding.code, finding.line) == (BAD_PATH, 2)
