"""The nine groups of a frozen contract: one table from which schema, reference page and messages are made.

A run freezes the contract it was made under. Each field is either authored (written in ``evals/contract.yaml``, most
with a default) or derived (found out by the run). An authored field without a default may be unstated: it is null, and
the gate refuses the run. A field that is not there at all is a damaged record, and nothing is decided on it. The groups
``identity`` to ``gate`` stand in the header from the start; ``result`` comes with the end of the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

AUTHORED, DERIVED = "authored", "derived"
RESULT = "result"

_TEXT = {"type": "string", "minLength": 1}
_TEXT_OR_NONE = {"type": ["string", "null"], "minLength": 1}
_DIGEST = {"type": "string", "pattern": "^[0-9a-f]{64}(?!\\n)$"}
_OBJECT = {"type": "object"}
_FILLED = {"type": "object", "minProperties": 1}
_LIST = {"type": "array"}
_NAMES = {"type": "array", "minItems": 1, "items": _TEXT}


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a group. ``key`` is where the contract states it, None for what only a run can know.

    ``default`` says in words what holds when the contract is silent, None where nothing does. ``missing`` is what
    nobody can tell without the field.
    """

    group: str
    name: str
    key: str | None = None
    default: str | None = None
    missing: str
    schema: Mapping[str, Any]

    @property
    def path(self) -> str:
        """``group.field``."""
        return f"{self.group}.{self.name}"

    @property
    def must_be_written(self) -> bool:
        """Whether only the contract can say it."""
        return self.key is not None and self.default is None


def _group(group: str, *rows: tuple[str, str | None, str | None, Mapping[str, Any], str]) -> tuple[Field, ...]:
    """The fields of one group from (name, key, default, schema, consequence)."""
    return tuple(
        Field(group=group, name=name, key=key, default=default, schema=schema, missing=missing)
        for name, key, default, schema, missing in rows
    )


GROUPS: Mapping[str, str] = {
    "identity": "what was decided, and for whom",
    "candidate": "what exactly was measured",
    "dataset": "what it was measured on",
    "expected": "what a right answer is",
    "scoring": "how verdicts become numbers",
    "judgment": "who reads what code cannot",
    "environment": "where and how it ran",
    "gate": "which limits had to be met",
    RESULT: "what came of it",
}
"""The groups in their order, each with the question that it answers."""

_RISK = {"enum": ["low", "medium", "high", None]}
_ANSWERED = {
    "type": "object",
    "required": ["candidate", "judge"],
    "additionalProperties": {"type": "object", "required": ["requested", "answered"]},
}

