"""The committed file of a hidden holdout: ids and keyed digests of its cases, nothing of their text. Owns its format.

    {
      "holdout": 1,
      "suite": NAME, "version": VERSION,
      "key": HMAC of a fixed text, which tells another key from other cases,
      "cases": {ID: {"digest": HMAC, "skill": folder of the skill, "criteria": how many verdicts a score has}},
      "voided": {VERSION: REASON}
    }

Every HMAC is HMAC-SHA-256 (hex) under the holdout's key; that of a case is over the canonical form of its normal form.
A plain digest would let anybody confirm a guess at a case. Skill and number of criteria are what a plan needs, so that
a run without the suite still has its trials in every denominator. A version once voided stays so.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from skillassay.canonical import Json, canonical_bytes, digest_of, pretty_text
from skillassay.documents import load_document
from skillassay.findings import Finding
from skillassay.schema import document_findings

SEALED_VERSION = 1
MIN_KEY_BYTES = 16

_KEY_TEXT = b"skillassay holdout key"


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedCase:
    """What the repository knows of a hidden case besides its id."""

    digest: str
    skill: str
    criteria: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """The committed file. ``voided`` has the reason of each version of the suite that may not be used any more."""

    suite: str
    version: str
    key: str
    cases: Mapping[str, SealedCase]
    voided: Mapping[str, str] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Which holdout this is: over all but what was voided, so that evidence still names it afterwards."""
        body = sealed_json(self)
        del body["voided"]
        return digest_of(body)

    @property
    def void_reason(self) -> str | None:
        """Why this version may not be used."""
        return self.voided.get(self.version)


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldoutUse:
    """Which holdout a run planned, and what was known against it before the first trial.

    ``looked`` says whether its texts could be looked for; ``doubts`` say why its results are void: where which case was
    found, or that it was tuned on. ``file`` is the committed one.
    """

    suite: str
    version: str
    digest: str
    file: str
    looked: bool
    doubts: tuple[str, ...] = ()

    @property
    def identity(self) -> dict[str, Json]:
        """What evidence says of it."""
        return {"suite": self.suite, "version": self.version, "digest": self.digest}


class LeftOut(StrEnum):
    """Why a run plans less than the holdout: it was told so, it is for tuning, or it asks for other cases."""

    OPTION = "option"
    TUNING = "tuning"
    SELECTION = "selection"


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldoutAsked:
    """How much of the holdout that the contract names a run planned, of its cases about the run's own skills."""

    suite: str
    n_cases: int
    n_planned: int
    why: LeftOut


def keyed(key: bytes, value: Json) -> str:
    """HMAC-SHA-256 (hex) of a value's canonical form."""
    return hmac.new(key, canonical_bytes(value), hashlib.sha256).hexdigest()


def key_mark(key: bytes) -> str:
    """What the file says of its key."""
    return hmac.new(key, _KEY_TEXT, hashlib.sha256).hexdigest()


def sealed_json(sealed: Sealed) -> dict[str, Any]:
    """The JSON object of the file."""
    return {
        "holdout": SEALED_VERSION,
        "suite": sealed.suite,
        "version": sealed.version,
        "key": sealed.key,
        "cases": {
            name: {"digest": case.digest, "skill": case.skill, "criteria": case.criteria}
            for name, case in sealed.cases.items()
        },
        "voided": dict(sealed.voided),
    }


def sealed_bytes(sealed: Sealed) -> bytes:
    """The bytes of the file."""
    return pretty_text(sealed_json(sealed)).encode()


def load_sealed(root: Path, path: str) -> tuple[Sealed | None, tuple[Finding, ...]]:
    """Read the file at ``path`` below ``root``. All its problems come back at once."""
    document, findings = load_document(root / path, shown_as=path)
    if document is None:
        return None, findings
    findings = document_findings(document, "holdout")
    if findings:
        return None, findings
    value: dict[str, Any] = document.value
    return Sealed(
        suite=value["suite"],
        version=value["version"],
        key=value["key"],
        cases={name: SealedCase(**case) for name, case in value["cases"].items()},
        voided=value.get("voided", {}),
    ), ()
