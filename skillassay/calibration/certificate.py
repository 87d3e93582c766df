"""A calibration, ``evals/calibration/PIN.json``: what one judge said where people had spoken. Committed.

    {"calibration": 1, "at", "judge": pin, "cases": {SUITE/ID: digest},
     "pairs": [{"answer": ID, "criterion", "human": bool, "judge": bool}],
     "unanswered": [{"answer": ID, "criterion", "why"}],
     "before": [{"at", "agreed", "n"}]}

``cases`` are all quality cases as they were; ``pairs`` and ``unanswered`` together are every point that people had
settled on answers to these cases, so that nobody picks the labels that suit. ``before`` are the comparisons that stood
in this place, oldest first: whoever has seen where a judge differs knows which word of his would make it agree, so that
words changed since any comparison of the project, of this judge or another, are left out and counted: a judge with one
more token is another judge, and says the same. Nothing else that is derived is kept: counts and the verdict on the
judge are computed anew by whoever reads it, against the labels as they are then.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skillassay.calibration.labels import HUMAN, Labels, Point
from skillassay.calibration.measure import Pair
from skillassay.calibration.pin import JudgePin, pin_from_json, pin_json
from skillassay.canonical import Json, pretty_text
from skillassay.errors import StoreError
from skillassay.formats import read_object
from skillassay.inside import write_inside

CALIBRATION_FOLDER = "evals/calibration"
CALIBRATION_VERSION = 1
_HINT = "restore it from git, or make it again with `skillassay calibrate`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """An earlier comparison of the same judge."""

    at: str
    agreed: int
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """What one judge said. ``verdicts`` maps each point to (people, judge), ``unanswered`` to why there is none."""

    at: str
    pin: JudgePin
    cases: Mapping[str, str]
    verdicts: Mapping[Point, tuple[bool, bool]]
    unanswered: Mapping[Point, str]
    before: tuple[Before, ...] = ()

    @property
    def compared_at(self) -> frozenset[str]:
        """When the judge was compared with people."""
        return frozenset((self.at, *(one.at for one in self.before)))


def following(root: Path, certificate: Certificate) -> Certificate:
    """``certificate`` with the comparisons of the same judge that came before it. Raises :class:`StoreError`."""
    path = root / certificate_name(certificate.pin)
    if not path.exists():
        return certificate
    last = _load(path, root)
    agreed = sum(human is judge for human, judge in last.verdicts.values())
    return replace(certificate, before=(*last.before, Before(at=last.at, agreed=agreed, n=len(last.verdicts))))


def certificate_name(pin: JudgePin) -> str:
    """The path of a judge's calibration below the root."""
    return f"{CALIBRATION_FOLDER}/{pin.id}.json"


def write_certificate(root: Path, certificate: Certificate) -> str:
    """Write it in the place of the one before, atomically, and return its path. Raises :class:`StoreError`."""
    name = certificate_name(certificate.pin)
    value: dict[str, Json] = {
        "calibration": CALIBRATION_VERSION,
        "at": certificate.at,
        "judge": pin_json(certificate.pin),
        "cases": dict(certificate.cases),
        "pairs": [
            {"answer": answer, "criterion": criterion, "human": human, "judge": judge}
            for (answer, criterion), (human, judge) in sorted(certificate.verdicts.items())
        ],
        "unanswered": [
            {"answer": answer, "criterion": criterion, "why": why}
            for (answer, criterion), why in sorted(certificate.unanswered.items())
        ],
        "before": [{"at": one.at, "agreed": one.agreed, "n": one.n} for one in certificate.before],
    }
    try:
        write_inside(root, name, pretty_text(value).encode())
    except OSError as error:
        raise StoreError(f"{name} cannot be written: {error.strerror or error}", hint="nothing was changed") from error
    return name


def read_certificates(root: Path) -> tuple[Certificate, ...]:
    """All calibrations of a project, by path. Raises :class:`StoreError` for a file that is none."""
    return tuple(_load(path, root) for path in sorted((root / CALIBRATION_FOLDER).glob("*.json")))


def _load(path: Path, root: Path) -> Certificate:
    shown = path.relative_to(root).as_posix()
    what = "no calibration"
    value = read_object(path, "calibration", CALIBRATION_VERSION, where=shown, what=what, hint=_HINT)
    try:
        return _parse(value)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StoreError(f"{shown} is damaged: {error}", hint=_HINT) from error