FIELDS: tuple[Field, ...] = (
    *_group(
        "identity",
        ("id", "id", None, _TEXT_OR_NONE, "two contracts cannot be told apart, so nobody knows what passed"),
        ("version", "version", None, _TEXT_OR_NONE, "a changed contract goes by the same name as the one before"),
        ("owner", "owner", None, _TEXT_OR_NONE, "nobody answers for the decision"),
        ("purpose", "purpose", None, _TEXT_OR_NONE, "passing has no meaning: it is not said what it permits"),
        ("risk_class", "risk_class", None, _RISK, "nobody can judge whether the limits suit what is at stake"),
    ),
    *_group(
        "candidate",
        ("config_id", None, None, _TEXT, "the candidate has no name besides that of its model"),
        ("config_version", None, None, _FILLED, "the versions of the skills that were measured are unknown"),
        (
            "config_digest",
            None,
            None,
            _DIGEST,
            "the candidate cannot be rebuilt: a model's name is not its configuration",
        ),
        ("provider", None, None, _TEXT, "it is unknown whose model answered"),
        ("surface", None, None, _FILLED, "one model behaves differently through another agent or endpoint"),
        ("model_revision_evidence", None, None, _ANSWERED, "a provider may have served another model under the name"),
    ),
    *_group(
        "dataset",
        ("id", None, None, _NAMES, "it is unknown which cases were asked"),
        ("version", None, None, _FILLED, "a changed case goes unnoticed"),
        ("snapshot_time", "dataset.snapshot_time", "the start of the run", _TEXT, "the age of the facts is unknown"),
        ("provenance", "dataset.provenance", None, _TEXT_OR_NONE, "it is unknown whose tasks the cases stand for"),
        ("license", "dataset.license", None, _TEXT_OR_NONE, "nobody knows whether the cases may be used and passed on"),
        ("slice_manifest", None, None, _OBJECT, "a part that was never asked hides in the total"),
        ("leakage_status", "dataset.leakage", "none_known", _TEXT, "the candidate may have seen the answers"),
    ),
    *_group(
        "expected",
        ("oracle_types", None, None, _FILLED, "it is unknown who knows the right answers"),
        (
            "artifact",
            "expected.artifact",
            "the answer's text, and the files that checks name",
            _TEXT,
            "what is graded is left to the grader",
        ),
        (
            "acceptable_variants",
            None,
            None,
            _OBJECT,
            "another right answer counts as wrong, or anything counts as right",
        ),
        ("abstention_policy", "expected.abstention", "where_allowed", _TEXT, "an abstention is counted as it suits"),
    ),
    *_group(
        "scoring",
        ("scorer_id", None, None, _TEXT, "it is unknown which program scored"),
        ("scorer_version", None, None, {"type": "integer", "minimum": 1}, "a changed rule of scoring goes unnoticed"),
        ("code_digest", None, None, _DIGEST, "a scorer that drifted looks like a candidate that did"),
        (
            "metric",
            "scoring.metric",
            "criteria_passed: checks and criteria passed, of all that were planned",
            _TEXT,
            "a number without a metric says nothing",
        ),
        (
            "error_policy",
            "scoring.error_policy",
            "unscored: an error is never a zero and never a pass",
            _TEXT,
            "errors may hide as failures, or as passes",
        ),
    ),
    *_group(
        "judgment",
        ("judge_id", None, None, _TEXT, "verdicts come from nobody"),
        ("judge_version", None, None, _TEXT, "another judge under the same name goes unnoticed"),
        ("judge_prompt_digest", None, None, _DIGEST, "a judge that was told something else looks the same"),
        ("rubric_id_version", None, None, _FILLED, "verdicts answer questions that nobody can look up"),
        (
            "order_policy",
            "judge.order",
            "as_written: criteria in the order of the case",
            _TEXT,
            "an effect of order cannot be ruled out",
        ),
        ("abstention", None, None, _LIST, "it is unknown where the judge was allowed to abstain"),
        (
            "human_adjudication",
            "judge.human_adjudication",
            "held for review by a named person",
            _TEXT,
            "a doubtful verdict has nobody who settles it",
        ),
    ),
    *_group(
        "environment",
        (
            "id",
            "environment.id",
            "derived from the environment as found",
            _TEXT,
            "two environments cannot be told apart",
        ),
        ("surface", None, None, _FILLED, "a difference of machine or isolation cannot be told from one of the skill"),
        ("tool_source_snapshot", None, None, _FILLED, "the program and the packages that ran are unknown"),
        ("locale", "environment.locale", "the locale as found", _TEXT, "formats and sorting may differ unseen"),
        ("time", None, None, _TEXT, "what depends on the day of the run cannot be explained"),
        ("retry_sampling_policy", None, None, _FILLED, "luck of sampling or of retries cannot be told from quality"),
    ),
    *_group(
        "gate",
        (
            "slice_thresholds",
            "gate.quality_min, slices",
            "0.8 on every case; slices have no limit of their own",
            _FILLED,
            "an average hides a weak part",
        ),
        ("critical_zero_tolerance", None, None, {"const": 0}, "a critical failure may pass"),
        (
            "variance_limit",
            "gate.variance_max",
            "none: shown, not limited",
            _TEXT_OR_NONE,
            "a candidate that passes by luck looks like a steady one",
        ),
        (
            "over_refusal_limit",
            "gate.over_refusal_max",
            "0",
            _TEXT_OR_NONE,
            "refusing everything looks safe",
        ),
        (
            "manual_block_rule",
            "gate.manual_block",
            "none: nobody blocks",
            _TEXT_OR_NONE,
            "nobody can stop a release by hand",
        ),
        ("other_limits", "gate.…", "as documented", _FILLED, "the decision cannot be made again"),
    ),
    *_group(
        RESULT,
        ("run_id", None, None, _TEXT, "the decision belongs to no run"),
        ("start", None, None, _TEXT, "the order of runs is unknown"),
        ("end", None, None, _TEXT, "it is unknown whether the run ended"),
        ("attempts", None, None, _FILLED, "trying until it passes goes unnoticed"),
        ("slice_results", None, None, _OBJECT, "a part that failed hides in the total"),
        ("failures", None, None, _LIST, "what failed cannot be looked up"),
        ("uncertainties", None, None, _LIST, "what is unknown counts as good"),
        ("decision", None, None, _FILLED, "nobody knows whether it passed"),
        ("approval_id", None, None, _TEXT_OR_NONE, "it is unknown whether a person saw result and unknowns"),
    ),
)
"""Every field of every group, in order."""


def fields_of(group: str) -> tuple[Field, ...]:
    """The fields of one group."""
    return tuple(field for field in FIELDS if field.group == group)


def words_of(path: str) -> str:
    """``group.field`` with the consequence of its absence."""
    field = next(field for field in FIELDS if field.path == path)
    return f"{field.path}: {field.missing}"


def unstated(groups: Mapping[str, Any]) -> tuple[str, ...]:
    """The authored fields of whole groups about which the contract says nothing, as ``group.field``."""
    return tuple(field.path for field in FIELDS if field.must_be_written and groups[field.group][field.name] is None)


def absent(groups: object, *, ended: bool) -> Iterator[str]:
    """Every ``group.field`` that groups do not have, whether for damage or because an older program wrote them."""
    given = groups if isinstance(groups, Mapping) else {}
    for field in FIELDS:
        if field.group != RESULT or ended:
            group = given.get(field.group)
            if not isinstance(group, Mapping) or field.name not in group:
                yield field.path
