"""The evaluation contract, ``evals/contract.yaml``. Owns its fields, their defaults, and what of it evidence binds.

Every field but ``contract: 1`` has a default, so that a small contract is a page. Without a file the defaults hold and
``lock.require_evidence`` is ``ratchet``, since nothing there can have been evaluated yet.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from skillassay.canonical import Json
from skillassay.documents import Document, load_document
from skillassay.downgrades import DOWNGRADABLE, downgrade_findings
from skillassay.errors import UsageError
from skillassay.findings import Finding, Severity, register
from skillassay.schema import document_findings

BAD_PATH = register("contract.bad-path", "A path or glob of the contract leaves the project, or is no path.")

CONTRACT_PATH = "evals/contract.yaml"

SCORER_VERSION = 1
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
DEFAULT_INSTRUCTIONS = (
    "You are a careful assistant. Answer the user's request completely, in the language of the request."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateTerms:
    """How the candidate is asked. All of it is bound by evidence.

    ``endpoint`` is where its evidence must come from, None the provider's own. It sends nothing anywhere: a run is
    addressed by option or environment, and one that was addressed elsewhere is no evidence.
    """

    model: str = "fixture"
    endpoint: str | None = None
    subject: str = "loop"
    instructions: str = DEFAULT_INSTRUCTIONS
    temperature: float = 0.0
    seed: int | None = None
    max_output_tokens: int = 4096
    turn_limit: int = 12
    timeout_s: float = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeTerms:
    """How the judge is asked. Its temperature is always 0; ``endpoint`` as the candidate's."""

    model: str = "fixture"
    endpoint: str | None = None
    max_output_tokens: int = 4096
    timeout_s: float = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GateTerms:
    """The limits of the gate. ``quality_min`` is exact, so that k/n is compared in integers."""

    quality_min: Fraction = Fraction(4, 5)
    min_cases: int = 3
    lift_rule: str = "point"
    manual_block: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LockTerms:
    """What the lock accepts as proof and what it leaves out of digests."""

    requires: str = "declared"
    require_evidence: str = "all"
    ignore: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """The two models of a run, as their labels."""

    candidate: str
    judge: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """Digests of the fixed texts that candidate and judge are given."""

    candidate: str
    judge: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """One evaluation contract with its defaults filled in. ``path`` is None when no file exists.

    ``suites_named`` holds the kinds of suites, quality or routing, that the file itself names: those must exist.
    """

    path: str | None = None
    skills: tuple[str, ...] = DEFAULT_GLOBS
    quality_suites: tuple[str, ...] = ("evals/quality.json",)
    routing_suites: tuple[str, ...] = ("evals/routing.json",)
    suites_named: frozenset[str] = frozenset()
    fixtures: tuple[str, ...] = ("evals/fixtures/*.yaml",)
    candidate: CandidateTerms = CandidateTerms()
    judge: JudgeTerms = JudgeTerms()
    eager_scope: str = "skill"
    gate: GateTerms = GateTerms()
    lock: LockTerms = LockTerms()
    downgrade: frozenset[str] = frozenset()
    owner: str | None = None

    def binding(self, *, models: Models, prompts: Prompts) -> Json:
        """What evidence proves something under: candidate, judge, gate rules, scorer version.

        The models are those of the run, which a command-line option may have changed. Owner, globs and lock rules never
        count: they change no answer and no verdict.
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
            },
            "gate": {
                "quality_min": str(self.gate.quality_min),
                "min_cases": self.gate.min_cases,
                "lift_rule": self.gate.lift_rule,
            },
            "scorer": SCORER_VERSION,
        }

    @property
    def models(self) -> Models:
        """The models that the contract names."""
        return Models(candidate=self.candidate.model, judge=self.judge.model)


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


def _path_findings(document: Document) -> tuple[Finding, ...]:
    """The globs and paths that lead out of the project, each with its line."""
    found = []
    suites = document.value.get("suites", {})
    lists: dict[tuple[str, ...], list[str]]
    lists = {("skills",): document.value.get("skills", []), ("fixtures",): document.value.get("fixtures", [])}
    lists |= {("suites", kind): names for kind, names in suites.items()}
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


_WHOLE = ("seed", "max_output_tokens", "turn_limit", "min_cases")
_REAL = ("temperature", "timeout_s")


def _settled(terms: Mapping[str, Any]) -> dict[str, Any]:
    """The terms with one spelling for each number, since ``0`` and ``0.0`` may not make two contracts."""
    whole = {key: int(terms[key]) for key in _WHOLE if key in terms}
    return {**terms, **whole, **{key: float(terms[key]) for key in _REAL if key in terms}}


def build_contract(value: Mapping[str, Any]) -> Contract:
    """A contract from a validated document."""
    suites = value.get("suites", {})
    gate = _settled(value.get("gate", {}))
    if "quality_min" in gate:
        gate["quality_min"] = exact_fraction(gate["quality_min"])
    lock = dict(value.get("lock", {}))
    lock["ignore"] = tuple(lock.get("ignore", ()))
    default = Contract()
    return Contract(
        path=CONTRACT_PATH,
        skills=tuple(value.get("skills", default.skills)),
        quality_suites=tuple(suites.get("quality", default.quality_suites)),
        routing_suites=tuple(suites.get("routing", default.routing_suites)),
        suites_named=frozenset(suites),
        fixtures=tuple(value.get("fixtures", default.fixtures)),
        candidate=CandidateTerms(**_settled(value.get("candidate", {}))),
        judge=JudgeTerms(**_settled(value.get("judge", {}))),
        eager_scope=value.get("eager", {}).get("scope", default.eager_scope),
        gate=GateTerms(**gate),
        lock=LockTerms(**lock),
        downgrade=DOWNGRADABLE.intersection(value.get("check", {}).get("downgrade", ())),
        owner=value.get("owner"),
    )


def exact_fraction(number: float | str) -> Fraction:
    """The fraction that the decimal text of ``number`` says: 0.8 is 4/5, not the nearest binary float."""
    return Fraction(Decimal(str(number)))


_DECIMAL = re.compile(r"[0-9]{0,9}(?:[0-9]|\.[0-9]{1,30})", re.ASCII)


def raised_quality_min(terms: GateTerms, wanted: str | None) -> Fraction:
    """``gate.quality_min``, or the higher value a command asks for. A lower one is refused: a gate is not loosened."""
    if wanted is None:
        return terms.quality_min
    if not _DECIMAL.fullmatch(wanted):
        raise UsageError(f"QUALITY_MIN {wanted!r} is not a number", hint="give a number from 0 to 1, as 0.9")
    value = exact_fraction(wanted)
    if not terms.quality_min <= value <= 1:
        raise UsageError(
            f"QUALITY_MIN {wanted} is not between the contract's {float(terms.quality_min):g} and 1",
            hint="a command may only raise the limit; lower gate.quality_min in evals/contract.yaml",
        )
    return value
