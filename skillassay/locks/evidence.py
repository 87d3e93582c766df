"""Evidence: what a run proves for a skill's bytes, as a committed file. Owns its fields, its path and its validity.

Format ``evidence: 1``, written by ``lock`` from a finished run into ``evals/evidence/<skill path>.json``. It binds the
skill's bytes, the digests of its own cases, and the contract's candidate, judge, gate rules and scorer version; of the
gate's ``quality_min`` a higher one is accepted. A change in another skill of the catalog is a warning only, and so is
one in the authored answers (``fixtures``, at grade fixture). ``attempts`` counts the earlier decided runs on the same
bytes, cases and terms; ``trial_attempts``, by mode, how often its trials were tried, where any was more than once;
``cached_calls``, by side, how many answers came out of a cache, where any did, since whoever can write that file
chooses them; ``waivers`` those that the decision rests on, with digest and last day. Evidence is not signed: it
convinces who trusts the commit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from skillassay.canonical import Json, JsonProblem, digest_of, parse_json, pretty_text
from skillassay.locks.terms import differing_terms
from skillassay.regular import NotRegular, read_regular

EVIDENCE_VERSION = 1
EVIDENCE_FOLDER = "evals/evidence"

GRADES = ("fixture", "declared", "model")
"""What a run may have passed: the fixture gate; all of the model gate but certification; the model gate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """How many decided runs on the same bytes, cases and terms came before the one that is the evidence."""

    passed: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedWaiver:
    """A waiver that the run's decision rests on."""

    id: str
    digest: str
    expires_on: date


@dataclass(frozen=True, slots=True, kw_only=True)
class InForce:
    """The waivers that evidence may rest on, on a day: the digest of each by its id."""

    day: date
    digests: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One skill's evidence. ``body`` is the whole JSON object; the named fields are what verification compares."""

    skill_path: str
    skill_digest: str
    version: str
    grade: str
    cases: Mapping[str, str]
    binding: str
    terms: Json
    catalog: Mapping[str, str]
    fixtures: str | None
    attempts: Attempts | None
    n_tried_again: int
    n_cached: int = 0
    run_id: str
    voided: str | None
    waivers: tuple[UsedWaiver, ...] = ()
    body: Mapping[str, Any]

    @property
    def waived(self) -> tuple[str, ...]:
        """The ids of the waivers, as the lock shows them."""
        return tuple(sorted({used.id for used in self.waivers}))

    @property
    def by_dependent_judge(self) -> bool:
        """Whether a live judge gave the verdicts that is not known to be independent of the candidate."""
        models, gate = self.body.get("models"), self.body.get("decision")
        is_live = isinstance(gate, Mapping) and gate.get("gate") == "model_gate"
        return is_live and isinstance(models, Mapping) and models.get("independent") is not True


class EvidenceProblem(ValueError):
    """A file that is not evidence of a known format."""


def evidence_path(skill_path: str) -> str:
    """Where the evidence of a skill lies, relative to the project root."""
    return f"{EVIDENCE_FOLDER}/{'_root' if skill_path == '.' else skill_path}.json"


def evidence_bytes(body: Mapping[str, Any]) -> bytes:
    """The bytes of an evidence file."""
    return pretty_text(dict(body)).encode()


def parse_evidence(data: bytes) -> Evidence:
    """Read an evidence file. Raises :class:`EvidenceProblem`."""
    try:
        body = parse_json(data.decode("utf-8"))
    except (UnicodeDecodeError, JsonProblem) as error:
        raise EvidenceProblem(f"cannot be read: {error}") from error
    return evidence_from_body(body)


