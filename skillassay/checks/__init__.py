"""The registry of checks. Owns which types exist, the validation of specifications, and how a check is run.

A specification is a mapping with ``type``, the fields of that type, and for every type ``id`` (default: the type),
``file``, ``samples`` and ``note``. All of its problems are told at once, when it is built: before any model call. A
built-in type always wins over a plug-in of the same name. Left out: what the types mean, which is each member's.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator

from skillassay.checks import json_answer, lines, numbers, pattern, text
from skillassay.checks.base import Builder, Check, CheckFault, CheckResult, SpecProblem, Verdict
from skillassay.isolation.produced import Produced, path_problem
from skillassay.patterns import MAX_TEXT_CHARS, PatternTimeout

PLUGIN_GROUP = "skillassay.checks"
MAX_EVIDENCE_CHARS = 400

_TEXTS = {"type": "array", "items": {"type": "string"}}
_COMMON = {
    "id": {"type": "string", "minLength": 1},
    "type": {"type": "string"},
    "note": {"type": "string"},
    "samples": {
        "type": "object",
        "properties": {"pass": _TEXTS, "fail": _TEXTS},
        "additionalProperties": False,
    },
    "file": {"type": "string"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckType:
    """A kind of check: its builder, and the JSON Schema of its own fields (``properties`` and ``required``).

    ``schema`` is None for a plug-in, whose builder looks at its fields itself.
    """

    build: Builder
    schema: Mapping[str, Any] | None

    @property
    def spec_schema(self) -> dict[str, Any]:
        """The JSON Schema of a whole specification of this type."""
        own = self.schema or {}
        fields = {**_COMMON, **own.get("properties", {})}
        closed = {} if self.schema is None else {"additionalProperties": False}
        return {"type": "object", "properties": fields, "required": ["type", *own.get("required", ())], **closed}


CHECK_TYPES: Mapping[str, CheckType] = {
    name: CheckType(build=build, schema=schema)
    for member in (text, pattern, json_answer, numbers, lines)
    for name, (build, schema) in member.TYPES.items()
}
"""The built-in types by name."""


def build_check(spec: Mapping[str, Any], *, where: str) -> Check:
    """The check that ``spec`` describes. Raises :class:`SpecProblem` with every problem, ``where`` in front."""
    try:
        name = _type_name(spec)
        kind = CHECK_TYPES.get(name) or _load_plugin(name)
        problems = _problems(spec, kind)
        if problems:
            raise SpecProblem("; ".join(problems))
        run = kind.build(spec)
    except SpecProblem as problem:
        raise SpecProblem(f"{where}: {problem}") from problem
    return Check(check_id=spec.get("id", name), type=name, spec=dict(spec), run=run)


def evaluate(check: Check, answer: str) -> CheckResult:
    """Decide on one answer. Raises :class:`CheckFault` where the check cannot: a limit was met, or a plug-in broke."""
    if len(answer) > MAX_TEXT_CHARS:
        raise CheckFault(f"answer of {len(answer)} characters is over the limit of {MAX_TEXT_CHARS}")
    try:
        result = check.score(answer)
    except PatternTimeout as error:
        raise CheckFault(str(error)) from error
    except CheckFault:
        raise
    except Exception as error:
        if check.type in CHECK_TYPES:
            raise
        # Foreign code: its bug is the case's check_error and must not end the run, and it is no verdict either.
        raise CheckFault(f"the plug-in for {check.type!r} broke: {type(error).__name__}: {error}") from error
    return CheckResult(check_id=result.check_id, verdict=result.verdict, evidence=_shown(result.evidence))


def _shown(evidence: str) -> str:
    evidence = " ".join(evidence.split())
    return evidence if len(evidence) <= MAX_EVIDENCE_CHARS else evidence[: MAX_EVIDENCE_CHARS - 1] + "…"


def evaluate_file(check: Check, produced: Produced) -> CheckResult:
    """Decide on the file that the check reads; one that is not there, or no text, does not pass. Raises as above."""
    if produced.text is None:
        return CheckResult(check_id=check.check_id, verdict=Verdict.FAIL, evidence=_shown(produced.problem))
    return evaluate(check, produced.text)


def verify_samples(check: Check) -> list[str]:
    """One message for each sample of the specification that does not come out as it says; none without samples."""
    samples = check.spec.get("samples") or {}
    wanted = [(key, Verdict(key.upper()), sample) for key in ("pass", "fail") for sample in samples.get(key, ())]
    messages = (_sample_message(check, *entry) for entry in wanted)
    return [message for message in messages if message is not None]


def has_both_samples(spec: Mapping[str, Any]) -> bool:
    """Whether at least one sample must pass and one must fail: only then a dead or an all-matching check is noticed."""
    samples = spec.get("samples")
    return isinstance(samples, Mapping) and bool(samples.get("pass")) and bool(samples.get("fail"))


def _sample_message(check: Check, key: str, wanted: Verdict, sample: str) -> str | None:
    shown = repr(sample if len(sample) <= 60 else sample[:59] + "…")
    try:
        result = evaluate(check, sample)
    except CheckFault as fault:
        return f"{key} sample {shown} cannot be decided: {fault}"
    if result.verdict is wanted:
        return None
    return f"{key} sample {shown} comes out as {result.verdict}: {result.evidence}"


def _type_name(spec: Mapping[str, Any]) -> str:
    if "type" not in spec:
        raise SpecProblem("missing key 'type'")
    name = spec["type"]
    if not isinstance(name, str):
        raise SpecProblem(f"type: {name!r} is not a text")
    if name == "llm_judge":
        raise SpecProblem(
            "llm_judge is no check, because no code decides it: write the criterion into the case's rubric"
        )
    return name


def _load_plugin(name: str) -> CheckType:
    """The plug-in of this name. Its object is a ``Builder``; the first look at entry points happens here."""
    # Imported here: it costs every command 8 ms, and only a plug-in needs it.
    from importlib.metadata import entry_points

    points = list(entry_points(group=PLUGIN_GROUP, name=name))
    if not points:
        close = difflib.get_close_matches(name, CHECK_TYPES, n=1)
        guess = f"; did you mean {close[0]!r}?" if close else ""
        raise SpecProblem(f"unknown type {name!r}, known are {', '.join(sorted(CHECK_TYPES))}{guess}")
    if len({point.value for point in points}) > 1:
        raise SpecProblem(f"type {name!r} is offered by several plug-ins: {', '.join(p.value for p in points)}")
    try:
        build: Callable[..., Any] = points[0].load()
    except (ImportError, AttributeError) as error:
        raise SpecProblem(f"the plug-in for type {name!r} cannot be loaded: {error}") from error
    if not callable(build):
        raise SpecProblem(f"the plug-in for type {name!r} is no function: {points[0].value}")
    return CheckType(build=build, schema=None)


def _problems(spec: Mapping[str, Any], kind: CheckType) -> list[str]:
    """Unknown, missing and wrongly typed keys, in that order."""
    schema = kind.spec_schema
    known = schema["properties"]
    problems = []
    if kind.schema is not None:
        unknown = sorted(str(key) for key in spec if key not in known)
        problems += [f"unknown key {key!r}, known are {', '.join(known)}" for key in unknown]
    problems += [f"missing key {key!r}" for key in schema["required"] if key not in spec]
    errors = Draft202012Validator({"properties": known}).iter_errors(dict(spec))
    shown = sorted((".".join(map(str, error.absolute_path)), error.message[:120]) for error in errors)
    problems += [f"{path}: {message}" for path, message in shown]
    file = spec.get("file")
    wrong = path_problem(file) if isinstance(file, str) else None
    return [*problems, f"file: {file!r} {wrong}"] if wrong is not None else problems