def _parse(value: Mapping[str, Any]) -> Certificate:
    verdicts: dict[Point, tuple[bool, bool]] = {}
    for pair in value["pairs"]:
        point, said = (pair["answer"], pair["criterion"]), (pair["human"], pair["judge"])
        if point in verdicts or not all(type(one) is bool for one in said):
            raise ValueError(f"the pair of {point[0][:12]}, {point[1]!r} stands twice or is no pair")
        verdicts[point] = said
    unanswered = {(item["answer"], item["criterion"]): item["why"] for item in value["unanswered"]}
    texts = [value["at"], *value["cases"].items(), *verdicts, *unanswered.items()]
    if not all(isinstance(text, str) for text in _flat(texts)) or verdicts.keys() & unanswered.keys():
        raise TypeError("what should be a text is none, or a point stands in both lists")
    return Certificate(
        at=value["at"],
        pin=pin_from_json(value["judge"]),
        cases=dict(value["cases"]),
        verdicts=verdicts,
        unanswered=unanswered,
        before=tuple(_before(item) for item in value.get("before", ())),
    )


def _flat(value: object) -> Iterator[object]:
    if isinstance(value, list | tuple):
        for item in value:
            yield from _flat(item)
    else:
        yield value


def _before(item: Mapping[str, Any]) -> Before:
    if not isinstance(item["at"], str) or type(item["agreed"]) is not int or type(item["n"]) is not int:
        raise TypeError(f"{item!r} is no earlier comparison")
    return Before(at=item["at"], agreed=item["agreed"], n=item["n"])


def settled_points(labels: Labels, cases: Mapping[str, str], *, origin: str = HUMAN) -> dict[Point, bool]:
    """What people settled about answers to these cases as they are."""
    about = {
        name: answer
        for name, answer in labels.answers.items()
        if cases.get(f"{answer.suite}/{answer.case_id}") == answer.case_digest
    }
    return {point: verdict for point, verdict in labels.settled(origin=origin).items() if point[0] in about}


def all_compared_at(certificates: Iterable[Certificate]) -> frozenset[str]:
    """When any judge of the project was compared with people."""
    return frozenset(at for one in certificates for at in one.compared_at)


def changed_words(
    certificate: Certificate, labels: Labels, *, origin: str = HUMAN, also: Collection[str] = ()
) -> frozenset[Point]:
    """The points on which somebody says otherwise than he had when a judge was compared: this one, or one ``also`` was.

    Each time is asked, not the first alone: what was labelled after that one could be seen in a later one.
    """
    times = certificate.compared_at.union(also)
    return frozenset(point for at in times for point in labels.changed_since(at, origin=origin))


def n_left_out(certificate: Certificate, labels: Labels, *, origin: str = HUMAN, also: Collection[str] = ()) -> int:
    """How many decided points on these cases are no pair.

    Without a verdict of the judge, disputed, or decided otherwise once it could be known what the judge says.
    """
    cases, answers = certificate.cases, labels.answers
    changed = changed_words(certificate, labels, origin=origin, also=also)
    doubtful = {
        (name, criterion)
        for name, criterion in {*labels.disputed(origin=origin), *changed}
        if cases.get(f"{answers[name].suite}/{answers[name].case_id}") == answers[name].case_digest
    }
    return len(doubtful | certificate.unanswered.keys())


def pairs_of(certificate: Certificate, labels: Labels, *, also: Collection[str] = ()) -> tuple[Pair, ...]:
    """The pairs, with the lengths of their answers as the labels tell them."""
    changed = changed_words(certificate, labels, also=also)
    return tuple(
        Pair(point=point, human=human, judge=judge, n_chars=len(labels.answers[point[0]].text))
        for point, (human, judge) in certificate.verdicts.items()
        if point[0] in labels.answers and point not in changed
    )


def staleness(certificate: Certificate, labels: Labels) -> tuple[str, ...]:
    """In what people say something else now than they did; nothing where the calibration is about what they say."""
    now = settled_points(labels, certificate.cases)
    then = {point: human for point, (human, _) in certificate.verdicts.items()}
    changed = [point for point, human in then.items() if now.get(point) is not human]
    new = [point for point in now if point not in then and point not in certificate.unanswered]
    found = []
    if changed:
        found.append(f"people say otherwise now of {len(changed)} points that it rests on")
    if new:
        found.append(f"people have settled {len(new)} points since")
    return tuple(found)