def evidence_from_body(body: Any) -> Evidence:
    """Evidence from its JSON object. Raises :class:`EvidenceProblem`."""
    version = body.get("evidence") if isinstance(body, dict) else None
    if type(version) is not int or version < 1:
        raise EvidenceProblem("is not an evidence file")
    if version > EVIDENCE_VERSION:
        raise EvidenceProblem(f"has format {version}, newer than {EVIDENCE_VERSION}: use a newer skillassay")
    grade, voided, cases = _text(body, "decision", "grade"), body.get("voided"), _texts(body, "cases")
    if grade not in GRADES:
        raise EvidenceProblem(f"names an unknown grade {grade!r}")
    if voided is not None and not (isinstance(voided, str) and voided.strip()):
        raise EvidenceProblem(f"says voided: {voided!r}, where only a reason in words can stand")
    if not cases:
        raise EvidenceProblem("covers no case")
    return Evidence(
        skill_path=_text(body, "skill", "path"),
        skill_digest=_text(body, "skill", "digest"),
        version=_text(body, "skill", "version"),
        grade=grade,
        cases=cases,
        binding=_text(body, "binding", "digest"),
        terms=body["binding"].get("terms"),
        catalog=_texts(body, "catalog"),
        fixtures=_text(body, "fixtures", "digest") if "fixtures" in body else None,
        attempts=_attempts(body["attempts"]) if "attempts" in body else None,
        n_tried_again=_n_tried_again(body.get("trial_attempts", {})),
        n_cached=_n_cached(body.get("cached_calls", {})),
        run_id=_text(body, "run", "id"),
        voided=voided,
        waivers=_waivers(body.get("waivers", [])),
        body=body,
    )


def _text(body: Mapping[str, Any], part: str, field: str) -> str:
    value = body[part].get(field) if isinstance(body.get(part), dict) else None
    if not isinstance(value, str) or not value:
        raise EvidenceProblem(f"lacks {part}.{field}")
    return value


def _texts(body: Mapping[str, Any], part: str) -> dict[str, str]:
    value = body.get(part)
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise EvidenceProblem(f"lacks {part}, an object of digests")
    return dict(value)


def _attempts(value: Any) -> Attempts:
    passed, failed = (value.get("passed"), value.get("failed")) if isinstance(value, dict) else (None, None)
    if type(passed) is not int or type(failed) is not int or min(passed, failed) < 0:
        raise EvidenceProblem("says attempts, which is no count of earlier runs that passed and failed")
    return Attempts(passed=passed, failed=failed)


def _n_tried_again(value: Any) -> int:
    counts: list[Any] = [mode.get("tried_again") for mode in value.values()] if isinstance(value, dict) else [None]
    if not all(type(count) is int and count >= 0 for count in counts):
        raise EvidenceProblem("says trial_attempts, which are no counts by mode")
    return sum(counts)


def _n_cached(value: Any) -> int:
    counts: list[Any] = list(value.values()) if isinstance(value, dict) else [None]
    if not all(type(count) is int and count >= 0 for count in counts):
        raise EvidenceProblem("says cached_calls, which are no counts by side")
    return sum(counts)


def _waivers(value: Any) -> tuple[UsedWaiver, ...]:
    try:
        return tuple(
            UsedWaiver(
                id=str(item["waiver"]),
                digest=str(item["waiver_digest"]),
                expires_on=date.fromisoformat(item["expires_on"]),
            )
            for item in value
        )
    except (KeyError, TypeError, ValueError) as error:
        raise EvidenceProblem("says waivers, which are no list of waivers with digest and last day") from error


