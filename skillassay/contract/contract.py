"""The evaluation contract, ``evals/contract.yaml``. Owns its fields, their defaults, and what of it evidence binds.

Every field but ``contract: 1`` has a default, so that a small contract is a page. Without a file the defaults hold and
``lock.require_evidence`` is ``ratchet``, since nothing there can have been evaluated yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from skillassay.canonical import Json
from skillassay.contract.downgrades import DOWNGRADABLE, downgrade_findings
from skillassay.contract.groups import FIELDS, unstated
from skillassay.contract.limits import (
    GateTerms,
    SliceTerms,
    calibration_binding,
    exact_fraction,
    gate_binding,
    judging_binding,
    raised_quality_min,
    read_budget,
    read_calibration,
    read_gate,
    read_slices,
)
from skillassay.contract.terms import (
    DEFAULT_INSTRUCTIONS,
    NONE_KNOWN,
    UNWRITTEN,
    BudgetTerms,
    CalibrationTerms,
    CandidateTerms,
    DatasetTerms,
    EnvironmentTerms,
    ExpectedTerms,
    HoldoutTerms,
    IdentityTerms,
    JudgeTerms,
    LockTerms,
    Models,
    Prompts,
    ScoringTerms,
    TriggerTerms,
)
from skillassay.documents import Document, load_document
from skillassay.findings import Finding, Severity, register
from skillassay.schema import document_findings

__all__ = [  # the words of a contract come from here, in whichever module they are written down
    "CONTRACT_PATH",
    "DEFAULT_GLOBS",
    "DEFAULT_INSTRUCTIONS",
    "CalibrationTerms",
    "CandidateTerms",
    "Contract",
    "DatasetTerms",
    "EnvironmentTerms",
    "ExpectedTerms",
    "GateTerms",
    "HoldoutTerms",
    "IdentityTerms",
    "JudgeTerms",
    "LockTerms",
    "Models",
    "Prompts",
    "ScoringTerms",
    "SliceTerms",
    "build_contract",
    "exact_fraction",
    "incomplete_findings",
    "load_contract",
    "raised_quality_min",
]

BAD_PATH = register("contract.bad-path", "A path or glob of the contract leaves the project, or is no path.")

INCOMPLETE = register("contract.incomplete", "The contract does not state what only it can; the gate fails for it.")

CONTRACT_PATH = "evals/contract.yaml"

SCORER_VERSION = 4
"""Raised by hand when the same answers and verdicts would be scored or gated differently. Evidence binds it."""

DEFAULT_GLOBS = (
    ".",
    "skills/*",
    ".claude/skills/*",
    ".agents/skills/*",
    ".gemini/skills/*",
    ".github/skills/*",
    "plugins/*/skills/*",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """One evaluation contract with its defaults filled in. ``path`` is None when no file exists.

    ``suites_named`` holds the kinds of suites (quality, routing, triggers) that the file names: those must exist.
    """

    path: str | None = None
    skills: tuple[str, ...] = DEFAULT_GLOBS
    quality_suites: tuple[str, ...] = ("evals/quality.json",)
    routing_suites: tuple[str, ...] = ("evals/routing.json",)
    trigger_suites: tuple[str, ...] = ("evals/triggers.json",)
    suites_named: frozenset[str] = frozenset()
    fixtures: tuple[str, ...] = ("evals/fixtures/*.yaml",)
    identity: IdentityTerms = field(default_factory=IdentityTerms)
    candidate: CandidateTerms = field(default_factory=CandidateTerms)
    dataset: DatasetTerms = field(default_factory=DatasetTerms)
    expected: ExpectedTerms = field(default_factory=ExpectedTerms)
    scoring: ScoringTerms = field(default_factory=ScoringTerms)
    judge: JudgeTerms = field(default_factory=JudgeTerms)
    budget: BudgetTerms = field(default_factory=BudgetTerms)
    environment: EnvironmentTerms = field(default_factory=EnvironmentTerms)
    eager_scope: str = "skill"
    gate: GateTerms = field(default_factory=GateTerms)
    slices: Mapping[str, SliceTerms] = field(default_factory=dict)
    holdout: HoldoutTerms | None = None
    freshness_max_age_days: int | None = None
    retention: str = "full"
    triggers: TriggerTerms = field(default_factory=TriggerTerms)
    lock: LockTerms = field(default_factory=LockTerms)
    downgrade: frozenset[str] = frozenset()

    @property
    def owner(self) -> str | None:
        """Who answers for the contract."""
        return self.identity.owner

    @property
    def unstated(self) -> tuple[str, ...]:
        """What the contract does not say and must, as ``group.field``."""
        return unstated({"identity": asdict(self.identity), "dataset": asdict(self.dataset)})

    def binding(self, *, models: Models, prompts: Prompts) -> Json:
        """What evidence proves something under: candidate, judge, gate rules, scorer version.

        The models are those of the run, which a command-line option may have changed. Identity, the words on the
        dataset, globs, retention and lock rules never count: they change no answer and no verdict. Of the words on the
        dataset one does: whether leakage is suspected. A rule that is at its default stays out, since older evidence
        was made without a word on it.
        """
        return {
            "candidate": {
                "model": models.candidate,
                "prompt": prompts.candidate,
                "instructions": self.candidate.instructions,
                "temperature": self.candidate.temperature,
                "seed": self.candidate.seed,
                "max_output_tokens": self.candidate.max_output_tokens,
                "turn_limit": self.candidate.turn_limit,
                "eager_scope": self.eager_scope,
                **_named(endpoint=self.candidate.endpoint, subject=self.candidate.subject),
            },
            "judge": {
                "model": models.judge,
                "prompt": prompts.judge,
                "max_output_tokens": self.judge.max_output_tokens,
                **_named(endpoint=self.judge.endpoint),
                **judging_binding(self.judge, models.second),
                **calibration_binding(self.judge.calibration),
            },
            "gate": gate_binding(self.gate, self.slices),
            **({"holdout": self.holdout.suite} if self.holdout is not None else {}),
            **({"freshness": self.freshness_max_age_days} if self.freshness_max_age_days is not None else {}),
            **({"leakage": self.dataset.leakage} if self.dataset.leakage != NONE_KNOWN else {}),
            "scorer": SCORER_VERSION,
        }

    @property
    def models(self) -> Models:
        """The models that the contract names."""
        return Models(candidate=self.candidate.model, judge=self.judge.model, second=self.judge.second)


def _named(*, endpoint: str | None, subject: str = "loop") -> dict[str, Json]:
    """Terms that say something only where they are not what they are by default."""
    given = {"endpoint": None if endpoint is None else endpoint.rstrip("/"), "subject": subject}
    return {name: value for name, value in given.items() if value not in {None, "loop"}}


def load_contract(root: Path) -> tuple[Contract | None, tuple[Finding, ...]]:
    """The contract of the project at ``root``; defaults under ``ratchet`` when there is no file.

    A code that may not be downgraded is an error and has no effect; the rest of the contract holds.
    """
    path = root / CONTRACT_PATH
    if not path.is_symlink() and not path.exists():  # a link to nothing is a broken contract, not a missing one
        return Contract(lock=LockTerms(require_evidence="ratchet")), ()
    document, findings = load_document(path, shown_as=CONTRACT_PATH)
    if document is None:
        return None, findings
    findings = document_findings(document, "contract") or _path_findings(document)
    if findings:
        return None, findings
    contract = build_contract(document.value)
    return contract, downgrade_findings(document, document.value.get("check", {}).get("downgrade", ()))


def incomplete_findings(contract: Contract) -> tuple[Finding, ...]:
    """A warning for each field that only the contract can state and does not: the gate fails for it."""
    known = {field.path: field for field in FIELDS}
    return tuple(
        Finding(
            code=INCOMPLETE,
            severity=Severity.WARNING,
            path=CONTRACT_PATH,
            message=f"{known[path].key} is not stated: {known[path].missing}",
            hint="state it; the gate's line contract_complete fails without it (docs/reference/groups.md)",
        )
        for path in contract.unstated
    )


def _path_findings(document: Document) -> tuple[Finding, ...]:
    """The globs and paths that lead out of the project, each with its line."""
    found = []
    suites = document.value.get("suites", {})
    lists: dict[tuple[str, ...], list[str]]
    lists = {("skills",): document.value.get("skills", []), ("fixtures",): document.value.get("fixtures", [])}
    lists |= {("suites", kind): names for kind, names in suites.items()}
    for group, field_name in (("holdout", "digests"), ("budget", "prices")):
        if field_name in document.value.get(group, {}):
            lists[group, field_name] = [document.value[group][field_name]]
    for where, names in lists.items():
        for index, name in enumerate(names):
            if name.startswith(("/", "~")) or ".." in name.split("/") or "\\" in name or name[1:2] == ":":
                found.append(
                    Finding(
                        code=BAD_PATH,
                        severity=Severity.ERROR,
                        path=document.path,
                        line=document.line_of((*where, index)),
                        message=f"{'.'.join(where)}: {name!r} leaves the project or is no path in it",
                        hint="write it relative to the project root, with / between parts",
                    )
                )
    return tuple(found)


_WHOLE = ("seed", "max_output_tokens", "turn_limit", "samples", "read_min")
_IDENTITY = tuple(IdentityTerms.__dataclass_fields__)
_REAL = ("temperature", "timeout_s")


def _settled(terms: Mapping[str, Any]) -> dict[str, Any]:
    """The terms with one spelling for each number, since ``0`` and ``0.0`` may not make two contracts."""
    whole = {key: int(terms[key]) for key in _WHOLE if key in terms}
    return {**terms, **whole, **{key: float(terms[key]) for key in _REAL if key in terms}}


def _judge(value: Mapping[str, Any]) -> JudgeTerms:
    return JudgeTerms(**{**_settled(value), "calibration": read_calibration(value.get("calibration", {}))})


def _written(texts: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in texts.items() if not text.lstrip().startswith(UNWRITTEN)}


def build_contract(value: Mapping[str, Any]) -> Contract:
    """A contract from a validated document."""
    suites = value.get("suites", {})
    lock = dict(value.get("lock", {}))
    lock["ignore"] = tuple(lock.get("ignore", ()))
    default = Contract()
    return Contract(
        path=CONTRACT_PATH,
        skills=tuple(value.get("skills", default.skills)),
        quality_suites=tuple(suites.get("quality", default.quality_suites)),
        routing_suites=tuple(suites.get("routing", default.routing_suites)),
        trigger_suites=tuple(suites.get("triggers", default.trigger_suites)),
        suites_named=frozenset(suites),
        fixtures=tuple(value.get("fixtures", default.fixtures)),
        identity=IdentityTerms(**_written({name: value[name] for name in _IDENTITY if name in value})),
        candidate=CandidateTerms(**_settled(value.get("candidate", {}))),
        dataset=DatasetTerms(**_written(value.get("dataset", {}))),
        expected=ExpectedTerms(**value.get("expected", {})),
        scoring=ScoringTerms(**value.get("scoring", {})),
        judge=_judge(value.get("judge", {})),
        budget=read_budget(value.get("budget", {})),
        environment=EnvironmentTerms(**value.get("environment", {})),
        eager_scope=value.get("eager", {}).get("scope", default.eager_scope),
        gate=read_gate(value.get("gate", {})),
        slices=read_slices(value.get("slices", {})),
        holdout=HoldoutTerms(**value["holdout"]) if "holdout" in value else None,
        freshness_max_age_days=value.get("freshness", {}).get("max_age_days"),
        retention=value.get("retention", default.retention),
        triggers=TriggerTerms(**{name: exact_fraction(share) for name, share in value.get("triggers", {}).items()}),
        lock=LockTerms(**lock),
        downgrade=DOWNGRADABLE.intersection(value.get("check", {}).get("downgrade", ())),
    )