def accepts(requires: str, grade: str) -> bool:
    """Whether a lock that requires one grade accepts another: a stronger one always does."""
    return GRADES.index(grade) >= GRADES.index(requires)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedHoldout:
    """The holdout that the contract names, with what speaks against it; its digest is that of what is committed."""

    suite: str
    version: str
    digest: str
    doubt: str | None = None

    def mismatch(self, evidence: Evidence) -> tuple[str, str] | None:
        """Why evidence does not rest on it, or may not."""
        used = evidence.body.get("holdout")
        if not isinstance(used, dict) or used.get("digest") != self.digest:
            return "other-cases", f"it did not use holdout {self.suite} {self.version} as it is sealed"
        return None if self.doubt is None else ("voided", f"holdout {self.suite} {self.version}: {self.doubt}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What evidence must be bound to, from the tree as it is now. ``version`` is None where the skill has none.

    Without ``waivers`` none is in force; ``holdout`` is None where the contract names none with cases of the skill.
    """

    skill_path: str
    version: str | None
    skill_digest: str
    cases: Mapping[str, str]
    terms: Json
    requires: str
    waivers: InForce | None = None
    holdout: NamedHoldout | None = None


def mismatches(evidence: Evidence, expected: Expected) -> tuple[tuple[str, str], ...]:
    """Every way in which evidence does not prove these bytes: (kind, what differs). Empty when it does.

    Kinds: ``voided``, ``other-bytes``, ``other-cases``, ``other-contract``, ``too-weak``, ``waiver-lapsed``.
    """
    found: list[tuple[str, str]] = []
    if evidence.voided is not None:
        found.append(("voided", evidence.voided))
    subject = (evidence.skill_path, evidence.version, evidence.skill_digest)
    wanted = (expected.skill_path, expected.version, expected.skill_digest)
    about = [(str(a)[-60:], str(b)[-60:]) for a, b in zip(subject[:2], wanted[:2], strict=True) if a != b]
    about += [(subject[2][:12], wanted[2][:12])] if subject[2] != wanted[2] else []
    if about:
        found.append(("other-bytes", "; ".join(f"it is about {is_}, not {should}" for is_, should in about)))
    if dict(evidence.cases) != dict(expected.cases):
        names = sorted(
            name for name in {*evidence.cases, *expected.cases} if evidence.cases.get(name) != expected.cases.get(name)
        )
        found.append(("other-cases", f"cases that differ: {', '.join(names)}"))
    if expected.holdout is not None and (other := expected.holdout.mismatch(evidence)) is not None:
        found += [other] if other[0] not in {kind for kind, _ in found} else []
    differs = differing_terms(evidence.terms, expected.terms)
    if differs:
        found.append(("other-contract", f"its terms differ: {'; '.join(differs)}"))
    elif digest_of(evidence.terms) != evidence.binding:
        found.append(("other-contract", "binding.digest is not the digest of its terms"))
    if not accepts(expected.requires, evidence.grade):
        found.append(("too-weak", f"it passed as {evidence.grade}, the lock requires {expected.requires}"))
    found += [("waiver-lapsed", words) for used in evidence.waivers for words in _lapses(used, expected.waivers)]
    return tuple(found)


def _lapses(used: UsedWaiver, now: InForce | None) -> Iterator[str]:
    """Why the decision that a waiver made may not be relied on any more."""
    if now is not None and now.day > used.expires_on:
        yield f"it rests on waiver {used.id}, whose last day was {used.expires_on}"
    elif now is None or used.id not in now.digests:
        yield f"it rests on waiver {used.id}, which is not in force any more"
    elif now.digests[used.id] != used.digest:
        yield f"it rests on waiver {used.id}, which was changed since"


def read_evidence(root: Path, skill_path: str) -> tuple[bytes | None, Evidence | None, str | None]:
    """The committed evidence of a skill: its bytes, its content, and what is wrong with it (None when nothing is)."""
    path = root / evidence_path(skill_path)
    try:
        data = read_regular(path)
    except FileNotFoundError:
        return None, None, None
    except OSError as error:
        return None, None, f"cannot be read: {error.strerror}"
    except NotRegular as problem:
        return None, None, f"cannot be read: {problem}"
    # A Windows checkout may hold CRLF; JSON does not care, and the hash is taken over the LF form.
    data = data.replace(b"\r\n", b"\n")
    try:
        return data, parse_evidence(data), None
    except EvidenceProblem as problem:
        return data, None, str(problem)
